//! A scripted server on loopback: HTTP written by hand, so that it can be as wrong as a device.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use rcgen::{CertificateParams, IsCa, KeyPair};
use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// What the server does with one request.
#[derive(Clone)]
pub(super) enum Reply {
    Json(u16, &'static str),
    /// An answer with an entity tag.
    Tagged(&'static str, &'static str),
    /// The same with the tag in the trailer.
    TaggedAtEnd(&'static str, &'static str),
    /// An answer with further headers.
    Headed(&'static str, &'static str),
    Html,
    Empty,
    /// Fewer bytes than were announced, then the end.
    Half,
    /// The end without an answer.
    HangUp,
    Nothing,
    /// An answer without end.
    Endless(u16),
}

/// Replies by request line; of several to the same one each is used once, the last for ever.
type Script = BTreeMap<&'static str, Vec<Reply>>;

pub(super) struct HttpsTestServer {
    pub(crate) port: u16,
    pub(crate) ca: PathBuf,
    pub(crate) fingerprint: String,
    /// `METHOD path body`, and the credential, of each request.
    pub(crate) seen: Arc<Mutex<Vec<(String, String)>>>,
    /// The head of each request.
    pub(crate) heads: Arc<Mutex<Vec<String>>>,
    pub(crate) most_at_once: Arc<Mutex<(usize, usize)>>,
    pub(crate) directory: tempfile::TempDir,
}

pub(super) async fn serve(script: Script) -> HttpsTestServer {
    serve_as(script, IsCa::NoCa).await
}

/// A server whose certificate is a CA certificate, or is not.
pub(super) async fn serve_as(script: Script, is_ca: IsCa) -> HttpsTestServer {
    let key = KeyPair::generate().expect("made");
    let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("valid");
    params.is_ca = is_ca;
    let certificate = params.self_signed(&key).expect("signed");
    let directory = tempfile::tempdir().expect("made");
    let ca = directory.path().join("ca.pem");
    std::fs::write(&ca, certificate.pem()).expect("written");
    let certificate = certificate.der().clone();
    let fingerprint = Sha256::digest(&certificate)
        .iter()
        .map(|byte| format!("{byte:02X}"))
        .collect::<Vec<_>>()
        .join(":");
    let private = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider has them")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], private)
        .expect("a key and its certificate");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("bound");
    let port = listener.local_addr().expect("bound").port();
    let seen: Arc<Mutex<Vec<(String, String)>>> = Arc::default();
    let most_at_once: Arc<Mutex<(usize, usize)>> = Arc::default();
    let script = Arc::new(Mutex::new(script));
    let heads: Arc<Mutex<Vec<String>>> = Arc::default();
    let (log, busy) = (Arc::clone(&seen), Arc::clone(&most_at_once));
    let all_heads = Arc::clone(&heads);
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let (acceptor, script) = (acceptor.clone(), Arc::clone(&script));
            let (log, busy) = (Arc::clone(&log), Arc::clone(&busy));
            let heads = Arc::clone(&all_heads);
            tokio::spawn(async move {
                let Ok(mut socket) = acceptor.accept(socket).await else {
                    return;
                };
                while let Some((line, head, body)) = request(&mut socket).await {
                    {
                        let mut busy = busy.lock().expect("free");
                        busy.0 += 1;
                        busy.1 = busy.1.max(busy.0);
                    }
                    let proof = head
                        .lines()
                        .find(|line| {
                            let line = line.to_ascii_lowercase();
                            line.starts_with("x-f5-auth-token") || line.starts_with("authorization")
                        })
                        .unwrap_or_default();
                    heads.lock().expect("free").push(head.clone());
                    let entry = format!("{line} {body}").trim().to_owned();
                    log.lock().expect("free").push((entry, proof.to_owned()));
                    let reply = {
                        let mut script = script.lock().expect("free");
                        let replies = script.get_mut(line.as_str());
                        match replies {
                            Some(replies) if replies.len() > 1 => replies.remove(0),
                            Some(replies) => replies[0].clone(),
                            None => Reply::Json(404, r#"{"code":404,"message":"no such thing"}"#),
                        }
                    };
                    tokio::task::yield_now().await;
                    let is_open = answer(&mut socket, reply).await;
                    busy.lock().expect("free").0 -= 1;
                    if !is_open {
                        return;
                    }
                }
            });
        }
    });
    HttpsTestServer {
        port,
        ca,
        fingerprint,
        seen,
        heads,
        most_at_once,
        directory,
    }
}

