//! SSH sessions against a server in this process, over real sockets.

mod host_key;
mod login;

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use russh::keys::agent::client::AgentClient;
use russh::keys::key::safe_rng;
use russh::keys::ssh_key::LineEnding;
use russh::keys::{Algorithm, HashAlg, PrivateKey, PublicKey};
use russh::server::{
    Auth, ChannelOpenHandle, Handler, Msg, Response, Session as ServerSession, VerifiedPublicKey,
};
use russh::{Channel, ChannelId, Disconnect, MethodKind, MethodSet, Preferred, kex};
use secrecy::SecretString;
use tokio::net::{TcpListener, TcpStream};

use crate::dialogue::rules_for_tests;
use crate::dialogue::{Dialect, Protocol};
use crate::read::ReadRequest;
use crate::session::connect_params::{Algorithms, ConnectParams, HostKeyPolicy};
use crate::session::scripted::{Log, ScriptedDevice, TEST_TIMEOUT, closed_port, connect_params};
use crate::session::{Access, SessionErrorKind, open};

/// Rounds of prompts, each with whether it echoes.
type Rounds = &'static [&'static [(&'static str, bool)]];

/// How the server behaves.
#[derive(Clone)]
pub(in crate::session) struct ServerBehavior {
    methods: &'static [MethodKind],
    /// The password that it takes.
    password: &'static str,
    /// Rounds of keyboard-interactive prompts; the first without echo must get the password.
    rounds: Rounds,
    client_key: Option<PublicKey>,
    /// Connections to elsewhere are made.
    forwards: bool,
    /// It disconnects with this message at the shell request.
    disconnects_with: Option<&'static str>,
    kex: Option<kex::Name>,
    refuses: Option<Refused>,
    /// It closes the connection instead of answering the password.
    cuts_login: bool,
    device: ScriptedDevice,
}

/// A request of the client that the server refuses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Refused {
    Pty,
    Shell,
}

impl ServerBehavior {
    /// A jump host.
    pub(in crate::session) fn forwarding() -> Self {
        Self {
            forwards: true,
            ..Self::default()
        }
    }
}

impl Default for ServerBehavior {
    fn default() -> Self {
        Self {
            methods: &[MethodKind::Password],
            password: "pw-secret",
            rounds: &[&[("Password: ", false)]],
            client_key: None,
            forwards: false,
            disconnects_with: None,
            kex: None,
            refuses: None,
            cuts_login: false,
            device: ScriptedDevice::default(),
        }
    }
}

pub(in crate::session) struct SshTestServer {
    port: u16,
    host_key: PublicKey,
    /// Secrets and keys that it received.
    attempts: Arc<Mutex<Vec<String>>>,
    device: Log,
}

pub(in crate::session) async fn serve(behavior: ServerBehavior) -> SshTestServer {
    let key = PrivateKey::random(&mut safe_rng(), Algorithm::Ed25519).expect("made");
    let host_key = key.public_key().clone();
    let mut methods = MethodSet::empty();
    for method in behavior.methods {
        methods.push(*method);
    }
    let preferred = match behavior.kex {
        None => Preferred::DEFAULT,
        Some(name) => Preferred {
            kex: Cow::Owned(vec![name]),
            ..Preferred::DEFAULT
        },
    };
    let config = Arc::new(russh::server::Config {
        methods,
        preferred,
        keys: vec![key],
        auth_rejection_time: Duration::ZERO,
        nodelay: true,
        ..Default::default()
    });
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("bound");
    let port = listener.local_addr().expect("bound").port();
    let attempts: Arc<Mutex<Vec<String>>> = Arc::default();
    let device = Log::default();
    let peer = Peer {
        behavior,
        attempts: Arc::clone(&attempts),
        log: Arc::clone(&device),
        channel: None,
        round: 0,
    };
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let (config, peer) = (Arc::clone(&config), peer.again());
            tokio::spawn(async move {
                if let Ok(session) = russh::server::run_stream(config, socket, peer).await {
                    let _ = session.await;
                }
            });
        }
    });
    SshTestServer {
        port,
        host_key,
        attempts,
        device,
    }
}

struct Peer {
    behavior: ServerBehavior,
    attempts: Arc<Mutex<Vec<String>>>,
    log: Log,
    channel: Option<Channel<Msg>>,
    round: usize,
}

impl Peer {
    fn again(&self) -> Self {
        Self {
            behavior: self.behavior.clone(),
            attempts: Arc::clone(&self.attempts),
            log: Arc::clone(&self.log),
            channel: None,
            round: 0,
        }
    }

    fn note(&self, attempt: String) {
        self.attempts.lock().expect("free").push(attempt);
    }
}

