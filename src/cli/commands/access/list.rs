//! `access list`: users, tokens and workers with what they may do.

use super::access_files::AccessFiles;
use crate::cli::exit::{CommandError, print};
use crate::serve::access::{DeviceLimit, Role};
use crate::terminal_text::TerminalText;

/// Prints all entries.
pub(super) fn list(files: &AccessFiles) -> Result<(), CommandError> {
    let rules = files.rules()?;
    let mut text = TerminalText::new();
    for (name, user) in &rules.users {
        let note = match user.password {
            Some(_) => "",
            None => ", no password",
        };
        let role = role_text(user.role, user.devices.as_ref());
        text.line(format_args!("user {name}: {role}{note}"));
    }
    for (name, token) in &rules.tokens {
        let end = token.expires.map(|end| format!(", until {end}"));
        let role = role_text(token.role, token.devices.as_ref());
        let user = token.user.as_ref().map(|user| format!(", of {user}"));
        let (user, end) = (user.unwrap_or_default(), end.unwrap_or_default());
        text.line(format_args!("token {name}: {role}{user}{end}"));
    }
    for (name, worker) in &rules.workers {
        let end = worker.expires.map(|end| format!(", until {end}"));
        let sites: Vec<&str> = worker.sites.iter().map(String::as_str).collect();
        let (sites, end) = (sites.join(", "), end.unwrap_or_default());
        let proof = match &worker.certificate {
            Some(certificate) => format!("certificate {certificate}"),
            None => "token".to_owned(),
        };
        text.line(format_args!("worker {name}: {sites}, {proof}{end}"));
    }
    if rules.users.is_empty() && rules.tokens.is_empty() && rules.workers.is_empty() {
        text.line(format_args!(
            "{} has no users and no tokens",
            files.paths.access_file().display()
        ));
    }
    print(&text);
    Ok(())
}

/// A role with its devices.
pub(super) fn role_text(role: Role, devices: Option<&DeviceLimit>) -> String {
    match devices {
        None => role.word().to_owned(),
        Some(devices) => format!("{} for {devices}", role.word()),
    }
}
