//! A real router: FRRouting behind OpenSSH, with `vtysh` as the login shell.
//!
//! `tests/real-peers/real-frr.sh` starts it on a free port of loopback, in a network namespace of
//! its own, and stops it by its own directory. Where FRRouting or root is missing the test says that
//! it was skipped, except when `SWITCHTENDER_REQUIRE_PEERS` is set: then that is a failure.

mod bgp;
mod ospf;
mod ospf6;
mod steps;

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use test_support::free_port::free_port;
use test_support::{peer, program, stderr_note};

use bgp::bgp_neighbors_have_lines_in_address_families;
use ospf::ospf_and_route_maps;
use ospf6::ospf_for_ipv6;
use steps::{
    a_key_logs_in, a_plan_shows_lines_and_changes_nothing, a_second_apply_sends_nothing,
    an_apply_does_what_the_plan_showed, changes_and_removals, one_run_at_a_time,
    refused_line_is_reported_with_the_text_of_the_router, resources_and_facts_are_printed,
    save_config_saves_the_applied_state, the_longest_line_is_sent, wrong_and_missing_passwords,
    wrong_and_unknown_host_keys,
};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/real-peers/real-frr.sh");

#[test]
fn real_frr_router() {
    let missing = peer::missing_for_host(
        "real-frr.sh",
        &[
            "zebra", "staticd", "bgpd", "ospfd", "ospf6d", "vtysh", "sshd", "ip",
        ],
    );
    if peer::skips(missing) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let router = Router::start(dir.path());
    let site = Site::new(&router);

    a_plan_shows_lines_and_changes_nothing(&router, &site);
    an_apply_does_what_the_plan_showed(&router, &site);
    a_second_apply_sends_nothing(&site);
    resources_and_facts_are_printed(&router, &site);
    changes_and_removals(&router, &site);
    save_config_saves_the_applied_state(&router, &site);
    refused_line_is_reported_with_the_text_of_the_router(&router, &site);
    the_longest_line_is_sent(&router, &site);
    bgp_neighbors_have_lines_in_address_families(&router, &site);
    ospf_and_route_maps(&router, &site);
    ospf_for_ipv6(&router, &site);
    a_key_logs_in(&router, &site);
    wrong_and_missing_passwords(&router, &site);
    wrong_and_unknown_host_keys(&router, &site);
    one_run_at_a_time(&router, &site);
}

/// A resource of the catalog, and the lines that make it.
pub(crate) struct Resource {
    type_name: &'static str,
    title: &'static str,
    parameters: Value,
    lines: &'static [&'static str],
}

fn interface(title: &'static str, parameters: Value) -> Resource {
    resource("Network_interface", title, parameters)
}

fn route(title: &'static str, parameters: Value) -> Resource {
    resource("Frr_static_route", title, parameters)
}

fn entry(title: &'static str, parameters: Value) -> Resource {
    resource("Frr_prefix_list_entry", title, parameters)
}

pub(crate) fn resource(
    type_name: &'static str,
    title: &'static str,
    parameters: Value,
) -> Resource {
    Resource {
        type_name,
        title,
        parameters,
        lines: &[],
    }
}

impl Resource {
    fn by(self, lines: &'static [&'static str]) -> Self {
        Self { lines, ..self }
    }
}

fn first() -> Vec<Resource> {
    vec![
        interface(
            "eth1",
            json!({ "enable": true, "description": "Uplink to spine 1" }),
        )
        .by(&["interface eth1", " description Uplink to spine 1"]),
        interface("eth2", json!({ "enable": false, "description": "spare" })).by(&[
            "interface eth2",
            " description spare",
            " shutdown",
        ]),
        route("10.97.0.0/16 192.0.2.2", json!({ "tag": 42 }))
            .by(&["ip route 10.97.0.0/16 192.0.2.2 tag 42"]),
        route("203.0.113.128/25 blackhole", json!({ "distance": 200 }))
            .by(&["ip route 203.0.113.128/25 blackhole 200"]),
        // Written otherwise than the router prints it.
        route("2001:DB8:99:0::/48 2001:db8::2", json!({ "distance": 1 }))
            .by(&["ipv6 route 2001:db8:99::/48 2001:db8::2"]),
        entry(
            "CUSTOMER 5",
            json!({ "action": "permit", "prefix": "203.0.113.0/24", "le": 28 }),
        )
        .by(&["ip prefix-list CUSTOMER seq 5 permit 203.0.113.0/24 le 28"]),
        entry(
            "CUSTOMER 10",
            json!({ "action": "deny", "prefix": "0.0.0.0/0", "le": 32 }),
        )
        .by(&["ip prefix-list CUSTOMER seq 10 deny 0.0.0.0/0 le 32"]),
        entry(
            "SIX 5",
            json!({ "action": "permit", "prefix": "2001:db8::/32", "ge": 40, "le": 48 }),
        )
        .by(&["ipv6 prefix-list SIX seq 5 permit 2001:db8::/32 ge 40 le 48"]),
    ]
}