impl Handler for Peer {
    type Error = russh::Error;

    async fn auth_password(&mut self, user: &str, password: &str) -> Result<Auth, Self::Error> {
        self.note(format!("{user} password {password}"));
        if self.behavior.cuts_login {
            return Err(russh::Error::Disconnect);
        }
        Ok(if password == self.behavior.password {
            Auth::Accept
        } else {
            Auth::reject()
        })
    }

    async fn auth_publickey(
        &mut self,
        user: &str,
        key: VerifiedPublicKey<'_>,
    ) -> Result<Auth, Self::Error> {
        self.note(format!("{user} key"));
        let desired = self.behavior.client_key.as_ref();
        let same = desired.is_some_and(|desired| desired.key_data() == key.public_key.key_data());
        Ok(if same { Auth::Accept } else { Auth::reject() })
    }

    async fn auth_keyboard_interactive<'a>(
        &'a mut self,
        user: &str,
        _submethods: &str,
        response: Option<Response<'a>>,
    ) -> Result<Auth, Self::Error> {
        if let Some(answers) = response {
            let answers: Vec<_> = answers
                .map(|answer| String::from_utf8_lossy(&answer).into_owned())
                .collect();
            self.note(format!("{user} answers {}", answers.join(",")));
            let prompts = self.behavior.rounds[self.round];
            let wrong = prompts
                .iter()
                .zip(&answers)
                .any(|((_, echo), answer)| !echo && answer != self.behavior.password);
            if wrong {
                return Ok(Auth::reject());
            }
            self.round += 1;
        }
        Ok(match self.behavior.rounds.get(self.round) {
            None => Auth::Accept,
            Some(prompts) => Auth::Partial {
                name: Cow::Borrowed(""),
                instructions: Cow::Borrowed(""),
                prompts: prompts
                    .iter()
                    .map(|(text, echo)| (Cow::Borrowed(*text), *echo))
                    .collect(),
            },
        })
    }

    async fn channel_open_session(
        &mut self,
        channel: Channel<Msg>,
        reply: ChannelOpenHandle,
        _session: &mut ServerSession,
    ) -> Result<(), Self::Error> {
        self.channel = Some(channel);
        reply.accept().await;
        Ok(())
    }

    async fn pty_request(
        &mut self,
        channel: ChannelId,
        term: &str,
        columns: u32,
        rows: u32,
        _width: u32,
        _height: u32,
        _modes: &[(russh::Pty, u32)],
        session: &mut ServerSession,
    ) -> Result<(), Self::Error> {
        self.note(format!("terminal {term} {columns}x{rows}"));
        match self.behavior.refuses {
            Some(Refused::Pty) => session.channel_failure(channel),
            _ => session.channel_success(channel),
        }
    }

    async fn shell_request(
        &mut self,
        channel: ChannelId,
        session: &mut ServerSession,
    ) -> Result<(), Self::Error> {
        if self.behavior.refuses == Some(Refused::Shell) {
            return session.channel_failure(channel);
        }
        if let Some(message) = self.behavior.disconnects_with {
            return session.disconnect(Disconnect::TooManyConnections, message, "en");
        }
        session.channel_success(channel)?;
        let channel = self.channel.take().expect("opened before");
        let device = self.behavior.device.clone();
        let log = Arc::clone(&self.log);
        tokio::spawn(async move { device.run(channel.into_stream(), log).await });
        Ok(())
    }

    async fn channel_open_direct_tcpip(
        &mut self,
        channel: Channel<Msg>,
        host: &str,
        port: u32,
        _from: &str,
        _from_port: u32,
        reply: ChannelOpenHandle,
        _session: &mut ServerSession,
    ) -> Result<(), Self::Error> {
        if !self.behavior.forwards {
            return Ok(());
        }
        let port = u16::try_from(port).expect("a port");
        let Ok(mut onward) = TcpStream::connect((host, port)).await else {
            reply.reject(russh::ChannelOpenFailure::ConnectFailed).await;
            return Ok(());
        };
        reply.accept().await;
        tokio::spawn(async move {
            let mut stream = channel.into_stream();
            tokio::io::copy_bidirectional(&mut stream, &mut onward).await
        });
        Ok(())
    }
}

fn protocol() -> Protocol {
    Protocol {
        dialect: Dialect::Cli(rules_for_tests("cisco_ios")),
        reads: vec!["show clock".to_owned()],
    }
}

pub(in crate::session) fn target_of(server: &SshTestServer) -> ConnectParams {
    let mut target = connect_params();
    target.host = "127.0.0.1".to_owned();
    target.port = Some(server.port);
    target.ssh.host_key =
        HostKeyPolicy::Fingerprint(server.host_key.fingerprint(HashAlg::Sha256).to_string());
    target
}

