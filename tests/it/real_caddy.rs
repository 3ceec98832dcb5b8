//! A real load balancer with a REST interface: Caddy, whose servers are written as whole objects
//! under a precondition.
//!
//! `tests/real-peers/caddy.sh` starts it on free ports of loopback. Where Caddy is missing the test
//! says that it was skipped, except when `SWITCHTENDER_REQUIRE_PEERS` is set: then that is a failure.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;

use serde_json::{Value, json};
use test_support::free_port::free_port;
use test_support::peer;
use test_support::program::ProgramOutput;

use crate::real_rest_peer::RestPeer;

#[test]
fn real_caddy() {
    if peer::skips(peer::missing_programs("caddy.sh", &["caddy"])) {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let caddy = Caddy::start(directory.path());

    a_plan_shows_requests_and_changes_nothing(&caddy);
    an_apply_writes_servers_and_preserves_the_rest(&caddy);
    a_second_apply_sends_nothing(&caddy);
    drift_is_a_difference_of_the_plan_and_is_corrected(&caddy);
    a_concurrent_change_is_preserved(&caddy);
    a_refusal_has_the_text_of_the_device(&caddy);
    removal_removes_only_its_server(&caddy);
}

/// The state that the tests apply.
const STATE: &str = "\
caddy_server:
  web:
    upstreams: ['192.0.2.2:80', '192.0.2.3:80']
    policy: round_robin
    max_header_bytes: 8192
  api:
    listen: ['127.0.0.1:API']
    automatic_https: false
    upstreams: ['192.0.2.9:8080']
";

fn a_plan_shows_requests_and_changes_nothing(caddy: &Caddy) {
    let before = caddy.servers();
    let plan = caddy.run("plan", STATE, &[]);
    plan.assert_code(0);
    plan.assert_contains("> PATCH /config/apps/http/servers/web {");
    plan.assert_contains("> PUT /config/apps/http/servers/api {");
    plan.assert_contains("+ max_header_bytes: 8192");
    assert_eq!(caddy.servers(), before);
}

fn an_apply_writes_servers_and_preserves_the_rest(caddy: &Caddy) {
    let output = caddy.apply(STATE);
    output.assert_code(2);
    output.assert_contains("is not encrypted");
    assert_eq!(
        caddy.servers(),
        json!({
            "web": {
                "listen": [caddy.address(0)], "automatic_https": {"disable": true}, "idle_timeout": 5_000_000_000_u64,
                "max_header_bytes": 8192,
                "routes": [{
                    "@id": "pool_web", "match": [{"host": ["web.lab.test"]}],
                    "handle": [{
                        "handler": "reverse_proxy",
                        "load_balancing": {"retries": 2, "selection_policy": {"policy": "round_robin"}},
                        "upstreams": [{"dial": "192.0.2.2:80", "max_requests": 10}, {"dial": "192.0.2.3:80"}],
                    }],
                }],
            },
            "api": {
                "listen": [caddy.address(1)], "automatic_https": {"disable": true},
                "routes": [{"handle": [{"handler": "reverse_proxy", "upstreams": [{"dial": "192.0.2.9:8080"}]}]}],
            },
        })
    );
}

fn a_second_apply_sends_nothing(caddy: &Caddy) {
    caddy.apply(STATE).assert_code(0);
    let plan = caddy.run("plan", STATE, &["--detailed-exitcodes"]);
    plan.assert_code(0);
}

fn drift_is_a_difference_of_the_plan_and_is_corrected(caddy: &Caddy) {
    let expected = caddy.servers();
    let path = "/config/apps/http/servers/web/max_header_bytes";
    caddy.peer.request("PATCH", path, "4096");
    let plan = caddy.run("plan", STATE, &["--detailed-exitcodes"]);
    plan.assert_code(2);
    plan.assert_contains("- max_header_bytes: 4096");
    plan.assert_contains("+ max_header_bytes: 8192");
    caddy.apply(STATE).assert_code(2);
    assert_eq!(caddy.servers(), expected);
}

/// Another client changes the server between the read and the write of the product.
fn a_concurrent_change_is_preserved(caddy: &Caddy) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let output = std::thread::scope(|scope| {
        scope.spawn(|| caddy.interfere(&listener));
        let state = "caddy_server: {web: {max_header_bytes: 16384}}\n";
        let output = caddy.run_at(port, "apply", state, &["--detailed-exitcodes"]);
        // An empty request ends the thread.
        drop(TcpStream::connect(("127.0.0.1", port)));
        output
    });
    output.assert_code(2);
    output.assert_contains("the object changed after it was read: it was read again");
    let servers = caddy.servers();
    assert_eq!(servers["web"]["max_header_bytes"], 16384);
    assert_eq!(servers["web"]["idle_timeout"], 7_000_000_000_u64);
}

