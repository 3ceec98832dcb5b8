//! Results and states of workers: what a hub refuses or a link cuts off waits, and is stored once.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use switchtender_devices::names::DeviceName;
use switchtender_devices::task;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::AbortOnDropHandle;

use super::workers::{TOKEN, ended, hub, link, link_to, new_run, new_store, permit, right};
use crate::history::run::RunRight;
use crate::history::runs::RunFilter;
use crate::serve::link::client::HubLink;
use crate::serve::results::deliver;
use crate::serve::run_store::{EndedRun, RunStore as _, StoreProblem, tests};
use crate::serve::spool::{Spool, SpoolSize};
use crate::store::file::state_version;
use crate::store::state_table::StateTable as _;
use crate::store::{SharedState, Store, blocking_io};

fn open_spool(dir: &tempfile::TempDir) -> Arc<Spool> {
    Arc::new(Spool::open(dir.path().join("spool"), 1 << 30).unwrap())
}

/// The sites of a worker at a hub can be wrong for a while.
#[tokio::test(flavor = "multi_thread")]
async fn results_wait_in_their_order_until_the_worker_has_a_right_to_them() {
    let Some(store) = new_store() else {
        return;
    };
    let hub = hub(Some(store)).await;
    let link = link(&hub, TOKEN).await;
    let dir = tempfile::tempdir().unwrap();
    let spool = open_spool(&dir);
    // The results of a site with another name.
    let result = |device: &str| {
        let right = RunRight {
            shard: "old/0".to_owned(),
            ..right()
        };
        let result = ended(new_run(device), device);
        let right = Some(right);
        EndedRun {
            right,
            ..Arc::unwrap_or_clone(result)
        }
    };
    let deliver_all = async |spool: &Arc<Spool>| {
        let stored = Mutex::new(Vec::new());
        while !spool.is_empty() {
            let report = |result: &EndedRun, _| stored.lock().unwrap().push(result.run.uuid);
            deliver(&link, spool, report).await.unwrap();
        }
        stored.into_inner().unwrap()
    };
    let [first, second, other] = [result("sw0"), result("sw0"), result("sw1")];
    for result in [&first, &second, &other] {
        spool.add(result).unwrap();
    }
    permit(&hub, &["site-7"]);
    assert!(deliver_all(&spool).await.is_empty());
    let size = spool.size();
    assert_eq!(size.results, 3);
    let reason = size.not_taken.unwrap();
    assert!(reason.contains("the worker w1 has no right to"), "{reason}");

    permit(&hub, &["site-0"]);
    // The device is run again: earlier results of it come first.
    let third = result("sw0");
    spool.add(&third).unwrap();
    let uuids = [&first, &second, &third].map(|result| result.run.uuid);
    assert_eq!(deliver_all(&spool).await, uuids);
    // Those of another site prevent none, and wait also after a restart.
    assert_eq!(spool.size().results, 1);
    let spool = open_spool(&dir);
    assert!(deliver_all(&spool).await.is_empty());
    permit(&hub, &["site-1"]);
    spool.retry();
    assert_eq!(deliver_all(&spool).await, [other.run.uuid]);
    assert_eq!(spool.size(), SpoolSize::default());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_state_of_a_device_of_another_site_waits_and_that_of_others_is_stored() {
    let Some(store) = new_store() else {
        return;
    };
    let hub = hub(Some(store)).await;
    let link = link(&hub, TOKEN).await;
    link.space().await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().to_owned();
    let states = blocking_io::run(move || {
        let shared = SharedState::open(&root, Arc::new(link)).unwrap();
        Store::at(root).shared(Some(shared))
    });
    let states = states.await;
    permit(&hub, &["site-7"]);
    for device in ["sw0", "sw1"] {
        let device = states.device(&DeviceName::parse(device).unwrap());
        let saved = blocking_io::run(move || device.save("memory.json", state_version(1), &"new"));
        saved.await.unwrap();
    }
    for (sites, stored) in [
        (["site-1"].as_slice(), [false, true]),
        (&["site-0", "site-1"], [true, true]),
    ] {
        permit(&hub, sites);
        let states = states.clone();
        blocking_io::run(move || states.synchronize())
            .await
            .unwrap();
        let table = hub.service.history().clone();
        let found = blocking_io::run(move || {
            ["sw0", "sw1"].map(|device| table.get(device, "memory.json").unwrap().is_some())
        });
        assert_eq!(found.await, stored, "{sites:?}");
    }
}

/// What happens to a connection on the way from the worker to its hub.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PathFault {
    /// It ends after an answer.
    None,
    /// It ends in the middle of a request.
    CutRequest,
    /// The hub has done what was requested, and its answer is lost.
    LostAnswer,
    /// It ends in the middle of an answer.
    CutAnswer,
}

