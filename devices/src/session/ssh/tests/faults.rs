//! Servers, jump hosts and agents that cut, stall, refuse or use another protocol.

use rustix::net::sockopt::tcp_user_timeout;

use super::*;
use crate::session::fence::{Fence, FenceError, NoFence};
use crate::session::ssh::connect_tcp;

/// A server that sends this to each client and then closes the connection, or keeps it open. Returns
/// what the first client sent up to its own end.
async fn raw_server(
    answer: &'static [u8],
    closes: bool,
) -> (u16, tokio::task::JoinHandle<Vec<u8>>) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("bound");
    let port = listener.local_addr().expect("bound").port();
    let task = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.expect("accepted");
        socket.write_all(answer).await.expect("open");
        if closes {
            socket.shutdown().await.expect("open");
        }
        let mut received = Vec::new();
        let _ = socket.read_to_end(&mut received).await;
        received
    });
    (port, task)
}

fn raw_target(port: u16) -> ConnectParams {
    let mut target = connect_params();
    target.host = "127.0.0.1".to_owned();
    target.port = Some(port);
    target
}

#[tokio::test]
async fn connect_error_names_another_protocol_at_once() {
    let cases: [(&[u8], bool, &str); 6] = [
        (
            b"HTTP/1.1 400 Bad Request\r\nServer: x\r\n\r\n",
            false,
            "\"HTTP/1.1 400 Bad Request\"",
        ),
        (
            b"\xff\xfd\x18\xff\xfd\x20",
            false,
            r#"Telnet ("\xff\xfd\x18\xff\xfd")"#,
        ),
        (
            b"\x15\x03\x01\x00\x02\x02\x46",
            false,
            r#"TLS ("\x15\x03\x01\x00\x02\x02F")"#,
        ),
        (b"SSH-1.5-Cisco-1.25\r\n", false, "\"SSH-1.5-Cisco-1.25\""),
        (b"220 ftp ready\r\n", true, "\"220 ftp ready\""),
        (b"\r\n\x1b]0;forged\x07\r\n", true, r#""\x1b]0;forged\x07""#),
    ];
    for (answer, closes, escaped) in cases {
        let (port, server) = raw_server(answer, closes).await;
        // The timeout of a test is longer than its patience.
        let error = clock(&raw_target(port)).await.expect_err("no SSH");
        assert_eq!(
            error.to_string(),
            format!("127.0.0.1:{port} is not an SSH server: it answered {escaped}")
        );
        server.await.expect("ended");
    }
}

#[tokio::test]
async fn connect_error_after_a_timeout_names_another_protocol() {
    let (port, _server) = raw_server(b"Username: ", false).await;
    let mut target = raw_target(port);
    target.connect_timeout = Duration::from_millis(200);
    let error = clock(&target).await.expect_err("no SSH");
    assert_eq!(
        error.to_string(),
        format!("127.0.0.1:{port} is not an SSH server: it answered \"Username:\"")
    );
}

#[tokio::test]
async fn connect_error_names_a_broken_key_exchange() {
    for answer in [
        b"SSH-2.0-x\r\n".as_slice(),
        b"SSH-2.0-x\r\n\xff\xff\xff\xffgarbage",
    ] {
        let (port, server) = raw_server(answer, true).await;
        let error = clock(&raw_target(port)).await.expect_err("no keys");
        assert!(
            matches!(&error, SessionErrorKind::KeyExchange { .. }),
            "{error}"
        );
        let received = server.await.expect("ended");
        let received = received.escape_ascii().to_string();
        let version = concat!("SSH-2.0-Switchtender_", env!("CARGO_PKG_VERSION"), r"\r\n");
        assert!(received.starts_with(version), "{received}");
        assert!(received.contains("curve25519"), "{received}");
        assert!(!received.contains("zlib"), "{received}");
    }
}

#[tokio::test]
async fn connection_that_closes_during_login_is_no_refusal() {
    let server = serve(ServerBehavior {
        cuts_login: true,
        ..ServerBehavior::default()
    })
    .await;
    let error = clock(&target_of(&server)).await.expect_err("cut");
    assert!(
        error
            .to_string()
            .starts_with("the connection closed during the login of admin: "),
        "{error}"
    );
    assert_eq!(attempts(&server), ["admin password pw-secret"]);
}

#[tokio::test]
async fn terminal_error_names_the_refused_request() {
    for (refuses, object) in [
        (Refused::Pty, "a terminal (PTY)"),
        (Refused::Shell, "a shell"),
    ] {
        let server = serve(ServerBehavior {
            refuses: Some(refuses),
            ..ServerBehavior::default()
        })
        .await;
        let error = clock(&target_of(&server)).await.expect_err("refused");
        assert_eq!(
            error.to_string(),
            format!("cannot open a terminal: the device refused {object}")
        );
    }
}

#[tokio::test]
async fn jump_host_that_cuts_or_stalls_is_named() {
    let device = serve(ServerBehavior::default()).await;
    let jump_error = async |answer: &'static [u8], closes: bool| {
        let (port, _server) = raw_server(answer, closes).await;
        let mut hop = raw_target(port);
        hop.connect_timeout = if closes {
            TEST_TIMEOUT
        } else {
            Duration::from_millis(200)
        };
        let mut target = target_of(&device);
        target.ssh.jump = Some(Box::new(hop));
        let error = clock(&target).await.expect_err("no jump host").to_string();
        error.replace(&port.to_string(), "PORT")
    };
    assert_eq!(
        jump_error(b"", false).await,
        "jump host 127.0.0.1: cannot connect to 127.0.0.1:PORT: no session within 200ms"
    );
    assert_eq!(
        jump_error(b"", true).await,
        "jump host 127.0.0.1: cannot connect to 127.0.0.1:PORT: the device closed the connection"
    );
    assert_eq!(
        jump_error(b"HTTP/1.1 400 Bad Request\r\n", false).await,
        "jump host 127.0.0.1: 127.0.0.1:PORT is not an SSH server: it answered \"HTTP/1.1 400 Bad Request\""
    );
    // Behind a sound jump host, the device itself cuts or stalls.
    let jump = serve(ServerBehavior::forwarding()).await;
    for (closes, expected) in [
        (true, "the device closed the connection"),
        (false, "no session within 2s"),
    ] {
        let (port, _server) = raw_server(b"", closes).await;
        let mut target = raw_target(port);
        target.connect_timeout = if closes {
            TEST_TIMEOUT
        } else {
            Duration::from_secs(2)
        };
        target.ssh.jump = Some(Box::new(target_of(&jump)));
        let error = clock(&target).await.expect_err("no device");
        assert_eq!(
            error.to_string(),
            format!("cannot connect to 127.0.0.1:{port}: {expected}")
        );
    }
    // A jump host that forwards nothing.
    let refusing = serve(ServerBehavior::default()).await;
    let mut target = target_of(&device);
    target.ssh.jump = Some(Box::new(target_of(&refusing)));
    let error = clock(&target).await.expect_err("not forwarded").to_string();
    assert!(error.contains(": jump host 127.0.0.1: "), "{error}");
}

