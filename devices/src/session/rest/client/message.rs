//! The message in an answer.

use super::{HttpAnswer, RestClient};
use crate::session::rest::NOT_FOUND;

/// Longest message of a device in bytes.
const MESSAGE_LIMIT: usize = 2048;

impl RestClient {
    /// The message in an answer, with its code at the end and secrets masked.
    pub(crate) fn render_message(&self, answer: &HttpAnswer) -> String {
        let parsed: Option<serde_json::Value> = serde_json::from_str(&answer.body).ok();
        let message = parsed.as_ref().and_then(|body| self.message_in(body));
        let text = match (message, &parsed) {
            (Some(message), _) => self.move_code_last(&message),
            (None, _) if answer.is_success() => String::new(),
            (None, None) if is_html(&answer.body) => "an HTML page".to_owned(),
            (None, _) => answer.body.trim().to_owned(),
        };
        let mut masked = self.log().mask.apply(&text);
        if masked.len() > MESSAGE_LIMIT {
            let end = (0..=MESSAGE_LIMIT)
                .rev()
                .find(|end| masked.is_char_boundary(*end))
                .unwrap_or(0);
            masked.truncate(end);
            masked.push('…');
        }
        if masked.is_empty() && !answer.is_success() {
            return format!("status {}", answer.status);
        }
        masked
    }

    /// Whether the answer states that the object of the request does not exist.
    pub(crate) fn is_absent(&self, answer: &HttpAnswer) -> bool {
        let body: Option<serde_json::Value> = serde_json::from_str(&answer.body).ok();
        let message = body.as_ref().and_then(|body| self.message_in(body));
        let is_match = |message| self.rules.absent.iter().any(|one| one.is_match(message));
        answer.status == NOT_FOUND && message.as_deref().is_some_and(is_match)
    }

    /// The first message that exists; the texts of a list are joined.
    fn message_in(&self, body: &serde_json::Value) -> Option<String> {
        let mut paths = self.rules.message.iter();
        paths.find_map(|path| match path.get(body)? {
            serde_json::Value::Array(items) => {
                let texts: Option<Vec<&str>> = items.iter().map(|item| item.as_str()).collect();
                texts.map(|texts| texts.join("; "))
            }
            other => other.as_str().map(str::to_owned),
        })
    }

    fn move_code_last(&self, message: &str) -> String {
        let found = self.rules.code.as_ref().and_then(|code| code.find(message));
        match found {
            Some(found) if found.start() == 0 && found.end() < message.len() => {
                let code = found.as_str().trim().trim_end_matches(':');
                format!("{} ({code})", message[found.end()..].trim())
            }
            _ => message.trim().to_owned(),
        }
    }
}

pub(super) fn is_html(body: &str) -> bool {
    body.trim_start().starts_with('<')
}