const FAULTS: [PathFault; 7] = [
    PathFault::LostAnswer,
    PathFault::CutRequest,
    PathFault::None,
    PathFault::CutAnswer,
    PathFault::LostAnswer,
    PathFault::None,
    PathFault::CutRequest,
];

/// Answers that a path has lost or cut.
type LostAnswers = Arc<AtomicUsize>;

/// A path to a hub, with the address of its begin.
async fn faulty_path(hub: &str) -> (String, LostAnswers, AbortOnDropHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let hub = hub.strip_prefix("http://").unwrap().to_owned();
    let lost = LostAnswers::default();
    let counted = Arc::clone(&lost);
    let path = task::spawn(async move {
        let mut connections = Vec::new();
        for fault in FAULTS.into_iter().cycle() {
            let (worker, _) = listener.accept().await.unwrap();
            let hub = TcpStream::connect(&hub).await.unwrap();
            let lost = Arc::clone(&counted);
            connections.push(task::spawn(async move {
                let is_lost = carry(worker, hub, fault).await.unwrap_or_default();
                lost.fetch_add(usize::from(is_lost), Ordering::Relaxed);
            }));
        }
    });
    (format!("http://{address}"), lost, path)
}

/// Carries one request and its answer. Returns whether the answer did not arrive.
async fn carry(
    mut worker: TcpStream,
    mut hub: TcpStream,
    fault: PathFault,
) -> std::io::Result<bool> {
    let (mut request, mut answer) = (vec![0; 64 << 10], vec![0; 64 << 10]);
    loop {
        tokio::select! {
            size = worker.read(&mut request) => {
                let size = size?;
                if size == 0 {
                    return Ok(false);
                }
                if fault == PathFault::CutRequest {
                    hub.write_all(&request[..size / 2]).await?;
                    return Ok(false);
                }
                hub.write_all(&request[..size]).await?;
            }
            size = hub.read(&mut answer) => {
                let size = match fault {
                    PathFault::LostAnswer => return Ok(true),
                    PathFault::CutAnswer => size? / 2,
                    PathFault::CutRequest | PathFault::None => size?,
                };
                worker.write_all(&answer[..size]).await?;
                return Ok(fault == PathFault::CutAnswer);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn results_are_stored_once_over_a_link_that_is_cut() {
    const RESULTS: usize = 40;
    let Some(store) = new_store() else {
        return;
    };
    let hub = hub(Some(store)).await;
    permit(&hub, &["site-0", "site-1"]);
    let (address, lost, _path) = faulty_path(&hub.url).await;
    let cut = link_to(&hub, TOKEN, vec![address]).await;
    let dir = tempfile::tempdir().unwrap();
    let spool = open_spool(&dir);
    let results = (0..RESULTS).map(|number| tests::ended(new_run(["sw0", "sw1"][number % 2])));
    let results: Vec<Arc<EndedRun>> = results.map(Arc::new).collect();
    for result in &results {
        spool.add(result).unwrap();
    }
    let reported = Mutex::new(Vec::new());
    let report = |result: &EndedRun, _| reported.lock().unwrap().push(result.run.uuid);
    // As `serve`, which tries it again.
    while !spool.is_empty() {
        if let Err(error) = deliver(&cut, &spool, report).await {
            assert_eq!(error.problem, StoreProblem::Unreachable, "{error}");
        }
    }
    assert!(lost.load(Ordering::Relaxed) >= RESULTS / 4);
    // What was on the way comes late, twice and in another order.
    let direct: HubLink = link(&hub, TOKEN).await;
    for result in results.iter().rev().chain(&results) {
        direct.finish(Arc::clone(result)).await.unwrap();
    }
    let all = RunFilter {
        limit: 10_000,
        ..RunFilter::default()
    };
    let stored = hub.service.history();
    let stored = stored.query(move |reader| reader.runs(&all)).await.unwrap();
    assert_eq!(stored.len(), RESULTS);
    let uuids = |all: Vec<_>| all.into_iter().collect::<HashSet<_>>();
    let expected = uuids(results.iter().map(|result| result.run.uuid).collect());
    assert_eq!(uuids(stored.iter().map(|run| run.uuid).collect()), expected);
    let reported = reported.into_inner().unwrap();
    assert_eq!(reported.len(), RESULTS);
    assert_eq!(uuids(reported), expected);
}
