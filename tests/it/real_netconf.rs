//! A real NETCONF server: netconfd, behind OpenSSH, with a candidate configuration.
//!
//! `tests/real-peers/real-host.sh` starts it on a free port of loopback. Another NETCONF client, which
//! is no part of the product, reads and changes its configuration.

mod cut_path;

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;
use test_support::peer;

use crate::real_frr::{Resource, Site, resource};
use crate::real_hosts::{Host, applies, instances, is_refused, replays};

/// A client that reads and changes the configuration by messages of its own.
struct Client {
    process: Child,
    input: ChildStdin,
    messages: Receiver<String>,
}

const HELLO: &str = r#"<hello xmlns="urn:ietf:params:xml:ns:netconf:base:1.0"><capabilities><capability>urn:ietf:params:netconf:base:1.0</capability></capabilities></hello>"#;

/// A server that does not answer within this time ends the test.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

impl Client {
    /// A session that has answered a first request; see [`site`].
    fn connect(host: &Host) -> Self {
        let answering = (0..4).find_map(|_| {
            let mut client = Self::start(host);
            client.send(HELLO);
            client.messages.recv_timeout(ANSWER_LIMIT).ok()?;
            client.send(&rpc(GET_RUNNING));
            client.messages.recv_timeout(ANSWER_LIMIT).ok()?;
            Some(client)
        });
        answering.expect("the server answers")
    }

