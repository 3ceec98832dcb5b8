//! The network of a process: a namespace with one link, to the test. The link can go down, as that of a lost host.
//!
//! The namespace has no name and no file. It ends with the process that holds it, which ends with the test, also if that
//! is killed.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use test_support::peer;
use tokio::net::{TcpListener, TcpSocket};

/// The programs that this needs.
pub(super) const PROGRAMS: [&str; 3] = ["ip", "nsenter", "unshare"];
/// Holds the namespace until the test closes the input, and removes the link.
const HOLDER: &str = "echo; read -r end; ip link delete node";
/// Of 198.18.0.0/15, which is for tests of networks, each link has four addresses by its number.
const ADDRESSES: u32 = u32::from_be_bytes([198, 18, 0, 0]);
const LINKS: u32 = 1 << 15;
/// The test at the end of each link (TEST-NET-3): all nodes reach a device by one address, as its sessions are recorded.
pub(super) const ADDRESS: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 1);
/// No interface has this address.
const NOBODY: &str = "02:00:00:00:00:01";
/// The states of a connection that can have sent bytes, as `/proc/net/tcp` has them: established, and those of one that its
/// process has closed. The kernel repeats its bytes, too.
const SENDING: [&str; 5] = ["01", "04", "08", "09", "0B"];

/// A namespace with its link, which is named `node` there.
#[derive(Debug)]
pub(super) struct NodeNetwork {
    holder: Child,
    /// The name of the link at the side of the test.
    link: String,
    /// The other end of the link.
    gateway: Ipv4Addr,
    /// The address of the node.
    pub(super) own_address: Ipv4Addr,
}

impl NodeNetwork {
    /// Makes a namespace, and the first link that nobody has.
    ///
    /// # Errors
    /// The reason why this machine forbids it.
    pub(super) fn new() -> Result<Self, String> {
        if let Some(missing) = peer::missing_for_host("test-tools.sh", &PROGRAMS) {
            return Err(missing);
        }
        let mut holder = Command::new("unshare")
            .args(["--net", "sh", "-c", HOLDER])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut entered = String::new();
        let output = holder.stdout.as_mut().unwrap();
        BufReader::new(output).read_line(&mut entered).unwrap();
        let mut network = Self {
            holder,
            link: String::new(),
            gateway: Ipv4Addr::UNSPECIFIED,
            own_address: Ipv4Addr::UNSPECIFIED,
        };
        network.add_link()?;
        let gateway = network.gateway.to_string();
        let (address, link) = (ADDRESS.to_string(), &*network.link);
        for address in [&format!("{gateway}/30"), &address] {
            run(Command::new("ip").args(["address", "add", address, "dev", link]))?;
        }
        run(Command::new("ip").args(["link", "set", link, "up"]))?;
        let own = format!("{}/30", network.own_address);
        network.run_within(&["address", "add", &own, "dev", "node"])?;
        network.run_within(&["link", "set", "node", "up"])?;
        network.run_within(&["link", "set", "lo", "up"])?;
        network.run_within(&["route", "add", &address, "via", &gateway])?;
        Ok(network)
    }

    /// Adds a link, with the addresses for it.
    fn add_link(&mut self) -> Result<(), String> {
        let process = self.holder.id().to_string();
        for number in 0..LINKS {
            self.link = format!("swt{number}");
            let own = ["link", "add", &self.link, "type", "veth"];
            let peer = ["peer", "name", "node", "netns", &process];
            let added = run(Command::new("ip").args(own).args(peer));
            if added.is_err() && Path::new("/sys/class/net").join(&self.link).exists() {
                continue;
            }
            added?;
            let first = ADDRESSES + 4 * number;
            self.gateway = Ipv4Addr::from_bits(first + 1);
            self.own_address = Ipv4Addr::from_bits(first + 2);
            return Ok(());
        }
        Err("all links are taken".to_owned())
    }

    /// A program in the namespace. The process is that of the program.
    pub(super) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new("nsenter");
        let namespace = format!("--net=/proc/{}/ns/net", self.holder.id());
        command.arg(namespace).arg("--").arg(program);
        command
    }

    fn run_within(&self, arguments: &[&str]) -> Result<(), String> {
        run(self.command("ip").args(arguments))
    }

    /// A port that only the node reaches, and only by the link. Zero: any port.
    pub(super) fn listen(&self, port: u16) -> TcpListener {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind_device(Some(self.link.as_bytes())).unwrap();
        socket.bind((ADDRESS, port).into()).unwrap();
        socket.listen(1024).unwrap()
    }

    /// From now on, what the node sends is lost, and what is sent to it still arrives.
    pub(super) fn drop_packets(&self) {
        let address = self.gateway.to_string();
        let neighbor = ["neighbor", "replace", &address, "lladdr", NOBODY];
        let permanent = ["dev", "node", "nud", "permanent"];
        self.run_within(&[&neighbor[..], &permanent].concat())
            .unwrap();
    }

    /// From now on, nothing arrives.
    pub(super) fn take_down(&self) {
        run(Command::new("ip").args(["link", "set", &self.link, "down"])).unwrap();
    }

    /// From now on, everything arrives, with what the kernels repeat.
    pub(super) fn bring_up(&self) {
        run(Command::new("ip").args(["link", "set", &self.link, "up"])).unwrap();
        let address = self.gateway.to_string();
        self.run_within(&["neighbor", "delete", &address, "dev", "node"])
            .unwrap();
    }

    /// Whether the kernel of the node repeats bytes to a port.
    pub(super) fn repeats(&self, port: u16) -> bool {
        let connections = format!("/proc/{}/net/tcp", self.holder.id());
        let connections = std::fs::read_to_string(connections).unwrap();
        let remote_port = format!(":{port:04X}");
        connections.lines().any(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let is_sent = |queue: &str| queue.starts_with("00000000:");
            matches!(&words[..], [_, _, remote, state, queue, ..]
                if remote.ends_with(&remote_port) && SENDING.contains(state) && !is_sent(queue))
        })
    }
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output().unwrap();
    if output.status.success() {
        return Ok(());
    }
    let error = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?}: {}", error.trim()))
}

impl Drop for NodeNetwork {
    fn drop(&mut self) {
        // The end of its input. A test that has failed must not end here.
        drop(self.holder.stdin.take());
        let _ = self.holder.wait();
    }
}
