//! Results in files: their order, their bound and their delivery.

use std::fs;

use super::*;
use crate::serve::run_store::tests::{ended, new_run};

const LARGE: u64 = 1 << 30;

fn run(number: u32) -> EndedRun {
    let mut run = new_run("2026-11-24T12:00:00Z".parse().unwrap());
    run.device = format!("sw{number}");
    ended(run)
}

fn devices(spool: &Spool) -> Vec<String> {
    let mut found = Vec::new();
    while let Some(first) = spool.oldest(1).pop() {
        found.push(spool.read(&first).unwrap().unwrap().run.device);
        spool.remove(&first);
    }
    found
}

#[test]
fn results_stay_in_their_order_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let open = || Spool::open(dir.path().join("spool"), LARGE).unwrap();
    let spool = open();
    for number in [3, 1, 2] {
        spool.add(&run(number)).unwrap();
    }
    drop(spool);
    // A process was killed while it wrote, and another one goes on.
    fs::write(dir.path().join("spool/.unfinished-1-x"), "{").unwrap();
    let spool = open();
    spool.add(&run(0)).unwrap();
    let size = spool.size();
    assert_eq!(size.results, 4);
    assert!(size.bytes > 0);
    assert_eq!(devices(&spool), ["sw3", "sw1", "sw2", "sw0"]);
    assert_eq!(spool.size(), SpoolSize::default());
    let left: Vec<_> = fs::read_dir(dir.path().join("spool")).unwrap().collect();
    assert_eq!(left.len(), 1, "the directory of refused results: {left:?}");
}

#[test]
fn a_full_spool_is_a_reason_for_no_runs_and_takes_those_in_progress() {
    let dir = tempfile::tempdir().unwrap();
    let spool = Spool::open(dir.path().join("spool"), 1000).unwrap();
    assert_eq!(spool.problem(), None);
    for number in 0..3 {
        spool.add(&run(number)).unwrap();
    }
    let problem = spool.problem().unwrap();
    assert!(
        problem.starts_with("the spool is full: 3 results"),
        "{problem}"
    );
    devices(&spool);
    assert_eq!(spool.problem(), None);
}

#[test]
fn refused_results_are_counted_and_the_oldest_are_removed() {
    let dir = tempfile::tempdir().unwrap();
    let open = |limit| Spool::open(dir.path().join("spool"), limit).unwrap();
    let spool = open(LARGE);
    spool.add(&run(0)).unwrap();
    let one = spool.size().bytes;
    let spool = open(REFUSED_PART * one * 5 / 2);
    for number in 1..5 {
        spool.add(&run(number)).unwrap();
    }
    for result in spool.oldest(5) {
        spool.set_aside(&result);
    }
    for spool in [&spool, &open(LARGE)] {
        assert!(spool.is_empty());
        let size = spool.size();
        assert_eq!((size.results, size.bytes), (0, 2 * one));
    }
    let left = fs::read_dir(dir.path().join("spool/refused")).unwrap();
    let left = left.map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap());
    let mut left: Vec<String> = left.collect();
    left.retain(|text| text.contains("sw3") || text.contains("sw4"));
    assert_eq!(left.len(), 2);
}

#[test]
fn results_that_cannot_be_written_are_a_reason_for_no_runs_until_one_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("spool");
    let spool = Spool::open(path.clone(), LARGE).unwrap();
    fs::remove_dir_all(&path).unwrap();
    fs::write(&path, "no directory").unwrap();
    spool.add(&run(0)).unwrap_err();
    let problem = spool.problem().unwrap();
    assert!(problem.starts_with("cannot spool results"), "{problem}");
    fs::remove_file(&path).unwrap();
    spool.add(&run(0)).unwrap();
    assert_eq!(spool.problem(), None);
}
