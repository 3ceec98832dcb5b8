//! A real router: FRRouting behind OpenSSH, with `vtysh` as the login shell.
//!
//! `tests/real-peers/real-frr.sh` starts it on a free port of loopback, in a network namespace of
//! its own, and stops it by its own directory. Where FRRouting or root is missing the test says that
//! it was skipped, except when `SWITCHTENDER_REQUIRE_PEERS` is set: then that is a failure.

use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use test_support::{program, stderr_note};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/real-peers/real-frr.sh");

#[test]
fn real_frr_router() {
    if let Some(missing) = missing() {
        assert!(
            std::env::var_os("SWITCHTENDER_REQUIRE_PEERS").is_none(),
            "{missing}"
        );
        stderr_note::print(&format!("skipped: {missing}"));
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let router = Router::start(dir.path());
    let site = Site::new(&router);

    a_plan_shows_lines_and_changes_nothing(&router, &site);
    an_apply_does_what_the_plan_showed(&router, &site);
    a_second_apply_sends_nothing(&site);
    resources_and_facts_are_shown(&router, &site);
    changes_and_removals(&router, &site);
    what_was_applied_is_saved_when_asked(&router, &site);
    a_refused_line_is_shown_in_the_words_of_the_router(&router, &site);
    a_key_logs_in(&router, &site);
    wrong_and_missing_passwords(&router, &site);
    wrong_and_unknown_host_keys(&router, &site);
    one_run_at_a_time(&router, &site);
}

fn a_plan_shows_lines_and_changes_nothing(router: &Router, site: &Site) {
    let before = router.config();
    let output = site.run(&["plan", "--catalog", &site.catalog("plan", &first())]);
    assert_eq!(output.code, 0, "{output}");
    for resource in first() {
        for line in resource.lines {
            let shown = format!("    > {line}\n");
            assert!(output.stdout.contains(&shown), "{line:?} in {output}");
        }
    }
    let lines = first().iter().flat_map(|resource| resource.lines).count();
    let shown = output
        .stdout
        .lines()
        .filter(|line| line.starts_with("    > "));
    assert_eq!(shown.count(), lines, "{output}");
    for added in [
        "+interface eth2",
        "+ shutdown",
        "+ip route 203.0.113.128/25 blackhole 200",
    ] {
        assert!(
            output.stdout.contains(&format!("\n  {added}\n")),
            "{added:?} in {output}"
        );
    }
    assert_eq!(router.config(), before);
}

fn an_apply_does_what_the_plan_showed(router: &Router, site: &Site) {
    let output = site.apply("first", &first());
    assert_eq!(output.code, 2, "{output}");
    assert_eq!(
        router.config(),
        "\
ip route 10.97.0.0/16 192.0.2.2 tag 42
ip route 203.0.113.128/25 blackhole 200
ipv6 route 2001:db8:99::/48 2001:db8::2
interface eth1
 description Uplink to spine 1
exit
interface eth2
 description spare
 shutdown
exit
ip prefix-list CUSTOMER seq 5 permit 203.0.113.0/24 le 28
ip prefix-list CUSTOMER seq 10 deny 0.0.0.0/0 le 32
ipv6 prefix-list SIX seq 5 permit 2001:db8::/32 ge 40 le 48
"
    );
    // What the kernel was told, not only what was written down.
    let routes = router.vtysh("show ip route static json");
    let routes: Value = serde_json::from_str(&routes).unwrap();
    assert_eq!(routes["203.0.113.128/25"][0]["distance"], 200, "{routes}");
}

fn a_second_apply_sends_nothing(site: &Site) {
    let output = site.apply("first", &first());
    assert_eq!(output.code, 0, "{output}");
    let report = site.report();
    assert_eq!(report["status"], "unchanged", "{report}");
    let sent = site.sent();
    assert_eq!(
        sent,
        [
            "no terminal paginate",
            "show version",
            "show running-config",
            "exit"
        ],
        "each read once, and no line of configuration"
    );
}

fn resources_and_facts_are_shown(router: &Router, site: &Site) {
    let output = site.run(&["resource", "leaf", "frr_static_route", "--format", "json"]);
    assert_eq!(output.code, 0, "{output}");
    let routes: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(
        routes,
        json!({ "frr_static_route": {
            "10.97.0.0/16 192.0.2.2": { "ensure": "present", "prefix": "10.97.0.0/16", "next_hop": "192.0.2.2", "tag": 42, "distance": 1 },
            "203.0.113.128/25 blackhole": { "ensure": "present", "prefix": "203.0.113.128/25", "next_hop": "blackhole", "distance": 200 },
            "2001:db8:99::/48 2001:db8::2": { "ensure": "present", "prefix": "2001:db8:99::/48", "next_hop": "2001:db8::2", "distance": 1 },
        }}),
        "{output}"
    );
    let output = site.run(&["resource", "leaf", "network_interface", "eth2"]);
    let wanted =
        "network_interface { 'eth2':\n  enable      => false,\n  description => 'spare',\n}\n";
    assert_eq!(
        (output.code, output.stdout.as_str()),
        (0, wanted),
        "{output}"
    );

    let output = site.run(&["facts", "leaf"]);
    let facts: Value = serde_json::from_str(&output.stdout).unwrap();
    let version = router.vtysh("show version");
    let version = version.split_whitespace().nth(1).unwrap();
    assert_eq!(facts["operatingsystem"], "frr");
    assert_eq!(facts["operatingsystemrelease"], version);
    assert_eq!(facts["hostname"], router.setting("HOSTNAME"));
}

fn changes_and_removals(router: &Router, site: &Site) {
    let changed = || {
        [
            interface(
                "eth1",
                json!({ "enable": true, "description": "Uplink to spine 2" }),
            ),
            interface("eth2", json!({ "enable": true, "description": "unset" })),
            route(
                "10.97.0.0/16 192.0.2.2",
                json!({ "tag": 43, "distance": 5 }),
            ),
            route("203.0.113.128/25 blackhole", json!({ "ensure": "absent" })),
            entry(
                "CUSTOMER 5",
                json!({ "action": "permit", "prefix": "203.0.113.0/24", "le": 27 }),
            ),
            entry("CUSTOMER 10", json!({ "ensure": "absent" })),
        ]
    };
    let output = site.apply("changed", &changed());
    assert_eq!(output.code, 2, "{output}");
    assert_eq!(
        router.config(),
        "\
ip route 10.97.0.0/16 192.0.2.2 tag 43 5
ipv6 route 2001:db8:99::/48 2001:db8::2
interface eth1
 description Uplink to spine 2
exit
ip prefix-list CUSTOMER seq 5 permit 203.0.113.0/24 le 27
ipv6 prefix-list SIX seq 5 permit 2001:db8::/32 ge 40 le 48
"
    );
    let output = site.apply("changed", &changed());
    assert_eq!(output.code, 0, "{output}");
}

fn what_was_applied_is_saved_when_asked(router: &Router, site: &Site) {
    let saved = || std::fs::read_to_string(router.setting("CONFIG")).unwrap();
    let mut wanted = [interface(
        "eth3",
        json!({ "enable": true, "description": "kept" }),
    )];
    let output = site.apply("unsaved", &wanted);
    assert_eq!(output.code, 2, "{output}");
    assert!(!saved().contains("kept"), "{}", saved());

    let site = site.with("save_config = \"on_change\"\n");
    wanted[0].parameters["description"] = json!("kept for good");
    let output = site.apply("saved", &wanted);
    assert_eq!(output.code, 2, "{output}");
    assert!(
        saved().contains(" description kept for good\n"),
        "{}",
        saved()
    );
}

fn a_refused_line_is_shown_in_the_words_of_the_router(router: &Router, site: &Site) {
    let output = site.apply(
        "refused",
        &[
            entry(
                "WRONG 5",
                json!({ "action": "permit", "prefix": "203.0.113.0/24", "ge": 16 }),
            ),
            route("10.98.0.0/16 blackhole", json!({})),
        ],
    );
    // The other resource was applied all the same.
    assert_eq!(output.code, 6, "{output}");
    let told = "\
leaf:   > ip prefix-list WRONG seq 5 permit 203.0.113.0/24 ge 16
leaf:   % Configuration failed.
leaf:   Error type: validation
leaf:   Error description: Invalid prefix range for 203.0.113.0/24: Make sure that mask length <= ge <= le
";
    assert!(output.stdout.contains(told), "{output}");
    let config = router.config();
    assert!(
        config.contains("ip route 10.98.0.0/16 blackhole\n"),
        "{config}"
    );
    assert!(!config.contains("WRONG"), "{config}");
}

fn a_key_logs_in(router: &Router, site: &Site) {
    let key = format!("private_key = {:?}\n", router.setting("IDENTITY"));
    let mut site = site.with(&key).with_password(None);
    site.settings
        .retain(|setting| !setting.starts_with("password"));
    let output = site.run(&["facts", "leaf"]);
    assert_eq!(output.code, 0, "{output}");
}

fn wrong_and_missing_passwords(router: &Router, site: &Site) {
    let before = router.config();
    let site = site.with_password(Some("not the password"));
    let output = site.apply("wrong", &first());
    assert_eq!(output.code, 1, "{output}");
    let told = format!(
        "leaf: Error: the device refused the login of {}\n",
        router.setting("USER")
    );
    assert!(output.stdout.contains(&told), "{output}");
    assert!(
        !format!("{output}").contains("not the password"),
        "{output}"
    );
    assert_eq!(router.config(), before);

    let output = site.with_password(None).apply("missing", &first());
    assert_eq!(output.code, 1, "{output}");
    assert!(output.stdout.contains("FRR_TEST_PASSWORD"), "{output}");
}

fn wrong_and_unknown_host_keys(router: &Router, site: &Site) {
    let before = router.config();
    // A key that is not the router's, under its name: that of the user.
    let other = std::fs::read_to_string(router.setting("IDENTITY") + ".pub").unwrap();
    let wrong = format!("[127.0.0.1]:{} {other}", router.setting("PORT"));
    for (known, told) in [
        (wrong.as_str(), " has changed: its fingerprint is "),
        ("", " is not in known_hosts: "),
    ] {
        let file = site.dir.join("other_known_hosts");
        std::fs::write(&file, known).unwrap();
        let site = site.with(&format!("known_hosts = {file:?}\n"));
        let output = site.apply("other", &first());
        assert_eq!(output.code, 1, "{output}");
        assert!(output.stdout.contains(told), "{told:?} in {output}");
        let fingerprint = router.setting("HOSTKEY_ED25519");
        assert!(
            output.stdout.contains(&fingerprint),
            "{fingerprint} in {output}"
        );
    }
    assert_eq!(router.config(), before);
}

fn one_run_at_a_time(router: &Router, site: &Site) {
    // The first run is held at a port that takes connections and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let first_site = site.with(&format!("port = {port}\n"));
    let catalog = site.catalog("held", &first());
    let mut held = first_site.command(&["apply", "--catalog", &catalog]);
    let held = held
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let id = held.id();
    let (connection, _) = silent.accept().unwrap();

    let before = router.config();
    let output = site.apply("second", &first());
    assert_eq!(output.code, 1, "{output}");
    let told = format!("another run has locked leaf (process {id})");
    assert!(output.stdout.contains(&told), "{output}");
    assert_eq!(router.config(), before);

    drop((connection, silent));
    let ended = Said::from(held.wait_with_output().unwrap());
    assert_eq!(ended.code, 1, "{ended}");
    let output = site.apply("third", &first());
    assert_eq!(output.code, 2, "the lock is free again: {output}");
}

/// A resource of the catalog, and the lines that make it.
struct Resource {
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

fn resource(type_name: &'static str, title: &'static str, parameters: Value) -> Resource {
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
struct Site {
    dir: PathBuf,
    settings: Vec<String>,
    password: Option<String>,
}

impl Site {
    fn new(router: &Router) -> Self {
        let dir = router.dir.join("site");
        std::fs::create_dir(&dir).unwrap();
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
        Self {
            dir,
            settings: settings.into(),
            password: Some(router.setting("PASSWORD")),
        }
    }

    /// The same with one setting more, or another value of it.
    fn with(&self, setting: &str) -> Self {
        let key = |line: &str| line.split(" =").next().unwrap().to_owned();
        let mut settings = self.settings.clone();
        settings.retain(|known| key(known) != key(setting));
        settings.push(setting.to_owned());
        Self {
            dir: self.dir.clone(),
            settings,
            password: self.password.clone(),
        }
    }

    /// The same with another password in the environment, or none.
    fn with_password(&self, password: Option<&str>) -> Self {
        Self {
            dir: self.dir.clone(),
            settings: self.settings.clone(),
            password: password.map(str::to_owned),
        }
    }

    fn catalog(&self, name: &str, resources: &[Resource]) -> String {
        let path = self.dir.join(format!("{name}.json"));
        std::fs::write(&path, wire(resources).to_string()).unwrap();
        path.into_os_string().into_string().unwrap()
    }

    /// Applies, with report and transcript.
    fn apply(&self, name: &str, resources: &[Resource]) -> Said {
        let catalog = self.catalog(name, resources);
        let dir = |name: &str| self.dir.join(name).into_os_string().into_string().unwrap();
        self.run(&[
            "apply",
            "--catalog",
            &catalog,
            "--detailed-exitcodes",
            "--report",
            &dir("reports"),
            "--transcripts",
            &dir("transcripts"),
        ])
    }

    fn run(&self, arguments: &[&str]) -> Said {
        self.command(arguments).output().unwrap().into()
    }

    fn command(&self, arguments: &[&str]) -> Command {
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

    fn report(&self) -> Value {
        let text = std::fs::read_to_string(self.dir.join("reports/leaf.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// What the last run sent, as its transcript tells.
    fn sent(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.dir.join("transcripts/leaf.log")).unwrap();
        text.lines()
            .filter_map(|line| line.strip_prefix("> "))
            .map(str::to_owned)
            .collect()
    }
}

/// How a command ended and what it said.
#[derive(Debug)]
struct Said {
    code: i32,
    stdout: String,
    stderr: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl std::fmt::Display for Said {
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
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr();
        let port = free.unwrap().port().to_string();
        let mut router = Self {
            dir: dir.to_owned(),
            settings: String::new(),
        };
        // Long output is paged until the session asks for it whole.
        let options = ["--port", &port, "--daemons", "", "--pager", "more"];
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
        let said = Said::from(output.unwrap());
        assert_eq!(said.code, 0, "{verb} {arguments:?}: {said}");
        said.stdout
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

/// What stands in the way of starting the router, if anything.
fn missing() -> Option<String> {
    let found = |name: &str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path)
            .chain(["/usr/sbin".into(), "/usr/lib/frr".into()])
            .any(|dir| dir.join(name).exists())
    };
    if let Some(name) = ["zebra", "staticd", "vtysh", "sshd", "ip"]
        .into_iter()
        .find(|name| !found(name))
    {
        return Some(format!(
            "there is no {name} (tests/real-peers/real-frr.sh install)"
        ));
    }
    let root = std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
    if !root {
        return Some("only root can start FRRouting".to_owned());
    }
    let own = Command::new("unshare").args(["--net", "true"]).output();
    if !own.is_ok_and(|output| output.status.success()) {
        return Some("network namespaces cannot be made here".to_owned());
    }
    None
}
