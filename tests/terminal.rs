//! What people see on a terminal, from the program as it is started.

use std::process::Command;

fn switchtender(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_switchtender"))
        .args(arguments)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn every_command_starts_with_colours() {
    let (code, out, err) = switchtender(&["explain", "host-resource", "--color", "always"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert!(out.contains("host-resource"), "{out}");
    // Logging starts before everything else, at every level.
    let (code, _, err) = switchtender(&["explain", "no-such-code", "-vvv", "--color", "always"]);
    assert_eq!(code, Some(1));
    assert!(
        err.contains("\u{1b}[") && err.contains("there is no finding"),
        "{err}"
    );
}
