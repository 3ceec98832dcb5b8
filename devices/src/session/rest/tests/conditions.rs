//! Preconditions of writes: entity tags.

use super::*;

const PATH: &str = "/mgmt/tm/ltm/pool/web";
const GET: &str = "GET /mgmt/tm/ltm/pool/web";
const PUT: &str = "PUT /mgmt/tm/ltm/pool/web";

fn put(precondition: Precondition) -> Operation {
    let mut put = operation(Method::Put, PATH, Some(Text::plain("{}")), true);
    if let Action::Request(request) = &mut put.action {
        request.precondition = precondition;
    }
    put
}

fn unchanged() -> Operation {
    put(Precondition::Unchanged(serde_json::json!({"name": "web"})))
}

/// The outcome of one write, whether the object had changed, and the header of the condition.
async fn write(get: Reply, put: Reply, operation: Operation) -> (String, bool, Option<String>) {
    let server = serve(script(&[(GET, &[get]), (PUT, &[put])])).await;
    let mut session = open(&target(&server)).await.expect("opened");
    let results = session.commit(std::slice::from_ref(&operation)).await;
    let outcome = match &results[0].outcome {
        Outcome::Done { .. } => "done".to_owned(),
        Outcome::Refused { message } => message.clone(),
        other => panic!("{other:?}"),
    };
    let heads = server.heads.lock().expect("free");
    let head = heads.iter().find(|head| head.starts_with(PUT));
    let condition = head.and_then(|head| {
        let mut lines = head.lines();
        let line = lines.find(|line| line.starts_with("if-"))?;
        Some(line.to_owned())
    });
    (outcome, results[0].is_stale, condition)
}

#[tokio::test]
async fn write_is_sent_for_the_object_that_was_read() {
    let done = Reply::Json(200, "{}");
    for get in [
        Reply::Tagged(r#"{"name":"web"}"#, "\"1\""),
        Reply::Tagged(r#"{"m:list":[{"name":"web"}]}"#, "\"1\""),
        Reply::TaggedAtEnd(r#"{"name":"web"}"#, "\"1\""),
    ] {
        let (outcome, is_stale, condition) = write(get, done.clone(), unchanged()).await;
        assert_eq!((outcome.as_str(), is_stale), ("done", false));
        assert_eq!(condition.as_deref(), Some("if-match: \"1\""));
    }
}

#[tokio::test]
async fn write_is_stale_after_a_change_of_the_object() {
    let done = Reply::Json(200, "{}");
    let other = Reply::Tagged(r#"{"name":"web","size":2}"#, "\"2\"");
    let missing = Reply::Json(404, "{}");
    for get in [other, missing] {
        let (outcome, is_stale, condition) = write(get, done.clone(), unchanged()).await;
        assert_eq!(outcome, "the object has changed since it was read");
        assert!(is_stale);
        assert_eq!(condition, None, "nothing was written");
    }
    let same = Reply::Tagged(r#"{"name":"web"}"#, "\"1\"");
    let refused = Reply::Json(412, r#"{"message":"hash"}"#);
    let (outcome, is_stale, _) = write(same, refused, unchanged()).await;
    assert_eq!((outcome.as_str(), is_stale), ("hash", true));
}

#[tokio::test]
async fn write_requires_an_entity_tag() {
    let get = Reply::Json(200, r#"{"name":"web"}"#);
    let (outcome, is_stale, condition) = write(get, Reply::Json(200, "{}"), unchanged()).await;
    assert_eq!(
        outcome,
        "invalid answer to `GET /mgmt/tm/ltm/pool/web`: it has no header `ETag`"
    );
    assert_eq!((is_stale, condition), (false, None));
}

#[tokio::test]
async fn creation_requires_that_there_is_no_object() {
    let refused = Reply::Json(412, r#"{"message":"exists"}"#);
    let (outcome, is_stale, condition) =
        write(Reply::Nothing, refused, put(Precondition::Missing)).await;
    assert_eq!((outcome.as_str(), is_stale), ("exists", true));
    assert_eq!(condition.as_deref(), Some("if-none-match: *"));
}

/// The read of a document by `POST`.
fn document() -> ReadRequest {
    ReadRequest {
        body: Some(r#"{"command":"get"}"#.to_owned()),
        ..get("/")
    }
}

const READ: &str = "POST / {\"command\":\"get\"}";

#[tokio::test]
async fn write_of_a_document_requires_the_answer_that_was_read() {
    let before = serde_json::json!({"name": "web"});
    let same = Precondition::SameAnswer(Box::new((document(), before)));
    for (answer, expected) in [
        (r#"{ "name": "web" }"#, "done"),
        (
            r#"{"name":"mail"}"#,
            "refused: the object has changed since it was read",
        ),
    ] {
        let answers = [Reply::Json(200, answer)];
        let server = serve(script(&[
            ("POST /", &answers),
            (PUT, &[Reply::Json(200, "{}")]),
        ]))
        .await;
        let mut session = open(&target(&server)).await.expect("opened");
        let operation = put(same.clone());
        let outcomes = commit(&mut session, std::slice::from_ref(&operation)).await;
        assert_eq!(outcomes, [expected]);
        let sent = seen(&server);
        assert!(sent.contains(&READ.to_owned()), "{sent:?}");
    }
}

#[tokio::test]
async fn read_by_post_is_sent_in_a_session_that_only_reads() {
    let answers = [Reply::Json(503, "{}"), Reply::Json(200, "[1]")];
    let server = serve(script(&[("POST /", &answers)])).await;
    let target = target(&server);
    let session = RestSession::open(&target, &rules(), Access::ReadOnly).await;
    let mut session = session.expect("opened");
    let texts = session.read(&[document()]).await.expect("read");
    assert_eq!(texts, ["[1]"], "a busy device is asked again");
    let write = operation(Method::Post, "/", None, true);
    let outcomes = commit(&mut session, std::slice::from_ref(&write)).await;
    assert_eq!(outcomes, ["not sent"]);
}
