//! Real hosts that are configured in a shell: Open vSwitch, Linux as a router, and HAProxy.
//!
//! `tests/real-peers/real-host.sh` starts them behind OpenSSH on a free port of loopback. Where
//! a package is missing, a test prints that it was skipped, except when
//! `SWITCHTENDER_REQUIRE_PEERS` is set: then that is a failure. Where the machine forbids network namespaces,
//! the Linux router is skipped in any case.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::real_frr::{Resource, RunOutput, Site, resource};
use test_support::free_port::free_port;
use test_support::{peer, stderr_note};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/real-peers/real-host.sh");

/// A host with its directory; stopped when dropped, also when the test fails.
pub(crate) struct Host {
    dir: PathBuf,
    settings: String,
}

impl Host {
    pub(crate) fn start(dir: &Path, kind: &str) -> Self {
        let port = free_port().to_string();
        let mut host = Self {
            dir: dir.to_owned(),
            settings: String::new(),
        };
        host.settings = host.script("start", &["--kind", kind, "--port", &port]);
        host
    }

    /// A setting that the script has printed.
    pub(crate) fn setting(&self, name: &str) -> &str {
        let mut lines = self.settings.lines();
        lines
            .find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
            .unwrap_or_else(|| panic!("{name} in {}", self.settings))
    }

    pub(crate) fn site(&self, platform: &str) -> Site {
        let setting = |name: &str| self.setting(name);
        let settings = [
            format!("platform = {platform:?}\naddress = {:?}\n", setting("HOST")),
            format!("port = {}\n", setting("PORT")),
            format!("user = {:?}\n", setting("USER")),
            format!("private_key = {:?}\n", setting("IDENTITY")),
            format!("known_hosts = {:?}\n", setting("KNOWN_HOSTS")),
        ];
        Site::of(&self.dir, settings.into(), None)
    }

    /// The output of a line in a shell of the host, without a session.
    fn shell(&self, line: &str) -> String {
        self.script("run", &[line])
    }

    /// The script, and its arguments for the host.
    pub(crate) fn script_arguments(&self, verb: &str) -> [OsString; 4] {
        let dir = self.dir.clone().into_os_string();
        [SCRIPT.into(), verb.into(), "--dir".into(), dir]
    }

    fn script(&self, verb: &str, arguments: &[&str]) -> String {
        let mut command = Command::new("bash");
        let output = command
            .args(self.script_arguments(verb))
            .args(arguments)
            .output();
        let ended = RunOutput::from(output.unwrap());
        assert_eq!(ended.code, 0, "{verb} {arguments:?}: {ended}");
        ended.stdout
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // The test has its result; a host that does not stop is no other one.
        let _ = Command::new("bash")
            .args([SCRIPT, "stop", "--dir"])
            .arg(&self.dir)
            .output();
    }
}

/// Applies resources that change something, and again: the second run sends nothing.
#[track_caller]
pub(crate) fn applies(site: &Site, name: &str, resources: &[Resource]) -> RunOutput {
    let output = site.apply(name, resources);
    assert_eq!(output.code, 2, "{output}");
    let again = site.apply(name, resources);
    assert_eq!(again.code, 0, "a second run: {again}");
    let report = site.report();
    assert_eq!(report["status"], "unchanged", "{report}");
    output
}

/// Applies resources and records it; the recording in place of the device has the same events.
#[track_caller]
pub(crate) fn replays(site: &Site, name: &str, resources: &[Resource]) {
    let catalog = site.catalog(name, resources);
    let recordings = format!("{catalog}.recordings");
    let apply = |more: &[&str]| {
        let arguments = ["apply", "--detailed-exitcodes", "--catalog", &catalog];
        let ran = site.run(&[&arguments, more].concat());
        assert_eq!(ran.code, 2, "{ran}");
        let events = ran
            .stdout
            .lines()
            .filter(|line| line.contains(" changed '"));
        // The state directories differ, and with them what is known of earlier runs.
        let events = events.map(|line| line.trim_end_matches(" (corrective)").to_owned());
        events.collect::<Vec<_>>()
    };
    let live = apply(&["--record", &recordings]);
    assert_ne!(live, [""; 0]);
    assert_eq!(apply(&["--mock", "--mock-config", &recordings]), live);
}

/// Applies resources of which the device refuses one, with this text.
#[track_caller]
pub(crate) fn is_refused(site: &Site, resources: &[Resource], text: &str) {
    let output = site.apply("refused", resources);
    assert_eq!(output.code & 4, 4, "{output}");
    assert!(output.stdout.contains(text), "{text:?} in {output}");
}

#[track_caller]
pub(crate) fn instances(site: &Site, kind: &str) -> Value {
    let output = site.run(&["resource", "leaf", kind, "--output", "json"]);
    assert_eq!(output.code, 0, "{output}");
    let mut all: Value = serde_json::from_str(&output.stdout).unwrap();
    all[kind].take()
}

