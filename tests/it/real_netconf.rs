//! A real NETCONF server: netconfd, behind OpenSSH, with a candidate configuration.
//!
//! `tests/real-peers/real-host.sh` starts it on a free port of loopback. Another NETCONF client, which
//! is no part of the product, reads and changes its configuration.

use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::json;
use test_support::peer;

use crate::real_frr::{Resource, resource};
use crate::real_hosts::{Host, applies, instances, is_refused};

/// A client that reads and changes the configuration by messages of its own.
struct Client {
    process: Child,
    input: ChildStdin,
    output: ChildStdout,
}

const HELLO: &str = r#"<hello xmlns="urn:ietf:params:xml:ns:netconf:base:1.0"><capabilities><capability>urn:ietf:params:netconf:base:1.0</capability></capabilities></hello>"#;

impl Client {
    fn connect(host: &Host) -> Self {
        // A server that does not answer ends the test.
        let mut process = Command::new("timeout")
            .args(["60", "bash"])
            .args(host.script_arguments("run"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = process.stdin.take().unwrap();
        let output = process.stdout.take().unwrap();
        let mut client = Self {
            process,
            input,
            output,
        };
        // netconfd loses a request that arrives together with the hello, so that this one is first.
        client.send(HELLO);
        client.message();
        client
    }

    fn send(&mut self, message: &str) {
        write!(self.input, "{message}]]>]]>").unwrap();
        self.input.flush().unwrap();
    }

    fn message(&mut self) -> String {
        let mut received = Vec::new();
        while !received.ends_with(b"]]>]]>") {
            let mut byte = [0];
            self.output.read_exact(&mut byte).unwrap();
            received.push(byte[0]);
        }
        String::from_utf8(received).unwrap()
    }

    fn request(&mut self, operation: &str) -> String {
        self.send(&format!(
            "<rpc xmlns=\"urn:ietf:params:xml:ns:netconf:base:1.0\" message-id=\"1\">{operation}</rpc>"
        ));
        self.message()
    }

    /// The configuration without blanks between its elements.
    fn configuration(&mut self, datastore: &str) -> String {
        let reply = self.request(&format!(
            "<get-config><source><{datastore}/></source></get-config>"
        ));
        reply.lines().map(str::trim).collect()
    }

    fn edit(&mut self, config: &str) {
        let edit = format!(
            "<edit-config><target><candidate/></target><config>{config}</config></edit-config>"
        );
        for operation in [edit.as_str(), "<commit/>"] {
            let reply = self.request(operation);
            assert!(reply.contains("<ok/>"), "{operation}: {reply}");
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // The server ends the session with the connection.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn interface(name: &'static str, parameters: serde_json::Value) -> Resource {
    resource("Ietf_interface", name, parameters)
}

/// An element of a list in an element of a list.
fn address(title: &'static str, parameters: serde_json::Value) -> Resource {
    resource("Ietf_address", title, parameters)
}

const ETHERNET: &str = "iana-if-type:ethernetCsmacd";

#[test]
fn real_netconfd() {
    if peer::skips(peer::missing_for_host(
        "real-host.sh",
        &["netconfd", "sshd"],
    )) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let host = Host::start(dir.path(), "netconfd");
    let site = host.site("ietf_netconf");
    let mut client = Client::connect(&host);

    let first = || {
        [
            resource(
                "Ietf_system",
                "default",
                json!({ "hostname": "r1", "location": "a <b> & c" }),
            ),
            interface(
                "eth0",
                json!({ "type": ETHERNET, "description": "to spine 1" }),
            ),
            interface("eth1", json!({ "type": ETHERNET, "enable": false })),
            address("eth0 192.0.2.1", json!({ "prefix_length": 24 })),
            address("eth0 198.51.100.1", json!({ "prefix_length": 32 })),
            address("eth1 192.0.2.1", json!({ "prefix_length": 31 })),
            resource("Ntp_server", "192.0.2.1", json!({ "prefer": true })),
            resource("Ntp_server", "192.0.2.2", json!({})),
        ]
    };
    let catalog = site.catalog("first", &first());
    let before = client.configuration("running");
    let plan = site.run(&["plan", "--catalog", &catalog]);
    assert_eq!(plan.code, 0, "{plan}");
    assert!(
        plan.stdout
            .contains("<interface nc:operation=\"create\"><name>eth1</name>"),
        "{plan}"
    );
    assert_eq!(
        client.configuration("running"),
        before,
        "a plan changes nothing"
    );

    applies(&site, "first", &first());
    let running = client.configuration("running");
    for expected in [
        "<hostname>r1</hostname>",
        "<location>a &lt;b&gt; &amp; c</location>",
        "<name>eth0</name><description>to spine 1</description>",
        "<enabled>false</enabled>",
        "<ip>198.51.100.1</ip><prefix-length>32</prefix-length>",
        "<ip>192.0.2.1</ip><prefix-length>31</prefix-length>",
        "<address>192.0.2.1</address></udp><prefer>true</prefer>",
    ] {
        assert!(running.contains(expected), "{expected} in {running}");
    }
    assert_eq!(
        instances(&site, "ietf_interface")["eth1"],
        json!({ "ensure": "present", "type": ETHERNET, "enable": false, "description": "unset" })
    );

    // Changes, and a removed leaf.
    let second = || {
        [
            resource(
                "Ietf_system",
                "default",
                json!({ "hostname": "r2", "location": "unset" }),
            ),
            interface(
                "eth0",
                json!({ "type": ETHERNET, "description": "unset", "enable": false }),
            ),
            interface("eth1", json!({ "ensure": "absent" })),
            address("eth0 192.0.2.1", json!({ "prefix_length": 25 })),
            address("eth0 198.51.100.1", json!({ "ensure": "absent" })),
            address("eth1 192.0.2.1", json!({ "ensure": "absent" })),
            resource("Ntp_server", "192.0.2.1", json!({ "prefer": false })),
            resource("Ntp_server", "192.0.2.2", json!({ "ensure": "absent" })),
        ]
    };
    applies(&site, "second", &second());
    let running = client.configuration("running");
    for gone in ["location", "eth1", "192.0.2.2", "198.51.100.1", "spine"] {
        assert!(!running.contains(gone), "{gone} in {running}");
    }
    assert_eq!(
        instances(&site, "ietf_address"),
        json!({ "eth0 192.0.2.1": {
            "ensure": "present", "interface": "eth0", "address": "192.0.2.1", "prefix_length": 25,
        } })
    );

    // Another client changes it: drift is found and corrected.
    client.edit(
        "<system xmlns=\"urn:ietf:params:xml:ns:yang:ietf-system\"><hostname>other</hostname></system>",
    );
    applies(&site, "second", &second());
    assert!(
        client
            .configuration("running")
            .contains("<hostname>r2</hostname>")
    );

    // The server refuses an edit: its text is in the events, and the candidate is as before.
    let refused = [
        interface("eth5", json!({ "type": "iana-if-type:noSuchType" })),
        interface(
            "eth6",
            json!({ "type": ETHERNET, "require": "Ietf_interface[eth5]" }),
        ),
    ];
    is_refused(&site, &refused, "invalid value");
    assert_eq!(
        client.configuration("candidate"),
        client.configuration("running")
    );
    assert!(!client.configuration("running").contains("eth5"));

    // The server accepts the edit and refuses the commit: another session holds the lock of the running
    // configuration. The candidate is discarded.
    let request = |client: &mut Client, operation: &str| {
        let reply = client.request(operation);
        assert!(reply.contains("<ok/>"), "{operation}: {reply}");
    };
    request(&mut client, "<lock><target><running/></target></lock>");
    let refused = [
        interface("eth7", json!({ "type": ETHERNET })),
        address(
            "eth7 192.0.2.7",
            json!({ "prefix_length": 24, "require": "Ietf_interface[eth7]" }),
        ),
    ];
    is_refused(
        &site,
        &refused,
        "the device refused to commit the candidate: config locked",
    );
    request(&mut client, "<unlock><target><running/></target></unlock>");
    for datastore in ["candidate", "running"] {
        assert!(!client.configuration(datastore).contains("eth7"));
    }

    // Another session holds the lock.
    request(&mut client, "<lock><target><candidate/></target></lock>");
    let locked = [resource(
        "Ietf_system",
        "default",
        json!({ "hostname": "r3" }),
    )];
    is_refused(&site, &locked, "cannot lock the candidate configuration");
    request(
        &mut client,
        "<unlock><target><candidate/></target></unlock>",
    );
    applies(&site, "unlocked", &locked);
}
