//! One HTTP request to a test.

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

/// Answers a request. Returns its head and its body.
pub(super) async fn answer(stream: TcpStream, status: &str) -> (String, String) {
    let mut stream = BufReader::new(stream);
    let mut head = String::new();
    let mut length = 0;
    loop {
        let start = head.len();
        stream.read_line(&mut head).await.unwrap();
        let line = head[start..].trim().to_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.unwrap();
    let text = "{\"uuid\": \"0f0cb2a2-8a5c-4a4b-9b9e-000000000000\"}";
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{text}",
        text.len()
    );
    stream.write_all(answer.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    (head, String::from_utf8(body).unwrap())
}
