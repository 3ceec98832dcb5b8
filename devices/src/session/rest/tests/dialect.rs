//! HTTP as devices speak it: media types, headers, parameters, tokens, errors in bodies.

use super::*;

const PLATFORM: &str = r#"
[connection]
headers = { Accept = "application/yang-data+json", Content-Type = "application/yang-data+json", X-Requested-With = "switchtender" }
query = { vdom = "root a" }
[connection.token]
header = "Authorization"
value = "Bearer {token}"
[error]
message = ["cli_error", "errors.error[0].error-message"]
in_body = { path = "status", ok = ["success"] }
"#;

const ADDRESSES: &str = "GET /address?x=1&vdom=root%20a";

fn with_token(server: &HttpsTestServer) -> ConnectParams {
    let mut target = target(server);
    target.rest.token = Some(SecretString::from("T0K3N"));
    target
}

#[tokio::test]
async fn requests_have_the_media_types_and_constants_of_the_platform() {
    let success = Reply::Json(200, r#"{"status":"success"}"#);
    let post = "POST /address?vdom=root%20a";
    let server = serve(script(&[
        (ADDRESSES, std::slice::from_ref(&success)),
        (post, std::slice::from_ref(&success)),
    ]))
    .await;
    let target = with_token(&server);
    let mut session = RestSession::open(&target, &rules_of(PLATFORM), Access::ReadWrite)
        .await
        .expect("opened");
    session.read(&[get("/address?x=1")]).await.expect("read");
    let body = Some(Text::plain("{}"));
    let operations = [operation(Method::Post, "/address", body, false)];
    assert_eq!(commit(&mut session, &operations).await, ["done"]);
    assert_eq!(session.close().await, [""; 0]);
    let heads = server.heads.lock().expect("free");
    assert_eq!(heads.len(), 2, "no login and no logout: {heads:?}");
    for head in heads.iter() {
        for line in [
            "accept: application/yang-data+json",
            "x-requested-with: switchtender",
            "authorization: Bearer T0K3N",
        ] {
            assert!(head.lines().any(|one| one == line), "{line} in {head}");
        }
    }
    assert!(heads[1].contains("content-type: application/yang-data+json\r\n"));
}

#[tokio::test]
async fn token_in_the_query_is_not_logged() {
    let platform = "[connection.token]\nquery = \"access_token\"\n";
    let line = "GET /address?access_token=T0K3N";
    let server = serve(script(&[(line, &[Reply::Json(200, "{}"), Reply::Half])])).await;
    let mut target = with_token(&server);
    let path = server.directory.path().join("fw.log");
    target.transcript = Some(path.clone());
    target.command_timeout = LONG_ENOUGH_TO_LOG_IN;
    let rules = rules_of(&format!("[connection]\n{platform}"));
    let mut session = RestSession::open(&target, &rules, Access::ReadOnly)
        .await
        .expect("opened");
    session.read(&[get("/address")]).await.expect("read");
    let error = session.read(&[get("/address")]).await.expect_err("half");
    assert!(!error.to_string().contains("T0K3N"), "{error}");
    drop(session);
    let transcript = std::fs::read_to_string(path).expect("written");
    assert!(transcript.contains("> GET /address"), "{transcript}");
    assert!(!transcript.contains("T0K3N"), "{transcript}");
}

#[tokio::test]
async fn missing_token_is_an_error() {
    let server = serve(script(&[])).await;
    let opened = RestSession::open(&target(&server), &rules_of(PLATFORM), Access::ReadWrite).await;
    let error = opened.err().expect("no token");
    assert_eq!(
        error.to_string(),
        "cannot log in: the device accepts only a token"
    );
    assert_eq!(error.hint().as_deref(), Some("set `token` for this device"));
}

#[tokio::test]
async fn error_in_a_body_is_an_error_whatever_the_status_is() {
    let cases = [
        (
            Reply::Json(200, r#"{"status":"error","cli_error":"bad mask"}"#),
            "refused: bad mask",
        ),
        (
            Reply::Json(
                400,
                r#"{"errors":{"error":[{"error-message":"unknown leaf"}]}}"#,
            ),
            "refused: unknown leaf",
        ),
        (
            Reply::Json(200, r#"{"result":0}"#),
            r#"refused: {"result":0}"#,
        ),
        (Reply::Json(200, r#"{"status":"success"}"#), "done"),
    ];
    for (reply, expected) in cases {
        let server = serve(script(&[("PUT /a?vdom=root%20a", &[reply])])).await;
        let target = with_token(&server);
        let mut session = RestSession::open(&target, &rules_of(PLATFORM), Access::ReadWrite)
            .await
            .expect("opened");
        let put = operation(Method::Put, "/a", Some(Text::plain("{}")), true);
        assert_eq!(commit(&mut session, &[put]).await, [expected]);
    }
}

#[test]
fn platform_errors_name_the_key() {
    let cases = [
        (
            "headers = { \"a b\" = \"x\" }",
            "`a b: x` is not an HTTP header",
        ),
        (
            "headers = { a = \"x\\r\\ny\" }",
            "`a: x\r\ny` is not an HTTP header",
        ),
        (
            "token = { header = \"a\", query = \"b\" }",
            "[connection.token] requires one of `header`, `query` and `cookie`",
        ),
        (
            "token = { header = \"a\", value = \"Bearer\" }",
            "`value` must end with `{token}`",
        ),
        (
            "token = { header = \"a\", login = \"/l\" }",
            "key `token` is missing in [connection.token]",
        ),
        (
            "token = { header = \"a\", logout = \"/l\" }",
            "`logout` has no effect with a token of the user",
        ),
    ];
    for (line, expected) in cases {
        let source = Source::new("platform.toml", &*format!("[connection]\n{line}\n"));
        let findings = Findings::new(&source);
        read(&findings, RestRules::read);
        let messages: Vec<_> = findings
            .into_list()
            .into_iter()
            .map(|one| one.message)
            .collect();
        assert!(
            messages.iter().any(|one| one == expected),
            "{line}: {messages:?}"
        );
    }
}