/// The catalog of the device as a Puppet server sends it.
fn wire(resources: &[Resource]) -> Value {
    let mut all = vec![
        json!({ "type": "Stage", "title": "main", "tags": ["stage"], "exported": false, "kind": "compilable_type", "parameters": { "name": "main" } }),
        json!({ "type": "Class", "title": "main", "tags": ["class"], "exported": false, "kind": "class", "parameters": { "name": "main" } }),
    ];
    let mut edges = vec![json!({ "source": "Stage[main]", "target": "Class[main]" })];
    for (line, resource) in resources.iter().enumerate() {
        let (type_name, title) = (resource.type_name, resource.title);
        all.push(json!({
            "type": type_name, "title": title, "tags": [type_name.to_lowercase(), "class"],
            "file": "/etc/puppetlabs/code/environments/production/manifests/site.pp", "line": line + 1,
            "exported": false, "kind": "compilable_type", "parameters": resource.parameters,
        }));
        edges.push(json!({ "source": "Class[main]", "target": format!("{type_name}[{title}]") }));
    }
    json!({
        "name": "leaf", "version": 1_795_249_082, "catalog_format": 2, "environment": "production",
        "code_id": null, "catalog_uuid": "277c4d8f-aa25-472c-b3d7-40a6b7fb5b35", "tags": [], "classes": [],
        "resources": all, "edges": edges,
    })
}

/// The inventory and what is kept between runs; several may differ in a setting.
pub(crate) struct Site {
    dir: PathBuf,
    settings: Vec<String>,
    password: Option<String>,
    /// See [`Site::repeating`].
    repeats: u32,
}

/// In the error of a run whose first request has no answer: that of a plan, and that of a run that may write.
const FIRST_REQUEST_LOST: [&str; 2] = ["no answer to `get-config`", "no answer to `lock`"];

impl Site {
    fn new(router: &Router) -> Self {
        let settings = [
            format!(
                "platform = \"frr\"\naddress = {:?}\n",
                router.setting("HOST")
            ),
            format!("port = {}\n", router.setting("PORT")),
            format!("user = {:?}\n", router.setting("USER")),
            "password = { env = \"FRR_TEST_PASSWORD\" }\n".to_owned(),
            format!("known_hosts = {:?}\n", router.setting("KNOWN_HOSTS")),
        ];
        Self::of(
            &router.dir,
            settings.into(),
            Some(router.setting("PASSWORD")),
        )
    }

    /// The site of a peer with its directory.
    pub(crate) fn of(peer: &Path, settings: Vec<String>, password: Option<String>) -> Self {
        let dir = peer.join("site");
        std::fs::create_dir(&dir).unwrap();
        Self {
            dir,
            settings,
            password,
            repeats: 0,
        }
    }

    /// The same with one setting more, or another value of it.
    pub(crate) fn with(&self, setting: &str) -> Self {
        let key = |line: &str| line.split(" =").next().unwrap().to_owned();
        let mut settings = self.settings.clone();
        settings.retain(|stored| key(stored) != key(setting));
        settings.push(setting.to_owned());
        Self {
            dir: self.dir.clone(),
            settings,
            password: self.password.clone(),
            repeats: self.repeats,
        }
    }

    /// The same for a server that sometimes loses the first request of a session: a run without an answer
    /// to it, which therefore did nothing, is repeated.
    pub(crate) fn repeating(self) -> Self {
        Self { repeats: 3, ..self }
    }

    /// The same with another password in the environment, or none.
    fn with_password(&self, password: Option<&str>) -> Self {
        Self {
            dir: self.dir.clone(),
            settings: self.settings.clone(),
            password: password.map(str::to_owned),
            repeats: self.repeats,
        }
    }

    pub(crate) fn catalog(&self, name: &str, resources: &[Resource]) -> String {
        let path = self.dir.join(format!("{name}.json"));
        std::fs::write(&path, wire(resources).to_string()).unwrap();
        path.into_os_string().into_string().unwrap()
    }

