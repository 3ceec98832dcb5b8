//! Signals to the program, and the notices that acknowledge them.

use std::time::Duration;

use tokio::io::{BufReader, Lines};
use tokio::process::{Child, ChildStderr};

use crate::program::ProgramOutput;

/// A limit that only a defect exceeds.
const LIMIT: Duration = Duration::from_secs(60);

/// The notice after the first signal.
pub const FIRST_NOTICE: &str = "stopping after the current resource, within 10 s";
/// The notice after the second signal.
pub const SECOND_NOTICE: &str = "the device is read once more and the report is written";

/// Sends a signal, such as `-INT`, to a process.
///
/// # Panics
///
/// If there is no such process.
pub fn send(process: u32, signal: &str) {
    let sent = std::process::Command::new("kill")
        .args([signal, &process.to_string()])
        .status()
        .expect("there is a `kill`");
    assert!(sent.success());
}

/// Sends a signal and waits for the notice that acknowledges it. Returns what was printed until then.
///
/// # Panics
///
/// If there is no such notice.
pub async fn interrupt(
    child: &Child,
    signal: &str,
    notices: &mut Lines<BufReader<ChildStderr>>,
    notice: &str,
) -> String {
    send(child.id().expect("it runs"), signal);
    let mut printed = String::new();
    let acknowledged = async {
        while !printed.contains(notice) {
            let line = notices.next_line().await.unwrap();
            printed += &line.unwrap_or_else(|| panic!("no notice {notice}: {printed}"));
            printed.push('\n');
        }
    };
    tokio::time::timeout(LIMIT, acknowledged)
        .await
        .unwrap_or_else(|_| panic!("no notice {notice}"));
    printed
}

/// The whole output of a program of which a part was read.
///
/// # Panics
///
/// If the program does not end.
pub async fn output_after(
    mut printed: String,
    mut notices: Lines<BufReader<ChildStderr>>,
    child: Child,
) -> ProgramOutput {
    let rest = async {
        while let Some(line) = notices.next_line().await.unwrap() {
            printed += &line;
            printed.push('\n');
        }
    };
    let ended = async { tokio::join!(child.wait_with_output(), rest).0 };
    let output = tokio::time::timeout(LIMIT, ended)
        .await
        .expect("it ends soon after it was asked to");
    ProgramOutput {
        stderr: printed,
        ..ProgramOutput::from(output.unwrap())
    }
}
