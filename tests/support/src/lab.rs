//! A lab on loopback: mock devices, an inventory and catalogs in a directory, and the binary.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::Value;
use switchtender_mocks::jump_host::{JumpFault, JumpHost};
use switchtender_mocks::{
    CliSwitch, ExchangeLog, Fault, LoadBalancer, LoadBalancerOptions, NetconfOptions,
    NetconfServer, RunningLoadBalancer, RunningNetconfServer, RunningSwitch, SwitchOptions,
};

use crate::catalog::catalog;
use crate::program::{self, ProgramOutput};

/// The login password of all mock devices; it contains the planted secret.
pub const PASSWORD: &str = "s3cret-login";
/// The enable password of all mock switches; it contains the planted secret.
pub const ENABLE: &str = "s3cret-enable";

/// Devices and the files that describe them. The inventory is written before each run.
pub struct Lab {
    dir: tempfile::TempDir,
    /// The running mock switches by inventory name.
    pub switches: BTreeMap<String, RunningSwitch>,
    /// The running mock load balancers by inventory name.
    pub load_balancers: BTreeMap<String, RunningLoadBalancer>,
    /// The running NETCONF servers by inventory name.
    pub netconf_servers: BTreeMap<String, RunningNetconfServer>,
    /// The running jump hosts by the name of their device.
    pub jump_hosts: BTreeMap<String, JumpHost>,
    /// Tables of devices, by name.
    pub devices: BTreeMap<String, String>,
    /// Tables before those of the devices.
    pub defaults: String,
    /// Environment variables of the program, among them the passwords.
    pub environment: BTreeMap<String, String>,
}

impl Default for Lab {
    fn default() -> Self {
        Self::new()
    }
}

impl Lab {
    /// A lab without devices and with an empty directory for catalogs.
    pub fn new() -> Self {
        let lab = Self {
            dir: tempfile::tempdir().unwrap(),
            switches: BTreeMap::new(),
            load_balancers: BTreeMap::new(),
            netconf_servers: BTreeMap::new(),
            jump_hosts: BTreeMap::new(),
            devices: BTreeMap::new(),
            defaults: "[defaults]\nsave_config = \"never\"\nuser = \"ops\"\npassword = { env = \"LAB_PASSWORD\" }\n\
                       [platform.cisco_ios]\nenable_password = { env = \"LAB_ENABLE\" }\n"
                .to_owned(),
            environment: BTreeMap::from([
                ("LAB_PASSWORD".to_owned(), PASSWORD.to_owned()),
                ("LAB_ENABLE".to_owned(), ENABLE.to_owned()),
            ]),
        };
        std::fs::create_dir(lab.path("catalogs")).unwrap();
        lab
    }

    /// A lab whose devices only mocks can stand for (`--mock`), by name and platform.
    pub fn with_devices(devices: &[(&str, &str)]) -> Self {
        let mut lab = Self::new();
        for (name, platform) in devices {
            lab.add_device(name, platform, 1, None);
        }
        lab
    }

    /// A path in the lab's directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Starts a switch, with faults as words, and puts it into the inventory.
    pub async fn add_switch(&mut self, name: &str, faults: &[&str]) {
        let options = SwitchOptions {
            faults: parsed(faults),
            ..switch_options(name)
        };
        self.add_switch_with(options).await;
    }

    /// Starts a switch with these options and adds it to the inventory.
    pub async fn add_switch_with(&mut self, options: SwitchOptions) {
        let name = options.name.clone();
        let switch = CliSwitch::start(options, 0).await.unwrap();
        let pin = switch.host_key().fingerprint;
        self.add_device(&name, "cisco_ios", switch.address().port(), Some(&pin));
        self.switches.insert(name, switch);
    }

    /// Starts a load balancer, with faults as words, and puts it into the inventory.
    pub async fn add_load_balancer(&mut self, name: &str, faults: &[&str]) {
        let options = LoadBalancerOptions {
            name: name.to_owned(),
            hostname: format!("{name}.lab.test"),
            user: "ops".to_owned(),
            password: PASSWORD.to_owned(),
            faults: parsed(faults),
            ..LoadBalancerOptions::default()
        };
        self.add_load_balancer_with(options).await;
    }

    /// Starts a load balancer with these options and adds it to the inventory.
    pub async fn add_load_balancer_with(&mut self, options: LoadBalancerOptions) {
        let name = options.name.clone();
        let balancer = LoadBalancer::start(options, 0).await.unwrap();
        let pin = balancer.fingerprint();
        self.add_device(&name, "f5_bigip", balancer.address().port(), Some(&pin));
        self.load_balancers.insert(name, balancer);
    }

    /// Starts a NETCONF server, with faults as words, and puts it into the inventory.
    pub async fn add_netconf_server(&mut self, name: &str, faults: &[&str]) {
        let options = NetconfOptions {
            name: name.to_owned(),
            user: "ops".to_owned(),
            password: PASSWORD.to_owned(),
            faults: parsed(faults),
        };
        let server = NetconfServer::start(options, 0).await.unwrap();
        let pin = server.host_key().fingerprint;
        self.add_device(name, "ietf_netconf", server.address().port(), Some(&pin));
        self.netconf_servers.insert(name.to_owned(), server);
    }

    /// Puts a jump host in front of a device.
    pub async fn add_jump_host(&mut self, device: &str, fault: Option<JumpFault>) {
        let host = JumpHost::start(PASSWORD, fault).await;
        let line = format!(
            "jump = {{ address = \"127.0.0.1\", port = {}, user = \"hop\", \
             password = {{ env = \"LAB_PASSWORD\" }}, fingerprint = \"{}\" }}",
            host.address.port(),
            host.fingerprint()
        );
        self.configure(device, &line);
        self.jump_hosts.insert(device.to_owned(), host);
    }

