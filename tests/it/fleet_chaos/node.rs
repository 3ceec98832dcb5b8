//! A process of the fleet with its own directory and paths, and the faults that happen to it.

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::AtomicU16;
use std::time::Duration;

use serde_json::Value;
use test_support::host_clock::HostClock;
use test_support::lab::Lab;
use test_support::{interrupt, program};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use tokio::sync::Mutex;

use super::LIMIT;
use super::database::{self, Database};
use super::fault::Fault;
use super::network::NodeNetwork;
use super::path::{Path, PathState};

/// Longer than devices need for an answer.
const ANSWERS: Duration = Duration::from_millis(50);

pub(super) struct Node {
    pub(super) name: &'static str,
    directory: PathBuf,
    environment: Vec<(String, String)>,
    clock: HostClock,
    /// `None`: it is in that of the test.
    pub(super) network: Option<NodeNetwork>,
    database: Path,
    /// With the platform of its device: what a REST server gets has no session that could be ended, so its path is cut.
    devices: Vec<(Path, PathState)>,
    process: Mutex<Option<Child>>,
}

impl Node {
    /// Writes the files of a process. It reaches devices and the database of this name by paths of its own.
    pub(super) async fn new(
        lab: &Lab,
        name: &'static str,
        network: Option<NodeNetwork>,
        (server, database): (&Database, &str),
    ) -> Self {
        let directory = lab.path(&format!("node-{name}"));
        std::fs::create_dir_all(directory.join("catalogs")).unwrap();
        let listen = async || match &network {
            Some(network) => network.listen(),
            None => TcpListener::bind("127.0.0.1:0").await.unwrap(),
        };
        let server_path = Path::to(&server.port, listen().await);
        let address = match &network {
            Some(network) => network.address,
            None => Ipv4Addr::LOCALHOST,
        };
        let own = format!("address = \"{address}\"");
        let mut inventory = lab.defaults.clone();
        let mut devices = Vec::new();
        for (device, entry) in &lab.devices {
            let line = entry
                .lines()
                .find(|line| line.starts_with("port = "))
                .unwrap();
            let port = line["port = ".len()..].parse().unwrap();
            let path = Path::to(&Arc::new(AtomicU16::new(port)), listen().await);
            let entry = entry.replace("address = \"127.0.0.1\"", &own);
            inventory.push_str(&entry.replace(line, &format!("port = {}", path.port)));
            let is_rest = device.starts_with("lb");
            devices.push((
                path,
                if is_rest {
                    PathState::Cut
                } else {
                    PathState::Held
                },
            ));
        }
        std::fs::write(directory.join("inventory.toml"), inventory).unwrap();
        let authority = directory.join("authority.pem");
        std::fs::write(&authority, &server.authority).unwrap();
        let port = server_path.port;
        // What leaves the host is encrypted.
        let store = match &network {
            Some(_) => format!(
                "postgresql://owner@{}:{port}/{database}?hostaddr={address}&sslrootcert={}",
                database::HOST,
                authority.display()
            ),
            None => format!("postgresql://owner@{address}:{port}/{database}"),
        };
        let lease = super::LEASE.as_secs();
        let settings = format!(
            "listen = \"127.0.0.1:0\"\nstate_dir = \"state\"\nstore = \"{store}\"\n\
             [fleet]\nnode = \"{name}\"\nlease = \"{lease}s\"\n\
             [defaults]\ninterval = \"1s\"\ncatalog = \"catalogs\"\n"
        );
        std::fs::write(directory.join("serve.toml"), settings).unwrap();
        let environment = lab.environment.clone().into_iter().collect();
        let clock = HostClock::new(directory.join("clock")).expect("the database has one");
        Self {
            name,
            directory,
            environment,
            clock,
            network,
            database: server_path,
            devices,
            process: Mutex::default(),
        }
    }

    /// Replaces the catalog of a device.
    pub(super) fn write_catalog(&self, device: &str, catalog: &Value) {
        let path = self
            .directory
            .join("catalogs")
            .join(format!("{device}.json"));
        let new = path.with_extension("new");
        std::fs::write(&new, catalog.to_string()).unwrap();
        std::fs::rename(new, path).unwrap();
    }

    /// Copies the key of the stored states from a process that has run.
    pub(super) fn take_key(&self, other: &Self) {
        let key = |node: &Self| node.directory.join("state/state.key");
        std::fs::create_dir_all(self.directory.join("state")).unwrap();
        std::fs::copy(key(other), key(self)).unwrap();
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let program = program::path();
        let command = match &self.network {
            Some(network) => network.command(program),
            None => std::process::Command::new(program),
        };
        let mut command = Command::from(command);
        command
            .args(arguments)
            .env_remove("COLUMNS")
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .env_remove("SSH_AUTH_SOCK")
            .env_remove("SWITCHTENDER_STATE")
            .env("HOME", &self.directory)
            .current_dir(&self.directory)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        command
    }

