//! `backup` writes the configurations of devices.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use serde_json::json;
use switchtender_mocks::SwitchOptions;
use test_support::catalog::resource;
use test_support::lab::{Lab, switch_options};
use test_support::program::PLANTED;

const CONFIGURATION: &str = "\
snmp-server community s3cret-public RO
ntp server 192.0.2.10
interface GigabitEthernet1/0/1
 description uplink
";

async fn lab() -> Lab {
    let mut lab = Lab::new();
    lab.add_switch_with(SwitchOptions {
        config: Some(CONFIGURATION.to_owned()),
        ..switch_options("sw1")
    })
    .await;
    lab
}

#[tokio::test(flavor = "multi_thread")]
async fn backup_writes_stable_files_with_masked_secrets() {
    let mut lab = lab().await;
    lab.add_load_balancer("lb1", &[]).await;
    let pool = resource("F5_pool", "/Common/web", json!({"ensure": "present"}));
    lab.write_resources("lb1", &[pool]);
    lab.run(&["apply", "--target", "lb1"]).await.assert_code(0);
    let saved = lab.run(&["backup", "configs"]).await;
    saved.assert_code(0);
    assert_eq!(saved.stdout, "devices saved: 2\n");
    let file = lab.path("configs/sw1.cfg");
    let text = fs::read_to_string(&file).unwrap();
    for line in [
        "ntp server 192.0.2.10",
        " description uplink",
        "snmp-server community •••• RO",
    ] {
        assert!(text.lines().any(|other| other == line), "{line}: {text}");
    }
    assert!(text.ends_with("\nend\n"), "{text}");
    for absent in [PLANTED, "Building configuration", "Current configuration"] {
        assert!(!text.contains(absent), "{absent}: {text}");
    }
    let metadata = fs::metadata(&file).unwrap();
    assert_eq!(metadata.mode() & 0o777, 0o600);

    // A file without a change is not written again.
    lab.run(&["backup", "configs"]).await.assert_code(0);
    assert_eq!(fs::metadata(&file).unwrap().ino(), metadata.ino());

    // The files stand for the devices.
    let config = lab.path("configs/lb1.json").display().to_string();
    let pools = [
        "resource",
        "--config",
        &config,
        "--platform",
        "f5_bigip",
        "f5_pool",
    ];
    let printed = lab.run(&pools).await;
    printed.assert_contains("f5_pool { '/Common/web':");
    let config = file.display().to_string();
    let servers = [
        "resource",
        "--config",
        &config,
        "--platform",
        "cisco_ios",
        "ntp_server",
    ];
    lab.run(&servers)
        .await
        .assert_contains("ntp_server { '192.0.2.10':");
}

#[tokio::test(flavor = "multi_thread")]
async fn backup_has_secrets_on_request() {
    let lab = lab().await;
    let saved = lab.run(&["backup", "configs", "--with-secrets"]).await;
    saved.assert_code(0);
    let text = fs::read_to_string(lab.path("configs/sw1.cfg")).unwrap();
    assert!(
        text.contains("snmp-server community s3cret-public RO\n"),
        "{text}"
    );
}

/// The exported state of devices, planned against their backups.
#[tokio::test(flavor = "multi_thread")]
async fn plan_of_the_backup_of_an_unchanged_device_is_empty() {
    let mut lab = lab().await;
    lab.add_load_balancer("lb1", &[]).await;
    let pool = resource("F5_pool", "/Common/web", json!({"ensure": "present"}));
    lab.write_resources("lb1", &[pool]);
    let users = resource("Network_vlan", "10", json!({"vlan_name": "users"}));
    let port = json!({"mode": "access", "access_vlan": 10});
    let port = resource("Ios_network_trunk", "GigabitEthernet1/0/1", port);
    lab.write_resources("sw1", &[users, port]);
    lab.run(&["apply"]).await.assert_code(0);
    let export = ["resource", "*", "--all", "--output", "yaml", "--output-dir"];
    let export = [&export[..], &["desired", "--show-secrets"]].concat();
    lab.run(&export).await.assert_code(0);
    lab.run(&["backup", "configs", "--with-secrets"])
        .await
        .assert_code(0);
    let connections = lab.log("sw1").connections();
    let planned = lab
        .run(&["plan", "--running", "configs", "--state", "desired"])
        .await;
    planned.assert_code(0);
    assert_eq!(lab.log("sw1").connections(), connections);
    planned.assert_contains("2 devices: 2 unchanged in ");
    assert!(!planned.text().contains("unknown facts"), "{planned:?}");
    assert!(!planned.text().contains("is not saved"), "{planned:?}");

    // Secrets of the other answers are masked, too, and not compared.
    lab.run(&["backup", "masked"]).await.assert_code(0);
    let planned = lab
        .run(&["plan", "--running", "masked", "--state", "desired"])
        .await;
    planned.assert_code(0);
    planned.assert_contains("2 devices: 2 unchanged in ");
    planned.assert_contains(
        "Warning: secrets are masked in the saved answers and were not compared: Snmp_community[snmp_community RO]",
    );
    for (path, text) in lab.files("masked") {
        assert!(!text.contains(PLANTED), "{}: {text}", path.display());
    }
}

