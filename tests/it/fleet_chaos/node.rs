//! A process of the fleet with its own directory and paths, and the faults that happen to it.

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use test_support::certificates::parameters;
use test_support::free_port::free_port;
use test_support::host_clock::HostClock;
use test_support::lab::Lab;
use test_support::{interrupt, program};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use tokio::sync::Mutex;

use super::LIMIT;
use super::database::{self, Database};
use super::fault::Fault;
use super::network::{ADDRESS, NodeNetwork};
use super::path::{Path, PathState, Target};

/// Longer than devices need for an answer.
const ANSWERS: Duration = Duration::from_millis(50);

pub(super) struct Node {
    pub(super) name: &'static str,
    sites: &'static [&'static str],
    directory: PathBuf,
    environment: Vec<(String, String)>,
    clock: HostClock,
    /// `None`: it is in that of the test.
    pub(super) network: Option<NodeNetwork>,
    /// The port of its pages.
    port: u16,
    /// To the database, or to the hubs.
    store: Vec<Path>,
    /// With the platform of its device: what a REST server gets has no session that could be ended, so its path is cut.
    devices: Vec<(Path, PathState)>,
    process: Mutex<Option<Child>>,
}

impl Node {
    /// Writes the files of a process of these sites with the database of this name. Workers reach its pages.
    pub(super) async fn hub(
        lab: &Lab,
        (name, sites): (&'static str, &'static [&'static str]),
        network: Option<NodeNetwork>,
        (server, database): (&Database, &str),
    ) -> Self {
        let mut node = Self::new(lab, (name, sites), network).await;
        let path = Path::to(&server.primary, node.listen(0));
        let (address, port) = (node.address(), path.port);
        node.store.push(path);
        let authority = node.directory.join("authority.pem");
        std::fs::write(&authority, server.authority.pem()).unwrap();
        // What leaves the host is encrypted.
        let store = match &node.network {
            Some(_) => format!(
                "postgresql://owner@{}:{port}/{database}?hostaddr={address}&sslrootcert={}",
                database::HOST,
                authority.display()
            ),
            None => format!("postgresql://owner@{address}:{port}/{database}"),
        };
        let certificate = parameters(name, &[&address.to_string()]);
        server.authority.issue(&node.directory, "hub", &certificate);
        let (listen, port) = (node.own_address(), node.port);
        let settings = format!(
            "listen = \"{listen}:{port}\"\nstore = \"{store}\"\n\
             [web]\ncertificate = \"hub.pem\"\nkey = \"hub.key\"\n"
        );
        node.write_settings(&settings, "");
        node
    }

    /// Writes the files of a worker of these hubs. None of them runs.
    pub(super) async fn worker(
        lab: &Lab,
        (name, sites): (&'static str, &'static [&'static str]),
        network: Option<NodeNetwork>,
        server: &Database,
        hubs: &[Self],
    ) -> Self {
        let mut node = Self::new(lab, (name, sites), network).await;
        for hub in hubs {
            let pages = Target::new(hub.own_address(), hub.port);
            let path = Path::to(&pages, node.listen(0));
            node.store.push(path);
        }
        let authority = node.directory.join("authority.pem");
        std::fs::write(authority, server.authority.pem()).unwrap();
        let address = node.address();
        let urls = node.store.iter().map(|path| path.port);
        let urls: Vec<_> = urls
            .map(|port| format!("https://{address}:{port}"))
            .collect();
        let token = hubs[0].admit(name, sites).await;
        for hub in &hubs[1..] {
            hub.take("serve/access.toml", &hubs[0]);
        }
        node.environment.push(("WORKER_TOKEN".to_owned(), token));
        let join = format!(
            "join = {urls:?}\nca_file = \"authority.pem\"\ntoken = {{ env = \"WORKER_TOKEN\" }}\n"
        );
        node.write_settings("", &join);
        node
    }

    /// A process without settings. It reaches devices by paths of its own.
    async fn new(
        lab: &Lab,
        (name, sites): (&'static str, &'static [&'static str]),
        network: Option<NodeNetwork>,
    ) -> Self {
        let directory = lab.path(&format!("node-{name}"));
        std::fs::create_dir_all(directory.join("catalogs")).unwrap();
        let clock = HostClock::new(directory.join("clock")).expect("the database has one");
        let mut node = Self {
            name,
            sites,
            directory,
            environment: lab.environment.clone().into_iter().collect(),
            clock,
            network,
            port: free_port(),
            store: Vec::new(),
            devices: Vec::new(),
            process: Mutex::default(),
        };
        let own = format!("address = \"{}\"", node.address());
        let mut inventory = lab.defaults.clone();
        for (device, entry) in &lab.devices {
            let line = entry
                .lines()
                .find(|line| line.starts_with("port = "))
                .unwrap();
            let port = line["port = ".len()..].parse().unwrap();
            let path = Path::to(&Target::new(Ipv4Addr::LOCALHOST, port), node.listen(port));
            let entry = entry.replace("address = \"127.0.0.1\"", &own);
            inventory.push_str(&entry.replace(line, &format!("port = {}", path.port)));
            let is_rest = device.starts_with("lb");
            node.devices.push((
                path,
                if is_rest {
                    PathState::Cut
                } else {
                    PathState::Held
                },
            ));
        }
        std::fs::write(node.directory.join("inventory.toml"), inventory).unwrap();
        node
    }

    /// Writes the settings with these lines, and with these of the fleet.
    fn write_settings(&self, lines: &str, of_fleet: &str) {
        let (name, sites, lease) = (self.name, self.sites, super::LEASE.as_secs());
        let settings = format!(
            "state_dir = \"state\"\n{lines}\
             [fleet]\nnode = \"{name}\"\nsites = {sites:?}\nlease = \"{lease}s\"\n{of_fleet}\
             [defaults]\ninterval = \"1s\"\ncatalog = \"catalogs\"\n"
        );
        std::fs::write(self.directory.join("serve.toml"), settings).unwrap();
    }

    /// The address of the test for the process.
    fn address(&self) -> Ipv4Addr {
        let network = self.network.as_ref();
        network.map_or(Ipv4Addr::LOCALHOST, |_| ADDRESS)
    }

    /// The address of the process for the test.
    fn own_address(&self) -> Ipv4Addr {
        let network = self.network.as_ref();
        network.map_or(Ipv4Addr::LOCALHOST, |network| network.own_address)
    }

    /// A port that only the process reaches: this one, if it has a network. Zero: any port.
    fn listen(&self, port: u16) -> TcpListener {
        let Some(network) = &self.network else {
            let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            listener.set_nonblocking(true).unwrap();
            return TcpListener::from_std(listener).unwrap();
        };
        network.listen(port)
    }

    /// Permits a worker. Returns its token.
    async fn admit(&self, worker: &str, sites: &[&str]) -> String {
        let sites = sites.join(",");
        let mut command = self.command(&["access", "add-worker", worker, "--sites", &sites]);
        let output = command.stdout(Stdio::piped()).output().await.unwrap();
        assert!(output.status.success(), "{output:?}");
        let token = String::from_utf8(output.stdout).unwrap();
        token.trim().to_owned()
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
        self.take("state.key", other);
    }

    /// Copies a file of the state directory of another process.
    fn take(&self, file: &str, other: &Self) {
        let path = |node: &Self| node.directory.join("state").join(file);
        std::fs::create_dir_all(path(self).parent().unwrap()).unwrap();
        std::fs::copy(path(other), path(self)).unwrap();
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
            Fault::NoStore => {
                self.set_store(PathState::Held);
                tokio::time::sleep(time).await;
                self.set_store(PathState::Open);
            }
            Fault::NoDevices => {
                self.hold_devices();
                tokio::time::sleep(time).await;
                self.open_devices();
            }
            Fault::Alone => {
                self.set_store(PathState::Cut);
                self.hold_devices();
                self.signal("-STOP").await;
                tokio::time::sleep(time).await;
                self.open_devices();
                self.set_store(PathState::Open);
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

    fn set_store(&self, state: PathState) {
        for path in &self.store {
            path.set(state);
        }
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
