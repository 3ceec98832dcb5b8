//! The name of the user who runs the program, for stored runs and plans.

use std::process::{Command, Stdio};

/// The effective user; below `sudo`, the user who called it. A user without a name is a number.
pub(crate) fn user_name() -> String {
    let id = rustix::process::geteuid();
    let caller = std::env::var("SUDO_USER").ok();
    caller
        .filter(|name| id.is_root() && !name.is_empty())
        .or_else(effective_user)
        .unwrap_or_else(|| format!("uid {}", id.as_raw()))
}

/// The user and the host.
pub(crate) fn author() -> String {
    let host = std::fs::read_to_string("/etc/hostname").unwrap_or_default();
    format!("{}@{}", user_name(), host.trim())
}

/// `$USER` can be another one, and `/etc/passwd` does not have the users of a directory service.
fn effective_user() -> Option<String> {
    let mut command = Command::new("id");
    let output = command.arg("-un").stderr(Stdio::null()).output().ok()?;
    let name = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !name.is_empty()).then_some(name)
}
