//! No success is claimed of nothing: output that could not be written, and definitions that are not
//! there.

use std::fs::File;
use std::process::Command;

fn switchtender() -> Command {
    Command::new(env!("CARGO_BIN_EXE_switchtender"))
}

#[test]
fn output_that_is_lost_is_no_success() {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let mut command = switchtender();
    let ended = command.args(["driver", "list"]).stdout(full);
    let ended = ended.output().unwrap();
    assert_eq!(ended.status.code(), Some(1));
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(said.contains("some of the output was lost"), "{said}");
}

#[test]
fn a_directory_without_definitions_is_not_found_sound() {
    let empty = tempfile::tempdir().unwrap();
    for command in ["check", "test"] {
        let ended = switchtender()
            .args(["driver", command])
            .arg(empty.path())
            .output();
        let ended = ended.unwrap();
        assert_eq!(ended.status.code(), Some(1), "{command}");
        let said = String::from_utf8(ended.stderr).unwrap();
        assert!(said.contains("there are no definitions in"), "{said}");
    }
}