    /// Applies, with report and transcript. On the loopback interface, no route of a catalog cuts off the session.
    pub(crate) fn apply(&self, name: &str, resources: &[Resource]) -> RunOutput {
        let catalog = self.catalog(name, resources);
        let dir = |name: &str| self.dir.join(name).into_os_string().into_string().unwrap();
        self.run(&[
            "apply",
            "--catalog",
            &catalog,
            "--detailed-exitcodes",
            "--allow",
            "own-path",
            "--report",
            &dir("reports"),
            "--transcripts",
            &dir("transcripts"),
        ])
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> RunOutput {
        let mut output = RunOutput::from(self.command(arguments).output().unwrap());
        for _ in 0..self.repeats {
            // The error of a second login is on standard output.
            let text = [&*output.stdout, &output.stderr].concat();
            if !FIRST_REQUEST_LOST.iter().any(|lost| text.contains(lost)) {
                break;
            }
            output = self.command(arguments).output().unwrap().into();
        }
        output
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let inventory = self.dir.join("inventory.toml");
        let _ = std::fs::remove_file(&inventory);
        std::fs::OpenOptions::new()
            .create_new(true)
            .write(true)
            .mode(0o600)
            .open(&inventory)
            .unwrap()
            .write_all(format!("[device.leaf]\n{}", self.settings.concat()).as_bytes())
            .unwrap();
        let mut command = Command::new(program::path());
        command
            .args(arguments)
            .arg("--inventory")
            .arg(&inventory)
            .env_remove("FRR_TEST_PASSWORD")
            .env_remove("SSH_AUTH_SOCK")
            .env("NO_COLOR", "1")
            .envs(
                self.password
                    .iter()
                    .map(|password| ("FRR_TEST_PASSWORD", password)),
            );
        if arguments[0] != "resource" && arguments[0] != "facts" {
            command.arg("--state-dir").arg(self.dir.join("state"));
        }
        command
    }

    pub(crate) fn report(&self) -> Value {
        let text = std::fs::read_to_string(self.dir.join("reports/leaf.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// The lines that the last run sent, from its transcript.
    fn sent(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.dir.join("transcripts/leaf.log")).unwrap();
        text.lines()
            .filter_map(|line| line.strip_prefix("> "))
            .map(str::to_owned)
            .collect()
    }
}

/// Exit code and output of a command.
#[derive(Debug)]
pub(crate) struct RunOutput {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for RunOutput {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl std::fmt::Display for RunOutput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit code {}\n{}{}", self.code, self.stdout, self.stderr)
    }
}

/// The router with its directory; stopped when dropped, also when the test fails.
struct Router {
    dir: PathBuf,
    settings: String,
}

impl Router {
    fn start(dir: &Path) -> Self {
        let port = free_port().to_string();
        let mut router = Self {
            dir: dir.to_owned(),
            settings: String::new(),
        };
        // Long output is paged until the session disables the pager.
        let options = [
            "--port",
            &port,
            "--daemons",
            "bgpd ospfd ospf6d",
            "--pager",
            "more",
        ];
        router.settings = router.script("start", &options);
        router
    }

    /// One of the values that the script printed when the router was ready.
    fn setting(&self, name: &str) -> String {
        let mut lines = self.settings.lines();
        lines
            .find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
            .unwrap_or_else(|| panic!("{name} in {}", self.settings))
            .to_owned()
    }

    fn vtysh(&self, command: &str) -> String {
        self.script("vtysh", &["-c", command])
    }

    /// Sends lines as another user.
    fn configure(&self, lines: &[&str]) {
        let lines = ["configure terminal"].iter().chain(lines);
        let arguments: Vec<&str> = lines.flat_map(|line| ["-c", line]).collect();
        self.script("vtysh", &arguments);
    }

    /// What is configured beyond what the router begins with.
    fn config(&self) -> String {
        let preset = [
            "frr ",
            "hostname ",
            "log ",
            "no ip forwarding",
            "no ipv6 ",
            "service ",
            "!",
            "end",
        ];
        let text = self.vtysh("show running-config");
        let (_, text) = text.split_once("Current configuration:\n").unwrap();
        text.lines()
            .filter(|line| !preset.iter().any(|preset| line.starts_with(preset)))
            .flat_map(|line| [line, "\n"])
            .collect()
    }

    fn script(&self, verb: &str, arguments: &[&str]) -> String {
        let output = Command::new("bash")
            .args([SCRIPT, verb, "--dir"])
            .arg(&self.dir)
            .args(arguments)
            .output();
        let ended = RunOutput::from(output.unwrap());
        assert_eq!(ended.code, 0, "{verb} {arguments:?}: {ended}");
        ended.stdout
    }
}

impl Drop for Router {
    fn drop(&mut self) {
        let output = Command::new("bash")
            .args([SCRIPT, "stop", "--dir"])
            .arg(&self.dir)
            .output();
        if !output.is_ok_and(|output| output.status.success()) {
            stderr_note::print(&format!(
                "the router in {} could not be stopped",
                self.dir.display()
            ));
        }
    }
}
