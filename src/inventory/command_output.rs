//! The output of a command that the inventory names.

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::bounded_command::{self, BoundedCommandError, CommandLimits};

use super::file_context::masked;

/// Maximum length of the quoted line of a command, in characters.
const QUOTED: usize = 200;

/// Why a command has no output. Its arguments are not named: they can be secrets.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum CommandOutputError {
    #[error("cannot run `{program}`")]
    Start {
        program: String,
        #[source]
        source: Arc<io::Error>,
    },
    #[error("`{program}` did not exit within {seconds} s")]
    Late { program: String, seconds: u64 },
    #[error("the output of `{program}` is longer than {kibibytes} KiB")]
    TooLong { program: String, kibibytes: usize },
    #[error("`{program}` failed with {status}{output}")]
    Failed {
        program: String,
        status: String,
        output: String,
    },
}

/// Runs a program with its arguments, without a shell.
///
/// # Cancellation
/// Can be dropped at any time; the command is killed.
pub(super) async fn run(
    words: &[String],
    directory: Option<&Path>,
    limits: CommandLimits,
) -> Result<Vec<u8>, CommandOutputError> {
    let program = words.first().cloned().unwrap_or_default();
    let mut command = tokio::process::Command::new(&program);
    command.args(words.iter().skip(1));
    if let Some(directory) = directory {
        command.current_dir(directory);
    }
    let output = match bounded_command::run(&mut command, limits).await {
        Ok(output) => output,
        Err(BoundedCommandError::Late(limit)) => {
            let seconds = limit.as_secs();
            return Err(CommandOutputError::Late { program, seconds });
        }
        Err(BoundedCommandError::LongOutput(limit)) => {
            let kibibytes = limit >> 10;
            return Err(CommandOutputError::TooLong { program, kibibytes });
        }
        Err(BoundedCommandError::Start(error)) => {
            let source = Arc::new(error);
            return Err(CommandOutputError::Start { program, source });
        }
    };
    if !output.status.success() {
        let status = match output.status.code() {
            Some(code) => format!("exit code {code}"),
            None => output.status.to_string(),
        };
        return Err(CommandOutputError::Failed {
            program,
            status,
            output: quoted(&output.stderr),
        });
    }
    Ok(output.stdout)
}

/// The last line of an error output, which has the reason in Python and shells, without logins.
fn quoted(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let mut lines = text.lines().rev().map(str::trim);
    let Some(line) = lines.find(|line| !line.is_empty()) else {
        return String::new();
    };
    let line: String = masked(line).chars().take(QUOTED).collect();
    format!(": {line}")
}
