//! Parts of the texts of session errors.

use crate::session::ledger::ListedSession;

pub(super) fn after_command(command: &str) -> String {
    if command.is_empty() {
        String::new()
    } else {
        format!(" after `{command}`")
    }
}

pub(super) fn to_command(command: &str) -> String {
    if command.is_empty() {
        String::new()
    } else {
        format!(" to `{command}`")
    }
}

pub(super) fn render_sessions(sessions: &[ListedSession]) -> String {
    if sessions.is_empty() {
        return "those of the login".to_owned();
    }
    let sessions = sessions.iter().map(ListedSession::to_string);
    sessions.collect::<Vec<_>>().join(", ")
}

pub(super) fn render_awaited(command: &str) -> String {
    match command {
        "" => "prompt".to_owned(),
        command => format!("answer to `{command}`"),
    }
}

pub(super) fn render_answer(output: &str) -> String {
    match output {
        "" => String::new(),
        output => format!("; it answered {output:?}"),
    }
}

pub(super) fn render_last_output(output: &str) -> String {
    if output.is_empty() {
        String::new()
    } else {
        format!("; the last output was {output:?}")
    }
}

pub(super) fn render_start(output: &str) -> String {
    if output.is_empty() {
        String::new()
    } else {
        format!("; it begins with {output:?}")
    }
}

pub(super) fn render_fingerprint(found: &Option<String>) -> String {
    found
        .as_ref()
        .map_or_else(String::new, |found| format!("; its fingerprint is {found}"))
}

pub(super) fn after_colon(message: &str) -> String {
    if message.is_empty() {
        String::new()
    } else {
        format!(": {message}")
    }
}
