//! A real Kea DHCPv4 server, whose configuration is read and written as a whole by `POST`.
//!
//! `tests/real-peers/kea.sh` starts it with its control agent on a free port of loopback. Where Kea is missing the test
//! says that it was skipped, except when `SWITCHTENDER_REQUIRE_PEERS` is set: then that is a failure.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use test_support::peer;
use test_support::program::{self, ProgramOutput};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/real-peers/kea.sh");

#[test]
fn real_kea() {
    if peer::skips(peer::missing_programs(
        "kea.sh",
        &["kea-dhcp4", "kea-ctrl-agent"],
    )) {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let kea = Kea::start(directory.path());

    plain_http_requires_the_inventory(&kea);
    a_plan_shows_requests_and_changes_nothing(&kea);
    an_apply_writes_the_configuration_and_preserves_the_rest(&kea);
    a_second_apply_sends_nothing(&kea);
    drift_is_a_difference_of_the_plan_and_is_corrected(&kea);
    a_refusal_has_the_text_of_the_device(&kea);
    removal_removes_only_its_objects(&kea);
}

/// The state that the tests apply.
const STATE: &str = "\
kea_subnet4:
  192.0.2.0/24: {pools: [192.0.2.10-192.0.2.20, 192.0.2.128/26]}
  198.51.100.0/24: {id: 7, pools: [198.51.100.10-198.51.100.99], valid_lifetime: 600, min_valid_lifetime: 300, max_valid_lifetime: 900}
kea_subnet4_option:
  192.0.2.0/24 routers: {data: 192.0.2.254}
  198.51.100.0/24 domain-name-servers: {data: '192.0.2.53, 192.0.2.54'}
kea_reservation4:
  192.0.2.0/24 00:00:5e:00:53:01: {ip_address: 192.0.2.6, hostname: printer}
  198.51.100.0/24 00:00:5e:00:53:02: {ip_address: 198.51.100.5}
";

fn plain_http_requires_the_inventory(kea: &Kea) {
    let output = kea.run_with("", "plan", STATE, &[]);
    assert_ne!(output.code, Some(0));
    output.assert_contains("cannot ");
    let output = kea.run("facts", STATE, &[]);
    output.assert_code(0);
    output.assert_contains("operatingsystemrelease");
}

fn a_plan_shows_requests_and_changes_nothing(kea: &Kea) {
    let before = kea.configuration();
    let plan = kea.run("plan", STATE, &[]);
    plan.assert_code(0);
    plan.assert_contains(
        "> POST / {\"command\":\"config-set\",\"service\":[\"dhcp4\"],\"arguments\":{\"Dhcp4\":\"…\"}}",
    );
    assert_eq!(kea.configuration(), before);
}

fn an_apply_writes_the_configuration_and_preserves_the_rest(kea: &Kea) {
    let mut expected = kea.configuration();
    kea.apply(STATE).assert_code(2);
    let found = kea.configuration();
    let subnets = &found["subnet4"];
    assert_eq!(subnets.as_array().map(Vec::len), Some(2));
    let pools = |index: usize| -> Vec<&str> {
        let pools = subnets[index]["pools"].as_array().unwrap();
        pools
            .iter()
            .map(|pool| pool["pool"].as_str().unwrap())
            .collect()
    };
    assert_eq!(pools(0), ["192.0.2.10-192.0.2.20", "192.0.2.128/26"]);
    assert_eq!(pools(1), ["198.51.100.10-198.51.100.99"]);
    let (first, second) = (&subnets[0], &subnets[1]);
    assert_eq!(
        (&first["id"], &first["valid-lifetime"]),
        (&json!(1), &json!(7200))
    );
    assert_eq!(
        (&second["id"], &second["valid-lifetime"]),
        (&json!(7), &json!(600))
    );
    assert_eq!(first["option-data"][0]["data"], "192.0.2.254");
    assert_eq!(second["option-data"][0]["data"], "192.0.2.53, 192.0.2.54");
    let reservation = &first["reservations"][0];
    assert_eq!(reservation["ip-address"], "192.0.2.6");
    assert_eq!(reservation["hostname"], "printer");
    assert_eq!(reservation["client-classes"], json!(["lab"]));
    assert_eq!(second["reservations"][0]["ip-address"], "198.51.100.5");
    // Everything else is as it was.
    expected["subnet4"] = found["subnet4"].clone();
    assert_eq!(found, expected);
}

fn a_second_apply_sends_nothing(kea: &Kea) {
    kea.apply(STATE).assert_code(0);
    let plan = kea.run("plan", STATE, &["--detailed-exitcodes"]);
    plan.assert_code(0);
}

fn drift_is_a_difference_of_the_plan_and_is_corrected(kea: &Kea) {
    let expected = kea.configuration();
    let mut changed = expected.clone();
    changed["subnet4"][1]["valid-lifetime"] = json!(700);
    kea.command("config-set", &json!({"Dhcp4": changed}));
    let plan = kea.run("plan", STATE, &["--detailed-exitcodes"]);
    plan.assert_code(2);
    plan.assert_contains("-             \"valid-lifetime\": 700");
    plan.assert_contains("+             \"valid-lifetime\": 600");
    kea.apply(STATE).assert_code(2);
    let corrected = kea.configuration();
    assert_eq!(
        corrected["subnet4"][1]["valid-lifetime"],
        expected["subnet4"][1]["valid-lifetime"]
    );
}

/// The check of the device refuses the configuration, so that it is not set.
fn a_refusal_has_the_text_of_the_device(kea: &Kea) {
    let before = kea.configuration();
    let state = "kea_subnet4: {203.0.113.0/24: {pools: [192.0.2.1-192.0.2.9]}}\n";
    let output = kea.apply(state);
    output.assert_code(4);
    output.assert_contains("does not match the prefix of a subnet: 203.0.113.0/24");
    let state = "kea_reservation4: {203.0.113.0/24 00:00:5e:00:53:03: {ip_address: 203.0.113.3}}\n";
    let output = kea.apply(state);
    output.assert_code(4);
    output.assert_contains("`203.0.113.0/24` does not exist on the device");
    assert_eq!(kea.configuration(), before);
}

fn removal_removes_only_its_objects(kea: &Kea) {
    let state = "\
kea_subnet4: {198.51.100.0/24: {ensure: absent}}
kea_reservation4: {192.0.2.0/24 00:00:5e:00:53:01: {ensure: absent}}
kea_subnet4_option: {192.0.2.0/24 routers: {ensure: absent}}
";
    kea.apply(state).assert_code(2);
    let found = kea.configuration();
    assert_eq!(found["subnet4"].as_array().map(Vec::len), Some(1));
    assert_eq!(found["subnet4"][0]["subnet"], "192.0.2.0/24");
    assert_eq!(found["subnet4"][0]["reservations"], json!([]));
    assert_eq!(found["subnet4"][0]["option-data"], json!([]));
    kea.apply(state).assert_code(0);
}

/// A running Kea; it ends with the value.
struct Kea {
    directory: PathBuf,
    port: u16,
}

impl Kea {
    fn start(directory: &Path) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let kea = Self {
            directory: directory.to_owned(),
            port,
        };
        kea.script("start", &["--port", &port.to_string()]);
        kea
    }

    fn script(&self, verb: &str, arguments: &[&str]) {
        let directory = self.directory.join("kea");
        let status = Command::new(SCRIPT)
            .args([verb, "--dir"])
            .arg(directory)
            .args(arguments)
            .status()
            .unwrap();
        assert!(status.success(), "kea.sh {verb}");
    }

    fn apply(&self, state: &str) -> ProgramOutput {
        self.run("apply", state, &["--detailed-exitcodes"])
    }

    fn run(&self, verb: &str, state: &str, arguments: &[&str]) -> ProgramOutput {
        self.run_with("tls = \"disabled\"\n", verb, state, arguments)
    }

    /// The same with these lines in the inventory.
    fn run_with(&self, lines: &str, verb: &str, state: &str, arguments: &[&str]) -> ProgramOutput {
        let file = |name: &str, text: &str| {
            let path = self.directory.join(name);
            std::fs::write(&path, text).unwrap();
            path.display().to_string()
        };
        let inventory = file(
            "inventory.toml",
            &format!(
                "[device.dhcp]\nplatform = \"kea\"\naddress = \"127.0.0.1\"\nport = {}\n\
                 user = \"admin\"\nsave_config = \"never\"\n{lines}",
                self.port
            ),
        );
        std::fs::create_dir_all(self.directory.join("state")).unwrap();
        file("state/common.yaml", state);
        let state = self.directory.join("state").display().to_string();
        let state_dir = self.directory.join("memory").display().to_string();
        let mut all = vec![verb, "--inventory", &inventory];
        if verb == "facts" {
            all.push("dhcp");
        } else {
            all.extend(["--state", &state, "--state-dir", &state_dir]);
        }
        all.extend(arguments);
        program::run(&all)
    }

    /// The configuration, as the device prints it without the product.
    fn configuration(&self) -> Value {
        let answer = self.command("config-get", &json!({}));
        answer["arguments"]["Dhcp4"].clone()
    }

    /// A command by hand; returns its answer.
    fn command(&self, command: &str, arguments: &Value) -> Value {
        let mut body = json!({"command": command, "service": ["dhcp4"]});
        if arguments != &json!({}) {
            body["arguments"] = arguments.clone();
        }
        let (port, body) = (self.port, body.to_string());
        let length = body.len();
        let mut socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
        write!(
            socket,
            "POST / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n\
             Connection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        let answers: Value = serde_json::from_str(body).unwrap();
        assert_eq!(answers[0]["result"], 0, "{answer}");
        answers[0].clone()
    }
}

impl Drop for Kea {
    fn drop(&mut self) {
        let directory = self.directory.join("kea");
        let mut command = Command::new(SCRIPT);
        let stopped = command.args(["stop", "--dir"]).arg(directory).status();
        assert!(stopped.is_ok_and(|status| status.success()) || std::thread::panicking());
    }
}
