//! Lines of requests over HTTPS.

use super::command_grammar::Mismatch;
use super::config_editor::LineRefusal;
use super::line_session::{LineAnswer, OutputForm};
use super::line_terminal::{FaultySession, GrammarContext};
use super::platform_settings::ApiSettings;
use crate::command_api::{RefusedRequestLine, RequestOutput, RequestSession};
use crate::control::lock;

/// Makes sessions of a device.
pub(super) fn new_sessions(
    context: GrammarContext,
) -> Box<dyn Fn(u64) -> Box<dyn RequestSession> + Send + Sync> {
    Box::new(move |connection| {
        let session = FaultySession::new(context.clone(), connection);
        Box::new(GrammarRequest {
            context: context.clone(),
            session,
        })
    })
}

/// The session of a request.
struct GrammarRequest {
    context: GrammarContext,
    session: FaultySession,
}

impl RequestSession for GrammarRequest {
    fn execute(&mut self, line: &str, is_json: bool) -> Result<RequestOutput, RefusedRequestLine> {
        let form = if is_json {
            OutputForm::Json
        } else {
            OutputForm::Text
        };
        let answer = self.session.request(line, form);
        match &answer.refusal {
            Some(refusal) => {
                let grammar = lock(&self.context.device).grammar.clone();
                Err(refused(&grammar.settings.api, line, refusal))
            }
            None => Ok(output(answer, is_json)),
        }
    }
}

fn output(answer: LineAnswer, is_json: bool) -> RequestOutput {
    if !is_json {
        return RequestOutput::Text(answer.text);
    }
    if answer.is_unconverted {
        return RequestOutput::Unconverted;
    }
    let value = serde_json::from_str(&answer.text);
    RequestOutput::Json(value.unwrap_or_else(|_| serde_json::json!({})))
}

fn refused(settings: &ApiSettings, line: &str, refusal: &LineRefusal) -> RefusedRequestLine {
    let (message, column) = match refusal {
        LineRefusal::Message(message) => {
            return RefusedRequestLine {
                message: message.trim_start_matches("% ").to_owned(),
                is_invalid: false,
            };
        }
        LineRefusal::Mismatch(Mismatch::Invalid { column, .. }) => (&settings.invalid, *column),
        LineRefusal::Mismatch(Mismatch::Incomplete { column, .. }) => {
            (&settings.incomplete, *column)
        }
        LineRefusal::Mismatch(Mismatch::Ambiguous { column, .. }) => (&settings.ambiguous, *column),
    };
    let (before, rest) = line.split_at_checked(column).unwrap_or((line, ""));
    let word = rest.split_whitespace().next().unwrap_or_default();
    let number = before.split_whitespace().count();
    RefusedRequestLine {
        message: message
            .replace("{word}", word)
            .replace("{number}", &number.to_string()),
        is_invalid: true,
    }
}