#[test]
fn real_open_vswitch() {
    let missing = peer::missing_for_host("real-host.sh", &["ovs-vsctl", "ovs-vswitchd", "sshd"]);
    if peer::skips(missing) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let host = Host::start(dir.path(), "openvswitch");
    let site = host.site("openvswitch");

    let bridge = |name, parameters| resource("Ovs_bridge", name, parameters);
    let port = |name, parameters| resource("Ovs_port", name, parameters);
    let first = || {
        [
            bridge("br0", json!({ "stp": true, "fail_mode": "secure" })),
            bridge("br1", json!({})),
            port("p1", json!({ "bridge": "br0", "tag": 10 })),
            port(
                "p2",
                json!({ "bridge": "br0", "trunks": [10, 20], "vlan_mode": "trunk" }),
            ),
            port(
                "p3",
                json!({ "bridge": "br1", "interface_type": "internal" }),
            ),
        ]
    };
    let catalog = site.catalog("first", &first());
    let plan = site.run(&["plan", "--catalog", &catalog]);
    assert_eq!(plan.code, 0, "{plan}");
    let added = "\n  +ovs-vsctl add-port br1 p3 -- set interface p3 type=internal\n";
    assert!(plan.stdout.contains(added), "{plan}");
    assert_eq!(
        host.shell("ovs-vsctl list-br"),
        "",
        "a plan changes nothing"
    );

    applies(&site, "first", &first());
    assert_eq!(host.shell("ovs-vsctl list-ports br0"), "p1\np2\n");
    let columns = "ovs-vsctl --bare --columns=tag,trunks,vlan_mode list port";
    assert_eq!(host.shell(&format!("{columns} p1")), "10\n\n\n");
    assert_eq!(host.shell(&format!("{columns} p2")), "\n10 20\ntrunk\n");
    assert_eq!(host.shell("ovs-vsctl get-fail-mode br0"), "secure\n");
    assert_eq!(host.shell("ovs-vsctl get interface p3 type"), "internal\n");
    assert_eq!(
        instances(&site, "ovs_port"),
        json!({
            "p1": { "ensure": "present", "bridge": "br0", "interface_type": "system", "tag": 10, "trunks": ["unset"], "vlan_mode": "unset" },
            "p2": { "ensure": "present", "bridge": "br0", "interface_type": "system", "tag": "unset", "trunks": [10, 20], "vlan_mode": "trunk" },
            "p3": { "ensure": "present", "bridge": "br1", "interface_type": "internal", "tag": "unset", "trunks": ["unset"], "vlan_mode": "unset" },
        })
    );

    applies(
        &site,
        "changed",
        &[
            bridge("br0", json!({ "stp": false, "fail_mode": "unset" })),
            port("p1", json!({ "bridge": "br0", "tag": 30 })),
            port(
                "p2",
                json!({ "bridge": "br0", "trunks": [20], "vlan_mode": "unset" }),
            ),
            port("p3", json!({ "ensure": "absent" })),
            bridge("br1", json!({ "ensure": "absent" })),
        ],
    );
    assert_eq!(host.shell("ovs-vsctl list-br"), "br0\n");
    assert_eq!(host.shell(&format!("{columns} p1")), "30\n\n\n");
    assert_eq!(host.shell(&format!("{columns} p2")), "\n20\n\n");

    is_refused(
        &site,
        &[port("p4", json!({ "bridge": "br9" }))],
        "ovs-vsctl: no bridge named br9",
    );

    // Somebody else changes the device.
    host.shell("ovs-vsctl set port p1 tag=99 -- del-port p2");
    applies(&site, "first", &first());
    assert_eq!(host.shell(&format!("{columns} p1")), "10\n\n\n");
    assert_eq!(host.shell("ovs-vsctl list-ports br0"), "p1\np2\n");

    // Rows with other identifiers, made in another order, are the same configuration.
    let backup = |name: &str| {
        let configs = dir.path().join(name);
        let output = site.run(&["backup", configs.to_str().unwrap()]);
        assert_eq!(output.code, 0, "{output}");
        std::fs::read_to_string(configs.join("leaf.json")).unwrap()
    };
    let before = backup("before");
    assert!(before.contains("p2,br0"), "{before}");
    host.shell("ovs-vsctl del-br br0 -- del-br br1 -- add-br br1 -- add-br br0");
    applies(&site, "first", &first());
    assert_eq!(backup("after"), before);
}

/// Whether the machine permits a network namespace with an interface.
fn has_namespaces() -> bool {
    let probe = "ip netns add \"$0\" && ip netns exec \"$0\" ip tuntap add eth1 mode tap; \
                 code=$?; ip netns del \"$0\"; exit $code";
    let name = format!("switchtender-probe-{}", std::process::id());
    let probed = Command::new("sh").args(["-c", probe, &name]).output();
    probed.is_ok_and(|output| output.status.success())
}