    /// Runs a command beside the process until it succeeds.
    pub(super) async fn run(&self, arguments: &[&str]) {
        let succeeds = async {
            while !self.command(arguments).status().await.unwrap().success() {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        let ended = tokio::time::timeout(LIMIT, succeeds).await;
        assert!(ended.is_ok(), "{arguments:?} fails");
    }

    /// Starts the process, and waits until it serves. It ends without the database, and is started again.
    pub(super) async fn start(&self) {
        let serves = async {
            loop {
                if let Some(child) = self.start_once().await {
                    return child;
                }
            }
        };
        let child = tokio::time::timeout(LIMIT, serves).await;
        let child = child.unwrap_or_else(|_| panic!("{}: {}", self.name, self.log()));
        *self.process.lock().await = Some(child);
    }

    /// Starts the process. Its messages are added to its log. `None`: it ends before it serves.
    async fn start_once(&self) -> Option<Child> {
        let log = self.log_file();
        let begins = std::fs::metadata(&log).map_or(0, |data| data.len());
        let file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&log)
            .unwrap();
        let mut command = self.command(&["serve", "-v"]);
        command.envs(self.clock.environment()).stderr(file);
        let mut child = command.spawn().unwrap();
        loop {
            let text = std::fs::read(&log).unwrap();
            let new = &text[usize::try_from(begins).unwrap()..];
            if String::from_utf8_lossy(new).contains("serving ") {
                return Some(child);
            }
            if child.try_wait().unwrap().is_some() {
                return None;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Ends the process in order.
    pub(super) async fn stop(&self) {
        let mut child = self.process.lock().await.take().expect("it runs");
        interrupt::send(child.id().expect("it runs"), "-TERM");
        let ended = tokio::time::timeout(LIMIT, child.wait()).await;
        let status = ended.unwrap_or_else(|_| panic!("{} does not end: {}", self.name, self.log()));
        assert_eq!(
            status.unwrap().code(),
            Some(0),
            "{}: {}",
            self.name,
            self.log()
        );
    }

    async fn signal(&self, signal: &str) {
        let process = self.process.lock().await;
        let child = process.as_ref().expect("it runs");
        interrupt::send(child.id().expect("it runs"), signal);
    }

    /// A fault for a time, and its end.
    pub(super) async fn suffer(&self, fault: Fault, time: Duration) {
        match fault {
            Fault::Killed => {
                let mut child = self.process.lock().await.take().expect("it runs");
                child.kill().await.unwrap();
                tokio::time::sleep(time / 4).await;
                self.start().await;
            }
            Fault::Paused => {
                self.signal("-STOP").await;
                tokio::time::sleep(time).await;
                self.signal("-CONT").await;
            }
            Fault::NoDatabase => {
                self.database.set(PathState::Held);
                tokio::time::sleep(time).await;
                self.database.set(PathState::Open);
            }
            Fault::NoDevices => {
                self.hold_devices();
                tokio::time::sleep(time).await;
                self.open_devices();
            }
            Fault::Alone => {
                self.database.set(PathState::Cut);
                self.hold_devices();
                self.signal("-STOP").await;
                tokio::time::sleep(time).await;
                self.open_devices();
                self.database.set(PathState::Open);
                self.signal("-CONT").await;
            }
            Fault::Clock { hours } => {
                self.clock.set(hours);
                tokio::time::sleep(time).await;
                self.clock.set(0);
            }
            Fault::NoLink { is_paused } => {
                let network = self.network.as_ref().expect("it has a link");
                network.drop_packets();
                // Answers still arrive: what the process sends then waits in its kernel.
                tokio::time::sleep(ANSWERS).await;
                network.take_down();
                if is_paused {
                    self.signal("-STOP").await;
                }
                tokio::time::sleep(time).await;
                network.bring_up();
                if is_paused {
                    self.signal("-CONT").await;
                }
            }
        }
    }

    /// The ports where it reaches its devices.
    pub(super) fn device_ports(&self) -> impl Iterator<Item = u16> {
        self.devices.iter().map(|(path, _)| path.port)
    }

    fn hold_devices(&self) {
        for (path, fault) in &self.devices {
            path.set(*fault);
        }
    }

    fn open_devices(&self) {
        for (path, _) in &self.devices {
            path.set(PathState::Open);
        }
    }

    fn log_file(&self) -> PathBuf {
        self.directory.join("log")
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.log_file()).unwrap()
    }

    /// The ends of all logs, and the last warnings before, for the message of a failure.
    pub(super) fn logs(nodes: &[Self]) -> String {
        let end = |node: &Self| {
            let log = node.log();
            let lines: Vec<&str> = log.lines().collect();
            let (before, end) = lines.split_at(lines.len().saturating_sub(30));
            let is_problem = |line: &&&str| line.contains(" WARN ") || line.contains("ERROR ");
            let problems: Vec<&str> = before.iter().filter(is_problem).copied().collect();
            let problems = &problems[problems.len().saturating_sub(50)..];
            format!(
                "{}:\n{}\n…\n{}",
                node.name,
                problems.join("\n"),
                end.join("\n")
            )
        };
        nodes.iter().map(end).collect::<Vec<_>>().join("\n")
    }
}
