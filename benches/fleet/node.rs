//! A process of `serve` with a database.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::mocks::{ENABLE_PASSWORD, PASSWORD};
use super::process;
use super::site::{self, Site};

/// The time in which a node starts or ends.
const LIMIT: Duration = Duration::from_secs(120);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// A process that may run; killed when dropped.
pub(crate) struct Node {
    pub(crate) name: &'static str,
    directory: PathBuf,
    child: Option<Child>,
}

impl Node {
    /// Writes the settings of a node: the first lines, and those of all nodes.
    pub(crate) fn new(site: &Site, name: &'static str, settings: &str) -> Self {
        let directory = site.path(name);
        std::fs::create_dir(&directory).expect("a directory can be made");
        let own = settings.replace("[fleet]", &format!("[fleet]\nnode = \"{name}\""));
        site::write(&directory.join("serve.toml"), &own);
        Self {
            name,
            directory,
            child: None,
        }
    }

    /// Takes the key of the stored states from a node that has run.
    pub(crate) fn take_key(&self, other: &Self) {
        let key = |node: &Self| node.directory.join("state/state.key");
        std::fs::create_dir_all(self.directory.join("state")).expect("a directory can be made");
        std::fs::copy(key(other), key(self)).expect("the other node has run");
    }

    /// Starts the process, and waits until it serves.
    pub(crate) fn start(&mut self) {
        let log = self.directory.join("log");
        let file = std::fs::File::create(&log).expect("a file can be made");
        let child = site::program()
            .arg("serve")
            .current_dir(&self.directory)
            .env("BENCH_PASSWORD", PASSWORD)
            .env("BENCH_ENABLE", ENABLE_PASSWORD)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(file)
            .spawn();
        let child = self
            .child
            .insert(child.expect("the program can be started"));
        let end = Instant::now() + LIMIT;
        let text = || std::fs::read_to_string(&log).unwrap_or_default();
        while !text().contains("serving ") {
            let ended = child.try_wait().expect("a child has a state");
            assert!(ended.is_none(), "the node ended: {}", text());
            assert!(Instant::now() < end, "the node does not start: {}", text());
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    fn id(&self) -> u32 {
        self.child.as_ref().expect("the node runs").id()
    }

    /// Processors' time until now.
    pub(crate) fn cpu(&self) -> Duration {
        process::cpu(self.id()).unwrap_or_default()
    }

    /// The most memory until now in bytes.
    pub(crate) fn peak(&self) -> u64 {
        process::resident_peak(self.id()).unwrap_or_default()
    }

    /// Ends the process without notice.
    pub(crate) fn kill(&mut self) {
        let mut child = self.child.take().expect("the node runs");
        child.kill().expect("a child can be killed");
        child.wait().expect("a child can be waited for");
    }

    /// Ends the process as systemd does.
    pub(crate) fn stop(&mut self) {
        let mut child = self.child.take().expect("the node runs");
        process::terminate(&mut child);
    }

    /// Requests a run of a device.
    pub(crate) fn request(&self, device: &str) {
        let read = |name: &str| {
            let text = std::fs::read_to_string(self.directory.join("state/serve").join(name));
            text.expect("the node serves").trim().to_owned()
        };
        let (url, token) = (read("url"), read("local.token"));
        let address = url.trim_start_matches("http://").trim_end_matches('/');
        let mut stream = TcpStream::connect(address).expect("the node serves");
        let request = format!(
            "POST /api/v1/devices/{device}/runs HTTP/1.1\r\nhost: {address}\r\n\
             authorization: Bearer {token}\r\ncontent-type: application/json\r\n\
             content-length: 2\r\nconnection: close\r\n\r\n{{}}"
        );
        let sent = stream.write_all(request.as_bytes());
        sent.expect("the node reads");
        let mut answer = String::new();
        let received = stream.read_to_string(&mut answer);
        received.expect("the node answers");
        assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");
    }

    /// `switchtender fleet`.
    pub(crate) fn fleet(&self, arguments: &[&str]) {
        let mut command: Command = site::program();
        command
            .arg("fleet")
            .args(arguments)
            .current_dir(&self.directory);
        let output = command.output().expect("the program can be started");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {error}");
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
