//! A NETCONF session: messages in, replies out, in the framing of NETCONF 1.0.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::datastore::{self, EditError};
use super::device::{CommitRequest, NetconfDevice};
use super::element::{BASE, Element};
use crate::control::{ExchangeLog, lock};
use crate::fault::{FaultDecision, FaultKind, FaultPlan};
use crate::terminal::{ConnectionState, Terminal, TerminalOutput};

/// The end of a message.
const END: &str = "]]>]]>";
const REFUSED: &str = "the server refuses the request";
const CAPABILITIES: &[&str] = &[
    "base:1.0",
    "capability:candidate:1.0",
    "capability:validate:1.1",
    "capability:confirmed-commit:1.1",
];

/// What the sessions of a server share.
#[derive(Debug, Clone)]
pub(super) struct SessionContext {
    pub(super) device: Arc<Mutex<NetconfDevice>>,
    pub(super) faults: Arc<Mutex<FaultPlan>>,
    pub(super) log: ExchangeLog,
}

#[derive(Debug)]
pub(super) struct NetconfSession {
    shared: SessionContext,
    number: u64,
    received: Vec<u8>,
    ending: ConnectionState,
    /// A fault: nothing is answered anymore.
    is_stalled: bool,
}

impl NetconfSession {
    pub(super) fn new(shared: SessionContext, number: u64) -> Self {
        lock(&shared.device).begin_session(number);
        Self {
            shared,
            number,
            received: Vec::new(),
            ending: ConnectionState::Open,
            is_stalled: false,
        }
    }

    /// The reply to a message; empty for the client's hello and after some faults.
    fn reply(&mut self, message: &str) -> String {
        if !lock(&self.shared.device).is_open(self.number) {
            self.ending = ConnectionState::Cut;
        }
        if self.is_stalled || self.ending != ConnectionState::Open {
            return String::new();
        }
        let request = match Element::parse(message.trim()) {
            Ok(request) if request.name == "rpc" => request,
            Ok(_) => return String::new(),
            Err(_) => {
                self.ending = ConnectionState::Close;
                return String::new();
            }
        };
        let Some(operation) = request.children.first() else {
            return String::new();
        };
        let written = Element::write_all(&request.children, BASE);
        let decision = lock(&self.shared.faults).decide(&written);
        let content = self.faulty(operation, &decision);
        let log = &self.shared.log;
        let answer = content.as_deref().unwrap_or_default();
        log.record(self.number, "netconf", written, answer, None);
        let id = identifier(message);
        content.map_or_else(String::new, |content| {
            format!("<rpc-reply xmlns=\"{BASE}\" message-id=\"{id}\">{content}</rpc-reply>{END}")
        })
    }

    /// The content of a reply, with the faults of the request; `None` for none.
    fn faulty(&mut self, operation: &Element, decision: &FaultDecision) -> Option<String> {
        if decision.has(FaultKind::Restart) {
            lock(&self.shared.device).restart();
        }
        if decision.has(FaultKind::Restart) || decision.has(FaultKind::DropAfter) {
            self.ending = ConnectionState::Cut;
            return None;
        }
        if decision.has(FaultKind::StallAfter) {
            self.is_stalled = true;
            return None;
        }
        if let Some(text) = decision.message(FaultKind::Refuse) {
            let message = text.unwrap_or(REFUSED).to_owned();
            return Some(error(&("operation-failed", message), None));
        }
        if decision.has(FaultKind::Locked) {
            lock(&self.shared.device).contend();
        }
        let answer = self.execute(operation);
        let mut device = lock(&self.shared.device);
        if decision.has(FaultKind::LostRevert) {
            device.mark_revert_lost();
        }
        if decision.has(FaultKind::CutOff) {
            device.is_cut_off = true;
            device.cut_off.notify_one();
        }
        if decision.has(FaultKind::CutOff) || decision.has(FaultKind::DropUnanswered) {
            self.ending = ConnectionState::Cut;
            return None;
        }
        Some(answer)
    }

