//! Several requests that the device applies together.

use super::*;

const PLATFORM: &str = r#"
[connection]
port = 443
[error]
message = ["message", "failureReason"]
[transaction]
begin     = { verb = "POST", path = "/transaction", body = "{}" }
id        = "transId"
header    = "X-Coordination-Id"
commit    = { verb = "PATCH", path = "/transaction/{id}", body = '{"state":"VALIDATING"}' }
committed = { path = "state", value = "COMPLETED" }
abort     = { verb = "DELETE", path = "/transaction/{id}" }
"#;

const BEGIN: (&str, &[Reply]) = (
    "POST /transaction",
    &[Reply::Json(200, r#"{"transId":17}"#)],
);
const QUEUED: &[Reply] = &[Reply::Json(200, "{}")];
const ABORT: (&str, &[Reply]) = ("DELETE /transaction/17", QUEUED);

/// The outcomes of two writes, and the requests with the header of the transaction.
async fn write(replies: &[(&'static str, &[Reply])]) -> (Vec<String>, Vec<String>) {
    let server = serve(script(replies)).await;
    let rules = rules_of(PLATFORM);
    let session = RestSession::open(&target(&server), &rules, Access::ReadWrite).await;
    let mut session = session.expect("opened");
    let body = || Some(Text::plain("{}"));
    let operations = [
        operation(Method::Patch, "/pool", body(), true),
        operation(Method::Post, "/pool/members", body(), false),
    ];
    let outcomes = commit(&mut session, &operations).await;
    let heads = server.heads.lock().expect("free");
    let lines = heads.iter().map(|head| {
        let line = head.lines().next().unwrap_or_default();
        let line = line.trim_end_matches(" HTTP/1.1").to_owned();
        let is_member = head.to_lowercase().contains("x-coordination-id: 17");
        if is_member {
            format!("{line} (17)")
        } else {
            line
        }
    });
    (outcomes, lines.collect())
}

#[tokio::test]
async fn requests_of_a_change_are_one_transaction() {
    let completed: &[Reply] = &[Reply::Json(200, r#"{"state":"COMPLETED"}"#)];
    let (outcomes, sent) = write(&[
        BEGIN,
        ("PATCH /pool", QUEUED),
        ("POST /pool/members", QUEUED),
        ("PATCH /transaction/17", completed),
    ])
    .await;
    assert_eq!(outcomes, ["done", "done"]);
    assert_eq!(
        sent,
        [
            "POST /transaction",
            "PATCH /pool (17)",
            "POST /pool/members (17)",
            "PATCH /transaction/17",
        ]
    );
}

#[tokio::test]
async fn refused_transaction_has_no_effect() {
    let failed: &[Reply] = &[Reply::Json(
        200,
        r#"{"state":"FAILED","failureReason":"no such node"}"#,
    )];
    let (outcomes, _) = write(&[
        BEGIN,
        ("PATCH /pool", QUEUED),
        ("POST /pool/members", QUEUED),
        ("PATCH /transaction/17", failed),
    ])
    .await;
    assert_eq!(outcomes, ["refused: no such node", "not sent"]);
    let refused: &[Reply] = &[Reply::Json(400, r#"{"message":"invalid member"}"#)];
    let (outcomes, sent) = write(&[
        BEGIN,
        ("PATCH /pool", QUEUED),
        ("POST /pool/members", refused),
        ABORT,
    ])
    .await;
    assert_eq!(outcomes, ["not sent", "refused: invalid member"]);
    assert_eq!(
        sent.last().map(String::as_str),
        Some("DELETE /transaction/17")
    );
    let (outcomes, sent) = write(&[("POST /transaction", refused)]).await;
    assert_eq!(outcomes, ["refused: invalid member", "not sent"]);
    assert_eq!(sent, ["POST /transaction"]);
}

#[tokio::test]
async fn commit_without_an_answer_has_an_unknown_outcome() {
    let (outcomes, _) = write(&[
        BEGIN,
        ("PATCH /pool", QUEUED),
        ("POST /pool/members", QUEUED),
        ("PATCH /transaction/17", &[Reply::HangUp]),
    ])
    .await;
    assert!(
        outcomes.iter().all(|one| one.starts_with("unknown: ")),
        "{outcomes:?}"
    );
}
