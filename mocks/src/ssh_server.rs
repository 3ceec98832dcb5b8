//! An SSH server in front of a terminal session. Only this module and the jump host use russh.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use russh::keys::{Algorithm, HashAlg, PrivateKey, PublicKey};
use russh::server::{Auth, Config, Handler, Msg, Response, Session};
use russh::{Channel, ChannelId, MethodKind, MethodSet, Pty};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use crate::control::{ExchangeLog, RoundTrips, lock};
use crate::fault::{ConnectionStage, DeferredWork, FaultKind, FaultPlan};
use crate::network::{ConnectionCutter, DelayedStream, unaffected};
use crate::running::{RunningMock, ServedConnection};
use crate::task;
use crate::terminal::{ConnectionState, Terminal, TerminalOutput};

/// One key for all devices of a process, because key generation is slow.
static HOST_KEY: LazyLock<PrivateKey> = LazyLock::new(|| {
    PrivateKey::random(&mut russh::keys::key::safe_rng(), Algorithm::Ed25519)
        .expect("an Ed25519 key can be made from any random numbers")
});

/// The public side of the host key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostKey {
    /// `SHA256:…`, as clients print it.
    pub fingerprint: String,
    /// `ssh-ed25519 AAAA…`, the format of `known_hosts`.
    pub public_key: String,
}

impl HostKey {
    pub(crate) fn of_this_process() -> Self {
        let public = HOST_KEY.public_key();
        HostKey {
            fingerprint: public.fingerprint(HashAlg::Sha256).to_string(),
            public_key: public
                .to_openssh()
                .expect("a public key without a comment can be written"),
        }
    }
}

/// Makes the terminal of a connection, from its number and the width of the window (0 if unknown).
type NewTerminal = dyn Fn(u64, usize) -> Box<dyn Terminal> + Send + Sync;

/// Offered login methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LoginMethods {
    /// Password, keyboard-interactive and public key.
    #[default]
    All,
    /// Only `password`.
    Password,
    /// Only `keyboard-interactive`, as with an authentication server.
    KeyboardInteractive,
    /// Only `publickey`.
    PublicKey,
}

/// The account of a device, and its login methods.
#[derive(Debug)]
pub(crate) struct Account {
    user: String,
    /// For both password methods.
    password: String,
    keys: Vec<PublicKey>,
    login: LoginMethods,
}

/// A line of `authorized_keys` is not a public key.
#[derive(Debug, thiserror::Error)]
#[error("`{line}` is not a public key in OpenSSH format")]
pub struct InvalidKey {
    /// The value of the option.
    pub line: String,
}

impl Account {
    /// `keys` are lines of `authorized_keys`.
    ///
    /// # Errors
    /// A line is not a public key.
    pub(crate) fn new(
        user: &str,
        password: &str,
        keys: &[String],
        login: LoginMethods,
    ) -> Result<Self, InvalidKey> {
        let keys = keys.iter().map(|line| {
            PublicKey::from_openssh(line).map_err(|_| InvalidKey { line: line.clone() })
        });
        Ok(Self {
            user: user.to_owned(),
            password: password.to_owned(),
            keys: keys.collect::<Result<_, _>>()?,
            login,
        })
    }

    /// Whether the user may log in with a key.
    fn authorizes(&self, user: &str, key: &PublicKey) -> bool {
        let mut keys = self.keys.iter();
        user == self.user && keys.any(|authorized| authorized.key_data() == key.key_data())
    }

    fn methods(&self) -> &'static [MethodKind] {
        match self.login {
            LoginMethods::All => &[
                MethodKind::PublicKey,
                MethodKind::KeyboardInteractive,
                MethodKind::Password,
            ],
            LoginMethods::Password => &[MethodKind::Password],
            LoginMethods::KeyboardInteractive => &[MethodKind::KeyboardInteractive],
            LoginMethods::PublicKey => &[MethodKind::PublicKey],
        }
    }
}

/// Serves a connection until the token is cancelled.
pub(crate) fn server<D, N>(
    device: &RunningMock<D>,
    account: Account,
    new_terminal: N,
) -> impl Fn(TcpStream, SocketAddr, CancellationToken) -> ServedConnection + use<D, N>
where
    N: Fn(u64, usize) -> Box<dyn Terminal> + Send + Sync + 'static,
{
    let config = Arc::new(Config {
        methods: MethodSet::from(account.methods()),
        keys: vec![HOST_KEY.clone()],
        nodelay: true,
        inactivity_timeout: None,
        // Loopback needs no protection against guessing, and tests should not wait.
        auth_rejection_time: Duration::ZERO,
        auth_rejection_time_initial: Some(Duration::ZERO),
        ..Config::default()
    });
    let shared = Shared {
        account: Arc::new(account),
        deferred: device.deferred.clone(),
        faults: device.faults.clone(),
        log: device.log.clone(),
        new_terminal: Arc::new(new_terminal),
    };
    move |stream, peer, stop| {
        let connection = Connection {
            shared: shared.clone(),
        };
        Box::pin(connection.run(stream, peer, config.clone(), stop))
    }
}

