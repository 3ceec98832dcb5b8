//! Git: commits of backups, the commit of a run's desired state, and accepted drift.

use std::fs;
use std::process::Command;

use reqwest::Client;
use serde_json::Value;
use test_support::lab::Lab;

use super::history;
use super::process::{self, ServeProcess, configure};

fn git(lab: &Lab, directory: &str, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .arg("-C")
        .arg(lab.path(directory))
        .args(["-c", "user.name=test", "-c", "user.email=test@localhost"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Writes a file of desired state.
fn write_state(lab: &Lab, directory: &str, name: &str) {
    let text = format!("# ours\nnetwork_vlan:\n  10: {{vlan_name: {name}}}\n");
    fs::create_dir_all(lab.path(directory).join("device")).unwrap();
    fs::write(lab.path(directory).join("device/sw1.yaml"), text).unwrap();
}

async fn post(lab: &Lab, serve: &ServeProcess, path: &str) -> (u16, String, String) {
    let token = fs::read_to_string(lab.path("state/serve/local.token")).unwrap();
    drop(rustls::crypto::ring::default_provider().install_default());
    let request = Client::new().post(format!("{}{path}", serve.url()));
    let answer = request.bearer_auth(token).send().await.unwrap();
    let disposition = answer.headers().get("content-disposition");
    let disposition = disposition.map_or("", |value| value.to_str().unwrap());
    let disposition = disposition.to_owned();
    (
        answer.status().as_u16(),
        disposition,
        answer.text().await.unwrap(),
    )
}

/// The first run comes at any time of the interval.
async fn run_now(lab: &Lab) {
    let requested = super::process::run(lab, &["run", "sw1", "--wait"]).await;
    requested.assert_code(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn backups_are_committed_and_drift_becomes_a_branch() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    write_state(&lab, "site/desired", "users");
    fs::create_dir(lab.path("configs")).unwrap();
    for directory in ["site", "configs"] {
        git(
            &lab,
            directory,
            &["init", "--quiet", "--initial-branch=main"],
        );
    }
    git(&lab, "site", &["add", "."]);
    git(&lab, "site", &["commit", "--quiet", "-m", "first"]);
    let head = git(&lab, "site", &["rev-parse", "HEAD"]);
    configure(
        &lab,
        "[backup]\ndirectory = \"configs\"\ncommit = true\n\
         [defaults]\ninterval = \"1h\"\nstate = \"site/desired\"\n",
    );
    let mut serve = ServeProcess::start(&lab, &[]).await;
    run_now(&lab).await;
    let run = serve.stored("sw1", "changed").await;
    serve.line("the backup is committed").await;
    let message = git(
        &lab,
        "configs",
        &["log", "-1", "--format=%B", "--name-only"],
    );
    let expected = format!(
        "Configuration of sw1\n\nDevices: sw1\nRun: {run}\nUser: local (command line)\n\n\nsw1.cfg\nsw1.json"
    );
    assert_eq!(message, expected);
    let runs = history(&lab, &["sw1"]).await;
    assert_eq!(runs[0]["revision"]["commit"], head);
    assert_eq!(runs[0]["revision"]["is_modified"], false);

    // The device is changed by somebody else.
    write_state(&lab, "other", "desks");
    let other = ["apply", "--state", "other", "--state-dir", "elsewhere"];
    process::run(&lab, &other).await.assert_code(0);
    let path = "/api/v1/devices/sw1/accept-drift";
    let (status, _, text) = post(&lab, &serve, path).await;
    assert_eq!(status, 200, "{text}");
    let accepted: Value = serde_json::from_str(&text).unwrap();
    // The latest run can be the first of the schedule.
    let branch = accepted["branch"].as_str().unwrap().to_owned();
    let latest = branch.strip_prefix("switchtender/drift/sw1/run-");
    let latest: i64 = latest.unwrap().parse().unwrap();
    assert!(latest >= run, "{branch}");
    let patch = accepted["patch"].as_str().unwrap();
    assert!(patch.contains("+  10: {vlan_name: desks}"), "{patch}");
    let printed = git(
        &lab,
        "site",
        &["show", &format!("{branch}:desired/device/sw1.yaml")],
    );
    assert_eq!(printed, "# ours\nnetwork_vlan:\n  10: {vlan_name: desks}");
    let message = git(&lab, "site", &["log", "-1", "--format=%B", &branch]);
    assert!(
        message.starts_with("Accept the drift of sw1\n"),
        "{message}"
    );
    assert!(
        message.contains(&format!("\nRun: {latest}\nUser: ")),
        "{message}"
    );
    // The files that runs read stay as they are.
    assert_eq!(git(&lab, "site", &["status", "--porcelain"]), "");
    assert_eq!(git(&lab, "site", &["rev-parse", "HEAD"]), head);
    let (status, _, text) = post(&lab, &serve, path).await;
    assert_eq!(status, 409, "{text}");
    assert!(text.contains("exists already"), "{text}");

    // Without Git, there is a patch to download.
    fs::remove_dir_all(lab.path("site/.git")).unwrap();
    let (status, disposition, text) = post(&lab, &serve, "/devices/sw1/accept-drift").await;
    assert_eq!(status, 200, "{text}");
    assert_eq!(disposition, "attachment; filename=\"sw1.patch\"");
    assert_eq!(text, patch);
    serve.stop().await;
}

/// Drift is that of the device: what only the files have changed is not taken back.
#[tokio::test(flavor = "multi_thread")]
async fn newer_desired_state_is_no_drift() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    write_state(&lab, "desired", "users");
    configure(&lab, "[defaults]\ninterval = \"1h\"\nstate = \"desired\"\n");
    let mut serve = ServeProcess::start(&lab, &[]).await;
    run_now(&lab).await;
    serve.stored("sw1", "changed").await;
    write_state(&lab, "desired", "desks");
    let (status, _, text) = post(&lab, &serve, "/api/v1/devices/sw1/accept-drift").await;
    assert_eq!(status, 409, "{text}");
    assert!(text.contains("nothing of sw1 is accepted"), "{text}");
    serve.stop().await;
}
