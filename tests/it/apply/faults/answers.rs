//! Faults in the answers to changes: refusals, questions, log messages, discarded lines.

use super::*;

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
    assert_warning(&ran, "sw1", "% Command rejected: Bad VLAN name list");
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
        .replace("[connection]\n", "[connection]\nwindow = 1\n");
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
    let interface = ran.resource("sw1", &format!("Network_interface[{port}]"));
    let status = &lab.report("sw1")["resource_statuses"][format!("Network_interface[{port}]")];
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
    let messages: Vec<&str> = interface["events"]
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
    assert_warning(&ran, "sw1", "[confirm]");
    let vlans = lab.switches["sw1"].vlans();
    assert!(!vlans.iter().any(|row| row.1 == "two"), "{vlans:?}");
    the_other_succeeds(&lab, &ran);
}

/// A complaint that no rule lists is no success: the resource is read again.
#[tokio::test(flavor = "multi_thread")]
async fn unlisted_complaint_is_verified_by_reading_again() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &["refuse=^mtu => % Buffers are low."])
        .await;
    let mut dependent = vlan(10, "one");
    dependent["parameters"]["require"] = json!("Network_interface[GigabitEthernet1/0/1]");
    lab.write_resources(
        "sw1",
        &[
            resource(
                "Network_interface",
                "GigabitEthernet1/0/1",
                json!({"enable": true, "description": "desk", "mtu": 9000}),
            ),
            dependent,
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
    assert_warning(
        &ran,
        "sw1",
        "the device answered `mtu 9000`: % Buffers are low.; the device was read again: it \
         was not applied",
    );
    assert_eq!(ran.resource("sw1", "Network_vlan[10]")["skipped"], true);
    assert_eq!(ran.resource("sw1", "Network_vlan[20]")["changed"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_discarded_line_fails_verification() {
    let lab = two(&["lost-write=^description desk"]).await;
    let ran = lab.apply().await;
    ran.assert_code(6);
    assert_eq!(ran.device("sw1")["status"], "failed");
    assert_eq!(ran.device("sw1")["counts"]["failed"], 1);
    assert_warning(
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
