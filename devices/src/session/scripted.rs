//! A scripted command line for tests, over any byte stream, and its connection parameters.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use secrecy::SecretString;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream};
use tokio::net::TcpSocket;

use super::connect_params::{ConnectParams, HostKeyPolicy, LimitSettings, RestOptions, SshOptions};
use super::deadline::Deadline;
use super::fence::{Fence, FenceError, NoFence};
use super::ledger::{EarlierSessions, ListedSession, LockWait, NoLedger, SessionLedger};
use crate::secret_mask::SecretMask;

/// A device in memory that echoes commands.
#[derive(Clone, Default)]
pub(super) struct ScriptedDevice {
    /// The first prompt ends in `>`, and `enable` requires this secret.
    pub(crate) enable: Option<&'static str>,
    pub(crate) privilege: u8,
    /// Lines that it refuses.
    pub(crate) refuses: &'static [&'static str],
    /// Lines with their output.
    pub(crate) answers: &'static [(&'static str, &'static str)],
    /// Lines with a message that it prints when it executes them.
    pub(crate) messages: &'static [(&'static str, &'static str)],
    /// Lines that cause a question, with the question.
    pub(crate) asks: &'static [(&'static str, &'static str)],
    /// It disconnects instead of answering this line.
    pub(crate) drops_at: Option<&'static str>,
    /// It stops answering at this line.
    pub(crate) silent_at: Option<&'static str>,
    /// It answers this line with this text, again after every interval or key, without end.
    pub(crate) talks_at: Option<(&'static str, Talk)>,
    /// It sends nothing before the first line.
    pub(crate) starts_silent: bool,
    pub(crate) banner: &'static str,
}

