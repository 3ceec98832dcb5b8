//! SSH sessions against a server in this process, over real sockets.

mod faults;
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
        body: None,
        optional: false,
        answer: crate::read::answer_rule::AnswerRule::default(),
        parents: None,
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
