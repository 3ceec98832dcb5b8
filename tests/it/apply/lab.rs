//! A lab on loopback: mock devices, an inventory and catalogs in a directory, and the binary.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use switchtender_mocks::{
    CliSwitch, ExchangeLog, Fault, LoadBalancer, LoadBalancerOptions, RunningLoadBalancer,
    RunningSwitch, SwitchOptions,
};

pub const PASSWORD: &str = "s3cret-login";
pub const ENABLE: &str = "s3cret-enable";
/// A part of every secret that a test plants; no output may ever hold it.
pub const PLANTED: &str = "s3cret";
/// The manifest that catalogs made here name.
pub const MANIFEST: &str = "/manifests/site.pp";

/// Devices and the files that describe them. The inventory is written before each run.
pub struct Lab {
    dir: tempfile::TempDir,
    pub switches: BTreeMap<String, RunningSwitch>,
    pub balancers: BTreeMap<String, RunningLoadBalancer>,
    /// Tables of devices, by name.
    pub entries: BTreeMap<String, String>,
    /// Tables before those of the devices.
    pub preamble: String,
    pub environment: BTreeMap<String, String>,
}

impl Lab {
    pub fn new() -> Self {
        let lab = Self {
            dir: tempfile::tempdir().unwrap(),
            switches: BTreeMap::new(),
            balancers: BTreeMap::new(),
            entries: BTreeMap::new(),
            preamble: "[defaults]\nuser = \"ops\"\npassword = { env = \"LAB_PASSWORD\" }\n\
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

    /// A path in the lab's directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Starts a switch, with faults as words, and puts it into the inventory.
    pub async fn switch(&mut self, name: &str, faults: &[&str]) {
        let options = SwitchOptions {
            faults: parsed(faults),
            ..switch_options(name)
        };
        self.switch_like(options).await;
    }

    pub async fn switch_like(&mut self, options: SwitchOptions) {
        let name = options.name.clone();
        let switch = CliSwitch::start(options, 0).await.unwrap();
        let pin = switch.host_key().fingerprint;
        self.enter(&name, "cisco_ios", switch.address().port(), Some(&pin));
        self.switches.insert(name, switch);
    }

    /// Starts a load balancer, with faults as words, and puts it into the inventory.
    pub async fn balancer(&mut self, name: &str, faults: &[&str]) {
        let options = LoadBalancerOptions {
            name: name.to_owned(),
            hostname: format!("{name}.lab.test"),
            user: "ops".to_owned(),
            password: PASSWORD.to_owned(),
            faults: parsed(faults),
            ..LoadBalancerOptions::default()
        };
        let balancer = LoadBalancer::start(options, 0).await.unwrap();
        let pin = balancer.fingerprint();
        self.enter(name, "f5_bigip", balancer.address().port(), Some(&pin));
        self.balancers.insert(name.to_owned(), balancer);
    }

    /// Puts a device into the inventory.
    pub fn enter(&mut self, name: &str, platform: &str, port: u16, pin: Option<&str>) {
        let mut entry = format!(
            "[device.{name}]\nplatform = \"{platform}\"\naddress = \"127.0.0.1\"\nport = {port}\n\
             certname = \"{name}.lab.test\"\n"
        );
        if let Some(pin) = pin {
            let _ = writeln!(entry, "fingerprint = \"{pin}\"");
        }
        self.entries.insert(name.to_owned(), entry);
    }

    /// Adds lines to a device's table in the inventory.
    pub fn set(&mut self, name: &str, lines: &str) {
        let entry = self.entries.get_mut(name).expect("a device of the lab");
        entry.push_str(lines);
        entry.push('\n');
    }

    /// Puts a catalog where the device's is looked for.
    pub fn catalog(&self, device: &str, catalog: &Value) {
        let path = self.path("catalogs").join(format!("{device}.json"));
        std::fs::write(path, serde_json::to_string_pretty(catalog).unwrap()).unwrap();
    }

    /// Puts a catalog of these resources where the device's is looked for.
    pub fn wants(&self, device: &str, resources: &[Value]) {
        self.catalog(
            device,
            &catalog(&format!("{device}.lab.test"), resources, &[]),
        );
    }

    pub fn log(&self, device: &str) -> &ExchangeLog {
        match self.switches.get(device) {
            Some(switch) => switch.log(),
            None => self.balancers[device].log(),
        }
    }

    /// The words of a command: inventory, catalogs and state of the lab besides `arguments`.
    pub fn command(&self, arguments: &[&str]) -> tokio::process::Command {
        let mut inventory = self.preamble.clone();
        for entry in self.entries.values() {
            inventory.push_str(entry);
        }
        std::fs::write(self.path("inventory.toml"), inventory).unwrap();
        let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_switchtender"));
        command.args(arguments);
        command.arg("--inventory").arg(self.path("inventory.toml"));
        if matches!(arguments[0], "apply" | "plan") {
            command.arg("--catalog").arg(self.path("catalogs"));
            command.arg("--state-dir").arg(self.path("state"));
        }
        command
            .envs(&self.environment)
            .env_remove("SSH_AUTH_SOCK")
            .env("HOME", self.dir.path())
            .current_dir(self.dir.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    /// Runs the program to its end. Whatever it says, no planted secret is in it.
    pub async fn run(&self, arguments: &[&str]) -> Ran {
        let output = self.command(arguments).output().await.unwrap();
        let ran = Ran::from(output);
        ran.keeps_secrets();
        ran
    }

    /// `apply` with events as JSON and detailed exit codes.
    pub async fn apply(&self) -> Ran {
        self.run(&["apply", "--output", "json", "--detailed-exitcodes"])
            .await
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

/// What the program said, and how it ended.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl From<std::process::Output> for Ran {
    fn from(output: std::process::Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    pub fn text(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }

    #[track_caller]
    pub fn keeps_secrets(&self) {
        assert!(!self.text().contains(PLANTED), "{}", self.text());
    }

    #[track_caller]
    pub fn says(&self, words: &str) {
        assert!(
            self.text().contains(words),
            "`{words}` is not in:\n{}",
            self.text()
        );
    }

    #[track_caller]
    pub fn ends_with(&self, code: i32) {
        assert_eq!(self.code, Some(code), "{}", self.text());
    }

    /// The objects of `--output json`, one per line.
    #[track_caller]
    pub fn objects(&self) -> Vec<Value> {
        let parse = |line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
        self.stdout.lines().map(parse).collect()
    }

    /// What was told of a resource.
    #[track_caller]
    pub fn resource(&self, device: &str, reference: &str) -> Value {
        let found = self
            .objects()
            .into_iter()
            .find(|object| object["device"] == device && object["resource"] == reference);
        found.unwrap_or_else(|| panic!("{device}: no {reference} in\n{}", self.text()))
    }

    /// What was told of a device at its end.
    #[track_caller]
    pub fn device(&self, device: &str) -> Value {
        let found = self
            .objects()
            .into_iter()
            .find(|object| object["device"] == device && object["kind"] == "device");
        found.unwrap_or_else(|| panic!("{device}: no end in\n{}", self.text()))
    }

    /// All events as `Resource/property: status: message`, in order.
    pub fn events(&self, device: &str) -> Vec<String> {
        let mut all = Vec::new();
        for object in self.objects() {
            if object["device"] != device || object["kind"] != "resource" {
                continue;
            }
            for event in object["events"].as_array().unwrap() {
                let word = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
                all.push(format!(
                    "{}/{}: {}: {}",
                    object["resource"].as_str().unwrap(),
                    word("property"),
                    word("status"),
                    word("message")
                ));
            }
        }
        all
    }

    /// Messages of a device at `err` or `warning`.
    pub fn complaints(&self, device: &str) -> Vec<String> {
        self.objects()
            .iter()
            .filter(|object| object["device"] == device && object["kind"] == "log")
            .filter(|object| matches!(object["level"].as_str(), Some("err" | "warning")))
            .map(|object| object["message"].as_str().unwrap().to_owned())
            .collect()
    }
}

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

pub fn parsed(faults: &[&str]) -> Vec<Fault> {
    faults.iter().map(|fault| fault.parse().unwrap()).collect()
}

/// A recorded catalog.
pub fn recorded(name: &str) -> Value {
    let path = root().join(format!("tests/fixtures/puppetserver/catalogs/{name}.json"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// A catalog of the examples.
pub fn example(name: &str) -> Value {
    let path = root().join(format!("examples/catalogs/{name}.json"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A resource of a device, on the line of the manifest that its place in the list gives.
pub fn resource(of: &str, title: &str, parameters: Value) -> Value {
    json!({
        "type": of, "title": title, "parameters": parameters, "kind": "compilable_type",
        "tags": [of.to_lowercase()], "file": MANIFEST, "exported": false,
    })
}

pub fn vlan(number: u16, name: &str) -> Value {
    resource(
        "Network_vlan",
        &number.to_string(),
        json!({"ensure": "present", "vlan_name": name}),
    )
}

/// A catalog as a Puppet Server writes it. Resource number N stands on line N of the manifest.
pub fn catalog(name: &str, resources: &[Value], sensitive: &[(usize, &str)]) -> Value {
    let mut all = vec![
        json!({"type": "Stage", "title": "main", "tags": ["stage"], "exported": false,
               "parameters": {"name": "main"}, "kind": "compilable_type"}),
        json!({"type": "Class", "title": "main", "tags": ["class"], "exported": false,
               "parameters": {"name": "main"}, "kind": "unknown"}),
    ];
    let mut edges = vec![json!({"source": "Stage[main]", "target": "Class[main]"})];
    for (index, resource) in resources.iter().enumerate() {
        let mut resource = resource.clone();
        resource["line"] = json!(index + 1);
        for (_, parameter) in sensitive.iter().filter(|(at, _)| *at == index) {
            let names = resource["sensitive_parameters"].as_array().cloned();
            let mut names = names.unwrap_or_default();
            names.push(json!(parameter));
            resource["sensitive_parameters"] = json!(names);
        }
        let reference = format!(
            "{}[{}]",
            resource["type"].as_str().unwrap(),
            resource["title"].as_str().unwrap()
        );
        edges.push(json!({"source": "Class[main]", "target": reference}));
        all.push(resource);
    }
    json!({
        "tags": ["settings"], "name": name, "version": 1, "code_id": null,
        "catalog_uuid": "b6b7b5a2-0b6a-4c8f-9d57-1a2b3c4d5e6f", "catalog_format": 2,
        "environment": "production", "resources": all, "edges": edges, "classes": ["main"],
    })
}
