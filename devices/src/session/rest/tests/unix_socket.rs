//! A REST interface at a Unix socket.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixListener;

use super::*;

#[tokio::test]
async fn session_uses_a_unix_socket_without_tls() {
    let directory = tempfile::tempdir().expect("made");
    let socket = directory.path().join("api.sock");
    let listener = UnixListener::bind(&socket).expect("bound");
    let peer = tokio::spawn(async move {
        let (mut client, _) = listener.accept().await.expect("connected");
        let mut request = vec![0; 4096];
        let count = client.read(&mut request).await.expect("a request");
        let answer = b"HTTP/1.1 200 x\r\ncontent-length: 2\r\n\r\n{}";
        client.write_all(answer).await.expect("written");
        String::from_utf8_lossy(&request[..count]).into_owned()
    });
    let server = serve(script(&[])).await;
    let mut target = target(&server);
    target.rest.socket = Some(socket);
    let rules = rules_of("[connection]\nport = 443\n");
    let session = RestSession::open(&target, &rules, Access::ReadOnly).await;
    let mut session = session.expect("opened");
    assert_eq!(session.read(&[get("/list")]).await.expect("read"), ["{}"]);
    assert_eq!(session.notes(), [""; 0]);
    let request = peer.await.expect("ended");
    assert!(request.starts_with("GET /list HTTP/1.1\r\n"), "{request}");
}

#[tokio::test]
async fn unix_socket_has_no_proxy() {
    let server = serve(script(&[])).await;
    let mut target = target(&server);
    target.rest.socket = Some("/run/api.sock".into());
    target.rest.proxy = Some(SecretString::from("http://proxy.example").into());
    let error = open(&target).await.err().expect("refused").to_string();
    assert!(
        error.contains("`socket` cannot be combined with a proxy or a jump host"),
        "{error}"
    );
}
