//! Completion of names in the real shells: bash, and zsh and fish where they are installed.

use std::fs;
use std::process::Command;

use test_support::{program, stderr_note};

const INVENTORY: &str = "[defaults]\nuser = \"ops\"\nagent = true\n\
    [device.sw1]\nplatform = \"cisco_ios\"\naddress = \"192.0.2.1\"\nlabels = { role = \"access\" }\n\
    [device.sw2]\nplatform = \"cisco_ios\"\naddress = \"192.0.2.2\"\n\
    [device.lb1]\nplatform = \"f5_bigip\"\naddress = \"192.0.2.3\"\n";

/// A directory with an inventory and the completion script of a shell.
fn directory(shell: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("inventory.toml"), INVENTORY).unwrap();
    let script = program::run(&["completions", shell]);
    script.assert_code(0);
    fs::write(dir.path().join("script"), script.stdout).unwrap();
    dir
}

/// What a script prints in this shell. `None`: the shell is not installed.
fn run(shell: &str, script: &str) -> Option<Vec<String>> {
    let dir = directory(shell);
    let programs = program::path().parent().unwrap().to_owned();
    let path = std::env::var("PATH").unwrap();
    let output = Command::new(shell)
        .args(["-c", script])
        .current_dir(dir.path())
        .env("PATH", format!("{}:{path}", programs.display()))
        .output();
    let Ok(output) = output else {
        stderr_note::print(&format!("skipped: {shell} is missing"));
        return None;
    };
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && errors.is_empty(),
        "{text}{errors}"
    );
    Some(text.lines().map(str::to_owned).collect())
}

#[test]
fn completion_in_bash_has_names_and_options() {
    for (line, expected) in [
        ("plan -t s", &["sw1", "sw2"][..]),
        ("plan --label ", &["role=access"]),
        ("report l", &["lb1"]),
        ("graph --state state l", &["lb1"]),
        ("resource sw1 network_vla", &["network_vlan"]),
        ("plan --qui", &["--quiet"]),
        ("expl", &["explain"]),
    ] {
        let words: Vec<String> = line.split(' ').map(|word| format!("'{word}'")).collect();
        let script = format!(
            "source ./script; COMP_WORDS=(switchtender {}); COMP_CWORD=$((${{#COMP_WORDS[@]}}-1)); \
             _switchtender switchtender \"${{COMP_WORDS[COMP_CWORD]}}\" \
             \"${{COMP_WORDS[COMP_CWORD-1]}}\"; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            words.join(" ")
        );
        if let Some(found) = run("bash", &script) {
            assert_eq!(found, expected, "{line}");
        }
    }
}

#[test]
fn completion_in_fish_has_names_and_options() {
    for (line, expected) in [
        ("plan -t s", "sw1"),
        ("report l", "lb1"),
        ("resource sw1 network_vla", "network_vlan"),
        ("plan --qui", "--quiet"),
    ] {
        let script = format!("source ./script; complete -C 'switchtender {line}'");
        if let Some(found) = run("fish", &script) {
            let words: Vec<&str> = found
                .iter()
                .filter_map(|line| line.split('\t').next())
                .collect();
            assert!(words.contains(&expected), "{line}: {found:?}");
        }
    }
}

/// The functions of completion are replaced by one that prints the candidates.
#[test]
fn completion_in_zsh_has_names() {
    let script = "compdef() { :; }; compadd() { print -l -- $names; }; \
                  words=(switchtender plan -t s); CURRENT=4; source ./script; _switchtender";
    if let Some(found) = run("zsh", script) {
        assert_eq!(found, ["lb1", "sw1", "sw2"]);
    }
}

#[test]
fn completion_without_an_inventory_is_silent() {
    let dir = tempfile::tempdir().unwrap();
    let output = program::switchtender(&["complete-names", "--", "switchtender", "plan", "-t", ""])
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty());
}
