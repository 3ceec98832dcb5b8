//! A real Puppet Server on loopback, where one is installed.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/real-peers/puppetserver.sh"
);
const MODULES: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/fixtures/puppetserver/modules"
);
/// 20 VLANs for each device.
const MANIFEST: &str = "\
node default {
  Integer[101, 120].each |$id| {
    network_vlan { \"${id}\": vlan_name => \"bench-${id}\" }
  }
}
";

/// The server with its directory; stopped when dropped.
pub(crate) struct Server {
    dir: tempfile::TempDir,
    port: u16,
}

impl Server {
    /// Starts the server and waits for it; `None` if there is none.
    pub(crate) fn start() -> Option<Self> {
        if !Path::new("/usr/share/puppetserver/puppetserver.jar").exists() {
            return None;
        }
        let dir = tempfile::tempdir().expect("a directory can be made");
        let manifests = dir.path().join("manifests");
        std::fs::create_dir_all(&manifests).expect("a directory can be made");
        std::fs::write(manifests.join("site.pp"), MANIFEST).expect("a file can be written");
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let port = listener.local_addr().expect("it is bound").port();
        drop(listener);
        let status = Command::new("bash")
            .arg(SCRIPT)
            .args(["start", "--timeout", "540", "--port", &port.to_string()])
            .arg("--dir")
            .arg(dir.path().join("server"))
            .args(["--modules", MODULES, "--manifests"])
            .arg(manifests)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .expect("there is a shell");
        assert!(status.success(), "the server does not start");
        Some(Self { dir, port })
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = Command::new("bash")
            .arg(SCRIPT)
            .arg("stop")
            .arg("--dir")
            .arg(self.dir.path().join("server"))
            .output();
    }
}