/// Data that all connections of a device share.
#[derive(Clone)]
struct Shared {
    account: Arc<Account>,
    deferred: DeferredWork,
    faults: Arc<Mutex<FaultPlan>>,
    log: ExchangeLog,
    new_terminal: Arc<NewTerminal>,
}

struct Connection {
    shared: Shared,
}

impl Connection {
    async fn run(
        self,
        stream: TcpStream,
        peer: SocketAddr,
        config: Arc<Config>,
        stop: CancellationToken,
    ) {
        let cutter = ConnectionCutter::default();
        let latency = lock(&self.shared.faults).latency();
        let number = self.shared.log.connected();
        let decision = lock(&self.shared.faults).decide_stage(ConnectionStage::Connect);
        let affected = tokio::select! {
            () = stop.cancelled() => return,
            stream = unaffected(stream, &decision) => stream,
        };
        let Some(stream) = affected else {
            return;
        };
        let Ok(wire) = DelayedStream::new(stream, latency, cutter.clone()) else {
            return;
        };
        let session = SessionHandler {
            shared: self.shared,
            cutter,
            number,
            latency,
            width: 0,
            terminal: None,
            round_trips: RoundTrips::default(),
        };
        // An error is a disconnect of the client or an injected fault.
        match russh::server::run_stream(config, wire, session).await {
            Ok(running) => {
                let handle = running.handle();
                tokio::select! {
                    result = running => {
                        if let Err(error) = result {
                            tracing::debug!(%peer, %error, "the session of a mock ended");
                        }
                    }
                    () = stop.cancelled() => {
                        let _ = handle.disconnect(russh::Disconnect::ByApplication, "stopped".into(), "en".into()).await;
                    }
                }
            }
            Err(error) => tracing::debug!(%peer, %error, "the handshake of a mock failed"),
        }
    }
}

struct SessionHandler {
    shared: Shared,
    cutter: ConnectionCutter,
    number: u64,
    latency: Duration,
    width: usize,
    terminal: Option<Arc<Mutex<Box<dyn Terminal>>>>,
    round_trips: RoundTrips,
}

impl SessionHandler {
    async fn login(&mut self, method: MethodKind, right: bool) -> Result<Auth, russh::Error> {
        if !self.shared.account.methods().contains(&method) {
            return Ok(self.reject());
        }
        let (decision, refused) = {
            let mut faults = lock(&self.shared.faults);
            let decision = faults.decide_stage(ConnectionStage::Login);
            (decision, faults.refuses_login())
        };
        if decision.has(FaultKind::DropAfter) {
            return Err(russh::Error::Disconnect);
        }
        if decision.has(FaultKind::StallAfter) {
            std::future::pending::<()>().await;
        }
        Ok(if right && !refused {
            Auth::Accept
        } else {
            self.reject()
        })
    }

    /// Rejects a login. The client can retry any method.
    fn reject(&self) -> Auth {
        Auth::Reject {
            proceed_with_methods: Some(MethodSet::from(self.shared.account.methods())),
            partial_success: false,
        }
    }

    /// Sends output and applies the faults to it.
    async fn send(
        &mut self,
        channel: ChannelId,
        output: TerminalOutput,
        session: &mut Session,
    ) -> Result<(), russh::Error> {
        let TerminalOutput {
            mut bytes,
            mut ending,
            endless,
            deferral,
        } = output;
        if let (Some(delay), Some(terminal)) = (deferral, &self.terminal) {
            let (terminal, handle) = (terminal.clone(), session.handle());
            self.shared.deferred.add(delay, move || {
                let output = lock(&terminal).resume();
                task::spawn(async move {
                    // The client may have disconnected.
                    let _ = handle.data(channel, output.bytes).await;
                });
            });
        }
        let (cut, slow) = {
            let mut faults = lock(&self.shared.faults);
            (faults.cut_output(bytes.len()), faults.output_pause())
        };
        if let Some(length) = cut {
            bytes.truncate(length);
            ending = ConnectionState::Cut;
        }
        if let (Some(pause), ConnectionState::Open, false) = (slow, ending, bytes.is_empty()) {
            let handle = session.handle();
            self.round_trips.output();
            // In a separate task, because russh sends packets after this handler returns.
            task::spawn(async move {
                for byte in bytes {
                    tokio::time::sleep(pause).await;
                    if handle.data(channel, vec![byte]).await.is_err() {
                        return;
                    }
                }
            });
            return Ok(());
        }
        let silent = bytes.is_empty();
        if !silent {
            session.data(channel, bytes)?;
            self.round_trips.output();
        }
        if let Some(output) = endless {
            let handle = session.handle();
            task::spawn(async move {
                loop {
                    tokio::time::sleep(output.pause()).await;
                    if handle.data(channel, output.piece()).await.is_err() {
                        return;
                    }
                }
            });
        }
        match ending {
            ConnectionState::Open => Ok(()),
            ConnectionState::Close => {
                session.exit_status_request(channel, 0)?;
                session.eof(channel)?;
                session.close(channel)
            }
            ConnectionState::Cut if silent => Err(russh::Error::Disconnect),
            ConnectionState::Cut => {
                self.cutter.cut_after_next_write();
                Ok(())
            }
        }
    }
}