/// Opens, reads the clock, closes.
async fn clock(target: &ConnectParams) -> Result<String, SessionErrorKind> {
    let mut session = open(target, &protocol(), Access::ReadWrite)
        .await
        .map_err(|error| error.kind)?;
    let request = ReadRequest {
        name: "clock".to_owned(),
        command: "show clock".to_owned(),
        optional: false,
        answer: crate::read::answer_rule::AnswerRule::default(),
    };
    let texts = session.read(&[request]).await.map_err(|error| error.kind)?;
    session.close().await;
    Ok(texts.into_iter().next().expect("one"))
}

fn attempts(server: &SshTestServer) -> Vec<String> {
    let attempts = server.attempts.lock().expect("free");
    let logins = attempts.iter().filter(|one| !one.starts_with("terminal"));
    logins.cloned().collect()
}

const CLOCK: &str = "12:00:00\n";

#[tokio::test]
async fn jump_hosts_forward_the_connection() {
    let device = serve(ServerBehavior::default()).await;
    let near = serve(ServerBehavior::forwarding()).await;
    let far = serve(ServerBehavior::forwarding()).await;
    let mut second = target_of(&far);
    second.ssh.jump = Some(Box::new(target_of(&near)));
    let mut target = target_of(&device);
    target.ssh.jump = Some(Box::new(second));
    assert_eq!(clock(&target).await.as_deref(), Ok(CLOCK));
    for server in [&near, &far, &device] {
        assert_eq!(attempts(server), ["admin password pw-secret"]);
    }
}

#[tokio::test]
async fn jump_host_errors_name_the_jump_host() {
    let device = serve(ServerBehavior::default()).await;
    let jump = serve(ServerBehavior::forwarding()).await;
    let mut target = target_of(&device);
    let mut hop = target_of(&jump);
    hop.password = Some(SecretString::from("not-it"));
    target.ssh.jump = Some(Box::new(hop.clone()));
    let error = clock(&target).await.expect_err("refused");
    assert_eq!(
        error.to_string(),
        "jump host 127.0.0.1: the device refused the login of admin"
    );
    hop.password = Some(SecretString::from("pw-secret"));
    target.ssh.jump = Some(Box::new(hop));
    let (_socket, port) = closed_port();
    target.port = Some(port);
    let error = clock(&target).await.expect_err("unreachable");
    assert!(
        error.to_string().starts_with(&format!(
            "cannot connect to 127.0.0.1:{port}: jump host 127.0.0.1: "
        )),
        "{error}"
    );
}

#[tokio::test]
async fn disconnect_error_has_the_reason_of_the_device() {
    let server = serve(ServerBehavior {
        disconnects_with: Some("All VTY lines are in use"),
        ..ServerBehavior::default()
    })
    .await;
    let error = clock(&target_of(&server)).await.expect_err("gone");
    assert!(
        error.to_string().contains("All VTY lines are in use"),
        "{error}"
    );
}

#[tokio::test]
async fn connect_errors_name_timeout_and_refusal() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("bound");
    let port = listener.local_addr().expect("bound").port();
    let mut target = connect_params();
    target.host = "127.0.0.1".to_owned();
    target.port = Some(port);
    // Accepted by the kernel, and then nothing.
    target.connect_timeout = Duration::from_millis(200);
    let error = clock(&target).await.expect_err("silent");
    assert_eq!(
        error.to_string(),
        format!("cannot connect to 127.0.0.1:{port}: no session within 200ms")
    );
    target.connect_timeout = TEST_TIMEOUT;
    drop(listener);
    let error = clock(&target).await.expect_err("unreachable");
    assert!(
        matches!(error, SessionErrorKind::Unreachable { .. }),
        "{error}"
    );
    assert!(error.to_string().contains("refused"), "{error}");
}

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
    for (answer, closes, shown) in cases {
        let (port, server) = raw_server(answer, closes).await;
        // The timeout of a test is longer than its patience.
        let error = clock(&raw_target(port)).await.expect_err("no SSH");
        assert_eq!(
            error.to_string(),
            format!("127.0.0.1:{port} is not an SSH server: it answered {shown}")
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
        hop.connect_timeout = match closes {
            true => TEST_TIMEOUT,
            false => Duration::from_millis(200),
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
        (vec![], true, "early eof"),
        (vec![], false, "no answer within 3s"),
        (vec![failure.clone()], false, "it provides no key"),
        (vec![identities.clone()], true, "early eof"),
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
                socket.read(&mut request).await.expect("open");
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
