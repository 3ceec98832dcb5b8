//! Runs `prerun_command` and `postrun_command` in a shell on the proxy host, once per device.

use std::time::Duration;

use switchtender_devices::names::DeviceName;

use super::run_log::RunLog;
use crate::bounded_command::{self, BoundedCommandError, CommandLimits};

/// Maximum length of the output of a hook in bytes.
const MAX_OUTPUT: usize = 1 << 20;

/// A command that failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HookError {
    #[error("Could not run command from {setting}")]
    Run {
        setting: &'static str,
        #[source]
        source: BoundedCommandError,
    },
    #[error("Could not run command from {setting}: {status}{message}")]
    Failed {
        setting: &'static str,
        status: String,
        message: String,
    },
}

/// Runs a command with the device name in `SWITCHTENDER_DEVICE`; logs its output.
///
/// # Cancellation
/// May be dropped at any time; the command and its children are then killed.
pub(crate) async fn run(
    setting: &'static str,
    command: &str,
    device: &DeviceName,
    limit: Duration,
    log: &mut dyn RunLog,
) -> Result<(), HookError> {
    let mut shell = tokio::process::Command::new("sh");
    shell
        .args(["-c", command])
        .env("SWITCHTENDER_DEVICE", device.as_str());
    let limits = CommandLimits {
        time: limit,
        output: MAX_OUTPUT,
    };
    let output = match bounded_command::run(&mut shell, limits).await {
        Ok(output) => output,
        Err(source) => return Err(HookError::Run { setting, source }),
    };
    for line in String::from_utf8_lossy(&output.stdout).lines().take(100) {
        log.info(format!("{setting}: {line}"));
    }
    if output.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(HookError::Failed {
        setting,
        status: output.status.to_string(),
        message: stderr
            .lines()
            .find(|line| !line.trim().is_empty())
            .map(|line| format!(": {line}"))
            .unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::run_log::{Level, has_message};
    use super::*;
    use crate::error_chain::chain;

    fn sw1() -> DeviceName {
        DeviceName::parse("sw1").unwrap()
    }

    async fn outcome(command: &str) -> (Result<(), String>, Vec<(Level, String)>) {
        let mut log = Vec::new();
        let limit = Duration::from_secs(20);
        let outcome = run("prerun_command", command, &sw1(), limit, &mut log).await;
        (outcome.map_err(|error| chain(&error)), log)
    }

    #[tokio::test]
    async fn run_passes_the_device_and_reports_the_error() {
        let (ended, log) = outcome("echo for $SWITCHTENDER_DEVICE").await;
        assert_eq!(ended, Ok(()));
        assert!(has_message(&log, Level::Info, "prerun_command: for sw1"));
        let (ended, _) = outcome("echo no such thing >&2; exit 3").await;
        assert_eq!(
            ended.unwrap_err(),
            "Could not run command from prerun_command: exit status: 3: no such thing"
        );
        let mut log = Vec::new();
        let late = run(
            "postrun_command",
            "sleep 600",
            &sw1(),
            Duration::ZERO,
            &mut log,
        )
        .await;
        assert!(chain(&late.unwrap_err()).ends_with("timeout after 0 s"));
    }
}
