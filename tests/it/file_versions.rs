//! Files of another version are refused with their name, their version and what to do, and they stay.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use test_support::catalog::{resource, sensitive, vlan};
use test_support::lab::Lab;
use test_support::program;

/// A switch, whose runs leave all kinds of files in the state directory.
async fn lab() -> Lab {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    let key =
        json!({"ensure": "present", "algorithm": "md5", "mode": "0", "password": "s3cret-ntp"});
    let key = sensitive(resource("Ntp_auth_key", "42", key), &["password"]);
    lab.write_resources("sw1", &[vlan(10, "users"), key]);
    let apply = ["apply", "--batch", "1", "--store", "state/history.db"];
    lab.run(&apply).await.assert_code(0);
    lab.write_resources("sw1", &[vlan(10, "guests")]);
    lab.run(&["plan", "--save", "state/change.plan"])
        .await
        .assert_code(0);
    lab
}

/// The file with another version in its first line; `None` if it has none.
fn with_other_version(text: &str) -> Option<String> {
    let is_versioned = |text: &str| {
        let json = serde_json::from_str::<Value>(text);
        json.is_ok_and(|json| json["version"].is_u64())
    };
    if !is_versioned(text) && !text.lines().next().is_some_and(is_versioned) {
        return None;
    }
    let (before, rest) = text.split_once("\"version\":")?;
    let end = rest.find([',', '\n'])?;
    Some(format!("{before}\"version\": 97{}", &rest[end..]))
}

/// The command that reads a file.
fn reader(path: &Path) -> Vec<String> {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let path_text = path.display().to_string();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let is_below = |directory: &str| path.components().any(|part| part.as_os_str() == directory);
    if is_below("undo") {
        words(&["undo", &stem])
    } else if is_below("rollouts") {
        words(&["apply", "--resume", &stem])
    } else if path.ends_with("change.plan") {
        words(&["plan", "show", &path_text])
    } else {
        words(&["apply"])
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_file_of_another_version_is_refused_and_stays() {
    let lab = lab().await;
    let mut versioned = Vec::new();
    for (path, text) in lab.files("state") {
        let Some(other) = with_other_version(&text) else {
            continue;
        };
        fs::write(&path, &other).unwrap();
        let before = lab.log("sw1").configuration_lines();
        let command = reader(&path);
        let command: Vec<&str> = command.iter().map(String::as_str).collect();
        // `plan show` has no inventory.
        let output = match command[..] {
            ["plan", ..] => program::run(&command),
            _ => lab.run(&command).await,
        };
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let printed = output.text();
        assert_ne!(output.code, Some(0), "{name}: {printed}");
        // Lines are wrapped nowhere: the output is no terminal.
        let expected = format!("{name}: it has version 97, and this program reads version ");
        assert!(printed.contains(&expected), "{name}: {printed}");
        assert_eq!(fs::read_to_string(&path).unwrap(), other, "{name}");
        assert_eq!(lab.log("sw1").configuration_lines(), before, "{name}");
        fs::write(&path, text).unwrap();
        versioned.push(path);
    }
    let names: Vec<String> = versioned.iter().map(|path| kind(path)).collect();
    let expected = [
        "change.plan",
        "facts.json",
        "identity.json",
        "memory.json",
        "secret-digests.json",
        "undo/RUN.json",
        "rollouts/RUN.jsonl",
    ];
    assert_eq!(names, expected);
}

/// The name of a file, without that of a run.
fn kind(path: &Path) -> String {
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let directory = name(path.parent().unwrap());
    match directory.as_str() {
        "undo" | "rollouts" => {
            let extension = path.extension().unwrap().to_string_lossy();
            format!("{directory}/RUN.{extension}")
        }
        _ => name(path),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn store_of_another_version_is_refused_by_runs() {
    let lab = lab().await;
    let path = lab.path("state/history.db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 97).unwrap();
    drop(connection);
    let before = fs::read(&path).unwrap();
    let file = path.display().to_string();
    let outputs = [
        lab.run(&["apply", "--store", &file]).await,
        program::run(&["history", "--store", &file]),
        program::run(&["store", "check", "--store", &file]),
    ];
    for output in outputs {
        let printed = output.text();
        assert_ne!(output.code, Some(0), "{printed}");
        let expected =
            "history.db: it has version 97, and this program reads version 2: use the version";
        assert!(printed.contains(expected), "{printed}");
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}
