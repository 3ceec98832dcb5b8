//! Runs a command of the user with limits for its time and output. Its children end with it.

use std::io;
use std::process::{Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;

/// The limits of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CommandLimits {
    pub(crate) time: Duration,
    /// Maximum length of the standard output in bytes.
    pub(crate) output: usize,
}

/// Maximum length of the standard error output in bytes. The rest is discarded.
const MAX_STDERR: u64 = 64 << 10;

/// Why a command has no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BoundedCommandError {
    #[error(transparent)]
    Start(#[from] io::Error),
    #[error("timeout after {} s", .0.as_secs())]
    Late(Duration),
    #[error("the output is longer than {} KiB", .0 >> 10)]
    LongOutput(usize),
}

/// Runs a command without standard input in a process group of its own. At a limit, the command and
/// its children are killed.
///
/// # Cancellation
/// May be dropped at any time; the command and its children are then killed.
pub(crate) async fn run(
    command: &mut Command,
    limits: CommandLimits,
) -> Result<Output, BoundedCommandError> {
    match tokio::time::timeout(limits.time, run_to_end(command, limits.output)).await {
        Ok(outcome) => outcome,
        Err(_) => Err(BoundedCommandError::Late(limits.time)),
    }
}

async fn run_to_end(
    command: &mut Command,
    max_output: usize,
) -> Result<Output, BoundedCommandError> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()?;
    let group = ProcessGroup(
        child
            .id()
            .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)),
    );
    let stdout = child.stdout.take().expect("standard output is a pipe");
    let stderr = child.stderr.take().expect("standard error is a pipe");
    let (stdout, stderr) = tokio::try_join!(
        async {
            let bytes = read(stdout, max_output as u64 + 1).await?;
            if bytes.len() > max_output {
                Err(BoundedCommandError::LongOutput(max_output))
            } else {
                Ok(bytes)
            }
        },
        async {
            let mut stderr = stderr;
            let bytes = read(&mut stderr, MAX_STDERR).await?;
            tokio::io::copy(&mut stderr, &mut tokio::io::sink()).await?;
            Ok::<_, BoundedCommandError>(bytes)
        },
    )?;
    let status = child.wait().await?;
    group.release();
    Ok(Output {
        status,
        stdout,
        stderr,
    })
}

async fn read(source: impl AsyncRead + Unpin, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(limit).read_to_end(&mut bytes).await?;
    Ok(bytes)
}

/// Kills the processes of a group on drop.
struct ProcessGroup(Option<Pid>);

impl ProcessGroup {
    /// Keeps the processes that the ended command has left.
    fn release(mut self) {
        self.0 = None;
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // An error means that all processes have ended.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: CommandLimits = CommandLimits {
        time: Duration::from_secs(20),
        output: 1000,
    };

    fn shell(text: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", text]);
        command
    }

    #[tokio::test]
    async fn run_returns_output_and_status() {
        let output = run(&mut shell("echo out; echo err >&2; exit 3"), LIMITS).await;
        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(3));
        assert_eq!(output.stdout, b"out\n");
        assert_eq!(output.stderr, b"err\n");
    }

    #[tokio::test]
    async fn run_ends_a_command_with_long_output() {
        let error = run(&mut Command::new("yes"), LIMITS).await.unwrap_err();
        assert!(
            matches!(error, BoundedCommandError::LongOutput(1000)),
            "{error}"
        );
        // Long messages are cut.
        let command = "head -c 300000 /dev/zero >&2; echo end";
        let output = run(&mut shell(command), LIMITS).await.unwrap();
        assert_eq!((output.stderr.len(), output.stdout.len()), (64 << 10, 4));
    }

    #[tokio::test]
    async fn run_kills_the_children_of_the_command() {
        let dir = tempfile::tempdir().unwrap();
        let fifo = dir.path().join("fifo");
        rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RWXU).unwrap();
        let command = format!(
            "exec 3>{}; (sleep 20; echo alive >&3) & echo too long; wait",
            fifo.display()
        );
        // Ends when no process has the FIFO open for writing.
        let written = tokio::task::spawn_blocking(move || std::fs::read(fifo));
        let limits = CommandLimits {
            output: 3,
            ..LIMITS
        };
        let error = run(&mut shell(&command), limits).await.unwrap_err();
        assert!(
            matches!(error, BoundedCommandError::LongOutput(3)),
            "{error}"
        );
        assert_eq!(written.await.unwrap().unwrap(), b"");
    }
}
