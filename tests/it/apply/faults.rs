//! Everything that can go wrong with a device: its message names device, resource or command and
//! no secret; the other device of the run goes on; the exit code tells.

use std::path::Path;

use serde_json::{Value, json};

use test_support::catalog::{resource, vlan};
use test_support::lab::{ENABLE, Lab, switch_options};
use test_support::program::ProgramOutput;

/// Four VLANs, the third after the second, and an interface.
fn wanted() -> Vec<Value> {
    let mut third = vlan(30, "three");
    third["parameters"]["require"] = json!("Network_vlan[20]");
    vec![
        vlan(10, "one"),
        vlan(20, "two"),
        third,
        vlan(40, "four"),
        resource(
            "Network_interface",
            "GigabitEthernet1/0/1",
            json!({"enable": false, "description": "desk", "mtu": 9000}),
        ),
    ]
}

/// A device that will not answer is given up soon; one that will has all the time that a busy
/// machine needs.
fn be_short_with(device: &str, faults: &[&str], lab: &mut Lab) {
    const FOR_EVER: [&str; 3] = ["stall-after", "garbage-after", "unavailable=1000"];
    let never = |fault: &&str| FOR_EVER.iter().any(|known| fault.starts_with(known));
    if faults.iter().any(never) {
        lab.configure(device, "command_timeout = \"2s\"");
    }
}

/// `sw1` with a fault and `sw2` without.
async fn two(faults: &[&str]) -> Lab {
    let mut lab = Lab::new();
    lab.add_switch("sw1", faults).await;
    lab.add_switch("sw2", &[]).await;
    be_short_with("sw1", faults, &mut lab);
    lab.write_resources("sw1", &wanted());
    lab.write_resources("sw2", &[vlan(10, "one")]);
    lab
}

/// The sound device is changed and says nothing odd.
#[track_caller]
fn the_other_succeeds(lab: &Lab, ran: &ProgramOutput) {
    assert_eq!(ran.device("sw2")["status"], "changed", "{}", ran.text());
    assert_eq!(ran.warnings("sw2"), Vec::<String>::new());
    assert!(lab.switches["sw2"].vlans().iter().any(|row| row.0 == 10));
}

#[track_caller]
fn not_run(lab: &Lab, ran: &ProgramOutput, words: &[&str]) {
    ran.assert_code(1);
    let device = ran.device("sw1");
    assert_eq!(device["status"], "not run", "{device}");
    let error = device["error"].as_str().unwrap();
    assert!(error.contains("sw1"), "{error}");
    for word in words {
        let said = error.contains(word) || device["hint"].as_str().unwrap_or("").contains(word);
        assert!(said, "`{word}` is not in {device}");
    }
    assert_eq!(lab.log("sw1").configuration_lines(), Vec::<String>::new());
    the_other_succeeds(lab, ran);
}

