//! The least that a run could cost: log in, send lines, log out. It judges nothing.

use russh::client::{self, Handle};
use russh::keys::PublicKeyOrCertificate;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::mocks::{ENABLE_PASSWORD, PASSWORD, USER};

/// `script line-by-line|at-once LINES.json PORT…`
pub(crate) fn main(arguments: &[String]) {
    let [manner, lines, ports @ ..] = arguments else {
        panic!("script line-by-line|at-once LINES.json PORT…");
    };
    let lines = std::fs::read_to_string(lines).expect("the lines can be read");
    let lines: Vec<String> = serde_json::from_str(&lines).expect("the lines are a list");
    let at_once = manner == "at-once";
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime can be made");
    runtime.block_on(async {
        let tasks = ports.iter().map(|port| {
            let (port, lines) = (port.parse().expect("a port"), lines.clone());
            tokio::spawn(async move { dialogue(port, &lines, at_once).await })
        });
        for task in tasks.collect::<Vec<_>>() {
            let ended = task.await.expect("no dialogue panics");
            ended.expect("the mocks answer");
        }
    });
}

struct Client;

impl client::Handler for Client {
    type Error = russh::Error;

    async fn check_server_key(&mut self, _: &PublicKeyOrCertificate) -> Result<bool, Self::Error> {
        Ok(true)
    }
}

async fn dialogue(port: u16, lines: &[String], at_once: bool) -> Result<(), russh::Error> {
    let config = client::Config {
        nodelay: true,
        ..client::Config::default()
    };
    let mut handle: Handle<Client> =
        client::connect(config.into(), ("127.0.0.1", port), Client).await?;
    let answer = handle.authenticate_password(USER, PASSWORD).await?;
    assert!(answer.success(), "the password is right");
    let channel = handle.channel_open_session().await?;
    channel
        .request_pty(false, "vt100", 511, 0, 0, 0, &[])
        .await?;
    channel.request_shell(false).await?;
    let mut stream = channel.into_stream();
    answered(&mut stream, 1).await?;
    let mut rest = lines;
    while let [line, after @ ..] = rest {
        rest = after;
        if line == "enable" {
            write_line(&mut stream, line).await?;
            answered(&mut stream, 1).await?;
            write_line(&mut stream, ENABLE_PASSWORD).await?;
            answered(&mut stream, 1).await?;
        } else if line == "exit" {
            write_line(&mut stream, line).await?;
            break;
        } else if at_once {
            let (now, after) = lines_before_exit(line, rest);
            for line in &now {
                write_line(&mut stream, line).await?;
            }
            answered(&mut stream, now.len()).await?;
            rest = after;
        } else {
            write_line(&mut stream, line).await?;
            answered(&mut stream, 1).await?;
        }
    }
    handle
        .disconnect(russh::Disconnect::ByApplication, "", "en")
        .await
}

/// A line and those after it that can be written without waiting.
fn lines_before_exit<'a>(line: &'a str, rest: &'a [String]) -> (Vec<&'a str>, &'a [String]) {
    let end = rest
        .iter()
        .position(|line| line == "exit" || line == "enable")
        .unwrap_or(rest.len());
    let now = std::iter::once(line).chain(rest[..end].iter().map(String::as_str));
    (now.collect(), &rest[end..])
}

async fn write_line(
    stream: &mut (impl tokio::io::AsyncWrite + Unpin),
    line: &str,
) -> Result<(), russh::Error> {
    stream.write_all(format!("{line}\r").as_bytes()).await?;
    stream.flush().await?;
    Ok(())
}

/// Reads until as many prompts were seen as lines were sent.
async fn answered(
    stream: &mut (impl tokio::io::AsyncRead + Unpin),
    lines: usize,
) -> Result<(), russh::Error> {
    let mut text = Vec::new();
    let mut seen = 0;
    let mut piece = [0; 16 * 1024];
    loop {
        let count = stream.read(&mut piece).await?;
        if count == 0 {
            return Err(russh::Error::HUP);
        }
        text.extend_from_slice(&piece[..count]);
        // Prompts that are followed by an echo stand within the text.
        while let Some(end) = text.iter().position(|byte| *byte == b'\n') {
            seen += usize::from(text[..end].starts_with(b"switch") && text[..end].contains(&b'#'));
            text.drain(..=end);
        }
        let prompt = text.starts_with(b"switch") && matches!(text.last(), Some(b'#' | b'>'))
            || text.ends_with(b"assword: ");
        if prompt && seen + 1 >= lines {
            return Ok(());
        }
    }
}