    fn execute(&mut self, operation: &Element) -> String {
        let mut device = lock(&self.shared.device);
        device.expire();
        if let Some(reply) = device.answer(operation) {
            return reply.to_owned();
        }
        let text = |name: &str| operation.field(name);
        let done = match operation.name.as_str() {
            "get" | "get-config" => {
                let filter = operation.child("filter");
                let found = match filter {
                    Some(filter) => datastore::select(&device.running, &filter.children),
                    None => device.running.clone(),
                };
                return format!("<data>{}</data>", Element::write_all(&found, BASE));
            }
            "lock" | "unlock" if !names_candidate(operation, "target") => Err((
                "operation-not-supported",
                "only the candidate has a lock".to_owned(),
            )),
            "lock" => device.lock(self.number),
            "unlock" => device.unlock(self.number),
            "edit-config" if !names_candidate(operation, "target") => {
                Err(("operation-not-supported", "edit the candidate".to_owned()))
            }
            "edit-config" => {
                let config = operation.child("config");
                let changes = config.map(|config| config.children.as_slice());
                device.edit(self.number, changes.unwrap_or_default())
            }
            "validate" => device.validate(),
            "discard-changes" => device.discard(self.number),
            "commit" => {
                let seconds = text("confirm-timeout").and_then(|text| text.parse().ok());
                let request = CommitRequest {
                    is_confirmed: operation.child("confirmed").is_some(),
                    timeout: seconds.map(Duration::from_secs),
                    persist: text("persist"),
                    persist_id: text("persist-id"),
                };
                device.commit(self.number, &request)
            }
            "kill-session" => {
                let session = text("session-id").and_then(|text| text.parse().ok());
                device.kill(self.number, session.unwrap_or(self.number))
            }
            "cancel-commit" => device.cancel(self.number, text("persist-id")),
            "close-session" => {
                self.ending = ConnectionState::Close;
                Ok(())
            }
            name => Err((
                "operation-not-supported",
                format!("unknown operation {name}"),
            )),
        };
        match done {
            Ok(()) => "<ok/>".to_owned(),
            Err(refusal) => {
                let holder = device.lock_holder();
                error(&refusal, holder.filter(|_| refusal.0 == "lock-denied"))
            }
        }
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

impl Terminal for NetconfSession {
    fn greet(&mut self) -> TerminalOutput {
        let capabilities = CAPABILITIES.iter();
        let capabilities = capabilities
            .map(|name| format!("<capability>urn:ietf:params:netconf:{name}</capability>"));
        self.output(format!(
            "<hello xmlns=\"{BASE}\"><capabilities>{}</capabilities><session-id>{}</session-id></hello>{END}",
            capabilities.collect::<String>(),
            self.number
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

impl Drop for NetconfSession {
    fn drop(&mut self) {
        let mut device = lock(&self.shared.device);
        if self.ending == ConnectionState::Close || !device.keeps_lost {
            device.end_session(self.number);
        }
    }
}

fn names_candidate(operation: &Element, parameter: &str) -> bool {
    let target = operation.child(parameter);
    target.is_some_and(|target| target.child("candidate").is_some())
}

/// The identifier of a request.
fn identifier(message: &str) -> &str {
    let found = message.split_once("message-id=\"");
    let found = found.and_then(|(_, rest)| rest.split_once('"'));
    found.map_or("", |(id, _)| id)
}

/// An error, with the session that has a denied lock.
fn error((tag, message): &EditError, lock_holder: Option<u64>) -> String {
    let message = quick_xml::escape::escape(message.as_str());
    let info = lock_holder.map_or_else(String::new, |session| {
        format!("<error-info><session-id>{session}</session-id></error-info>")
    });
    format!(
        "<rpc-error><error-type>application</error-type><error-tag>{tag}</error-tag>\
         <error-severity>error</error-severity><error-message>{message}</error-message>{info}</rpc-error>"
    )
}