#[track_caller]
fn said(ran: &ProgramOutput, device: &str, words: &str) {
    let all = ran.warnings(device);
    assert!(
        all.iter().any(|text| text.contains(words)),
        "`{words}` is not in {all:#?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_connection_refused() {
    let mut lab = two(&[]).await;
    // Bound, so that nobody else gets the port, and nobody listens.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let port = socket.local_addr().unwrap().port();
    lab.add_device("sw1", "cisco_ios", port, None);
    let ran = lab.apply().await;
    not_run(
        &lab,
        &ran,
        &[
            &format!("cannot connect to 127.0.0.1:{port}"),
            "check address, port",
        ],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_host_key_differs_from_fingerprint() {
    let mut lab = two(&[]).await;
    let port = lab.switches["sw1"].address().port();
    let other = format!("SHA256:{}", "A".repeat(43));
    lab.add_device("sw1", "cisco_ios", port, Some(&other));
    let ran = lab.apply().await;
    let found = lab.switches["sw1"].host_key().fingerprint;
    not_run(&lab, &ran, &["host key", &found, &other]);
    assert_eq!(lab.log("sw1").received(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_host_key_unknown() {
    let mut lab = two(&[]).await;
    let port = lab.switches["sw1"].address().port();
    lab.add_device("sw1", "cisco_ios", port, None);
    let ran = lab.apply().await;
    let found = lab.switches["sw1"].host_key().fingerprint;
    not_run(
        &lab,
        &ran,
        &["is not in known_hosts", &found, "ssh-keyscan"],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_wrong_password_is_tried_once() {
    let mut lab = two(&[]).await;
    lab.configure("sw1", "password = { env = \"LAB_WRONG\" }");
    lab.environment
        .insert("LAB_WRONG".to_owned(), "s3cret-wrong".to_owned());
    let ran = lab.apply().await;
    not_run(&lab, &ran, &["refused the login of ops", "tried once"]);
    assert_eq!(lab.log("sw1").connections(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_login_refused() {
    let lab = two(&["login-refused=1"]).await;
    let ran = lab.apply().await;
    not_run(&lab, &ran, &["refused the login of ops"]);
    lab.apply().await.assert_code(2);
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_missing_password_has_its_position_in_the_inventory() {
    let mut lab = two(&[]).await;
    lab.configure("sw1", "password = { env = \"LAB_UNSET\" }");
    let ran = lab.run(&["apply"]).await;
    ran.assert_code(1);
    ran.assert_contains("LAB_UNSET");
    ran.assert_contains("inventory.toml:");
    assert_eq!(lab.log("sw1").connections(), 0);
    assert!(lab.switches["sw2"].vlans().iter().any(|row| row.0 == 10));
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_wrong_enable_password() {
    let mut lab = two(&[]).await;
    lab.configure("sw1", "enable_password = { env = \"LAB_WRONG\" }");
    lab.environment
        .insert("LAB_WRONG".to_owned(), "s3cret-wrong".to_owned());
    let ran = lab.apply().await;
    not_run(&lab, &ran, &["refused the enable password", "tried once"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_timeout_names_the_command() {
    let lab = two(&["stall-after=^show version"]).await;
    let ran = lab.apply().await;
    not_run(&lab, &ran, &["`show version`", "2s", "command_timeout"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_invalid_answer() {
    let lab = two(&["garbage-after=^show version"]).await;
    let ran = lab.apply().await;
    not_run(&lab, &ran, &["`show version`"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_disconnect_before_changes() {
    let lab = two(&["drop-after=^show version"]).await;
    let ran = lab.apply().await;
    not_run(&lab, &ran, &["the connection ended", "`show version`"]);
}

/// A read that fails fails what needs it, and nothing is changed.
#[tokio::test(flavor = "multi_thread")]
async fn fault_disconnect_in_reads() {
    let lab = two(&["drop-after=^show vlan brief"]).await;
    let ran = lab.apply().await;
    ran.assert_code(6);
    assert_eq!(ran.device("sw1")["status"], "failed");
    said(&ran, "sw1", "the connection ended after `show vlan brief`");
    assert_eq!(lab.log("sw1").configuration_lines(), Vec::<String>::new());
    the_other_succeeds(&lab, &ran);
}

/// A device that cannot answer a read says so in its own words, or not at all. It would otherwise
/// count as a device without VLANs and without communities.
#[tokio::test(flavor = "multi_thread")]
async fn read_without_its_expected_parts_fails_its_resources() {
    let community = |ensure: &str| {
        resource(
            "Snmp_community",
            "weak",
            json!({"ensure": ensure, "group": "RO"}),
        )
    };
    // (command, its answer, the resource that needs it, a part of the message)
    let cases = [
        (
            "show running-config",
            "Unable to get configuration. Try again later.",
            community("absent"),
            "it has no line that matches `^version `; it begins with \"Unable to get configuration.",
        ),
        (
            "show running-config",
            "% Low on memory; try again later",
            community("absent"),
            "the device refused `show running-config`: % Low on memory; try again later",
        ),
        (
            "show running-config",
            "",
            community("absent"),
            "unexpected answer to `show running-config`",
        ),
        (
            "show running-config",
            "version 15.2\nhostname sw1",
            community("absent"),
            "it is incomplete",
        ),
        (
            "show vlan brief",
            "show: I/O failure",
            json!({"type": "Network_vlan", "title": "10", "parameters": {"ensure": "absent"}}),
            "it has no table header `VLAN`",
        ),
        (
            "show vlan brief",
            "",
            json!({"type": "Network_vlan", "title": "10", "parameters": {"ensure": "absent"}}),
            "it has no table header `VLAN`",
        ),
    ];
    for (command, answer, wanted, message) in cases {
        let mut lab = Lab::new();
        lab.add_switch("sw1", &[&format!("refuse=^{command}$ => {answer}")])
            .await;
        let mut wanted = wanted;
        wanted["kind"] = json!("compilable_type");
        let reference = format!(
            "{}[{}]",
            wanted["type"].as_str().unwrap(),
            wanted["title"].as_str().unwrap()
        );
        lab.write_resources("sw1", &[wanted]);
        let ran = lab.apply().await;
        ran.assert_code(4);
        assert_eq!(ran.device("sw1")["status"], "failed", "{answer}");
        let status = ran.resource("sw1", &reference);
        assert!(
            status["failed"] == true || status["skipped"] == true,
            "{answer}: {status}"
        );
        said(&ran, "sw1", message);
        let type_name = reference.split('[').next().unwrap().to_lowercase();
        let listed = lab.run(&["resource", "sw1", &type_name]).await;
        listed.assert_code(1);
        listed.assert_contains(message);
    }
}

/// A list without any entry prints nothing; with a list in the configuration, nothing is an error.
#[tokio::test(flavor = "multi_thread")]
async fn empty_read_is_checked_against_the_configuration() {
    for (config, is_valid) in [
        ("", true),
        ("ip access-list standard 10\n permit any\n", false),
    ] {
        let mut lab = Lab::new();
        lab.add_switch_with(switchtender_mocks::SwitchOptions {
            config: Some(config.to_owned()),
            faults: vec!["refuse=^show ip access-lists$ => ".parse().unwrap()],
            ..switch_options("sw1")
        })
        .await;
        let ran = lab.run(&["resource", "sw1", "ios_acl"]).await;
        assert_eq!(ran.code == Some(0), is_valid, "{}", ran.text());
        if !is_valid {
            ran.assert_contains("it is empty, but `config` has `ip access-list standard 10`");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_refused_line_fails_its_resource_only() {
    let lab = two(&["refuse=^name two => % Command rejected: Bad VLAN name list"]).await;
    let ran = lab.apply().await;
    ran.assert_code(6);
    assert_eq!(ran.resource("sw1", "Network_vlan[20]")["failed"], true);
    assert_eq!(ran.resource("sw1", "Network_vlan[30]")["skipped"], true);
    for sound in ["Network_vlan[10]", "Network_vlan[40]"] {
        assert_eq!(ran.resource("sw1", sound)["changed"], true, "{sound}");
    }
    said(&ran, "sw1", "% Command rejected: Bad VLAN name list");
    let lines = lab.log("sw1").configuration_lines();
    assert!(!lines.contains(&"vlan 30".to_owned()), "{lines:?}");
    the_other_succeeds(&lab, &ran);

    // For people: the line, and the device's own words under it.
    let ran = lab.run(&["apply", "--target", "sw1"]).await;
    ran.assert_code(1);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    let at = lines
        .iter()
        .position(|line| *line == "sw1:   > name two")
        .unwrap_or_else(|| panic!("{}", ran.text()));
    assert_eq!(
        lines[at + 1],
        "sw1:   % Command rejected: Bad VLAN name list"
    );
}

/// Property and status of the events of a resource, in order.
fn event_statuses(resource: &Value) -> Vec<(String, String)> {
    let events = resource["events"].as_array().unwrap().iter();
    let text = |event: &Value, key: &str| event[key].as_str().unwrap().to_owned();
    events
        .map(|event| (text(event, "property"), text(event, "status")))
        .collect()
}

fn has_status(statuses: &[(String, String)], property: &str, status: &str) -> bool {
    let mut statuses = statuses.iter();
    statuses.any(|found| found.0 == property && found.1 == status)
}

/// The lines of a resource are sent at once, so the device also executes those after the refused one.
#[tokio::test(flavor = "multi_thread")]
async fn fault_refused_line_fails_only_its_attribute_if_later_lines_were_sent() {
    let lab = two(&["refuse=^mtu"]).await;
    let ran = lab.apply().await;
    ran.assert_code(6);
    let interface = ran.resource("sw1", "Network_interface[GigabitEthernet1/0/1]");
    let statuses = event_statuses(&interface);
    assert!(
        has_status(&statuses, "description", "success"),
        "{statuses:?}"
    );
    assert!(has_status(&statuses, "mtu", "failure"), "{statuses:?}");
    assert!(has_status(&statuses, "enable", "success"), "{statuses:?}");
    assert_eq!(interface["failed"], true);
    let config = lab.switches["sw1"].running_config();
    assert!(config.contains("\n description desk\n"), "{config}");
    assert!(!config.contains("mtu"), "{config}");
    assert!(config.contains("\n shutdown\n"), "{config}");
    the_other_succeeds(&lab, &ran);
}

/// With a window of one line, the refusal arrives before the next line is sent.
#[tokio::test(flavor = "multi_thread")]
async fn fault_refused_line_fails_later_attributes_if_their_lines_were_not_sent() {
    let lab = two(&["refuse=^mtu"]).await;
    let platform = lab.path("definitions/cisco_ios/platform.toml");
    std::fs::create_dir_all(platform.parent().unwrap()).unwrap();
    let shipped =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("devices/definitions/cisco_ios/platform.toml");
    let one_line = std::fs::read_to_string(shipped)
        .unwrap()
        .replace("[connection]\n", "[connection]\nwindow = { lines = 1 }\n");
    std::fs::write(platform, one_line).unwrap();
    let arguments = ["apply", "--output", "json", "--detailed-exitcodes"];
    let ran = lab
        .run(&[&arguments[..], &["--definitions", "definitions"]].concat())
        .await;
    ran.assert_code(6);
    let interface = ran.resource("sw1", "Network_interface[GigabitEthernet1/0/1]");
    let statuses = event_statuses(&interface);
    assert!(
        has_status(&statuses, "description", "success"),
        "{statuses:?}"
    );
    assert!(has_status(&statuses, "mtu", "failure"), "{statuses:?}");
    assert!(has_status(&statuses, "enable", "failure"), "{statuses:?}");
    let config = lab.switches["sw1"].running_config();
    assert!(config.contains("\n description desk\n"), "{config}");
    let lines = lab.log("sw1").configuration_lines();
    assert!(!lines.contains(&"shutdown".to_owned()), "{lines:?}");
    the_other_succeeds(&lab, &ran);
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_refused_mode_reports_its_lines_as_not_sent() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    let port = "GigabitEthernet9/0/2";
    lab.write_resources(
        "sw1",
        &[resource(
            "Network_interface",
            port,
            json!({"enable": true, "description": "desk", "mtu": 1600}),
        )],
    );
    let ran = lab.apply().await;
    ran.assert_code(4);
    let told = ran.resource("sw1", &format!("Network_interface[{port}]"));
    let (_, report) = lab
        .files("state")
        .into_iter()
        .find(|(path, _)| path.ends_with("last_run_report.json"))
        .unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    let status = &report["resource_statuses"][format!("Network_interface[{port}]")];
    let operations: Vec<(&str, &str)> = status["operations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|operation| {
            let line = operation["line"].as_str();
            let mode = operation["mode"].as_array().unwrap().last();
            let line = line.or(mode.and_then(Value::as_str)).unwrap();
            (line, operation["outcome"].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        operations,
        [
            ("interface GigabitEthernet9/0/2", "refused"),
            ("description desk", "not_sent"),
            ("mtu 1600", "not_sent"),
            ("no shutdown", "not_sent"),
        ]
    );
    let messages: Vec<&str> = told["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["message"].as_str().unwrap())
        .collect();
    let why =
        "it was not sent: the device refused `interface GigabitEthernet9/0/2`: % Invalid input";
    assert!(
        messages.iter().all(|message| message.contains(why)),
        "{messages:?}"
    );
    let sent = lab.log("sw1").received();
    assert!(
        !sent.iter().any(|line| line.starts_with("description")),
        "{sent:?}"
    );

    let ran = lab.run(&["apply"]).await;
    ran.assert_contains("sw1:   > interface GigabitEthernet9/0/2\n");
    assert!(!ran.text().contains("> description"), "{}", ran.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_unexpected_question_is_declined() {
    let lab = two(&["confirm=^name two"]).await;
    let ran = lab.apply().await;
    ran.assert_code(6);
    assert_eq!(ran.resource("sw1", "Network_vlan[20]")["failed"], true);
    assert_eq!(ran.resource("sw1", "Network_vlan[30]")["skipped"], true);
    assert_eq!(ran.resource("sw1", "Network_vlan[40]")["changed"], true);
    said(&ran, "sw1", "[confirm]");
    let vlans = lab.switches["sw1"].vlans();
    assert!(!vlans.iter().any(|row| row.1 == "two"), "{vlans:?}");
    the_other_succeeds(&lab, &ran);
}

/// Something that is not there yet: what was sent of it may have come to be in part, or not at all.
#[tokio::test(flavor = "multi_thread")]
async fn fault_disconnect_in_a_creation_is_reported_after_reading_again() {
    let vlan = || vlan(10, "one");
    let bundle = || {
        resource(
            "Port_channel",
            "Port-channel5",
            json!({"ensure": "present", "description": "up"}),
        )
    };
    // (fault, what is made, what is told: a VLAN is made when its mode is left, a bundle when it is
    // entered)
    let cases = [
        ("drop-after=^name one", vlan(), "it was not applied"),
        ("stall-after=^name one", vlan(), "unknown, not present yet"),
        ("drop-unanswered=^name one", vlan(), "it was not applied"),
        (
            "drop-after=^description up",
            bundle(),
            "it was applied, except description",
        ),
        (
            "drop-unanswered=^description up",
            bundle(),
            "it was applied",
        ),
    ];
    for (fault, made, expected) in cases {
        let lab = two(&[fault]).await;
        let reference = format!(
            "{}[{}]",
            made["type"].as_str().unwrap(),
            made["title"].as_str().unwrap()
        );
        lab.write_resources("sw1", &[made]);
        let ran = lab
            .run(&["apply", "--output", "json", "--detailed-exitcodes"])
            .await;
        let status = ran.resource("sw1", &reference);
        assert_eq!(status["failed"], true, "{fault}: {status}");
        let event = &status["events"][0];
        let not_applied = !expected.starts_with("it was applied");
        assert_eq!(
            event["status"],
            if not_applied { "failure" } else { "success" },
            "{fault}: {event}"
        );
        assert_eq!(status["changed"], !not_applied, "{fault}: {status}");
        let told = ran.warnings("sw1").join("\n");
        assert!(
            told.contains(&format!("read again: {expected}")),
            "{fault}: {told}"
        );
        assert_eq!(
            told.contains("it was applied"),
            !not_applied,
            "{fault}: {told}"
        );

        let left = if expected == "it was applied" { 0 } else { 2 };
        lab.apply().await.assert_code(left);
        lab.apply().await.assert_code(0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_disconnect_in_a_change_is_reported_after_reading_again() {
    // (fault, whether the line came to be)
    let cases = [
        ("drop-after=^description desk", false),
        ("drop-unanswered=^description desk", true),
        ("stall-after=^description desk", false),
    ];
    for (fault, applied) in cases {
        let lab = two(&[fault]).await;
        lab.write_resources(
            "sw1",
            &[
                vlan(10, "one"),
                resource(
                    "Network_interface",
                    "GigabitEthernet1/0/1",
                    json!({"enable": true, "description": "desk"}),
                ),
                vlan(20, "two"),
            ],
        );
        let ran = lab
            .run(&[
                "apply",
                "--output",
                "json",
                "--detailed-exitcodes",
                "--transcripts",
                "seen",
            ])
            .await;
        ran.assert_code(6);
        let interface = ran.resource("sw1", "Network_interface[GigabitEthernet1/0/1]");
        let event = &interface["events"][0];
        assert_eq!(event["property"], "description", "{fault}");
        let config = lab.switches["sw1"].running_config();
        assert_eq!(config.contains("description desk"), applied, "{fault}");
        if applied {
            assert_eq!(event["status"], "success", "{fault}: {event}");
        } else {
            assert_eq!(event["status"], "failure", "{fault}: {event}");
            let message = event["message"].as_str().unwrap();
            // A device that was silent may still be executing the line.
            let expected = match fault.starts_with("stall") {
                true => "read again: unknown, not present yet",
                false => "read again: it was not applied",
            };
            assert!(message.contains(expected), "{fault}: {message}");
            assert!(message.contains("`description desk`"), "{fault}: {message}");
        }
        // Nothing more is sent: the change may have been what cut the connection.
        assert_eq!(ran.resource("sw1", "Network_vlan[10]")["changed"], true);
        assert_eq!(ran.resource("sw1", "Network_vlan[20]")["failed"], true);
        let vlans = lab.switches["sw1"].vlans();
        assert!(!vlans.iter().any(|row| row.0 == 20), "{fault}: {vlans:?}");
        the_other_succeeds(&lab, &ran);
        // The dialogue before the cut is what one wants to see.
        let seen = lab.files("seen");
        let (_, transcript) = seen
            .iter()
            .find(|(path, _)| path.ends_with("sw1.log"))
            .unwrap();
        assert!(transcript.contains("description desk"), "{transcript}");

        // The next run finds a device that works, and does what is left.
        let ran = lab.apply().await;
        ran.assert_code(2);
        let vlans = lab.switches["sw1"].vlans();
        assert!(vlans.iter().any(|row| row.0 == 20), "{fault}: {vlans:?}");
        assert!(
            lab.switches["sw1"]
                .running_config()
                .contains("description desk")
        );
    }
}

/// A complaint that no rule lists is no success: the resource is read again.
#[tokio::test(flavor = "multi_thread")]
async fn unlisted_complaint_is_verified_by_reading_again() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &["refuse=^mtu => % Buffers are low."])
        .await;
    let mut dependant = vlan(10, "one");
    dependant["parameters"]["require"] = json!("Network_interface[GigabitEthernet1/0/1]");
    lab.write_resources(
        "sw1",
        &[
            resource(
                "Network_interface",
                "GigabitEthernet1/0/1",
                json!({"enable": true, "description": "desk", "mtu": 9000}),
            ),
            dependant,
            vlan(20, "two"),
        ],
    );
    let ran = lab.apply().await;
    ran.assert_code(6);
    let interface = ran.resource("sw1", "Network_interface[GigabitEthernet1/0/1]");
    let statuses = event_statuses(&interface);
    assert!(
        has_status(&statuses, "description", "success"),
        "{statuses:?}"
    );
    assert!(has_status(&statuses, "mtu", "failure"), "{statuses:?}");
    said(
        &ran,
        "sw1",
        "the device answered `mtu 9000`: % Buffers are low.; the device was read again: it \
         was not applied",
    );
    assert_eq!(ran.resource("sw1", "Network_vlan[10]")["skipped"], true);
    assert_eq!(ran.resource("sw1", "Network_vlan[20]")["changed"], true);
}

/// A gateway gives up while the device may still execute the request.
#[tokio::test(flavor = "multi_thread")]
async fn gateway_status_after_a_write_is_verified_by_reading_again() {
    let lab = balanced(&["unavailable=1 ^POST /mgmt/tm/ltm/rule"]).await;
    let ran = lab.apply().await;
    ran.assert_code(6);
    let event = ran.resource("lb1", RULE)["events"][0].clone();
    assert_eq!(event["status"], "failure", "{event}");
    let message = event["message"].as_str().unwrap();
    assert!(message.contains("failed with status 503"), "{message}");
    assert!(
        message.contains("the device was read again: unknown, not present yet"),
        "{message}"
    );
    // The session continues.
    assert_eq!(nodes(&lab), ["web1", "web4"]);
    the_other_succeeds(&lab, &ran);
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_discarded_line_fails_verification() {
    let lab = two(&["lost-write=^description desk"]).await;
    let ran = lab.apply().await;
    ran.assert_code(6);
    assert_eq!(ran.device("sw1")["status"], "failed");
    assert_eq!(ran.device("sw1")["counts"]["failed"], 1);
    said(&ran, "sw1", "Network_interface[GigabitEthernet1/0/1]");
    said(
        &ran,
        "sw1",
        "description was set to 'desk', and the device has 'unset'",
    );
    the_other_succeeds(&lab, &ran);
    let plain = lab.run(&["apply", "--target", "sw1"]).await;
    plain.assert_code(1);
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_system_message_in_an_answer_is_ignored() {
    let lab = two(&[
        "syslog-after=^show running-config",
        "syslog-after=^name two",
    ])
    .await;
    let ran = lab.apply().await;
    ran.assert_code(2);
    assert_eq!(ran.warnings("sw1"), Vec::<String>::new());
    lab.apply().await.assert_code(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_enable_password_is_not_sent_without_a_prompt() {
    let mut lab = Lab::new();
    lab.add_switch_with(switchtender_mocks::SwitchOptions {
        start_privileged: true,
        ..switch_options("sw1")
    })
    .await;
    lab.write_resources("sw1", &[vlan(10, "one")]);
    lab.apply().await.assert_code(2);
    let received = lab.log("sw1").received();
    assert!(!received.iter().any(|line| line.contains(ENABLE)));
}

// The load balancer.

async fn balanced(faults: &[&str]) -> Lab {
    let mut lab = Lab::new();
    lab.add_load_balancer("lb1", faults).await;
    lab.add_switch("sw2", &[]).await;
    be_short_with("lb1", faults, &mut lab);
    lab.write_resources("sw2", &[vlan(10, "one")]);
    let node = |number: u8| {
        resource(
            "F5_node",
            &format!("/Common/web{number}"),
            json!({"ensure": "present", "address": format!("198.51.100.{number}")}),
        )
    };
    let rule = resource(
        "F5_irule",
        "/Common/hello",
        json!({"ensure": "present", "definition": "when HTTP_REQUEST {\n  return\n}"}),
    );
    let mut dependant = node(3);
    dependant["parameters"]["require"] = json!("F5_irule[/Common/hello]");
    lab.write_resources("lb1", &[node(1), rule, dependant, node(4)]);
    lab
}

const RULE: &str = "F5_irule[/Common/hello]";

fn has_rule(lab: &Lab) -> bool {
    lab.load_balancers["lb1"]
        .get("ltm/rule/~Common~hello")
        .is_some()
}

fn nodes(lab: &Lab) -> Vec<String> {
    let list = lab.load_balancers["lb1"].get("ltm/node").unwrap();
    let items = list["items"].as_array().cloned().unwrap_or_default();
    items
        .iter()
        .map(|node| node["name"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_load_balancer_unusable() {
    let cases: &[(&[&str], &[&str])] = &[
        (
            &["login-refused=1"],
            &["refused the login of ops", "tried once"],
        ),
        (
            &["stall-after=^GET /mgmt/tm/cm/device"],
            &["no answer to `GET /mgmt/tm/cm/device", "2s"],
        ),
        (
            &["unavailable=1000 ^GET /mgmt/tm/cm/device"],
            &["GET /mgmt/tm/cm/device", "503"],
        ),
    ];
    for (faults, words) in cases {
        let lab = balanced(faults).await;
        let ran = lab.apply().await;
        ran.assert_code(1);
        let device = ran.device("lb1");
        assert_eq!(device["status"], "not run", "{faults:?}: {device}");
        for word in *words {
            let text = format!("{} {}", device["error"], device["hint"]);
            assert!(text.contains(word), "`{word}` is not in {device}");
        }
        assert_eq!(lab.log("lb1").writes(), Vec::<String>::new());
        the_other_succeeds(&lab, &ran);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_certificate_differs_from_fingerprint() {
    let mut lab = balanced(&[]).await;
    let port = lab.load_balancers["lb1"].address().port();
    lab.add_device("lb1", "f5_bigip", port, Some(&"ab".repeat(32)));
    let ran = lab.apply().await;
    ran.assert_code(1);
    let error = ran.device("lb1")["error"].to_string();
    assert!(
        error.contains("lb1") && error.contains("certificate"),
        "{error}"
    );
    the_other_succeeds(&lab, &ran);

    // Without a pin it is judged by the system's trust anchors, and nobody vouches for it.
    lab.add_device("lb1", "f5_bigip", port, None);
    let ran = lab.apply().await;
    ran.assert_code(1);
    let error = ran.device("lb1")["error"].to_string();
    assert!(error.contains("is not trusted"), "{error}");
    assert_eq!(lab.log("lb1").received(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_temporary_failures_are_retried() {
    for fault in [
        "unavailable=2 ^GET",
        "half-body=^GET /mgmt/tm/ltm/node",
        "drop-after=^GET /mgmt/tm/ltm/node",
    ] {
        let lab = balanced(&[fault]).await;
        let ran = lab.apply().await;
        assert_eq!(ran.code, Some(2), "{fault}: {}", ran.text());
        assert_eq!(nodes(&lab), ["web1", "web3", "web4"], "{fault}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_refused_request_fails_its_resource_only() {
    let lab =
        balanced(&["refuse=^POST /mgmt/tm/ltm/rule => 01070151: Rule does not compile"]).await;
    let ran = lab.apply().await;
    ran.assert_code(6);
    let status = |number: u8| ran.resource("lb1", &format!("F5_node[/Common/web{number}]"));
    assert_eq!(ran.resource("lb1", RULE)["failed"], true);
    assert_eq!(status(3)["skipped"], true);
    assert_eq!(status(4)["changed"], true);
    said(&ran, "lb1", "01070151: Rule does not compile");
    assert_eq!(nodes(&lab), ["web1", "web4"]);
    the_other_succeeds(&lab, &ran);
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_lost_answer_of_a_write_is_reported_after_reading_again() {
    // (fault, whether the object came to be)
    let cases = [
        ("drop-after=^POST /mgmt/tm/ltm/rule", false),
        ("drop-unanswered=^POST /mgmt/tm/ltm/rule", true),
        ("half-body=^POST /mgmt/tm/ltm/rule", true),
    ];
    for (fault, applied) in cases {
        let lab = balanced(&[fault]).await;
        let ran = lab.apply().await;
        ran.assert_code(6);
        let event = ran.resource("lb1", RULE)["events"][0].clone();
        assert_eq!(has_rule(&lab), applied, "{fault}");
        let status = if applied { "success" } else { "failure" };
        assert_eq!(event["status"], status, "{fault}: {}", ran.text());
        assert!(!nodes(&lab).contains(&"web4".to_owned()), "{fault}");
        the_other_succeeds(&lab, &ran);
        lab.apply().await.assert_code(2);
        assert_eq!(nodes(&lab), ["web1", "web3", "web4"], "{fault}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_discarded_write_fails_verification() {
    let lab = balanced(&["lost-write=^POST /mgmt/tm/ltm/rule"]).await;
    let ran = lab.apply().await;
    ran.assert_code(6);
    assert_eq!(ran.device("lb1")["status"], "failed");
    said(&ran, "lb1", RULE);
    the_other_succeeds(&lab, &ran);
}

#[tokio::test(flavor = "multi_thread")]
async fn catalog_errors_are_reported_together_before_connecting() {
    let lab = two(&[]).await;
    let misspelt = resource("Network_vlan", "20", json!({"vlan_nam": "two"}));
    lab.write_resources("sw1", &[vlan(10, "one"), vlan(10, "again"), misspelt]);
    let ran = lab.run(&["apply", "--report", "reports"]).await;
    ran.assert_code(1);
    ran.assert_contains("Network_vlan[10] is declared twice");
    ran.assert_contains("vlan_nam: unknown attribute of network_vlan");
    assert_eq!(lab.log("sw1").received(), Vec::<String>::new());

    // Where reports cannot be written is found out before, too.
    lab.write_resources("sw1", &[vlan(10, "one")]);
    let ran = lab
        .run(&["apply", "--report", "inventory.toml/reports"])
        .await;
    ran.assert_code(1);
    ran.assert_contains("cannot write reports to inventory.toml/reports");
    assert_eq!(lab.log("sw1").received(), Vec::<String>::new());
}
