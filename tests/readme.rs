//! The README's commands do what the README says.

use std::fs;
use std::process::Command;

/// Every `console` block: the command, and its output with `...` for any lines and `[..]` for any
/// text.
#[test]
fn what_the_readme_shows_is_what_one_sees() {
    trycmd::TestCases::new()
        .register_bin("switchtender", trycmd::cargo::cargo_bin!("switchtender"))
        .case("README.md");
}

/// The command that the README names first, as it stands there.
#[test]
fn the_main_job_runs_from_a_fresh_clone() {
    let readme = fs::read_to_string("README.md").expect("the README is there");
    let block = readme
        .split("<!-- main job -->")
        .nth(1)
        .expect("the main job is marked");
    let command = block
        .lines()
        .find(|line| line.starts_with("cargo run -- "))
        .expect("a command");
    let arguments = command
        .trim_start_matches("cargo run -- ")
        .split_whitespace();
    let output = Command::new(env!("CARGO_BIN_EXE_switchtender"))
        .args(arguments)
        .output()
        .expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    for device in ["sw1     cisco_ios  changed", "lb1     f5_bigip   changed"] {
        assert!(text.contains(device), "{text}");
    }
}

/// Automation and people run the same tests.
#[test]
fn the_test_command_is_the_one_that_automation_runs() {
    let readme = fs::read_to_string("README.md").expect("the README is there");
    let automation = fs::read_to_string(".ci/run").expect("automation is there");
    assert!(readme.contains("<!-- test command -->\n```sh\ncargo test "));
    assert!(automation.contains("<!-- test command -->"));
}
