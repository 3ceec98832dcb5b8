//! No success is claimed of nothing: output that could not be written, and definitions that are not
//! there.

use std::fs::File;
use test_support::program;

#[test]
fn output_that_cannot_be_written_is_a_failure() {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let mut command = program::switchtender(&["type"]);
    let ended = command.stdout(full).output().unwrap();
    assert_eq!(ended.status.code(), Some(1));
    let stderr = String::from_utf8(ended.stderr).unwrap();
    assert!(
        stderr.contains("cannot write the complete output"),
        "{stderr}"
    );
}

#[test]
fn definitions_directory_without_files_is_an_error() {
    let empty = tempfile::tempdir().unwrap();
    for command in ["validate", "test"] {
        let path = empty.path().display().to_string();
        let ended = program::run(&["driver", command, &path]);
        ended.assert_code(1);
        ended.assert_contains("contains no definitions");
    }
}
