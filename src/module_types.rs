//! The types of Puppet modules, described by a Ruby program with an installed Puppet or OpenVox.

use std::path::PathBuf;
use std::time::Duration;

use tokio::process::Command;

use crate::bounded_command::{self, BoundedCommandError, CommandLimits};

/// The Ruby program. It needs no other file.
pub(crate) const PROGRAM: &str = include_str!("module_types/describe_types.rb");

/// Where the packages of Puppet and OpenVox have their Ruby.
const PACKAGED_RUBY: &str = "/opt/puppetlabs/puppet/bin/ruby";

/// Limits for the description of all modules of a site.
const LIMITS: CommandLimits = CommandLimits {
    time: Duration::from_secs(120),
    output: 64 << 20,
};

/// Why types were not described.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DescribeError {
    #[error("cannot run `{program}`")]
    Run {
        program: PathBuf,
        #[source]
        source: BoundedCommandError,
    },
    #[error("`{program}` failed: {message}")]
    Failed { program: PathBuf, message: String },
}

/// Describes type files, and those of directories, as JSON. Runs the code of the types.
///
/// # Errors
/// Ruby or Puppet is missing, or a limit is exceeded.
///
/// # Cancellation
/// May be dropped at any time; the program is then killed.
pub(crate) async fn describe(
    ruby: Option<PathBuf>,
    paths: &[PathBuf],
) -> Result<String, DescribeError> {
    let program = ruby.unwrap_or_else(|| {
        let packaged = PathBuf::from(PACKAGED_RUBY);
        if packaged.exists() {
            packaged
        } else {
            PathBuf::from("ruby")
        }
    });
    let mut command = Command::new(&program);
    command.args(["-e", PROGRAM, "--"]).args(paths);
    let output = match bounded_command::run(&mut command, LIMITS).await {
        Ok(output) => output,
        Err(source) => return Err(DescribeError::Run { program, source }),
    };
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let last = stderr.lines().rfind(|line| !line.trim().is_empty());
    let message = last.map_or_else(|| output.status.to_string(), str::to_owned);
    Err(DescribeError::Failed { program, message })
}
