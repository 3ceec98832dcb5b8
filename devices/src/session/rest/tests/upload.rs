//! Files in requests.

use super::*;

const PLATFORM: &str = r#"
[connection]
port = 443
[upload]
headers = { Content-Range = "0-{last}/{size}" }
"#;

#[tokio::test]
async fn file_has_its_media_type_and_range() {
    let server = serve(script(&[(
        "POST /uploads/a.crt",
        &[Reply::Json(200, "{}")],
    )]))
    .await;
    let rules = rules_of(PLATFORM);
    let session = RestSession::open(&target(&server), &rules, Access::ReadWrite).await;
    let mut session = session.expect("opened");
    let content = Text::secret("-----BEGIN\nabc\n");
    let mut upload = operation(Method::Post, "/uploads/a.crt", Some(content), true);
    if let Action::Request(request) = &mut upload.action {
        request.is_file = true;
    }
    let outcomes = commit(&mut session, std::slice::from_ref(&upload)).await;
    assert_eq!(outcomes, ["done"]);
    assert_eq!(seen(&server), ["POST /uploads/a.crt -----BEGIN\nabc"]);
    let heads = server.heads.lock().expect("free");
    let head = heads[0].to_lowercase();
    assert!(
        head.contains("content-type: application/octet-stream"),
        "{head}"
    );
    assert!(head.contains("content-range: 0-14/15"), "{head}");
}
