//! A NETCONF server with recorded answers, in the framing of NETCONF 1.0.

use crate::control::lock;
use crate::replay_script::SharedScript;
use crate::terminal::{ConnectionState, Terminal, TerminalOutput};

/// The end of a message.
const END: &str = "]]>]]>";
const NAMESPACE: &str = "urn:ietf:params:xml:ns:netconf:base:1.0";

/// A session: messages in, replies out.
#[derive(Debug)]
pub(super) struct NetconfTerminal {
    script: SharedScript,
    received: Vec<u8>,
    ending: ConnectionState,
}

impl NetconfTerminal {
    pub(super) fn new(script: SharedScript) -> Self {
        Self {
            script,
            received: Vec::new(),
            ending: ConnectionState::Open,
        }
    }

    /// The reply to a message; empty for the client's hello.
    fn reply(&mut self, message: &str) -> String {
        let Some(id) = between(message, "message-id=\"", "\"") else {
            return String::new();
        };
        let operation = between(message, "<rpc ", "</rpc>");
        let operation = operation.and_then(|text| Some(text.split_once('>')?.1));
        let operation = operation.unwrap_or_default();
        let edit = between(operation, "<config", "</config>");
        let edit = edit.and_then(|text| Some(text.split_once('>')?.1));
        let is_read = operation.starts_with("<get");
        let mut script = lock(&self.script);
        let content = match (is_read, edit) {
            (false, None) => {
                if operation.starts_with("<close-session") {
                    self.ending = ConnectionState::Close;
                }
                "<ok/>".to_owned()
            }
            (true, _) => match script.answer(operation) {
                Some(found) if !found.is_refusal => return with_id(&found.answer, id) + END,
                Some(found) => error(&found.answer),
                None => {
                    script.depart(operation);
                    error("the recording does not have this request")
                }
            },
            (false, Some(edit)) => match script.answer(edit) {
                Some(found) if !found.is_refusal => "<ok/>".to_owned(),
                Some(found) => error(&found.answer),
                None => {
                    script.depart(edit);
                    error("the recording does not have this request")
                }
            },
        };
        format!("<rpc-reply xmlns=\"{NAMESPACE}\" message-id=\"{id}\">{content}</rpc-reply>{END}")
    }

    fn output(&self, text: String) -> TerminalOutput {
        TerminalOutput {
            bytes: text.into_bytes(),
            ending: self.ending,
            endless: None,
            deferral: None,
        }
    }
}

impl Terminal for NetconfTerminal {
    fn greet(&mut self) -> TerminalOutput {
        let capabilities = ["base:1.0", "capability:writable-running:1.0"]
            .map(|name| format!("<capability>urn:ietf:params:netconf:{name}</capability>"));
        let capabilities = capabilities.concat();
        self.output(format!(
            "<hello xmlns=\"{NAMESPACE}\"><capabilities>{capabilities}</capabilities>\
             <session-id>1</session-id></hello>{END}"
        ))
    }

    fn feed(&mut self, bytes: &[u8]) -> TerminalOutput {
        self.received.extend(bytes);
        let text = String::from_utf8_lossy(&self.received).into_owned();
        let mut messages: Vec<&str> = text.split(END).collect();
        let rest = messages.pop().unwrap_or_default();
        self.received = rest.as_bytes().to_vec();
        let replies: String = messages.into_iter().map(|text| self.reply(text)).collect();
        self.output(replies)
    }

    /// No operation is ever deferred.
    fn resume(&mut self) -> TerminalOutput {
        self.output(String::new())
    }
}

/// The text between the first `start` and the last `end`; up to the next `end` for an attribute.
fn between<'t>(text: &'t str, start: &str, end: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(start)?;
    let found = if end.starts_with('<') {
        rest.rsplit_once(end)
    } else {
        rest.split_once(end)
    };
    found.map(|(inner, _)| inner)
}

/// A recorded reply with the identifier of this request.
fn with_id(reply: &str, id: &str) -> String {
    match between(reply, "message-id=\"", "\"") {
        Some(recorded) => {
            let (recorded, id) = (
                format!("message-id=\"{recorded}\""),
                format!("message-id=\"{id}\""),
            );
            reply.replacen(&recorded, &id, 1)
        }
        None => reply.to_owned(),
    }
}

fn error(message: &str) -> String {
    let message = message.replace('&', "&amp;").replace('<', "&lt;");
    format!(
        "<rpc-error><error-type>application</error-type><error-tag>operation-failed</error-tag>\
         <error-severity>error</error-severity><error-message>{}</error-message></rpc-error>",
        message.trim()
    )
}
