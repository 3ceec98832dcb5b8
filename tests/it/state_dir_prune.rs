//! `switchtender state-dir prune`: what it removes, and what it leaves alone.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use test_support::catalog::vlan;
use test_support::lab::Lab;
use test_support::program::ProgramOutput;

/// The digests of secrets, which the next run of a device needs.
const DIGESTS: &str = "secret-digests.json";

/// Two switches with a run; the inventory has only the first.
async fn lab() -> Lab {
    let mut lab = Lab::new();
    for name in ["sw1", "sw2"] {
        lab.add_switch(name, &[]).await;
        lab.write_resources(name, &[vlan(10, "one")]);
    }
    lab.apply().await.assert_code(2);
    lab.devices.remove("sw2");
    fs::write(device(&lab, "sw1").join(DIGESTS), "{}").unwrap();
    lab
}

async fn prune(lab: &Lab, more: &[&str]) -> ProgramOutput {
    let state = lab.path("state").display().to_string();
    let arguments = ["state-dir", "prune", "--state-dir", &state];
    lab.run(&[&arguments, more].concat()).await
}

fn device(lab: &Lab, name: &str) -> PathBuf {
    lab.path("state/devices").join(name)
}

#[tokio::test(flavor = "multi_thread")]
async fn prune_removes_devices_that_are_not_in_the_inventory() {
    let lab = lab().await;
    let listed = prune(&lab, &[]).await;
    listed.assert_code(0);
    assert_eq!(
        listed.stdout,
        "state of devices that are not in the inventory: sw2\n\
         nothing was removed; --yes removes these files\n"
    );
    assert!(device(&lab, "sw2").join("memory.json").exists());

    let removed = prune(&lab, &["--yes"]).await;
    removed.assert_code(0);
    removed.assert_contains("\nremoved: 1 device, 0 reports, 0 logs\n");
    assert!(!device(&lab, "sw2").exists());
    for file in ["memory.json", DIGESTS, "state/last_run_report.json"] {
        assert!(device(&lab, "sw1").join(file).exists(), "{file}");
    }
    let again = prune(&lab, &["--yes"]).await;
    assert_eq!(again.stdout, "nothing to remove\n");
}

#[test]
fn prune_of_an_empty_state_directory_removes_nothing() {
    let mut lab = Lab::new();
    lab.devices.clear();
    fs::create_dir_all(lab.path("empty")).unwrap();
    fs::write(lab.path("inventory.toml"), "").unwrap();
    let state = lab.path("empty").display().to_string();
    let inventory = lab.path("inventory.toml").display().to_string();
    let pruned = test_support::program::run(&[
        "state-dir",
        "prune",
        "--state-dir",
        &state,
        "--inventory",
        &inventory,
    ]);
    pruned.assert_code(0);
    assert_eq!(pruned.stdout, "nothing to remove\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn prune_removes_old_reports_and_leaves_the_rest() {
    let lab = lab().await;
    let report = device(&lab, "sw1").join("state/last_run_report.json");
    let days = |days: u64| Duration::from_secs(days * 24 * 3600);
    let time = SystemTime::now() - days(91);
    let file = fs::File::options().write(true).open(&report).unwrap();
    file.set_modified(time).unwrap();
    let newer = prune(&lab, &["--reports-older-than", "92", "--yes"]).await;
    newer.assert_code(0);
    assert!(report.exists());
    let older = prune(&lab, &["--reports-older-than", "90", "--yes"]).await;
    older.assert_code(0);
    older.assert_contains("reports of the last runs: sw1\n");
    assert!(!report.exists());
    assert!(
        !device(&lab, "sw1")
            .join("state/last_run_summary.yaml")
            .exists()
    );
    for file in ["memory.json", DIGESTS, "facts.json"] {
        assert!(device(&lab, "sw1").join(file).exists(), "{file}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn prune_leaves_running_devices_and_certificates_alone() {
    let lab = lab().await;
    let lock = fs::File::options()
        .write(true)
        .open(device(&lab, "sw2").join("lock"))
        .unwrap();
    lock.try_lock().unwrap();
    let locked = prune(&lab, &["--yes"]).await;
    locked.assert_code(1);
    locked.assert_contains("sw2: not removed: another run has locked sw2");
    assert!(device(&lab, "sw2").join("memory.json").exists());
    drop(lock);

    fs::create_dir(device(&lab, "sw2").join("ssl")).unwrap();
    let keys = prune(&lab, &["--yes"]).await;
    keys.assert_code(0);
    keys.assert_contains("sw2: left alone");
    assert!(device(&lab, "sw2").join("memory.json").exists());
}