    /// Puts a device into the inventory.
    pub fn add_device(&mut self, name: &str, platform: &str, port: u16, pin: Option<&str>) {
        let mut entry = format!(
            "[device.{name}]\nplatform = \"{platform}\"\naddress = \"127.0.0.1\"\nport = {port}\n\
             certname = \"{name}.lab.test\"\n"
        );
        if let Some(pin) = pin {
            let _ = writeln!(entry, "fingerprint = \"{pin}\"");
        }
        self.devices.insert(name.to_owned(), entry);
    }

    /// Adds lines to a device's table in the inventory.
    pub fn configure(&mut self, name: &str, lines: &str) {
        let entry = self.devices.get_mut(name).expect("a device of the lab");
        entry.push_str(lines);
        entry.push('\n');
    }

    /// Writes the catalog of a device.
    pub fn write_catalog(&self, device: &str, catalog: &Value) {
        let path = self.path("catalogs").join(format!("{device}.json"));
        std::fs::write(path, serde_json::to_string_pretty(catalog).unwrap()).unwrap();
    }

    /// Writes a catalog of these resources for a device.
    pub fn write_resources(&self, device: &str, resources: &[Value]) {
        self.write_catalog(device, &catalog(&format!("{device}.lab.test"), resources));
    }

    /// The exchanges between the program and a mock device.
    pub fn log(&self, device: &str) -> &ExchangeLog {
        if let Some(server) = self.netconf_servers.get(device) {
            return server.log();
        }
        match self.switches.get(device) {
            Some(switch) => switch.log(),
            None => self.load_balancers[device].log(),
        }
    }

    /// Writes the inventory.
    pub fn write_inventory(&self) {
        let mut inventory = self.defaults.clone();
        for entry in self.devices.values() {
            inventory.push_str(entry);
        }
        std::fs::write(self.path("inventory.toml"), inventory).unwrap();
    }

    /// The program with the lab's environment; `apply` and `plan` have its catalogs and state, too.
    pub fn command(&self, arguments: &[&str]) -> tokio::process::Command {
        let mut command = tokio::process::Command::from(self.blocking_command(arguments));
        command.kill_on_drop(true);
        command
    }

    /// The same for a test without a runtime.
    pub fn blocking_command(&self, arguments: &[&str]) -> std::process::Command {
        self.write_inventory();
        let mut command = program::switchtender(arguments);
        if arguments[0] != "store" {
            command.arg("--inventory").arg(self.path("inventory.toml"));
        }
        if matches!(arguments[0], "apply" | "plan" | "undo") {
            if !arguments.contains(&"--state-dir") {
                command.arg("--state-dir").arg(self.path("state"));
            }
            if arguments[0] != "undo"
                && !arguments.contains(&"--catalog")
                && !arguments.contains(&"--state")
            {
                command.arg("--catalog").arg(self.path("catalogs"));
            }
        }
        command
            .envs(&self.environment)
            .env_remove("SSH_AUTH_SOCK")
            .env("HOME", self.dir.path())
            .current_dir(self.dir.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the program to its end and searches its output for planted secrets.
    pub async fn run(&self, arguments: &[&str]) -> ProgramOutput {
        checked(self.command(arguments).output().await.unwrap())
    }

    /// The same for a test without a runtime.
    pub fn run_blocking(&self, arguments: &[&str]) -> ProgramOutput {
        checked(self.blocking_command(arguments).output().unwrap())
    }

    /// `apply` with events as JSON and detailed exit codes.
    pub async fn apply(&self) -> ProgramOutput {
        self.run(&["apply", "--output", "json", "--detailed-exitcodes"])
            .await
    }

    /// The stored report of the last run of a device.
    ///
    /// # Panics
    /// If there is none.
    pub fn report(&self, device: &str) -> Value {
        let end = format!("{device}/state/last_run_report.json");
        let mut files = self.files("state").into_iter();
        let found = files.find(|(path, _)| path.ends_with(&end));
        let (_, text) = found.unwrap_or_else(|| panic!("no report of {device}"));
        serde_json::from_str(&text).unwrap()
    }

    /// Every file below a directory of the lab, as text.
    pub fn files(&self, below: &str) -> Vec<(PathBuf, String)> {
        let mut found = Vec::new();
        let mut open = vec![self.path(below)];
        while let Some(path) = open.pop() {
            if path.is_dir() {
                let entries = std::fs::read_dir(&path).unwrap();
                open.extend(entries.map(|entry| entry.unwrap().path()));
            } else if path.exists() {
                let bytes = std::fs::read(&path).unwrap();
                found.push((path, String::from_utf8_lossy(&bytes).into_owned()));
            }
        }
        found.sort();
        found
    }
}

fn checked(output: std::process::Output) -> ProgramOutput {
    let output = ProgramOutput::from(output);
    output.assert_no_secrets();
    output.assert_printable();
    output
}

/// Options of a mock switch with the lab's user and passwords.
pub fn switch_options(name: &str) -> SwitchOptions {
    SwitchOptions {
        name: name.to_owned(),
        hostname: name.to_owned(),
        user: "ops".to_owned(),
        password: PASSWORD.to_owned(),
        enable_password: Some(ENABLE.to_owned()),
        ..SwitchOptions::default()
    }
}

/// Faults from their textual form. Panics on an invalid one.
pub fn parsed(faults: &[&str]) -> Vec<Fault> {
    faults.iter().map(|fault| fault.parse().unwrap()).collect()
}
