//! The answers of a recording by request.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};

/// What a recording has in place of a secret, or of a part of a request that it leaves out.
const WILDCARDS: [&str; 2] = ["••••", "…"];

/// The answers of a device, shared by its sessions.
pub(crate) type SharedScript = Arc<Mutex<ReplayScript>>;

/// A request of a recording and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedAnswer {
    /// A command, `METHOD /path body`, or an operation of NETCONF.
    pub request: String,
    /// The text of the device.
    pub answer: String,
    /// The device refused the request.
    pub is_refusal: bool,
}

/// A function that is called with requests that a recording does not have.
#[derive(Clone)]
pub struct DepartureReport(pub Arc<dyn Fn(&str) + Send + Sync>);

impl fmt::Debug for DepartureReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DepartureReport")
    }
}

/// The answers of a recording.
#[derive(Debug)]
pub(crate) struct ReplayScript {
    requests: Vec<RecordedRequest>,
    departures: Vec<String>,
    report: DepartureReport,
}

/// A request and its answers in their order.
#[derive(Debug)]
struct RecordedRequest {
    request: String,
    answers: VecDeque<RecordedAnswer>,
}

impl ReplayScript {
    pub(crate) fn new(answers: Vec<RecordedAnswer>, report: DepartureReport) -> Self {
        let mut requests: Vec<RecordedRequest> = Vec::new();
        for answer in answers {
            let request = answer.request.trim().to_owned();
            match requests.iter_mut().find(|other| other.request == request) {
                Some(found) => found.answers.push_back(answer),
                None => requests.push(RecordedRequest {
                    request,
                    answers: [answer].into(),
                }),
            }
        }
        Self {
            requests,
            departures: Vec::new(),
            report,
        }
    }

    /// The next answer to a request; `None` if the recording does not have the request.
    pub(crate) fn answer(&mut self, request: &str) -> Option<RecordedAnswer> {
        let request = request.trim();
        let exact = self.requests.iter().position(|one| one.request == request);
        let found = exact.or_else(|| {
            let mut requests = self.requests.iter();
            requests.position(|one| matches(&one.request, request))
        });
        let answers = &mut self.requests[found?].answers;
        match answers.len() {
            1 => answers.front().cloned(),
            _ => answers.pop_front(),
        }
    }

    /// Records a request that the recording does not have.
    pub(crate) fn depart(&mut self, request: &str) {
        (self.report.0)(request);
        self.departures.push(request.to_owned());
    }

    pub(crate) fn departures(&self) -> &[String] {
        &self.departures
    }
}

/// Whether a request is the recorded one. A wildcard stands for any text.
fn matches(recorded: &str, request: &str) -> bool {
    let recorded = WILDCARDS
        .iter()
        .fold(recorded.to_owned(), |text, word| text.replace(word, "\0"));
    let mut parts = recorded.split('\0');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = request.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::lock;

    #[test]
    fn script_repeats_its_last_answer_and_reports_other_requests() {
        let reported = Arc::new(Mutex::new(Vec::new()));
        let report = {
            let reported = reported.clone();
            DepartureReport(Arc::new(move |request: &str| {
                lock(&reported).push(request.to_owned());
            }))
        };
        let answer = |request: &str, answer: &str| RecordedAnswer {
            request: request.to_owned(),
            answer: answer.to_owned(),
            is_refusal: false,
        };
        let recorded = [("show vlan", "1"), ("show clock", "9"), ("show vlan", "2")];
        let recorded = recorded.map(|(request, text)| answer(request, text));
        let mut script = ReplayScript::new(recorded.to_vec(), report);
        let mut texts = Vec::new();
        for _ in 0..3 {
            texts.push(script.answer(" show vlan ").unwrap().answer);
        }
        assert_eq!(texts, ["1", "2", "2"]);
        assert_eq!(script.answer("show"), None);
        script.depart("show");
        assert_eq!(script.departures(), ["show"]);
        assert_eq!(*lock(&reported), ["show"]);
    }

    #[test]
    fn secrets_of_a_recording_are_any_text() {
        for (recorded, request, expected) in [
            ("key 7 ••••", "key 7 abc", true),
            ("key 7 ••••", "key 8 abc", false),
            ("key 7 •••• 0", "key 7 abc 0", true),
            ("key 7 •••• 0", "key 7 abc 1", false),
            ("a •••• b •••• c", "a 1 b 2 c", true),
            ("a •••• b •••• c", "a 1 2 c", false),
            ("PUT /x …", "PUT /x {\"a\":1}", true),
            ("show", "show clock", false),
        ] {
            assert_eq!(
                matches(recorded, request),
                expected,
                "{recorded}: {request}"
            );
        }
    }
}