/// What a device refuses is named; the rest is saved.
#[tokio::test(flavor = "multi_thread")]
async fn backup_names_what_a_device_refuses() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &["refuse=^show interfaces switchport"])
        .await;
    let saved = lab.run(&["backup", "configs"]).await;
    saved.assert_code(0);
    saved.assert_contains(
        "warning: not saved: sw1: the device refused `show interfaces switchport`",
    );
    let answers = fs::read_to_string(lab.path("configs/sw1.json")).unwrap();
    let answers: serde_json::Value = serde_json::from_str(&answers).unwrap();
    assert!(answers["switchport"].is_null(), "{answers}");
    assert!(answers["vlan_brief"]["lines"].is_array(), "{answers}");
}

#[tokio::test(flavor = "multi_thread")]
async fn backup_of_a_device_that_fails_keeps_the_old_file() {
    let mut lab = lab().await;
    lab.add_switch("sw2", &["login-refused=1"]).await;
    lab.add_switch("sw3", &["refuse=^show running-config"])
        .await;
    fs::create_dir(lab.path("configs")).unwrap();
    fs::write(lab.path("configs/sw2.cfg"), "old\n").unwrap();
    let saved = lab.run(&["backup", "configs"]).await;
    saved.assert_code(1);
    assert_eq!(saved.stdout, "devices saved: 1, failed: 2\n");
    for name in ["sw2", "sw3"] {
        saved.assert_contains(&format!("error: {name}: "));
    }
    let files = lab.files("configs");
    let names: Vec<_> = files
        .iter()
        .map(|(path, _)| path.file_name().unwrap())
        .collect();
    assert_eq!(names, ["sw1.cfg", "sw1.json", "sw2.cfg"]);
    assert_eq!(files[2].1, "old\n");

    let none = lab.run(&["backup", "configs", "--target", "sw9"]).await;
    none.assert_code(1);
}

fn git(lab: &Lab, directory: &str, arguments: &[&str]) -> String {
    let mut command = std::process::Command::new("git");
    let output = command
        .arg("-C")
        .arg(lab.path(directory))
        .args(["-c", "user.name=test", "-c", "user.email=test@localhost"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn backup_commits_its_files_and_pushes_them() {
    let mut lab = lab().await;
    lab.add_load_balancer("lb1", &[]).await;
    let refused = lab.run(&["backup", "configs", "--commit"]).await;
    refused.assert_code(1);
    refused.assert_contains("configs is not in a Git work tree");
    assert_eq!(lab.log("sw1").connections(), 0);

    let remote = lab.path("remote.git").display().to_string();
    git(
        &lab,
        ".",
        &[
            "init",
            "--quiet",
            "--bare",
            "--initial-branch=main",
            &remote,
        ],
    );
    git(
        &lab,
        ".",
        &[
            "clone",
            "--quiet",
            &remote,
            &lab.path("repo").display().to_string(),
        ],
    );
    git(&lab, "repo", &["checkout", "--quiet", "-b", "main"]);
    fs::write(lab.path("repo/notes"), "mine\n").unwrap();
    git(&lab, "repo", &["add", "notes"]);
    let saved = lab
        .run(&["backup", "repo/configs", "--commit", "--push"])
        .await;
    saved.assert_code(0);
    saved.assert_contains("devices saved: 2\ncommitted: 3 files\n");
    let printed = ["log", "-1", "--format=%B", "--name-only", "origin/main"];
    let printed = git(&lab, "repo", &printed);
    for line in [
        "Configuration of lb1, sw1",
        "Devices: lb1, sw1",
        "configs/sw1.cfg",
    ] {
        assert!(
            printed.lines().any(|other| other == line),
            "{line}: {printed}"
        );
    }
    assert!(
        printed.contains("\nRun: switchtender backup, 20"),
        "{printed}"
    );
    assert!(printed.contains("\nUser: "), "{printed}");
    // What the user has staged is not in the commit.
    assert_eq!(git(&lab, "repo", &["status", "--porcelain"]), "A  notes\n");

    let again = lab
        .run(&["backup", "repo/configs", "--commit", "--push"])
        .await;
    again.assert_code(0);
    again.assert_contains("committed: nothing, because no file has changed");

    // A failed push is an error, and the files and the commit stay.
    fs::remove_dir_all(&remote).unwrap();
    fs::write(lab.path("repo/configs/sw1.cfg"), "old\n").unwrap();
    git(
        &lab,
        "repo",
        &["commit", "--quiet", "-m", "old", "configs/sw1.cfg"],
    );
    let failed = lab
        .run(&["backup", "repo/configs", "--commit", "--push"])
        .await;
    failed.assert_code(1);
    failed.assert_contains("cannot push the backup, which is committed");
    let text = fs::read_to_string(lab.path("repo/configs/sw1.cfg")).unwrap();
    assert!(text.contains("ntp server 192.0.2.10"), "{text}");
    let subject = git(&lab, "repo", &["log", "-1", "--format=%s"]);
    assert_eq!(subject, "Configuration of sw1\n");
}