#[test]
fn real_linux_router() {
    let missing = peer::missing_for_host("real-host.sh", &["ip", "sshd"]);
    if peer::skips(missing) {
        return;
    }
    if !has_namespaces() {
        stderr_note::print("skipped: this machine forbids network namespaces or tap interfaces");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let host = Host::start(dir.path(), "linux");
    let site = host.site("linux");

    let interface = |name, parameters| resource("Network_interface", name, parameters);
    let address = |title, parameters| resource("Linux_address", title, parameters);
    let route = |title, parameters| resource("Linux_route", title, parameters);
    let first = || {
        [
            interface("eth1", json!({ "enable": true, "mtu": 1400 })),
            address("eth1 192.0.2.1/24", json!({})),
            address("eth1 2001:DB8::1/64", json!({})),
            route("0.0.0.0/0", json!({ "via": "192.0.2.254" })),
            route("10.1.2.3/32", json!({ "via": "192.0.2.253", "metric": 5 })),
            route("2001:db8:1::/48", json!({ "via": "2001:db8::2" })),
        ]
    };
    applies(&site, "first", &first());
    let routes = host.shell("ip route show proto boot");
    assert!(
        routes.contains("default via 192.0.2.254 dev eth1 "),
        "{routes}"
    );
    assert!(
        routes.contains("10.1.2.3 via 192.0.2.253 dev eth1 metric 5 "),
        "{routes}"
    );
    let links = host.shell("ip -o link show eth1");
    assert!(
        links.contains(",UP") && links.contains(" mtu 1400 "),
        "{links}"
    );
    assert_eq!(
        instances(&site, "linux_address"),
        json!({
            "eth1 192.0.2.1/24": { "ensure": "present", "interface": "eth1", "address": "192.0.2.1/24" },
            "eth1 2001:db8::1/64": { "ensure": "present", "interface": "eth1", "address": "2001:db8::1/64" },
        })
    );

    applies(
        &site,
        "changed",
        &[
            interface("eth1", json!({ "mtu": 1300 })),
            route("0.0.0.0/0", json!({ "via": "192.0.2.252" })),
            route("10.1.2.3/32", json!({ "ensure": "absent" })),
            address("eth1 2001:db8::1/64", json!({ "ensure": "absent" })),
        ],
    );
    let routes = host.shell("ip route show proto boot");
    assert!(
        routes.starts_with("default via 192.0.2.252 dev eth1 "),
        "{routes}"
    );
    assert_eq!(routes.lines().count(), 1, "{routes}");

    is_refused(
        &site,
        &[route("10.2.0.0/16", json!({ "via": "198.51.100.1" }))],
        "Error: Nexthop has invalid gateway.",
    );

    host.shell(
        "ip route del default; ip addr add 192.0.2.9/24 dev eth1; ip link set eth1 mtu 1500",
    );
    applies(&site, "first", &first());
    let addresses = host.shell("ip -o addr show dev eth1");
    assert!(
        addresses.contains(" 192.0.2.9/24 "),
        "not purged: {addresses}"
    );
    assert!(addresses.contains(" 2001:db8::1/64 "), "{addresses}");
}

#[test]
fn real_haproxy() {
    let missing = peer::missing_for_host("real-host.sh", &["haproxy", "socat", "sshd"]);
    if peer::skips(missing) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let host = Host::start(dir.path(), "haproxy");
    let site = host.site("haproxy");

    let server = |name, parameters| resource("Haproxy_server", name, parameters);
    let stat = || {
        let all = host.shell("echo show stat -1 4 -1 | socat - UNIX-CONNECT:$HAPROXY_SOCKET");
        let of_one = |line: &str| {
            let fields: Vec<&str> = line.split(',').collect();
            format!("{} {} {}", fields[1], fields[17], fields[18])
        };
        let servers = all.lines().filter(|line| line.starts_with("web,"));
        servers.map(of_one).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(stat(), "s1 no check 10\ns2 no check 10\ns3 MAINT 10");
    let first = || {
        [
            server("web/s1", json!({ "weight": 20, "state": "ready" })),
            server("web/s2", json!({ "state": "drain", "port": 9112 })),
            server(
                "web/s3",
                json!({ "state": "ready", "address": "127.0.0.3" }),
            ),
        ]
    };
    applies(&site, "first", &first());
    assert_eq!(stat(), "s1 no check 20\ns2 DRAIN 10\ns3 no check 10");
    assert_eq!(
        instances(&site, "haproxy_server")["web/s3"],
        json!({ "state": "ready", "weight": 10, "address": "127.0.0.3", "port": 9103 })
    );

    applies(
        &site,
        "changed",
        &[
            server("web/s1", json!({ "weight": 0 })),
            server("web/s2", json!({ "state": "maint" })),
        ],
    );
    assert_eq!(stat(), "s1 no check 0\ns2 MAINT 10\ns3 no check 10");

    is_refused(
        &site,
        &[server("web/s9", json!({ "weight": 1 }))],
        "No such server.",
    );

    host.shell("echo set server web/s3 state maint | socat - UNIX-CONNECT:$HAPROXY_SOCKET");
    applies(&site, "first", &first());
    assert_eq!(stat(), "s1 no check 20\ns2 DRAIN 10\ns3 no check 10");
}
