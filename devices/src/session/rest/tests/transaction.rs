//! Several requests that the device applies together.

use super::*;

const PLATFORM: &str = r#"
[connection]
port = 443
[error]
message = ["message", "failureReason"]
[candidate]
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
    write_with(PLATFORM, replies).await
}

async fn write_with(
    platform: &str,
    replies: &[(&'static str, &[Reply])],
) -> (Vec<String>, Vec<String>) {
    let server = serve(script(replies)).await;
    let rules = rules_of(platform);
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
    assert_eq!(outcomes, ["refused: no such node"; 2]);
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
    assert_eq!(outcomes, ["refused: invalid member"; 2]);
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

/// Transactions of the HAProxy Data Plane API, version 2: the transaction begins with the number of the
/// configuration, and is a parameter of its requests.
#[tokio::test]
async fn transaction_in_a_parameter_begins_with_the_number_of_the_configuration() {
    const PLATFORM: &str = r#"
[connection]
port = 5555
[error]
message = ["message"]
[version]
path      = "/v2/services/haproxy/configuration/version"
parameter = "version"
[candidate]
begin  = { verb = "POST", path = "/v2/services/haproxy/transactions" }
id     = "id"
query  = "transaction_id"
commit = { verb = "PUT", path = "/v2/services/haproxy/transactions/{id}" }
abort  = { verb = "DELETE", path = "/v2/services/haproxy/transactions/{id}" }
"#;
    const VERSION: (&str, &[Reply]) = (
        "GET /v2/services/haproxy/configuration/version",
        &[Reply::Json(200, "42")],
    );
    const BEGIN: (&str, &[Reply]) = (
        "POST /v2/services/haproxy/transactions?version=42",
        &[Reply::Json(
            201,
            r#"{"_version":42,"id":"7d0d-1","status":"in_progress"}"#,
        )],
    );
    const PATCH: &str = "PATCH /pool?transaction_id=7d0d-1";
    const POST: &str = "POST /pool/members?transaction_id=7d0d-1";
    const COMMIT: &str = "PUT /v2/services/haproxy/transactions/7d0d-1";
    const ABORT: &str = "DELETE /v2/services/haproxy/transactions/7d0d-1";
    let committed: &[Reply] = &[Reply::Json(200, r#"{"id":"7d0d-1","status":"success"}"#)];
    let (outcomes, sent) = write_with(
        PLATFORM,
        &[
            VERSION,
            BEGIN,
            (PATCH, QUEUED),
            (POST, QUEUED),
            (COMMIT, committed),
        ],
    )
    .await;
    assert_eq!(outcomes, ["done", "done"]);
    assert_eq!(sent, [VERSION.0, BEGIN.0, PATCH, POST, COMMIT]);
    let refused: &[Reply] = &[Reply::Json(
        400,
        r#"{"code":400,"message":"no such backend"}"#,
    )];
    let (outcomes, sent) = write_with(
        PLATFORM,
        &[
            VERSION,
            BEGIN,
            (PATCH, QUEUED),
            (POST, refused),
            (ABORT, QUEUED),
        ],
    )
    .await;
    assert_eq!(outcomes, ["not sent", "refused: no such backend"]);
    assert_eq!(sent, [VERSION.0, BEGIN.0, PATCH, POST, ABORT]);
}
