//! Options of a mock that answers from a recording.

use std::sync::Arc;

use switchtender_devices::driver::{OutlineError, Platform, SessionOutline};
use switchtender_devices::read::Reads;
use switchtender_devices::recording::{Exchange, ExchangeKind, RecordedOutcome, Recording};
use switchtender_mocks::replay::{DepartureReport, ReplayProtocol};
use switchtender_mocks::{RecordedAnswer, ReplayOptions};

/// A mock with the answers of a recording. `report` is called with each request that the recording
/// does not have.
///
/// # Errors
/// The platform has a command line that no mock can have.
pub(crate) fn describe(
    name: &str,
    platform: &Platform,
    recording: &Recording,
    report: impl Fn(&str) + Send + Sync + 'static,
) -> Result<ReplayOptions, OutlineError> {
    let outline = platform.session_outline();
    let answer: fn(&Exchange) -> Vec<RecordedAnswer> = match outline {
        SessionOutline::CommandLine => line_answers,
        SessionOutline::Rest(_) | SessionOutline::Netconf => request_answers,
    };
    let exchanges = recording.exchanges.iter().filter(|exchange| {
        let is_answered = matches!(
            exchange.outcome,
            RecordedOutcome::Done | RecordedOutcome::Refused
        );
        is_answered && exchange.kind != ExchangeKind::Save
    });
    Ok(ReplayOptions {
        name: name.to_owned(),
        user: "admin".to_owned(),
        password: "admin".to_owned(),
        protocol: match outline {
            SessionOutline::CommandLine => {
                let outline = platform.command_line_outline(name, &Reads::default())?;
                ReplayProtocol::CommandLine(Box::new(outline.command_line))
            }
            SessionOutline::Rest(session) => ReplayProtocol::Rest(session),
            SessionOutline::Netconf => ReplayProtocol::Netconf,
        },
        answers: exchanges.flat_map(answer).collect(),
        report: DepartureReport(Arc::new(report)),
    })
}

/// The answers to the lines of an exchange: the last one has the text of the device.
fn line_answers(exchange: &Exchange) -> Vec<RecordedAnswer> {
    let mut answers: Vec<RecordedAnswer> = exchange
        .commands()
        .map(|line| RecordedAnswer {
            request: line.to_owned(),
            answer: String::new(),
            is_refusal: false,
        })
        .collect();
    if let Some(last) = answers.last_mut() {
        last.is_refusal = exchange.outcome == RecordedOutcome::Refused;
        // A read that was refused has an error of the session instead of the text.
        if !(last.is_refusal && matches!(exchange.kind, ExchangeKind::Read(_))) {
            last.answer.clone_from(&exchange.answer);
        }
    }
    answers
}

/// The answer to a request or an operation of NETCONF.
fn request_answers(exchange: &Exchange) -> Vec<RecordedAnswer> {
    let request = if exchange.request.starts_with('/') {
        format!("GET {}", exchange.request)
    } else {
        exchange.request.clone()
    };
    vec![RecordedAnswer {
        request,
        answer: exchange.answer.clone(),
        is_refusal: exchange.outcome == RecordedOutcome::Refused,
    }]
}