type Socket = tokio_rustls::server::TlsStream<tokio::net::TcpStream>;

/// Request line without version, head and body.
async fn request(socket: &mut Socket) -> Option<(String, String, String)> {
    let mut text = String::new();
    let mut buffer = [0; 4096];
    loop {
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| {
                    let (name, value) = line.split_once(':')?;
                    let found = name.eq_ignore_ascii_case("content-length");
                    found.then(|| value.trim().parse::<usize>().ok())?
                })
                .unwrap_or(0);
            if body.len() >= length {
                let line = head.lines().next()?.trim_end_matches(" HTTP/1.1");
                return Some((line.to_owned(), head.to_owned(), body.to_owned()));
            }
        }
        let count = socket
            .read(&mut buffer)
            .await
            .ok()
            .filter(|count| *count > 0)?;
        text.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
}

async fn answer(socket: &mut Socket, reply: Reply) -> bool {
    let (status, kind, body, announced) = match reply {
        Reply::Json(status, body) => (status, "application/json", body, body.len()),
        Reply::Tagged(body, tag) => {
            let length = body.len();
            let text =
                format!("HTTP/1.1 200 x\r\netag: {tag}\r\ncontent-length: {length}\r\n\r\n{body}");
            return write(socket, &text).await;
        }
        Reply::Headed(headers, body) => {
            let length = body.len();
            let text =
                format!("HTTP/1.1 200 x\r\n{headers}\r\ncontent-length: {length}\r\n\r\n{body}");
            return write(socket, &text).await;
        }
        Reply::TaggedAtEnd(body, tag) => {
            let text = format!(
                "HTTP/1.1 200 x\r\ntrailer: ETag\r\ntransfer-encoding: chunked\r\n\r\n\
                 {:x}\r\n{body}\r\n0\r\nEtag: {tag}\r\n\r\n",
                body.len()
            );
            return write(socket, &text).await;
        }
        Reply::Html => (200, "text/html", "<html>booting</html>", 20),
        Reply::Empty => (200, "application/json", "", 0),
        Reply::Half => (200, "application/json", "{\"items\":[", 100),
        Reply::HangUp => return false,
        Reply::Nothing => std::future::pending().await,
        Reply::Endless(status) => return write_endlessly(socket, status).await,
    };
    let text = format!(
        "HTTP/1.1 {status} x\r\ncontent-type: {kind}\r\ncontent-length: {announced}\r\n\r\n{body}"
    );
    write(socket, &text).await && announced == body.len()
}

async fn write(socket: &mut Socket, text: &str) -> bool {
    let is_written = socket.write_all(text.as_bytes()).await.is_ok();
    socket.flush().await.is_ok() && is_written
}

/// Writes pieces of a body until the client disconnects.
async fn write_endlessly(socket: &mut Socket, status: u16) -> bool {
    let head = format!("HTTP/1.1 {status} x\r\ntransfer-encoding: chunked\r\n\r\n");
    let piece = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
    let mut text = head;
    while socket.write_all(text.as_bytes()).await.is_ok() {
        text.clone_from(&piece);
    }
    false
}

pub(super) const LOGIN: &str = "POST /mgmt/shared/authn/login";
const TOKEN: Reply = Reply::Json(200, r#"{"token":{"token":"T0K3N","timeout":1200}}"#);
pub(super) const LOGOUT: &str = "DELETE /mgmt/shared/authz/tokens/T0K3N";
pub(super) const POOLS: &str = "GET /mgmt/tm/ltm/pool";

pub(super) fn script(lines: &[(&'static str, &[Reply])]) -> Script {
    let mut script = Script::from([
        (LOGIN, vec![TOKEN]),
        (LOGOUT, vec![Reply::Json(200, "{}")]),
        (POOLS, vec![Reply::Json(200, r#"{"items":[]}"#)]),
    ]);
    for (line, replies) in lines {
        script.insert(line, replies.to_vec());
    }
    script
}

pub(super) fn seen(server: &HttpsTestServer) -> Vec<String> {
    let seen = server.seen.lock().expect("free");
    seen.iter().map(|(line, _)| line.clone()).collect()
}
