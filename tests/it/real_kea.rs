//! A real Kea DHCPv4 server, whose configuration is read and written as a whole by `POST`.
//!
//! `tests/real-peers/kea.sh` starts it with its control agent on a free port of loopback. Where Kea is missing the test
//! says that it was skipped, except when `SWITCHTENDER_REQUIRE_PEERS` is set: then that is a failure.

use std::path::Path;

use serde_json::{Value, json};
use test_support::free_port::free_port;
use test_support::peer;
use test_support::program::ProgramOutput;

use crate::real_rest_peer::RestPeer;

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
    let peer = &kea.0;
    let output = peer.run(
        (peer.port, "save_config = \"never\"\n"),
        ("plan", STATE),
        &[],
    );
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
    plan.assert_contains("-      \"valid-lifetime\": 700");
    plan.assert_contains("+      \"valid-lifetime\": 600");
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

/// A running Kea.
struct Kea(RestPeer);

/// The inventory permits plain HTTP.
const PLAIN_HTTP: &str = "tls = \"disabled\"\nsave_config = \"never\"\n";

impl Kea {
    fn start(directory: &Path) -> Self {
        let port = free_port();
        Self(RestPeer::start(directory, ("kea", port), &[]))
    }

    fn apply(&self, state: &str) -> ProgramOutput {
        self.run("apply", state, &["--detailed-exitcodes"])
    }

    fn run(&self, verb: &str, state: &str, arguments: &[&str]) -> ProgramOutput {
        self.0
            .run((self.0.port, PLAIN_HTTP), (verb, state), arguments)
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
        let answer = self.0.request("POST", "/", &body.to_string());
        let answers: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answers[0]["result"], 0, "{answer}");
        answers[0].clone()
    }
}
