//! A bare SSH client for the mock switch: no prompt engine, only enough to type and to read.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use russh::client::{Config, Handle, Handler, KeyboardInteractiveAuthResponse};
use russh::keys::PublicKeyOrCertificate;
use russh::{Channel, ChannelMsg};
use switchtender_mocks::cli_switch::RunningSwitch;
use switchtender_mocks::{CliSwitch, SwitchOptions};

/// Nothing on loopback takes longer; a test that waits for silence waits for [`SILENCE`].
const LIMIT: Duration = Duration::from_secs(20);
/// How long a stalled device is listened to.
pub(crate) const SILENCE: Duration = Duration::from_millis(300);

/// A machine of today.
pub(crate) const XE: &str = "C9300-48P";
/// One with 100 Mbit/s ports and one trunk encapsulation.
pub(crate) const OLD: &str = "WS-C2960-24TT-L";
/// One that knows two.
pub(crate) const ISL: &str = "WS-C3750G-24TS-1U";

pub(crate) struct Trusting;

impl Handler for Trusting {
    type Error = russh::Error;

    async fn check_server_key(&mut self, _: &PublicKeyOrCertificate) -> Result<bool, Self::Error> {
        Ok(true)
    }
}

pub(crate) async fn connect(switch: &RunningSwitch) -> Handle<Trusting> {
    connect_to(switch.address()).await
}

pub(crate) async fn connect_to(address: SocketAddr) -> Handle<Trusting> {
    let config = Arc::new(Config {
        nodelay: true,
        ..Config::default()
    });
    russh::client::connect(config, address, Trusting)
        .await
        .expect("the mock accepts connections")
}

pub(crate) struct Terminal {
    _handle: Handle<Trusting>,
    channel: Channel<russh::client::Msg>,
    pub unread: String,
}

impl Terminal {
    pub(crate) async fn open(handle: Handle<Trusting>) -> Self {
        let channel = handle.channel_open_session().await.unwrap();
        channel
            .request_pty(true, "vt100", 511, 0, 0, 0, &[])
            .await
            .unwrap();
        channel.request_shell(true).await.unwrap();
        Terminal {
            _handle: handle,
            channel,
            unread: String::new(),
        }
    }

    /// Logs in with the password and reads the first prompt.
    pub(crate) async fn login(switch: &RunningSwitch) -> Self {
        let mut handle = connect(switch).await;
        assert!(password_is_accepted(&mut handle, "admin", "admin").await);
        let mut terminal = Terminal::open(handle).await;
        terminal.until_prompt().await;
        terminal
    }

    pub(crate) async fn write(&mut self, text: &str) {
        self.channel.data(text.as_bytes()).await.unwrap();
    }

    /// More output, or `None` at the end of the connection.
    async fn more(&mut self) -> Option<()> {
        loop {
            match tokio::time::timeout(LIMIT, self.channel.wait())
                .await
                .expect("the mock answers in time")?
            {
                ChannelMsg::Data { data } => {
                    self.unread.push_str(&String::from_utf8_lossy(&data));
                    return Some(());
                }
                ChannelMsg::Close | ChannelMsg::Eof => return None,
                _ => {}
            }
        }
    }

    /// Everything up to and including the text.
    pub(crate) async fn until(&mut self, text: &str) -> String {
        loop {
            if let Some(at) = self.unread.find(text) {
                let rest = self.unread.split_off(at + text.len());
                return std::mem::replace(&mut self.unread, rest);
            }
            assert!(
                self.more().await.is_some(),
                "closed before {text:?}; read {:?}",
                self.unread
            );
        }
    }

    /// Everything up to a prompt at the end of what there is.
    pub(crate) async fn until_prompt(&mut self) -> String {
        loop {
            let last = self.unread.rsplit('\n').next().unwrap_or_default();
            let is_prompt = last.len() > 1
                && (last.ends_with('#') || last.ends_with('>'))
                && !last.contains(' ');
            if is_prompt {
                return std::mem::take(&mut self.unread);
            }
            assert!(
                self.more().await.is_some(),
                "closed before a prompt; read {:?}",
                self.unread
            );
        }
    }

    /// Everything until the connection ends.
    pub(crate) async fn until_end(&mut self) -> String {
        while self.more().await.is_some() {}
        std::mem::take(&mut self.unread)
    }

    /// Whether nothing at all comes for a while.
    pub(crate) async fn is_silent(&mut self) -> bool {
        self.unread.is_empty()
            && tokio::time::timeout(SILENCE, self.channel.wait())
                .await
                .is_err()
    }

    /// The answer to a line, without its echo and the prompt after it, with plain line ends.
    pub(crate) async fn command(&mut self, line: &str) -> String {
        self.write(&format!("{line}\n")).await;
        let output = self.until_prompt().await.replace("\r\n", "\n");
        let output = output
            .strip_prefix(line)
            .unwrap_or_else(|| panic!("no echo of {line:?} in {output:?}"));
        let output = output.strip_prefix('\n').unwrap_or(output);
        let end = output.rfind('\n').map_or(0, |at| at + 1);
        output[..end].to_owned()
    }

    pub(crate) async fn enable(&mut self) {
        assert_eq!(self.command("terminal length 0").await, "");
        self.write("enable\n").await;
        self.until("Password: ").await;
        self.write("enable\n").await;
        self.until_prompt().await;
    }

    /// From the first prompt to `(config)#`.
    pub(crate) async fn configure(&mut self) {
        self.enable().await;
        self.command("configure terminal").await;
    }
}

pub(crate) async fn start(options: SwitchOptions) -> RunningSwitch {
    CliSwitch::start(options, 0)
        .await
        .expect("a free port of loopback")
}

/// A switch and a privileged session.
pub(crate) async fn privileged() -> (RunningSwitch, Terminal) {
    let switch = start(SwitchOptions {
        start_privileged: true,
        ..SwitchOptions::default()
    })
    .await;
    let terminal = Terminal::login(&switch).await;
    (switch, terminal)
}

/// A switch of a model and a session in its configuration mode.
pub(crate) async fn configuring(model: &str) -> (RunningSwitch, Terminal) {
    let switch = start(SwitchOptions {
        model: Some(model.to_owned()),
        ..SwitchOptions::default()
    })
    .await;
    let mut terminal = Terminal::login(&switch).await;
    terminal.configure().await;
    (switch, terminal)
}

/// Logs in with a password; whether the switch accepts it.
pub(crate) async fn password_is_accepted(
    handle: &mut Handle<Trusting>,
    user: &str,
    password: &str,
) -> bool {
    let answer = handle.authenticate_password(user, password).await;
    answer.unwrap().success()
}

pub(crate) async fn keyboard_interactive(handle: &mut Handle<Trusting>, answer: &str) -> bool {
    let first = handle
        .authenticate_keyboard_interactive_start("admin", None)
        .await
        .unwrap();
    let KeyboardInteractiveAuthResponse::InfoRequest { prompts, .. } = first else {
        return false;
    };
    assert_eq!(
        (prompts.len(), prompts[0].prompt.as_str(), prompts[0].echo),
        (1, "Password: ", false)
    );
    let answered = handle
        .authenticate_keyboard_interactive_respond(vec![answer.to_owned()])
        .await
        .unwrap();
    matches!(answered, KeyboardInteractiveAuthResponse::Success)
}