    fn start(host: &Host) -> Self {
        let mut process = Command::new("bash")
            .args(host.script_arguments("run"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = process.stdin.take().unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let (sender, messages) = channel();
        // Ends with the process.
        std::thread::spawn(move || {
            let mut received = Vec::new();
            while output.read_until(b'>', &mut received).unwrap() > 0 {
                if received.ends_with(b"]]>]]>") {
                    let message = String::from_utf8(std::mem::take(&mut received)).unwrap();
                    if sender.send(message).is_err() {
                        break;
                    }
                }
            }
        });
        Self {
            process,
            input,
            messages,
        }
    }

    fn send(&mut self, message: &str) {
        write!(self.input, "{message}]]>]]>").unwrap();
        self.input.flush().unwrap();
    }

    fn request(&mut self, operation: &str) -> String {
        self.send(&rpc(operation));
        self.messages.recv_timeout(ANSWER_LIMIT).expect("an answer")
    }

    /// The configuration without blanks between its elements.
    fn configuration(&mut self, datastore: &str) -> String {
        let reply = self.request(&format!(
            "<get-config><source><{datastore}/></source></get-config>"
        ));
        let reply: String = reply.lines().map(str::trim).collect();
        // The elements around it have the time of the last change.
        let data = reply.find("<data").and_then(|start| reply.get(start..));
        data.unwrap_or_else(|| panic!("no configuration in {reply}"))
            .to_owned()
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

const GET_RUNNING: &str = "<get-config><source><running/></source></get-config>";

fn rpc(operation: &str) -> String {
    format!(
        "<rpc xmlns=\"urn:ietf:params:xml:ns:netconf:base:1.0\" message-id=\"1\">{operation}</rpc>"
    )
}

impl Drop for Client {
    fn drop(&mut self) {
        // The server ends the session with the connection.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// netconfd 2.13 loses a request that arrives together with the hello: on a loaded machine, its process
/// reads both at once. No client can prevent that.
fn site(host: &Host) -> Site {
    let site = host.site("ietf_netconf").repeating();
    site.with("command_timeout = \"20s\"\n")
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
    let _server = SERVER.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = tempfile::tempdir().unwrap();
    let host = Host::start(dir.path(), "netconfd");
    let site = site(&host);
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

    // The server accepts the edit and refuses the content at the commit: the interface, which it creates
    // for the address, has no type.
    let refused = [
        address("eth8 192.0.2.8", json!({ "prefix_length": 24 })),
        interface(
            "eth9",
            json!({ "type": ETHERNET, "require": "Ietf_address[eth8 192.0.2.8]" }),
        ),
    ];
    let text = "the device refused to commit the candidate: required value instance not found";
    is_refused(&site, &refused, text);
    let report = site.report();
    let statuses = &report["resource_statuses"];
    let failed = &statuses["Ietf_address[eth8 192.0.2.8]"];
    let message = failed["events"][0]["message"].as_str().unwrap();
    assert!(message.contains(text), "{failed}");
    assert_eq!(failed["failed"], true, "{failed}");
    assert_eq!(statuses["Ietf_interface[eth9]"]["skipped"], true);
    // The candidate is as before and has no lock: another client commits.
    for datastore in ["candidate", "running"] {
        let configuration = client.configuration(datastore);
        assert!(!configuration.contains("eth8") && !configuration.contains("eth9"));
    }
    client.edit(
        "<system xmlns=\"urn:ietf:params:xml:ns:yang:ietf-system\"><location>other</location></system>",
    );
    assert!(
        client
            .configuration("running")
            .contains("<location>other</location>")
    );

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

    let recorded = [
        resource("Ietf_system", "default", json!({ "hostname": "r4" })),
        interface(
            "eth0",
            json!({ "type": ETHERNET, "description": "recorded" }),
        ),
    ];
    replays(&site, "recorded", &recorded);

    // Several resources are one candidate: the server refuses one of them, and has none.
    let definitions = dir.path().join("definitions");
    std::fs::create_dir_all(definitions.join("ietf_netconf")).unwrap();
    let platform = "schema = 1\nplatform = \"ietf_netconf\"\nextends = \"shipped\"\n[candidate]\nscope = \"run\"\n";
    std::fs::write(definitions.join("ietf_netconf/platform.toml"), platform).unwrap();
    let definitions = definitions.display().to_string();
    let together = |resources: &[Resource]| {
        let catalog = site.catalog("together", resources);
        let arguments = ["--definitions", &definitions, "--detailed-exitcodes"];
        site.run(&[&["apply", "--catalog", &catalog], &arguments[..]].concat())
    };
    let valid = || {
        [
            interface("eth8", json!({ "type": ETHERNET })),
            address("eth8 192.0.2.8", json!({ "prefix_length": 24 })),
        ]
    };
    let [first, second] = valid();
    let invalid = interface("eth9", json!({ "type": "iana-if-type:noSuchType" }));
    let refused = together(&[first, second, invalid]);
    assert_eq!(refused.code, 4, "{refused}");
    assert!(refused.stdout.contains("invalid value"), "{refused}");
    assert!(!refused.stdout.contains("ensure: created"), "{refused}");
    assert!(!client.configuration("running").contains("eth8"));
    assert_eq!(together(&valid()).code, 2);
    assert!(
        client
            .configuration("running")
            .contains("<ip>192.0.2.8</ip>")
    );
    assert_eq!(together(&valid()).code, 0);
}

/// The configuration without the time of its last change.
fn data(client: &mut Client) -> String {
    let reply = client.configuration("running");
    let (_, data) = reply.split_once("<data").expect("a configuration");
    data.to_owned()
}

/// One server at a time.
static SERVER: Mutex<()> = Mutex::new(());

/// The server reverts all commits of a run that is not confirmed, also after its session.
#[test]
fn real_netconfd_reverts_a_protected_run() {
    if peer::skips(peer::missing_for_host(
        "real-host.sh",
        &["netconfd", "sshd"],
    )) {
        return;
    }
    let _server = SERVER.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = tempfile::tempdir().unwrap();
    let host = Host::start(dir.path(), "netconfd");
    let site = site(&host).with("protect = \"required\"\n");
    let mut client = Client::connect(&host);

    let named = |name: &str| resource("Ietf_system", "default", json!({ "hostname": name }));
    let first = || {
        [
            named("r1"),
            interface("eth0", json!({ "type": ETHERNET })),
            interface("eth1", json!({ "type": ETHERNET })),
        ]
    };
    let output = site.apply("first", &first());
    assert_eq!(output.code, 2, "{output}");
    assert_eq!(site.report()["protection"], "applied");
    applies_nothing(&site, &first());
    let before = data(&mut client);

    // The commit of one resource succeeds, the edit of another is refused.
    let refused = [
        named("r2"),
        interface("eth5", json!({ "type": "iana-if-type:noSuchType" })),
    ];
    let output = site.apply("refused", &refused);
    assert_eq!(output.code, 4, "{output}");
    assert_eq!(site.report()["protection"], "reverted", "{output}");
    assert_eq!(data(&mut client), before);

    // The program ends after its first commits.
    let names: Vec<&'static str> = (100..400)
        .map(|number| &*format!("eth{number}").leak())
        .collect();
    let many = names
        .iter()
        .map(|name| interface(name, json!({ "type": ETHERNET })));
    let catalog = site.catalog("many", &many.collect::<Vec<_>>());
    let mut command = site.command(&["apply", "--catalog", &catalog]);
    let command = command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut run = command.spawn().unwrap();
    let mut repeats = 3;
    while data(&mut client) == before {
        // Its first request was lost; see [`site`].
        if let Some(status) = run.try_wait().unwrap() {
            assert_ne!(repeats, 0, "the run ends without a change: {status}");
            repeats -= 1;
            run = command.spawn().unwrap();
        }
    }
    run.kill().unwrap();
    run.wait().unwrap();
    assert_ne!(
        data(&mut client),
        before,
        "the commits outlive their session"
    );
    // The next run does not wait for the end of the timer.
    let output = site.apply("first", &first());
    assert_eq!(output.code, 0, "{output}");
    assert_eq!(data(&mut client), before);
    let notice = "ended early: the device has the configuration from before it";
    assert!(
        format!("{output}").contains(notice),
        "{notice:?} in {output}"
    );
}

fn applies_nothing(site: &Site, resources: &[Resource]) {
    let output = site.apply("again", resources);
    assert_eq!(output.code, 0, "{output}");
    assert_eq!(site.report()["protection"], serde_json::Value::Null);
}