fn a_refusal_has_the_text_of_the_device(caddy: &Caddy) {
    let before = caddy.servers();
    let state = "caddy_server: {web: {listen: ['a:b:c']}}\n";
    let output = caddy.apply(state);
    output.assert_code(4);
    output.assert_contains("too many colons in address");
    assert_eq!(caddy.servers(), before);
}

fn removal_removes_only_its_server(caddy: &Caddy) {
    caddy
        .apply("caddy_server: {api: {ensure: absent}}\n")
        .assert_code(2);
    let servers = caddy.servers();
    let names: Vec<&String> = servers.as_object().unwrap().keys().collect();
    assert_eq!(names, ["web"]);
    assert_eq!(servers["web"]["routes"][0]["@id"], "pool_web");
}

/// A running Caddy.
struct Caddy {
    peer: RestPeer,
    /// Those of its servers.
    ports: [u16; 2],
}

impl Caddy {
    fn start(directory: &Path) -> Self {
        let [port, web, api] = [(); 3].map(|()| free_port());
        let config = json!({
            "admin": {"listen": format!("127.0.0.1:{port}"), "config": {"persist": false}},
            "apps": {"http": {"servers": {"web": {
                "listen": [format!("127.0.0.1:{web}")], "automatic_https": {"disable": true},
                "idle_timeout": 5_000_000_000_u64,
                "routes": [{
                    "@id": "pool_web", "match": [{"host": ["web.lab.test"]}],
                    "handle": [{
                        "handler": "reverse_proxy", "load_balancing": {"retries": 2},
                        "upstreams": [{"dial": "192.0.2.1:80"}, {"dial": "192.0.2.2:80", "max_requests": 10}],
                    }],
                }],
            }}}},
        });
        let file = directory.join("start.json");
        std::fs::write(&file, config.to_string()).unwrap();
        let arguments = ["--config", file.to_str().unwrap()];
        Self {
            peer: RestPeer::start(directory, ("caddy", port), &arguments),
            ports: [web, api],
        }
    }

    fn address(&self, index: usize) -> String {
        format!("127.0.0.1:{}", self.ports[index])
    }

    fn apply(&self, state: &str) -> ProgramOutput {
        self.run("apply", state, &["--detailed-exitcodes"])
    }

    fn run(&self, verb: &str, state: &str, arguments: &[&str]) -> ProgramOutput {
        self.run_at(self.peer.port, verb, state, arguments)
    }

    /// The same through another port.
    fn run_at(&self, port: u16, verb: &str, state: &str, arguments: &[&str]) -> ProgramOutput {
        let state = state.replace("API", &self.ports[1].to_string());
        self.peer
            .run((port, "tls = \"disabled\"\n"), (verb, &state), arguments)
    }

    /// The servers, as the device prints them without the product.
    fn servers(&self) -> Value {
        let answer = self.peer.request("GET", "/config/apps/http/servers", "");
        serde_json::from_str(&answer).unwrap()
    }

    /// Passes requests on to the device, after a change of its own before the first `PATCH`.
    fn interfere(&self, listener: &TcpListener) {
        let mut has_changed = false;
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let request = request(&mut client);
            if request.is_empty() {
                return;
            }
            if request.starts_with("PATCH ") && !has_changed {
                has_changed = true;
                let path = "/config/apps/http/servers/web/idle_timeout";
                self.peer.request("PATCH", path, "7000000000");
            }
            let (line, rest) = request.split_once("\r\n").unwrap();
            let (head, body) = rest.split_once("\r\n\r\n").unwrap();
            let fields = head.lines();
            let mut fields: Vec<&str> = fields.filter(|one| !one.starts_with("host:")).collect();
            let host = format!("host: 127.0.0.1:{}", self.peer.port);
            fields.extend([host.as_str(), "connection: close"]);
            let mut device = TcpStream::connect(("127.0.0.1", self.peer.port)).unwrap();
            write!(device, "{line}\r\n{}\r\n\r\n{body}", fields.join("\r\n")).unwrap();
            std::io::copy(&mut device, &mut client).unwrap();
        }
    }
}

/// A request as text; empty if the client sends none.
fn request(client: &mut TcpStream) -> String {
    let mut text = String::new();
    let mut buffer = [0; 4096];
    loop {
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return text;
            }
        }
        match client.read(&mut buffer).unwrap() {
            0 => return String::new(),
            count => text.push_str(std::str::from_utf8(&buffer[..count]).unwrap()),
        }
    }
}
