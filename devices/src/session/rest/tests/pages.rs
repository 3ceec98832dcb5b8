//! Lists on several pages.

use super::*;
use crate::read::answer_rule::{AnswerRule, Expectation};
use crate::read::field_path::FieldPath;
use crate::read::rows::RowsRule;

const PLATFORM: &str = "[connection]\nport = 443\n";

/// The answer to a read of `/list`, and the requests of the session.
async fn read_list(
    pages: &str,
    replies: &[(&'static str, Reply)],
) -> (Result<Vec<String>, String>, Vec<String>) {
    let replies: Vec<_> = replies
        .iter()
        .map(|(line, reply)| (*line, [reply.clone()]))
        .collect();
    let lines: Vec<_> = replies
        .iter()
        .map(|(line, reply)| (*line, &reply[..]))
        .collect();
    let server = serve(script(&lines)).await;
    let rules = rules_of(&format!("{PLATFORM}[pages]\n{pages}"));
    let session = RestSession::open(&target(&server), &rules, Access::ReadOnly).await;
    let mut session = session.expect("opened");
    let request = ReadRequest {
        answer: AnswerRule {
            expectations: vec![Expectation::Rows(
                RowsRule::json(FieldPath::of("items"), true).into(),
            )],
            ..AnswerRule::default()
        },
        optional: true,
        ..get("/list")
    };
    let result = session.read(&[request]).await;
    (
        result.map_err(|error| error.kind.to_string()),
        seen(&server),
    )
}

#[tokio::test]
async fn read_joins_the_pages_of_a_list() {
    let second = (
        "GET /list?skip=2&limit=2",
        r#"{"total":3,"items":[{"n":3}]}"#,
    );
    // A device can have no page after the last object.
    for (status, end) in [(200, r#"{"total":3,"items":[]}"#), (404, "{}")] {
        let (result, sent) = read_list(
            "query = \"skip={before}&limit=2\"\n",
            &[
                (
                    "GET /list?skip=0&limit=2",
                    Reply::Json(200, r#"{"total":3,"items":[{"n":1},{"n":2}]}"#),
                ),
                (second.0, Reply::Json(200, second.1)),
                ("GET /list?skip=3&limit=2", Reply::Json(status, end)),
            ],
        )
        .await;
        let all = r#"{"total":3,"items":[{"n":1},{"n":2},{"n":3}]}"#;
        assert_eq!(result, Ok(vec![all.to_owned()]), "{status}");
        assert_eq!(sent.len(), 3);
    }
}

#[tokio::test]
async fn read_follows_links_on_the_device_only() {
    let link = r#"{"next":"https://other.example/list?page=2","items":[{"n":1}]}"#;
    let (result, _) = read_list(
        "next = \"next\"\n",
        &[
            ("GET /list", Reply::Json(200, link)),
            (
                "GET /list?page=2",
                Reply::Json(200, r#"{"next":null,"items":[{"n":2}]}"#),
            ),
        ],
    )
    .await;
    let all = r#"{"next":"https://other.example/list?page=2","items":[{"n":1},{"n":2}]}"#;
    assert_eq!(result, Ok(vec![all.to_owned()]));
}

#[tokio::test]
async fn read_of_pages_has_an_end() {
    let circle = Reply::Json(200, r#"{"next":"/list","items":[]}"#);
    let (result, _) = read_list("next = \"next\"\n", &[("GET /list", circle)]).await;
    let message = "invalid answer to `GET /list`: the page `/list` is linked twice";
    assert_eq!(result, Err(message.to_owned()));
}

/// An error on a later page is an error of the read: a part of the list is not the list.
#[tokio::test]
async fn read_fails_with_a_later_page() {
    let (result, _) = read_list(
        "query = \"page={page}&limit=1\"\n",
        &[
            (
                "GET /list?page=1&limit=1",
                Reply::Json(200, r#"{"items":[{"n":1}]}"#),
            ),
            ("GET /list?page=2&limit=1", Reply::Json(500, "{}")),
        ],
    )
    .await;
    assert!(result.is_err_and(|message| message.contains("page=2")));
}
