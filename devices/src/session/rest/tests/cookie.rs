//! Logins that set a cookie.

use super::*;

const PLATFORM: &str = r#"
[connection]
port = 443
[connection.token]
login       = "/logincheck"
body        = { username = "{user}", secretkey = "{password}" }
form        = true
cookie      = "APSCOOKIE"
csrf        = { cookie = "ccsrftoken", header = "X-CSRFTOKEN" }
logout      = { verb = "POST", path = "/logout" }
"#;

const COOKIES: &str = "set-cookie: other=1; path=/\r\nset-cookie: APSCOOKIE=\"abc%2F\"; path=/; secure; httponly\r\n\
                       set-cookie: ccsrftoken=\"xyz\"; path=/";

async fn server(login: Reply) -> HttpsTestServer {
    serve(script(&[
        ("POST /logincheck", &[login]),
        ("POST /logout", &[Reply::Json(200, "{}")]),
        ("GET /list", &[Reply::Json(200, "{}")]),
    ]))
    .await
}

#[tokio::test]
async fn login_by_cookie_sends_the_cookie_and_the_second_token() {
    let server = server(Reply::Headed(COOKIES, "1document.location=\"/prompt\";")).await;
    let rules = rules_of(PLATFORM);
    let session = RestSession::open(&target(&server), &rules, Access::ReadWrite).await;
    let mut session = session.expect("opened");
    session.read(&[get("/list")]).await.expect("read");
    assert_eq!(session.close().await, [""; 0]);
    let form = "POST /logincheck username=admin&secretkey=pw-%22secret%22";
    assert_eq!(seen(&server), [form, "GET /list", "POST /logout"]);
    let heads = server.heads.lock().expect("free");
    assert!(heads[0].contains("content-type: application/x-www-form-urlencoded"));
    for head in &heads[1..] {
        let head = head.to_lowercase();
        assert!(head.contains("cookie: apscookie=abc%2f\r\n"), "{head}");
        assert!(head.contains("x-csrftoken: xyz"), "{head}");
        assert!(!head.contains("authorization"), "{head}");
    }
}

#[tokio::test]
async fn login_without_the_cookie_is_an_error() {
    let server = server(Reply::Json(200, "{}")).await;
    let rules = rules_of(PLATFORM);
    let session = RestSession::open(&target(&server), &rules, Access::ReadWrite).await;
    let error = session.err().expect("no cookie").to_string();
    let message = "invalid answer to `POST /logincheck`: the answer has no cookie `APSCOOKIE`";
    assert_eq!(error, message);
}
