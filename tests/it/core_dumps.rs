//! The memory of the program contains passwords, so the system writes no core dump of it.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use test_support::program;

#[test]
fn core_dumps_are_disabled() {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -S -c unlimited; exec \"$0\" mock switch"]);
    command.arg(program::path()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    // It runs a command now.
    let stdout = child.stdout.take().unwrap();
    BufReader::new(stdout).read_line(&mut line).unwrap();
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", child.id()));
    child.kill().unwrap();
    child.wait().unwrap();
    let limits = limits.unwrap();
    let core = limits
        .lines()
        .find(|line| line.starts_with("Max core file size"));
    let core: Vec<_> = core.unwrap().split_whitespace().collect();
    assert_eq!(core[4], "0", "{limits}");
}
