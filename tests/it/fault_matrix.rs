//! Every fault of the mock devices and of their jump hosts, at every command and stage of a run.
//!
//! A case is one device with one fault, in a run of the program with other devices. Its verdict (each
//! event, each resource, the device, the warning about saving) is compared with the state of the
//! mock after the last deferred command. A run without the fault must then converge.
//!
//! `cargo test` runs a sample. All cases, with counts per fault and phase:
//! `SWITCHTENDER_FAULTS=all cargo test --locked --test it fault_matrix -- --nocapture`.
//! With a number N, every Nth case runs; with the name of a fault, the cases of that fault.

mod batch;
mod case;
mod counts;
mod phase;
mod protected;
mod scenario;
mod verdict;

use case::Case;
use counts::Counts;
use switchtender_mocks::fault::FAULTS;

/// Numbers of devices with a fault in a run. On a busy machine a device can exceed its limits before
/// it reaches the command with the fault: it is tried again with fewer devices.
const BATCHES: [usize; 3] = [64, 16, 4];
/// Number of cases of the sample.
const SAMPLE: usize = 48;

#[tokio::test(flavor = "multi_thread")]
async fn fault_matrix_verdicts_match_the_devices() {
    let mut cases = Vec::new();
    for scenario in scenario::ALL {
        let reference = batch::reference(scenario).await;
        cases.extend(case::of_scenario(scenario, &reference));
    }
    cases.sort_by_key(|case| case.fault);
    let selected = std::env::var("SWITCHTENDER_FAULTS").ok();
    let step = match selected.as_deref() {
        None => cases.len().div_ceil(SAMPLE),
        Some("all") => 1,
        Some(name) if cases.iter().any(|case| case.fault == name) => {
            cases.retain(|case| case.fault == name);
            1
        }
        // The other matrix has its cases.
        Some(name) if FAULTS.iter().any(|row| row.name == name) => return,
        Some(number) => number.parse().expect("`all`, a fault or a number"),
    };
    let mut counts = Counts::default();
    let mut waiting: Vec<Case> = cases.into_iter().step_by(step).collect();
    for size in BATCHES {
        let mut idle = Vec::new();
        for batch in waiting.chunks(size) {
            idle.extend(batch::run(batch, &mut counts).await);
            if selected.is_some() {
                println!("{} cases", counts.cases());
            }
        }
        waiting = idle;
    }
    for case in &waiting {
        counts.add_idle(case.title());
    }
    println!("{counts}");
    assert!(counts.cases() > 0, "no fault fired");
    assert_eq!(counts.findings(), Vec::<&str>::new());
}
