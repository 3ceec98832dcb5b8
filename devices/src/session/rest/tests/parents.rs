//! Reads of one collection for each parent.

use super::*;
use crate::read::answer_rule::{AnswerRule, Expectation};
use crate::read::field_path::FieldPath;
use crate::read::parents::ParentRead;
use crate::read::rows::RowsRule;

const PLATFORM: &str = "[connection]\nport = 443\n";

/// The result of the read of the servers of all backends, and the requests.
async fn read_servers(
    replies: &[(&'static str, Reply)],
) -> (Result<Vec<String>, String>, Vec<String>) {
    let lines: Vec<(&'static str, &[Reply])> = replies
        .iter()
        .map(|(line, reply)| (*line, std::slice::from_ref(reply)))
        .collect();
    let server = serve(script(&lines)).await;
    let rules = rules_of(PLATFORM);
    let session = RestSession::open(&target(&server), &rules, Access::ReadOnly).await;
    let mut session = session.expect("opened");
    let list = |at: FieldPath| RowsRule::json(at, false);
    let request = ReadRequest {
        optional: true,
        parents: Some(ParentRead {
            list: Box::new(get("/backends")),
            rows: list(FieldPath::of("data")),
            key: vec![("backend".to_owned(), FieldPath::of("name"))],
            answer: AnswerRule {
                expectations: vec![Expectation::Rows(list(FieldPath::default()).into())],
                ..AnswerRule::default()
            },
        }),
        ..get("/backends/{backend}/servers?full=true")
    };
    let result = session.read(&[request]).await;
    let mut sent = seen(&server);
    sent[1..].sort();
    (result.map_err(|error| error.kind.to_string()), sent)
}

#[tokio::test]
async fn read_of_parents_has_the_collection_of_each() {
    let (result, sent) = read_servers(&[
        (
            "GET /backends",
            Reply::Json(
                200,
                r#"{"data":[{"name":"a/b"},{"name":"web"},{"name":"x"}]}"#,
            ),
        ),
        (
            "GET /backends/a%2Fb/servers?full=true",
            Reply::Json(200, r#"[{"name":"s1"}]"#),
        ),
        (
            "GET /backends/web/servers?full=true",
            Reply::Json(200, "[]"),
        ),
        ("GET /backends/x/servers?full=true", Reply::Json(404, "{}")),
    ])
    .await;
    let all = r#"[{"parent":{"backend":"a/b"},"answer":[{"name":"s1"}]},{"parent":{"backend":"web"},"answer":[]},{"parent":{"backend":"x"}}]"#;
    assert_eq!(result, Ok(vec![all.to_owned()]));
    assert_eq!(sent.len(), 4, "{sent:?}");
    assert_eq!(sent[0], "GET /backends");
}

/// An answer that is no list is none without servers.
#[tokio::test]
async fn read_of_parents_checks_each_collection() {
    let (result, _) = read_servers(&[
        (
            "GET /backends",
            Reply::Json(200, r#"{"data":[{"name":"web"}]}"#),
        ),
        (
            "GET /backends/web/servers?full=true",
            Reply::Json(200, r#"{"error":"busy"}"#),
        ),
    ])
    .await;
    let error = result.expect_err("no list");
    assert!(
        error.contains("its `.` is not a list of objects"),
        "{error}"
    );
    let (result, _) = read_servers(&[(
        "GET /backends",
        Reply::Json(200, r#"{"data":[{"id":"web"}]}"#),
    )])
    .await;
    let message = "invalid answer to `GET /backends`: an object has no `name`";
    assert_eq!(result, Err(message.to_owned()));
}
