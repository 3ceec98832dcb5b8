//! `drift`: what a device has and should have, what changed, and what is no drift.

use switchtender_mocks::SwitchOptions;
use test_support::catalog::vlan;
use test_support::lab::{Lab, switch_options};
use test_support::program;

/// The rows of `drift` without its times.
fn drift(store: &str) -> Vec<String> {
    let ran = program::run(&["drift", "--store", store]);
    ran.assert_code(0);
    let rows = ran.stdout.lines().skip(1);
    let words = rows.map(|row| {
        let is_time =
            |word: &&str| word.contains(':') || word.starts_with("20") && word.contains('-');
        let words = row.split_whitespace().filter(|word| !is_time(word));
        words.collect::<Vec<_>>().join(" ")
    });
    words.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn drift_contains_what_is_and_what_should_be() {
    let mut lab = Lab::new();
    let switches = ["sw2", "sw10", "sw1"];
    for name in switches {
        lab.add_switch(name, &[]).await;
        lab.write_resources(name, &[vlan(10, "guests")]);
    }
    let store = lab.path("runs.db").display().to_string();
    let run = async |arguments: &[&str]| {
        let ran = lab.run(&[arguments, &["--store", &store]].concat()).await;
        ran.assert_code(0);
    };
    run(&["apply"]).await;
    assert_eq!(drift(&store), [""; 0]);
    // Neither the plan of an undo nor that of another desired state is drift.
    run(&["undo", "--last", "--plan"]).await;
    let other = lab.path("other").display().to_string();
    for name in switches {
        lab.write_resources(name, &[vlan(99, "experiment")]);
    }
    std::fs::rename(lab.path("catalogs"), &other).unwrap();
    std::fs::create_dir(lab.path("catalogs")).unwrap();
    run(&["plan", "--catalog", &other]).await;
    assert_eq!(drift(&store), [""; 0]);
    for name in switches {
        lab.write_resources(name, &[vlan(10, "visitors")]);
    }
    run(&["plan"]).await;
    let wish = "Network_vlan[10] now desired state vlan_name is 'guests', should be 'visitors'";
    assert_eq!(drift(&store), [format!("sw[1-2], sw10 {wish}")]);
    run(&["apply"]).await;
    // By hand: a run that leaves no trace.
    let (state, hidden) = (lab.path("state"), lab.path("hidden"));
    std::fs::rename(&state, &hidden).unwrap();
    lab.write_resources("sw1", &[vlan(10, "by-hand")]);
    lab.run(&["apply", "--target", "sw1"]).await.assert_code(0);
    std::fs::remove_dir_all(&state).unwrap();
    std::fs::rename(&hidden, &state).unwrap();
    lab.write_resources("sw1", &[vlan(10, "visitors")]);
    run(&["plan"]).await;
    let by_hand = "sw1 Network_vlan[10] now device vlan_name is 'by-hand', should be 'visitors'";
    assert_eq!(drift(&store), [by_hand]);
    program::run(&["explain", "drift"]).assert_code(0);
}

/// Two inventories have the same name for two devices: the store of one has no run of the other.
#[tokio::test(flavor = "multi_thread")]
async fn store_has_no_run_of_another_device_of_the_same_name() {
    let lab = async |serial: &str| {
        let mut lab = Lab::new();
        let serials = vec![serial.to_owned()];
        lab.add_switch_with(SwitchOptions {
            serials,
            ..switch_options("sw1")
        })
        .await;
        lab.write_resources("sw1", &[vlan(10, "guests")]);
        lab
    };
    let (first, second) = (lab("SERIALA").await, lab("SERIALB").await);
    let store = first.path("runs.db").display().to_string();
    let arguments = ["plan", "--store", &store];
    first.run(&arguments).await.assert_code(0);
    let ran = second.run(&arguments).await;
    ran.assert_code(0);
    ran.assert_contains("the run is not in the store, where sw1 is another device, at 127.0.0.1:");
    let history = program::run(&["history", "--store", &store]);
    history.assert_code(0);
    assert_eq!(
        history.stdout.matches("sw1").count(),
        1,
        "{}",
        history.stdout
    );
}