impl Handler for SessionHandler {
    type Error = russh::Error;

    async fn auth_password(&mut self, user: &str, password: &str) -> Result<Auth, Self::Error> {
        self.login(
            MethodKind::Password,
            user == self.shared.account.user && password == self.shared.account.password,
        )
        .await
    }

    async fn auth_publickey(
        &mut self,
        user: &str,
        key: russh::server::VerifiedPublicKey<'_>,
    ) -> Result<Auth, Self::Error> {
        let is_authorized = self.shared.account.authorizes(user, key.public_key);
        self.login(MethodKind::PublicKey, is_authorized).await
    }

    async fn auth_publickey_offered(
        &mut self,
        user: &str,
        offer: russh::server::PublicKeyOffer<'_>,
    ) -> Result<Auth, Self::Error> {
        Ok(if self.shared.account.authorizes(user, offer.public_key) {
            Auth::Accept
        } else {
            self.reject()
        })
    }

    async fn auth_keyboard_interactive<'a>(
        &'a mut self,
        user: &str,
        _: &str,
        response: Option<Response<'a>>,
    ) -> Result<Auth, Self::Error> {
        if !self
            .shared
            .account
            .methods()
            .contains(&MethodKind::KeyboardInteractive)
        {
            return Ok(self.reject());
        }
        let Some(mut answers) = response else {
            return Ok(Auth::Partial {
                name: Cow::Borrowed(""),
                instructions: Cow::Borrowed(""),
                prompts: Cow::Borrowed(&[(Cow::Borrowed("Password: "), false)]),
            });
        };
        let answer = answers.next();
        let right =
            answer.is_some_and(|answer| answer[..] == *self.shared.account.password.as_bytes());
        self.login(
            MethodKind::KeyboardInteractive,
            right && user == self.shared.account.user,
        )
        .await
    }

    async fn channel_open_session(
        &mut self,
        _: Channel<Msg>,
        reply: russh::server::ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), Self::Error> {
        // One terminal per connection, as on a real device.
        if self.terminal.is_some() {
            reply
                .reject(russh::ChannelOpenFailure::AdministrativelyProhibited)
                .await;
        } else {
            reply.accept().await;
        }
        Ok(())
    }

    async fn pty_request(
        &mut self,
        channel: ChannelId,
        _: &str,
        columns: u32,
        _: u32,
        _: u32,
        _: u32,
        _: &[(Pty, u32)],
        session: &mut Session,
    ) -> Result<(), Self::Error> {
        self.width = usize::try_from(columns).unwrap_or(0);
        session.channel_success(channel)
    }

    async fn shell_request(
        &mut self,
        channel: ChannelId,
        session: &mut Session,
    ) -> Result<(), Self::Error> {
        let mut terminal = (self.shared.new_terminal)(self.number, self.width);
        session.channel_success(channel)?;
        let greeting = terminal.greet();
        self.terminal = Some(Arc::new(Mutex::new(terminal)));
        self.shared.log.round_trip();
        self.send(channel, greeting, session).await
    }

    /// A subsystem, such as `netconf`, is served by the terminal of the device.
    async fn subsystem_request(
        &mut self,
        channel: ChannelId,
        _: &str,
        session: &mut Session,
    ) -> Result<(), Self::Error> {
        self.shell_request(channel, session).await
    }

    async fn data(
        &mut self,
        channel: ChannelId,
        bytes: &[u8],
        session: &mut Session,
    ) -> Result<(), Self::Error> {
        let Some(terminal) = &self.terminal else {
            return Ok(());
        };
        self.round_trips.input(&self.shared.log, self.latency);
        let output = lock(terminal).feed(bytes);
        self.send(channel, output, session).await
    }
}
