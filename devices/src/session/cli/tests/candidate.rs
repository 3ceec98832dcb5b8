//! Candidate configurations: the lines of a resource are committed together, or discarded.

use super::*;
use crate::dialogue::candidate_rules::{CandidateRules, ConfirmRules};

const LINES: [&str; 2] = ["ntp server 192.0.2.1", "ntp server 192.0.2.2"];

async fn candidate_session(device: ScriptedDevice, confirms: bool) -> (CliSession, Log) {
    let (mut session, log) = ready(device).await;
    let mut rules = (*session.rules).clone();
    rules.candidate = Some(CandidateRules {
        check: Some("commit check".to_owned()),
        diff: Some("show | compare".to_owned()),
        commit: "commit".to_owned(),
        abort: "rollback 0".to_owned(),
        confirm: confirms.then(|| ConfirmRules {
            commit: "commit confirmed 2".to_owned(),
            keep: "commit".to_owned(),
            revert: vec!["rollback 1".to_owned(), "commit".to_owned()],
        }),
        spans_run: false,
    });
    session.rules = Arc::new(rules);
    (session, log)
}

async fn commit_lines(session: &mut CliSession) -> Vec<String> {
    commit(session, &LINES.map(|line| operation(&[], line))).await
}

/// The lines after `configure terminal`, without prompts.
fn in_configuration(log: &Log) -> Vec<String> {
    let lines = lines(log).into_iter();
    let lines = lines.filter_map(|line| Some(line.split_once("(config)#")?.1.to_owned()));
    lines.collect()
}

#[tokio::test]
async fn candidate_is_checked_and_committed_after_the_last_line() {
    let (mut session, log) = candidate_session(ScriptedDevice::default(), false).await;
    assert_eq!(commit_lines(&mut session).await, ["done", "done"]);
    assert!(!session.awaits_confirmation());
    let expected = [
        "ntp server 192.0.2.1",
        "ntp server 192.0.2.2",
        "show | compare",
        "commit check",
        "commit",
    ];
    assert_eq!(in_configuration(&log), expected);
}

#[tokio::test]
async fn candidate_is_discarded_after_a_refusal() {
    const INVALID: &str = "% Invalid input detected at '^' marker.";
    let cases: [(&'static [&'static str], [&str; 2], &[&str]); 3] = [
        (
            &["ntp server 192.0.2.2"],
            ["not sent", "refused"],
            &["ntp server 192.0.2.1", "ntp server 192.0.2.2"],
        ),
        (
            &["commit check"],
            ["refused", "refused"],
            &[
                "ntp server 192.0.2.1",
                "ntp server 192.0.2.2",
                "show | compare",
                "commit check",
            ],
        ),
        (
            &["commit"],
            ["refused", "refused"],
            &[
                "ntp server 192.0.2.1",
                "ntp server 192.0.2.2",
                "show | compare",
                "commit check",
                "commit",
            ],
        ),
    ];
    for (refuses, expected, sent) in cases {
        let device = ScriptedDevice {
            refuses,
            ..ScriptedDevice::default()
        };
        let (mut session, log) = candidate_session(device, false).await;
        for (outcome, expected) in commit_lines(&mut session).await.iter().zip(expected) {
            assert!(outcome.starts_with(expected), "{refuses:?}: {outcome}");
            assert!(
                expected != "refused" || outcome.contains(INVALID),
                "{outcome}"
            );
        }
        let expected: Vec<&str> = sent.iter().copied().chain(["rollback 0"]).collect();
        assert_eq!(in_configuration(&log), expected, "{refuses:?}");
        assert!(session.read(&[request("show clock")]).await.is_ok());
    }
}

#[tokio::test]
async fn candidate_that_cannot_be_discarded_ends_the_session() {
    let device = ScriptedDevice {
        refuses: &["ntp server 192.0.2.2", "rollback 0"],
        ..ScriptedDevice::default()
    };
    let (mut session, _) = candidate_session(device, false).await;
    commit_lines(&mut session).await;
    assert_eq!(commit_lines(&mut session).await, ["not sent"; 2]);
}

#[tokio::test]
async fn candidate_without_an_answer_to_its_commit_is_unknown() {
    for at in ["ntp server 192.0.2.2", "commit"] {
        let device = ScriptedDevice {
            drops_at: Some(at),
            ..ScriptedDevice::default()
        };
        let (mut session, _) = candidate_session(device, false).await;
        for outcome in commit_lines(&mut session).await {
            assert!(outcome.starts_with("unknown"), "{at}: {outcome}");
        }
    }
}

#[tokio::test]
async fn candidate_is_confirmed_or_reverted_after_a_read() {
    for (keep, expected) in [(true, &["commit"][..]), (false, &["rollback 1", "commit"])] {
        let (mut session, log) = candidate_session(ScriptedDevice::default(), true).await;
        assert_eq!(commit_lines(&mut session).await, ["done", "done"]);
        assert!(session.awaits_confirmation());
        assert_eq!(
            in_configuration(&log).last().map(String::as_str),
            Some("commit confirmed 2")
        );
        let before = in_configuration(&log).len();
        session.read(&[request("show clock")]).await.expect("read");
        session.confirm(keep).await.expect("confirmed");
        assert!(!session.awaits_confirmation());
        // The first line left the configuration mode for the read.
        assert_eq!(in_configuration(&log)[before + 1..], *expected);
    }
}
