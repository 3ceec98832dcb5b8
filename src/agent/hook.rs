//! `prerun_command` and `postrun_command`: on the proxy, through a shell, once per device.

use std::process::Stdio;
use std::time::Duration;

use super::run_log::RunLog;

/// A command that failed.
#[derive(Debug, thiserror::Error)]
pub enum HookError {
    #[error("Could not run command from {setting}: cannot start `sh`")]
    Start {
        setting: &'static str,
        #[source]
        source: std::io::Error,
    },
    #[error("Could not run command from {setting}: it ended with {status}{said}")]
    Failed {
        setting: &'static str,
        status: String,
        said: String,
    },
    #[error("Could not run command from {setting}: it did not end within {} s", .limit.as_secs())]
    Late {
        setting: &'static str,
        limit: Duration,
    },
}

/// Runs a command with the device's name in `SWITCHTENDER_DEVICE`; its output goes into the log.
///
/// # Cancellation
/// May be dropped at any time; the command is then killed.
pub async fn run(
    setting: &'static str,
    command: &str,
    device: &str,
    limit: Duration,
    log: &mut dyn RunLog,
) -> Result<(), HookError> {
    let running = tokio::process::Command::new("sh")
        .args(["-c", command])
        .env("SWITCHTENDER_DEVICE", device)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = match tokio::time::timeout(limit, running).await {
        Err(_) => return Err(HookError::Late { setting, limit }),
        Ok(outcome) => outcome.map_err(|source| HookError::Start { setting, source })?,
    };
    for line in String::from_utf8_lossy(&output.stdout).lines().take(100) {
        log.info(format!("{setting}: {line}"));
    }
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(HookError::Failed {
        setting,
        status: output.status.to_string(),
        said: said
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

    async fn outcome(command: &str) -> (Result<(), String>, Vec<(Level, String)>) {
        let mut log = Vec::new();
        let limit = Duration::from_secs(20);
        let outcome = run("prerun_command", command, "sw1", limit, &mut log).await;
        (outcome.map_err(|error| error.to_string()), log)
    }

    #[tokio::test]
    async fn commands_know_their_device_and_fail_with_their_words() {
        let (ended, log) = outcome("echo for $SWITCHTENDER_DEVICE").await;
        assert_eq!(ended, Ok(()));
        assert!(has_message(&log, Level::Info, "prerun_command: for sw1"));
        let (ended, _) = outcome("echo no such thing >&2; exit 3").await;
        assert_eq!(
            ended.unwrap_err(),
            "Could not run command from prerun_command: it ended with exit status: 3: no such thing"
        );
        let mut log = Vec::new();
        let late = run(
            "postrun_command",
            "sleep 600",
            "sw1",
            Duration::ZERO,
            &mut log,
        )
        .await;
        assert!(
            late.unwrap_err()
                .to_string()
                .ends_with("it did not end within 0 s")
        );
    }
}
