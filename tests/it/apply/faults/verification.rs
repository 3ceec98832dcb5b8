//! Values that the device does not have after it accepted them.

use switchtender_mocks::SwitchOptions;

use super::*;

/// The difference belongs to its resource: in the events, the report, the counts and the summary.
/// Dependents ran before it was found.
#[tokio::test(flavor = "multi_thread")]
async fn verification_fails_its_resource_and_names_dependents() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &["lost-write=^description desk"])
        .await;
    let require = |mut resource: Value, other: &str| {
        resource["parameters"]["require"] = json!(other);
        resource
    };
    lab.write_resources(
        "sw1",
        &[
            resource(
                "Network_interface",
                "GigabitEthernet1/0/1",
                json!({"description": "desk"}),
            ),
            require(vlan(20, "two"), "Network_interface[GigabitEthernet1/0/1]"),
            require(vlan(30, "three"), "Network_vlan[20]"),
            vlan(40, "four"),
        ],
    );
    let ran = lab
        .run(&["apply", "--output", "json", "--detailed-exitcodes"])
        .await;
    ran.assert_code(6);
    let counts = &ran.device("sw1")["counts"];
    assert_eq!(
        (&counts["failed"], &counts["changed"]),
        (&json!(1), &json!(4))
    );
    let interface = ran.resource("sw1", "Network_interface[GigabitEthernet1/0/1]");
    assert_eq!(interface["amended"], true, "{interface}");
    assert_eq!(interface["failed"], true, "{interface}");
    let message = "verification failed: description was set to 'desk', and the device has 'unset'; \
                   dependents that ran: Network_vlan[20], Network_vlan[30]";
    let events = interface["events"].as_array().unwrap();
    let [done, found] = &events[..] else {
        panic!("{interface}");
    };
    assert_eq!(done["status"], "success", "{interface}");
    assert_eq!(found["status"], "failure", "{interface}");
    assert_eq!(found["property"], "description", "{interface}");
    assert_eq!(found["message"], message, "{interface}");
    for other in [20, 30, 40] {
        let status = ran.resource("sw1", &format!("Network_vlan[{other}]"));
        assert_eq!(status["failed"], false, "{status}");
    }

    let report = lab.report("sw1");
    assert_eq!(report["status"], "failed");
    let status = &report["resource_statuses"]["Network_interface[GigabitEthernet1/0/1]"];
    assert_eq!(status["failed"], true, "{status}");
    assert_eq!(status["events"][1]["message"], message, "{status}");
    let logged = report["logs"].as_array().unwrap().iter().any(|entry| {
        entry["message"] == message
            && entry["level"] == "err"
            && entry["source"]
                .as_str()
                .unwrap()
                .ends_with("Network_interface[GigabitEthernet1/0/1]/description")
    });
    assert!(logged, "{}", report["logs"]);
    let mut files = lab.files("state").into_iter();
    let summary = files.find(|(path, _)| path.ends_with("last_run_summary.yaml"));
    let (_, summary) = summary.unwrap();
    for line in ["  failed: 1\n", "  failure: 1\n"] {
        assert!(summary.contains(line), "{summary}");
    }

    // The value was never on the device, so the next change corrects nothing.
    let again = lab
        .run(&["apply", "--output", "json", "--detailed-exitcodes"])
        .await;
    assert!(!again.text().contains("(corrective)"), "{}", again.text());
}

/// IOS shuts the members of a removed port channel. The member needed no change, so nothing else of
/// the run would tell about it.
#[tokio::test(flavor = "multi_thread")]
async fn verification_fails_an_unchanged_resource_that_a_change_affected() {
    let config = "interface GigabitEthernet1/0/1\n description uplink\n channel-group 23 mode active\n\
                  interface GigabitEthernet1/0/2\n\
                  interface Port-channel23\n no switchport\n no ip address\nend\n";
    let mut lab = Lab::new();
    lab.add_switch_with(SwitchOptions {
        config: Some(config.to_owned()),
        ..switch_options("sw1")
    })
    .await;
    let enabled = |name: &str| resource("Network_interface", name, json!({"enable": true}));
    lab.write_resources(
        "sw1",
        &[
            enabled("GigabitEthernet1/0/1"),
            enabled("GigabitEthernet1/0/2"),
            resource(
                "Ios_ip_interface",
                "Port-channel23",
                json!({"ensure": "absent"}),
            ),
        ],
    );
    let ran = lab
        .run(&["apply", "--output", "json", "--detailed-exitcodes"])
        .await;
    ran.assert_code(6);
    let member = ran.resource("sw1", "Network_interface[GigabitEthernet1/0/1]");
    let events = member["events"].as_array().unwrap();
    let [found] = &events[..] else {
        panic!("{member}");
    };
    assert_eq!(found["status"], "failure", "{member}");
    let message = "verification failed: enable was true before the changes of the run, and the device has false";
    assert_eq!(found["message"], message, "{member}");
    for other in [
        "Network_interface[GigabitEthernet1/0/2]",
        "Ios_ip_interface[Port-channel23]",
    ] {
        let status = ran.resource("sw1", other);
        assert_eq!(status["failed"], false, "{status}");
    }
    let config = lab.switches["sw1"].running_config();
    assert!(config.contains(" shutdown\n"), "{config}");

    // The next run repairs it.
    let again = lab.run(&["apply", "--detailed-exitcodes"]).await;
    again.assert_code(2);
    lab.run(&["apply", "--detailed-exitcodes"])
        .await
        .assert_code(0);
}

/// The definition of the bundle has what its removal leaves on the members, so the plan predicts it.
#[tokio::test(flavor = "multi_thread")]
async fn plan_predicts_the_effect_of_a_change_on_an_unchanged_resource() {
    let config = "interface GigabitEthernet1/0/1\n channel-group 23 mode active\n\
                  interface GigabitEthernet1/0/2\n\
                  interface Port-channel23\nend\n";
    let mut lab = Lab::new();
    lab.add_switch_with(SwitchOptions {
        config: Some(config.to_owned()),
        ..switch_options("sw1")
    })
    .await;
    let members = ["GigabitEthernet1/0/1", "GigabitEthernet1/0/2"];
    let enabled = |name: &str| resource("Network_interface", name, json!({"enable": true}));
    let mut bundle = resource(
        "Port_channel",
        "Port-channel23",
        json!({"ensure": "absent"}),
    );
    bundle["parameters"]["require"] =
        json!(members.map(|name| format!("Network_interface[{name}]")));
    let resources = [enabled(members[0]), enabled(members[1]), bundle];
    lab.write_resources("sw1", &resources);
    let planned = lab.run(&["plan"]).await;
    planned.assert_code(0);
    planned.assert_contains(
        "/Network_interface[GigabitEthernet1/0/1]/enable: enable is true, and the changes of other resources would \
         make it false",
    );
    assert!(
        !planned.text().contains("GigabitEthernet1/0/2]/enable"),
        "{}",
        planned.text()
    );
    let ran = lab.run(&["apply"]).await;
    ran.assert_code(1);
    ran.assert_contains("verification failed: enable was true before the changes of the run");
}
