//! A lock that another session has: an earlier one of this program is ended, others are not.

use super::*;
use crate::session::ledger::EarlierSessions;
use crate::session::scripted::TestLedger;

const MONITORING: &str =
    "urn:ietf:params:xml:ns:yang:ietf-netconf-monitoring?module=ietf-netconf-monitoring";
const DENIED: &str = "<rpc-error><error-tag>lock-denied</error-tag><error-severity>error</error-severity>\
    <error-info><session-id>7</session-id></error-info></rpc-error>";
const SESSIONS: &str = "<data><netconf-state xmlns=\"urn:ietf:params:xml:ns:yang:ietf-netconf-monitoring\"><sessions>\
    <session><session-id>4</session-id><username>admin</username><login-time>t2</login-time></session>\
    <session><session-id>7</session-id><username>admin</username><login-time>t1</login-time></session>\
    </sessions></netconf-state></data>";

fn recorded(mark: &str) -> ListedSession {
    ListedSession {
        id: "7".to_owned(),
        user: "admin".to_owned(),
        mark: mark.to_owned(),
    }
}

/// Whether a session ends the one with the lock, and the calls of its ledger.
async fn ends_holder(
    capabilities: &[&'static str],
    recorded: &[ListedSession],
    all_of_login: bool,
) -> (bool, Vec<String>) {
    let ledger = TestLedger::after(EarlierSessions {
        recorded: recorded.to_vec(),
        all_of_login,
    });
    let target = ConnectParams {
        ledger: ledger.clone(),
        ..connect_params()
    };
    let server = Server {
        answers: vec![("<lock>", DENIED), ("<netconf-state", SESSIONS)],
        ..Server::with(&[&[CANDIDATE], capabilities].concat())
    };
    let (mut session, log) = open_to(&target, server, Access::ReadWrite, None).await;
    let results = session.commit(&[edit("<a/>")]).await;
    let Outcome::Refused { message } = &results[0].outcome else {
        panic!("{:?}", results[0].outcome);
    };
    assert!(message.contains("session 7 has the lock"), "{message}");
    let sent = log.lock().expect("free").clone();
    let kill = "<kill-session><session-id>7</session-id></kill-session>";
    (sent.iter().any(|request| request == kill), ledger.calls())
}

#[tokio::test]
async fn only_an_earlier_session_with_the_lock_is_ended() {
    let cases: &[(&[&'static str], &[ListedSession], bool, bool)] = &[
        (&[], &[], false, false),
        (&[], &[recorded("")], false, true),
        (&[MONITORING], &[recorded("t1")], false, true),
        // The identifier is that of a later session.
        (&[MONITORING], &[recorded("t0")], false, false),
        (&[MONITORING], &[], true, true),
        // Nobody knows whose session it is.
        (&[], &[], true, false),
    ];
    for (capabilities, recorded, all_of_login, is_ended) in cases {
        let (ended, calls) = ends_holder(capabilities, recorded, *all_of_login).await;
        assert_eq!(
            ended, *is_ended,
            "{capabilities:?} {recorded:?} {all_of_login}"
        );
        let own = if capabilities.is_empty() { "" } else { " (t2)" };
        assert_eq!(calls, [format!("begin session 4 of admin{own}")]);
    }
}
