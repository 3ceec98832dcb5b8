//! A candidate configuration, committed as a task, on a device with answers in XML.

use super::*;

const PLATFORM: &str = r#"
[connection]
port = 443
[error]
message = ["message", "response.msg.line", "response.result.job.details.line"]
in_body = { path = "response.@status", failed = ["error"] }
[tasks]
id     = "response.result.job"
path   = "/job/{id}"
state  = "response.result.job.result"
done   = ["OK"]
failed = ["FAIL"]
[candidate]
commit = { verb = "POST", path = "/commit?by={user}" }
abort  = { verb = "POST", path = "/revert" }
"#;

const COMMIT: &str = "POST /commit?by=admin";
const XML: &str = "Content-Type: application/xml; charset=UTF-8";
const ACCEPTED: &[Reply] = &[Reply::Json(200, "{}")];
const ABORT: (&str, &[Reply]) = (
    "POST /revert",
    &[Reply::Headed(XML, "<response status=\"success\"/>")],
);

/// The outcomes of two writes, and the requests.
async fn write(replies: &[(&'static str, &[Reply])]) -> (Vec<String>, Vec<String>) {
    let server = serve(script(replies)).await;
    let rules = rules_of(PLATFORM);
    let session = RestSession::open(&target(&server), &rules, Access::ReadWrite).await;
    let mut session = session.expect("opened");
    let operations = [
        operation(Method::Put, "/a", Some(Text::plain("{}")), true),
        operation(Method::Put, "/b", Some(Text::plain("{}")), true),
    ];
    let outcomes = commit(&mut session, &operations).await;
    (outcomes, seen(&server))
}

#[tokio::test]
async fn candidate_is_committed_after_the_requests_of_a_change() {
    let job = "<response status=\"success\"><result><job>7</job></result></response>";
    let done = "<response status=\"success\"><result><job><id>7</id><result>OK</result></job></result></response>";
    let (outcomes, sent) = write(&[
        ("PUT /a", ACCEPTED),
        ("PUT /b", ACCEPTED),
        (COMMIT, &[Reply::Headed(XML, job)]),
        ("GET /job/7", &[Reply::Headed(XML, done)]),
    ])
    .await;
    assert_eq!(outcomes, ["done", "done"]);
    assert_eq!(sent, ["PUT /a {}", "PUT /b {}", COMMIT, "GET /job/7"]);
}

#[tokio::test]
async fn candidate_is_discarded_after_a_refusal() {
    let refused: &[Reply] = &[Reply::Json(400, r#"{"message":"invalid"}"#)];
    let (outcomes, sent) = write(&[("PUT /a", ACCEPTED), ("PUT /b", refused), ABORT]).await;
    assert_eq!(outcomes, ["not sent", "refused: invalid"]);
    assert_eq!(sent, ["PUT /a {}", "PUT /b {}", "POST /revert"]);

    // Nothing was written: there is nothing to discard.
    let (outcomes, sent) = write(&[("PUT /a", refused)]).await;
    assert_eq!(outcomes, ["refused: invalid", "not sent"]);
    assert_eq!(sent, ["PUT /a {}"]);

    let job = "<response status=\"success\"><result><job>7</job></result></response>";
    let failed = "<response status=\"success\"><result><job><id>7</id><result>FAIL</result><details><line>b is not valid</line><line>Configuration is invalid</line></details></job></result></response>";
    let locked = "<response status=\"error\" code=\"13\"><msg><line>another commit is in progress</line></msg></response>";
    for (answer, expected) in [
        (job, "refused: b is not valid; Configuration is invalid"),
        (locked, "refused: another commit is in progress"),
    ] {
        let (outcomes, sent) = write(&[
            ("PUT /a", ACCEPTED),
            ("PUT /b", ACCEPTED),
            (COMMIT, &[Reply::Headed(XML, answer)]),
            ("GET /job/7", &[Reply::Headed(XML, failed)]),
            ABORT,
        ])
        .await;
        assert_eq!(outcomes, [expected, expected]);
        assert_eq!(sent.last().map(String::as_str), Some("POST /revert"));
    }
}

#[tokio::test]
async fn candidate_without_an_answer_to_its_commit_is_not_discarded() {
    let (outcomes, sent) = write(&[
        ("PUT /a", ACCEPTED),
        ("PUT /b", ACCEPTED),
        (COMMIT, &[Reply::HangUp]),
    ])
    .await;
    assert!(
        outcomes.iter().all(|one| one.starts_with("unknown: ")),
        "{outcomes:?}"
    );
    assert_eq!(sent.last().map(String::as_str), Some(COMMIT));
}
