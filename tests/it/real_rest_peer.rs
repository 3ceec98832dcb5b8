//! A real device with a REST interface over plain HTTP, and runs of the program with it.
//!
//! A script of `tests/real-peers` with the name of the platform starts it on a free port of loopback.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;

use test_support::program::{self, ProgramOutput};

/// A running device; it ends with the value.
pub(crate) struct RestPeer {
    directory: PathBuf,
    platform: &'static str,
    pub(crate) port: u16,
}

impl RestPeer {
    /// Starts the device on a port, with further arguments of the script.
    pub(crate) fn start(
        directory: &Path,
        (platform, port): (&'static str, u16),
        arguments: &[&str],
    ) -> Self {
        let peer = Self {
            directory: directory.to_owned(),
            platform,
            port,
        };
        let mut command = peer.script("start");
        let status = command.args(["--port", &port.to_string()]).args(arguments);
        assert!(status.status().unwrap().success(), "{platform}.sh start");
        peer
    }

    fn script(&self, verb: &str) -> Command {
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/real-peers");
        let mut command = Command::new(scripts.join(format!("{}.sh", self.platform)));
        let directory = self.directory.join(self.platform);
        command.args([verb, "--dir"]).arg(directory);
        command
    }

    /// Runs the program with a state, and with these lines of the device in the inventory.
    pub(crate) fn run(
        &self,
        (port, lines): (u16, &str),
        (verb, state): (&str, &str),
        arguments: &[&str],
    ) -> ProgramOutput {
        let file = |name: &str, text: &str| {
            let path = self.directory.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            path.display().to_string()
        };
        let platform = self.platform;
        let inventory = file(
            "inventory.toml",
            &format!(
                "[device.peer]\nplatform = {platform:?}\naddress = \"127.0.0.1\"\nport = {port}\n\
                 user = \"admin\"\n{lines}"
            ),
        );
        file("state/common.yaml", state);
        let directory = |name: &str| self.directory.join(name).display().to_string();
        let (state, state_dir) = (directory("state"), directory("memory"));
        let mut all = vec![verb, "--inventory", &inventory];
        if verb == "facts" {
            all.push("peer");
        } else {
            all.extend(["--state", &state, "--state-dir", &state_dir]);
        }
        all.extend(arguments);
        program::run(&all)
    }

    /// A request without the program; returns the body of the answer.
    pub(crate) fn request(&self, method: &str, path: &str, body: &str) -> String {
        let mut socket = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let (port, length) = (self.port, body.len());
        write!(
            socket,
            "{method} {path} HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(" 200 "), "{answer}");
        body.to_owned()
    }
}

impl Drop for RestPeer {
    fn drop(&mut self) {
        let stopped = self.script("stop").status();
        assert!(stopped.is_ok_and(|status| status.success()) || std::thread::panicking());
    }
}