/// Output without end.
#[derive(Clone, Copy)]
pub(super) enum Talk {
    /// This text after every half second.
    Drip(&'static str),
    /// This text at once, again and again.
    Flood(&'static str),
    /// This text again after every key.
    Repeat(&'static str),
}

impl Talk {
    async fn without_end(self, mut stream: impl AsyncRead + AsyncWrite + Unpin, line: &str) {
        let echo = format!("{line}\r\n");
        let mut result = stream.write_all(echo.as_bytes()).await;
        let mut key = [0; 16];
        while result.is_ok() {
            let text = match self {
                Talk::Drip(text) => {
                    tokio::time::sleep(Duration::from_millis(500)).await;
                    text
                }
                Talk::Flood(text) | Talk::Repeat(text) => text,
            };
            result = stream.write_all(text.as_bytes()).await;
            if matches!(self, Talk::Repeat(_)) && !matches!(stream.read(&mut key).await, Ok(1..)) {
                return;
            }
        }
    }
}

/// The lines that the device received, each with its prompt, and the number of writes.
#[derive(Default)]
pub(super) struct ReceivedLines {
    pub(crate) lines: Vec<String>,
    pub(crate) chunks: usize,
}

pub(super) type Log = Arc<Mutex<ReceivedLines>>;

impl ScriptedDevice {
    pub(crate) fn start(self) -> (DuplexStream, Log) {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let log = Log::default();
        tokio::spawn(self.run(theirs, Arc::clone(&log)));
        (ours, log)
    }

    pub(crate) async fn run(self, mut stream: impl AsyncRead + AsyncWrite + Unpin, log: Log) {
        let mut mode = String::new();
        let mut level = if self.enable.is_some() { ">" } else { "#" };
        let mut input = String::new();
        let mut buffer = [0; 4096];
        if !self.starts_silent {
            let hello = format!("{}\r\ncore1{level}", self.banner);
            stream.write_all(hello.as_bytes()).await.expect("open");
        }
        loop {
            // One line at a time, as a line editor does.
            while !input.contains('\r') {
                let count = stream.read(&mut buffer).await.unwrap_or(0);
                if count == 0 {
                    return;
                }
                log.lock().expect("free").chunks += 1;
                input.push_str(&String::from_utf8_lossy(&buffer[..count]));
            }
            let (line, rest) = input.split_once('\r').expect("just seen");
            let (line, rest) = (line.to_owned(), rest.to_owned());
            input = rest;
            let prompt = format!("core1{mode}{level}");
            log.lock()
                .expect("free")
                .lines
                .push(format!("{prompt}{line}"));
            if self.drops_at == Some(line.as_str()) {
                return;
            }
            if self.silent_at == Some(line.as_str()) {
                std::future::pending::<()>().await;
            }
            if let Some((at, talk)) = self.talks_at
                && at == line
            {
                return talk.without_end(stream, &line).await;
            }
            let mut output = format!("{line}\r\n");
            if let Some((_, question)) = self.asks.iter().find(|(trigger, _)| *trigger == line) {
                output.push_str(question);
                stream.write_all(output.as_bytes()).await.expect("open");
                // A line that was sent ahead answers the question with its first character.
                let key = if input.is_empty() {
                    let key = stream.read(&mut buffer).await.unwrap_or(0);
                    String::from_utf8_lossy(&buffer[..key]).into_owned()
                } else {
                    input.remove(0).to_string()
                };
                log.lock()
                    .expect("free")
                    .lines
                    .push(format!("answer {key:?}"));
                let prompt = format!("\r\ncore1{mode}{level}");
                stream.write_all(prompt.as_bytes()).await.expect("open");
                continue;
            }
            if self.refuses.contains(&line.as_str()) {
                output.push_str("            ^\r\n% Invalid input detected at '^' marker.\r\n\r\n");
            } else if let Some((_, answer)) =
                self.answers.iter().find(|(command, _)| *command == line)
            {
                output.push_str(answer);
                output.push_str("\r\n");
            } else if line == "enable" {
                output.push_str("Password: ");
                stream.write_all(output.as_bytes()).await.expect("open");
                output = "\r\n".to_owned();
                for _ in 0..3 {
                    let count = stream.read(&mut buffer).await.unwrap_or(0);
                    let typed = String::from_utf8_lossy(&buffer[..count]).into_owned();
                    log.lock()
                        .expect("free")
                        .lines
                        .push(format!("secret {typed:?}"));
                    if Some(typed.trim_end()) == self.enable {
                        level = "#";
                        break;
                    }
                    stream.write_all(b"\r\nPassword: ").await.expect("open");
                }
                if level == ">" {
                    output.push_str("% Bad secrets\r\n\r\n");
                }
            } else if line == "show privilege" {
                output.push_str(&format!(
                    "Current privilege level is {}\r\n",
                    self.privilege
                ));
            } else if line == "show clock" {
                output.push_str("12:00:00\r\n");
            } else if line == "exit" && mode.is_empty() {
                return;
            } else {
                if let Some((_, message)) =
                    self.messages.iter().find(|(command, _)| *command == line)
                {
                    output.push_str(message);
                    output.push_str("\r\n");
                }
                mode = match line.split(' ').next().unwrap_or_default() {
                    "configure" => "(config)".to_owned(),
                    "interface" => "(config-if)".to_owned(),
                    "vlan" => "(config-vlan)".to_owned(),
                    "end" => String::new(),
                    "exit" => "(config)".to_owned(),
                    _ => mode,
                };
            }
            output.push_str(&format!("core1{mode}{level}"));
            stream.write_all(output.as_bytes()).await.expect("open");
        }
    }
}

/// A fence that permits so many writes.
#[derive(Debug)]
pub(super) struct LimitedFence {
    permitted: Mutex<usize>,
}

impl LimitedFence {
    pub(crate) fn after(writes: usize) -> Arc<dyn Fence> {
        Arc::new(Self {
            permitted: Mutex::new(writes),
        })
    }
}

impl Fence for LimitedFence {
    fn check(&self) -> Result<(), FenceError> {
        let mut permitted = self.permitted.lock().expect("free");
        *permitted = permitted.checked_sub(1).ok_or_else(|| FenceError {
            reason: "the lock is lost".to_owned(),
        })?;
        Ok(())
    }
}

/// Longer than any operation on a busy machine; tests of timeouts set a shorter one.
pub(super) const TEST_TIMEOUT: Duration = Duration::from_secs(120);

pub(super) fn connect_params() -> ConnectParams {
    ConnectParams {
        device: "core1".to_owned(),
        host: "192.0.2.1".to_owned(),
        port: None,
        user: "admin".to_owned(),
        password: Some(SecretString::from("pw-secret")),
        enable_password: Some(SecretString::from("en-secret")),
        prompt: None,
        transport: super::LineTransport::Ssh,
        ssh: SshOptions {
            host_key: HostKeyPolicy::Ignore,
            ..SshOptions::default()
        },
        rest: RestOptions::default(),
        connect_timeout: TEST_TIMEOUT,
        command_timeout: TEST_TIMEOUT,
        limits: LimitSettings::default(),
        deadline: Deadline::default(),
        fence: Arc::new(NoFence),
        ledger: Arc::new(NoLedger),
        lock_wait: LockWait::default(),
        transcript: None,
        recording: None,
        mask: SecretMask::default(),
    }
}

/// The calls of a session, in order.
#[derive(Debug, Default)]
pub(super) struct TestLedger {
    earlier: EarlierSessions,
    calls: Mutex<Vec<String>>,
}

impl TestLedger {
    pub(crate) fn after(earlier: EarlierSessions) -> Arc<Self> {
        Arc::new(Self {
            earlier,
            ..Self::default()
        })
    }

    fn call(&self, text: String) {
        self.calls.lock().expect("free").push(text);
    }

    pub(crate) fn calls(&self) -> Vec<String> {
        self.calls.lock().expect("free").clone()
    }
}

#[async_trait]
impl SessionLedger for TestLedger {
    fn earlier(&self) -> Option<EarlierSessions> {
        Some(self.earlier.clone())
    }

    fn is_of_run(&self, _: &ListedSession) -> bool {
        false
    }

    async fn begin(&self, session: &ListedSession) -> Result<(), String> {
        self.call(format!("begin {session}"));
        Ok(())
    }

    async fn end(&self, session: &ListedSession) {
        self.call(format!("end {session}"));
    }

    async fn earlier_ended(&self, ended: Vec<ListedSession>) -> Result<(), String> {
        self.call(format!("ended {}", ended.len()));
        Ok(())
    }

    fn note(&self, text: String) {
        self.call(format!("note {text}"));
    }
}

/// A port without a listener, reserved while the socket exists.
pub(super) fn closed_port() -> (TcpSocket, u16) {
    let socket = TcpSocket::new_v4().expect("a socket");
    let any = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
    socket.bind(any).expect("bound");
    let port = socket.local_addr().expect("bound").port();
    (socket, port)
}
