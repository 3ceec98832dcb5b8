//! `switchtender access`: it finds the files of the process.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use test_support::program::{self, ProgramOutput};

/// `switchtender access` in a directory, with a password on standard input.
fn access(dir: &Path, arguments: &[&str]) -> ProgramOutput {
    let mut command = program::switchtender(&[&["access"], arguments].concat());
    command
        .current_dir(dir)
        .env("HOME", dir)
        .env("SWITCHTENDER_STATE", dir.join("default"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    // The command can end without reading it.
    let _ = input.write_all(b"a-long-password\n");
    drop(input);
    ProgramOutput::from(child.wait_with_output().unwrap())
}

/// As `history` does: `--state-dir`, else the settings, else the default.
#[test]
fn access_uses_the_state_directory_of_the_settings_and_prints_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let add = ["add-user", "alice", "--role", "apply"];
    let settings = |name: &str| {
        let text = format!("state_dir = \"{name}\"\n");
        std::fs::write(dir.path().join(format!("{name}.toml")), text).unwrap();
    };
    settings("other");
    for (name, has_settings, more, expected) in [
        ("default", false, &[][..], "default"),
        ("settings", true, &[], "serve"),
        ("--config", true, &["--config", "other.toml"], "other"),
        (
            "--state-dir",
            true,
            &["--config", "other.toml", "--state-dir", "named"],
            "named",
        ),
    ] {
        if has_settings {
            settings("serve");
        }
        let added = access(dir.path(), &[&add, more].concat());
        added.assert_code(0);
        let file = format!("{expected}/serve/access.toml");
        added.assert_contains("user alice has the role apply: wrote ");
        added.assert_contains(&file);
        assert!(dir.path().join(&file).exists(), "{name}");
        let listed = access(dir.path(), &[&["list"], more].concat());
        listed.assert_contains("user alice: apply");
        let removed = access(dir.path(), &[&["remove-user", "alice"], more].concat());
        removed.assert_contains("user alice is removed: wrote ");
    }
    let missing = access(dir.path(), &["list", "--config", "missing.toml"]);
    missing.assert_code(1);
    missing.assert_contains("missing.toml");
}

/// A token is never wider than its user, and ends with the user.
#[test]
fn tokens_belong_to_users_of_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let token = ["add-token", "chat", "--role", "apply", "--user", "bob"];
    let missing = access(dir.path(), &token);
    missing.assert_code(1);
    missing.assert_contains("cannot add the token chat: no user bob");
    missing.assert_contains("switchtender access add-user bob --role ROLE");
    let user = ["add-user", "bob", "--role", "plan", "--no-password"];
    access(dir.path(), &user).assert_code(0);
    access(dir.path(), &token).assert_code(0);
    access(dir.path(), &["list"]).assert_contains("token chat: apply, of bob");
    let removed = access(dir.path(), &["remove-user", "bob"]);
    removed.assert_contains("user bob is removed, with token chat: wrote ");
    access(dir.path(), &["list"]).assert_contains("has no users and no tokens");
}
