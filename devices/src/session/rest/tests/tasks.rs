//! Requests that a device continues after its answer, and numbers of the configuration.

use super::*;

const PUT: &str = "PUT /declare";
const TASK: &str = "GET /task/7-a";

fn rules_with(section: &str) -> Arc<RestRules> {
    rules_of(&format!(
        "[connection]\nport = 443\n[error]\nmessage = \"message\"\n{section}"
    ))
}

/// The outcome of a write, and the requests.
async fn write(section: &str, replies: &[(&'static str, &[Reply])]) -> (Vec<String>, Vec<String>) {
    let server = serve(script(replies)).await;
    let rules = rules_with(section);
    let session = RestSession::open(&target(&server), &rules, Access::ReadWrite).await;
    let mut session = session.expect("opened");
    let put = operation(Method::Put, "/declare", Some(Text::plain("{}")), true);
    let outcomes = commit(&mut session, std::slice::from_ref(&put)).await;
    (outcomes, seen(&server))
}

#[tokio::test]
async fn write_waits_for_the_task_that_it_starts() {
    let tasks = |limit: u32| {
        format!(
            "[tasks]\nid = \"id\"\npath = \"/task/{{id}}\"\nstate = \"results[0].message\"\n\
             done = [\"success\"]\nfailed = [\"declaration failed\"]\nlimit = {limit}\n"
        )
    };
    let started = Reply::Json(202, r#"{"id":"7-a"}"#);
    let running = Reply::Json(200, r#"{"results":[{"message":"in progress"}]}"#);
    let done = Reply::Json(200, r#"{"results":[{"message":"success"}]}"#);
    let failed = Reply::Json(
        200,
        r#"{"message":"no such pool","results":[{"message":"declaration failed"}]}"#,
    );
    let missing = Reply::Json(404, r#"{"message":"no such task"}"#);
    let start: (&str, &[Reply]) = (PUT, &[started]);
    for (limit, states, expected) in [
        (60, vec![running.clone(), done], "done"),
        (60, vec![running.clone(), failed], "refused: no such pool"),
        (
            60,
            vec![missing],
            "unknown: cannot read the result of the task `/task/7-a`: no such task",
        ),
        (
            0,
            vec![running],
            "unknown: cannot read the result of the task `/task/7-a`: it did not end within 0s",
        ),
    ] {
        let (outcomes, _) = write(&tasks(limit), &[start, (TASK, &states)]).await;
        assert_eq!(outcomes, [expected]);
    }
    let (outcomes, sent) = write(&tasks(60), &[(PUT, &[Reply::Json(200, "{}")])]).await;
    assert_eq!(outcomes, ["done"], "an answer without a task is final");
    assert_eq!(sent, ["PUT /declare {}"]);
}

#[tokio::test]
async fn write_has_the_number_of_the_configuration() {
    let section = "[version]\npath = \"/version\"\nparameter = \"version\"\n";
    let number = [Reply::Json(200, "42")];
    let path = "PUT /declare?version=42";
    let (outcomes, sent) = write(
        section,
        &[("GET /version", &number), (path, &[Reply::Json(202, "{}")])],
    )
    .await;
    assert_eq!(outcomes, ["done"]);
    assert_eq!(sent, ["GET /version", "PUT /declare?version=42 {}"]);
    let (outcomes, sent) = write(section, &[("GET /version", &[Reply::Json(500, "{}")])]).await;
    assert_eq!(
        outcomes,
        ["refused: the answer to `GET /version` has no number of the configuration"]
    );
    assert_eq!(sent, ["GET /version"], "nothing is written");
}

#[tokio::test]
async fn write_with_an_old_number_is_stale() {
    let section = "[version]\npath = \"/version\"\nparameter = \"version\"\n";
    let conflict = Reply::Json(409, r#"{"message":"version mismatch"}"#);
    let server = serve(script(&[
        ("GET /version", &[Reply::Json(200, "42")]),
        ("PUT /declare?version=42", &[conflict]),
    ]))
    .await;
    let rules = rules_with(section);
    let session = RestSession::open(&target(&server), &rules, Access::ReadWrite).await;
    let mut session = session.expect("opened");
    let put = operation(Method::Put, "/declare", Some(Text::plain("{}")), true);
    let results = session.commit(std::slice::from_ref(&put)).await;
    assert!(results[0].is_stale);
}
