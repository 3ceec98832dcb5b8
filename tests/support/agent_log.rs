//! Searches the messages of an agent run.

use switchtender::agent::run_log::Level;

/// Whether a message of this level has this beginning.
pub fn has_message(log: &[(Level, String)], level: Level, beginning: &str) -> bool {
    log.iter()
        .any(|(of, message)| *of == level && message.starts_with(beginning))
}