#[tokio::test]
async fn agent_that_cuts_stalls_or_refuses_is_named() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let key = PrivateKey::random(&mut safe_rng(), Algorithm::Ed25519).expect("made");
    let server = serve(ServerBehavior {
        methods: &[MethodKind::PublicKey],
        client_key: Some(key.public_key().clone()),
        ..ServerBehavior::default()
    })
    .await;
    // SSH_AGENT_IDENTITIES_ANSWER with one key and an empty comment (RFC 9987).
    let blob = key.public_key().to_bytes().expect("encoded");
    let mut identities = vec![12, 0, 0, 0, 1];
    identities.extend(u32::try_from(blob.len()).expect("short").to_be_bytes());
    identities.extend(&blob);
    identities.extend([0; 4]);
    // Frames for the first requests, whether the agent then closes, and the error.
    let failure = vec![5];
    let cases = [
        (vec![], true, "the agent closed the connection"),
        (vec![], false, "no answer within 3s"),
        (vec![failure.clone()], false, "it provides no key"),
        (
            vec![identities.clone()],
            true,
            "the agent closed the connection",
        ),
        (vec![identities.clone()], false, "no answer within 3s"),
        (vec![identities, failure], false, "agent failure"),
    ];
    for (frames, closes, expected) in cases {
        let directory = tempfile::tempdir().expect("made");
        let path = directory.path().join("agent");
        let listener = tokio::net::UnixListener::bind(&path).expect("bound");
        let count = frames.len();
        let agent = tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.expect("accepted");
            let mut request = vec![0; 4096];
            for frame in frames {
                let received = socket.read(&mut request).await.expect("open");
                assert!(received > 0, "no request");
                let length = u32::try_from(frame.len()).expect("short").to_be_bytes();
                socket
                    .write_all(&[&length, &frame[..]].concat())
                    .await
                    .expect("open");
            }
            let _ = socket.read(&mut request).await;
            if !closes {
                let _ = socket.read(&mut request).await;
            }
        });
        let mut target = target_of(&server);
        target.ssh.agent = Some(path);
        if !closes {
            target.connect_timeout = Duration::from_secs(6);
        }
        let error = clock(&target).await.expect_err("no signature").to_string();
        assert!(
            error.starts_with("cannot use the SSH agent: "),
            "{count} {closes}: {error}"
        );
        assert!(error.contains(expected), "{count} {closes}: {error}");
        agent.abort();
    }
}

/// A right to write that ends soon.
#[derive(Debug)]
struct ShortFence;

impl Fence for ShortFence {
    fn check(&self) -> Result<(), FenceError> {
        Ok(())
    }

    fn unacknowledged_limit(&self) -> Duration {
        Duration::from_millis(1200)
    }
}

#[tokio::test]
async fn the_kernel_repeats_bytes_as_long_as_the_fence_permits() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("bound");
    let mut target = ConnectParams {
        host: "127.0.0.1".to_owned(),
        port: Some(listener.local_addr().expect("bound").port()),
        ..connect_params()
    };
    let fences: [Arc<dyn Fence>; 2] = [Arc::new(NoFence), Arc::new(ShortFence)];
    let mut limits = Vec::new();
    for fence in fences {
        target.fence = fence;
        let stream = connect_tcp(&target, 22).await.expect("connected");
        limits.push(tcp_user_timeout(&stream).expect("TCP"));
    }
    assert_eq!(limits, [30_000, 1200]);
}
