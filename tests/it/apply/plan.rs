//! A plan shows the changes of an apply and cannot make them; neither can `apply --noop`.

use serde_json::{Value, json};

use test_support::catalog::{example, resource, vlan};
use test_support::lab::{Lab, switch_options};

/// A switch and a load balancer that have something already.
async fn lab() -> Lab {
    let mut lab = Lab::new();
    lab.add_switch_with(switchtender_mocks::SwitchOptions {
        config: Some("interface GigabitEthernet1/0/1\n description old\n".to_owned()),
        vlans: vec![(10, "one".to_owned()), (66, "gone".to_owned())],
        ..switch_options("sw1")
    })
    .await;
    lab.add_load_balancer("lb1", &[]).await;
    lab.write_catalog("lb1", &example("lb1"));
    lab.write_resources(
        "sw1",
        &[
            vlan(10, "first"),
            vlan(20, "second"),
            resource("Network_vlan", "66", json!({"ensure": "absent"})),
            resource(
                "Network_interface",
                "GigabitEthernet1/0/1",
                json!({"enable": true, "description": "new"}),
            ),
            // A resource cannot insist on being applied in a plan.
            resource(
                "Ntp_server",
                "192.0.2.10",
                json!({"ensure": "present", "noop": false}),
            ),
        ],
    );
    lab
}

#[track_caller]
fn untouched(lab: &Lab, before: &(String, usize)) {
    assert_eq!(state(lab), *before);
    let received = lab.log("sw1").received();
    assert!(
        !received.iter().any(|line| line.starts_with("conf")),
        "{received:?}"
    );
    assert_eq!(lab.log("sw1").configuration_lines(), Vec::<String>::new());
    assert_eq!(lab.log("lb1").writes(), Vec::<String>::new());
    assert_eq!(lab.log("sw1").connections(), 1);
}

/// Both devices: configuration and VLANs of the switch, objects of the load balancer.
fn state(lab: &Lab) -> (String, usize) {
    let switch = &lab.switches["sw1"];
    let partitions = lab.load_balancers["lb1"].get("auth/partition").unwrap();
    (
        format!("{}{:?}", switch.running_config(), switch.vlans()),
        partitions["items"].as_array().unwrap().len(),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn plan_prints_changes_commands_and_difference() {
    let lab = lab().await;
    let before = state(&lab);
    let ran = lab.run(&["plan"]).await;
    ran.assert_code(0);
    // The complete text output about the switch.
    let start = ran.stdout.find("sw1 (cisco_ios)").unwrap();
    let text = &ran.stdout[start..];
    let plan: Vec<&str> = text
        .lines()
        .take_while(|line| !line.contains("configuration difference:"))
        .filter(|line| !line.is_empty())
        .collect();
    assert_eq!(
        plan,
        [
            "sw1 (cisco_ios)",
            "  Network_vlan[10]  (/manifests/site.pp:1)",
            "    vlan_name will change from 'one' to 'first'",
            "    > vlan 10",
            "    >  name first",
            "  Network_vlan[20]  (/manifests/site.pp:2)",
            "    will be created",
            "    > vlan 20",
            "    >  name second",
            "  Network_vlan[66]  (/manifests/site.pp:3)",
            "    will be removed",
            "    > no vlan 66",
            "  Network_interface[GigabitEthernet1/0/1]  (/manifests/site.pp:4)",
            "    description will change from 'old' to 'new'",
            "    > interface GigabitEthernet1/0/1",
            "    >  description new",
            "  Ntp_server[192.0.2.10]  (/manifests/site.pp:5)",
            "    will be created",
            "    > ntp server 192.0.2.10",
        ]
    );
    let difference: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.contains("configuration difference:"))
        .take_while(|line| !line.is_empty())
        .map(str::trim_start)
        .filter(|line| line.starts_with(['+', '-']))
        .collect();
    for line in [
        "- description old",
        "+ description new",
        "+ntp server 192.0.2.10",
        "- name one",
        "+ name first",
        "+vlan 20",
        "+ name second",
        "-vlan 66",
    ] {
        assert!(difference.contains(&line), "{line}: {difference:#?}");
    }
    ran.assert_contains("POST /mgmt/tm/auth/partition");
    ran.assert_contains("PATCH /mgmt/tm/sys/ntp");
    untouched(&lab, &before);
}

#[tokio::test(flavor = "multi_thread")]
async fn plan_as_json_has_the_same_content() {
    let lab = lab().await;
    let before = state(&lab);
    let ran = lab
        .run(&["plan", "--output", "json", "--detailed-exitcodes"])
        .await;
    // As with apply: something is to be changed.
    ran.assert_code(2);
    assert_eq!(
        ran.resource("sw1", "Network_vlan[20]")["operations"],
        json!(["vlan 20", " name second"])
    );
    assert_eq!(ran.device("sw1")["status"], "pending");
    assert_eq!(ran.device("sw1")["counts"]["pending"], 5);
    assert!(!ran.text().contains("Applied catalog"), "{}", ran.text());
    // The schedules and the file bucket of Puppet are not in the catalog.
    assert!(!ran.text().contains("Schedule["), "{}", ran.text());
    let difference = ran.device("sw1")["configuration_diff"].clone();
    assert!(difference.as_str().unwrap().contains("+vlan 20"));
    untouched(&lab, &before);
    lab.apply().await.assert_code(2);
    let settled = lab.run(&["plan", "--detailed-exitcodes"]).await;
    settled.assert_code(0);
    settled.assert_contains("nothing to change");
}

#[tokio::test(flavor = "multi_thread")]
async fn plan_shows_how_its_changes_are_undone() {
    let lab = lab().await;
    let before = state(&lab);
    let json = &["plan", "--show-undo", "--output", "json"];
    let ran = lab.run(json).await;
    let device = ran.device("sw1");
    let mut undo: Vec<(&str, Value)> = device["undo"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["resource"].as_str().unwrap(), one["operations"].clone()))
        .collect();
    let planned = ran.objects().into_iter().filter(|object| {
        let operations = object["operations"].as_array();
        object["device"] == "sw1" && operations.is_some_and(|operations| !operations.is_empty())
    });
    let planned: Vec<Value> = planned.map(|object| object["resource"].clone()).collect();
    let reversed: Vec<&str> = undo.iter().rev().map(|(resource, _)| *resource).collect();
    assert_eq!(planned, reversed, "last change first");
    undo.sort_by_key(|(resource, _)| *resource);
    assert_eq!(
        undo,
        [
            (
                "Network_interface[GigabitEthernet1/0/1]",
                json!(["interface GigabitEthernet1/0/1", " description old"])
            ),
            ("Network_vlan[10]", json!(["vlan 10", " name one"])),
            ("Network_vlan[20]", json!(["no vlan 20"])),
            ("Network_vlan[66]", json!(["vlan 66", " name gone"])),
            (
                "Ntp_server[192.0.2.10]",
                json!(["no ntp server 192.0.2.10"])
            ),
        ]
    );
    assert_eq!(device["not_restored_by_undo"], "");
    untouched(&lab, &before);

    let text = lab.run(&["plan", "--show-undo", "--target", "sw1"]).await;
    text.assert_contains("\n  undo, last change first:\n");
    text.assert_contains("  Network_vlan[66]\n    > vlan 66\n    >  name gone\n");
}

/// The configuration is read for a change whose difference needs it, and only once.
#[tokio::test(flavor = "multi_thread")]
async fn plan_of_a_trunk_has_its_configuration_difference() {
    let mut lab = Lab::new();
    lab.add_switch_with(switchtender_mocks::SwitchOptions {
        config: Some("interface GigabitEthernet1/0/5\n switchport mode access\n".to_owned()),
        ..switch_options("sw1")
    })
    .await;
    let port = |attributes| resource("Ios_network_trunk", "GigabitEthernet1/0/5", attributes);
    let reads = |lab: &Lab| {
        let received = lab.log("sw1").received();
        let is_read = |line: &&String| line.starts_with("show running-config");
        received.iter().filter(is_read).count()
    };
    lab.write_resources("sw1", &[port(json!({"access_vlan": 1}))]);
    let unchanged = lab.run(&["plan"]).await;
    unchanged.assert_contains("nothing to change");
    assert_eq!(reads(&lab), 0, "no read without a change");

    lab.write_resources("sw1", &[vlan(50, "new"), port(json!({"access_vlan": 50}))]);
    let plan = lab.run(&["plan"]).await;
    plan.assert_code(0);
    plan.assert_contains("\n  + switchport access vlan 50\n");
    plan.assert_contains("\n  +vlan 50\n");
    for wrong in ["no difference shown", "the undo leaves"] {
        assert!(!plan.stdout.contains(wrong), "{}", plan.stdout);
    }
    assert_eq!(reads(&lab), 1);

    // The configuration is first read for the second resource.
    let allowed = port(json!({"allowed_vlans": "10,20"}));
    lab.write_resources("sw1", &[vlan(50, "new"), allowed]);
    let plan = lab.run(&["plan"]).await;
    plan.assert_code(0);
    plan.assert_contains("\n  + switchport trunk allowed vlan 10,20\n");
    assert!(!plan.stdout.contains("the undo leaves"), "{}", plan.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn apply_noop_changes_nothing() {
    let lab = lab().await;
    // Here Puppet's rule holds: `noop => false` in the catalog insists. Not in this catalog.
    lab.write_resources("sw1", &[vlan(10, "first"), vlan(20, "second")]);
    let before = state(&lab);
    let ran = lab
        .run(&[
            "apply",
            "--noop",
            "--output",
            "json",
            "--detailed-exitcodes",
        ])
        .await;
    ran.assert_code(0);
    assert_eq!(
        ran.events("sw1"),
        [
            "Network_vlan[10]/vlan_name: noop: vlan_name changed 'one' to 'first' (noop)",
            "Network_vlan[20]/ensure: noop: defined 'ensure' as 'present' (noop)",
        ]
    );
    untouched(&lab, &before);
    assert!(
        lab.run(&["apply", "--noop"])
            .await
            .stdout
            .contains("vlan_name: vlan_name will change from 'one' to 'first'\n")
    );
}

/// The lines that a plan of the load balancer adds and removes: object, sign, field.
fn predicted_fields(diff: &str) -> Vec<(String, char, String)> {
    let mut object = String::new();
    let mut fields = Vec::new();
    for line in diff.lines() {
        if let Some(hunk) = line.strip_prefix("@@") {
            let block = hunk.rsplit("@@").next().unwrap().trim();
            if !block.is_empty() {
                block.clone_into(&mut object);
            }
            continue;
        }
        let (sign, text) = line.split_at(1);
        match text.strip_prefix(' ') {
            Some(field) if sign != " " => {
                fields.push((
                    object.clone(),
                    sign.chars().next().unwrap(),
                    field.to_owned(),
                ));
            }
            Some(_) => {}
            None => text.clone_into(&mut object),
        }
    }
    fields
}

/// The fields of an object of the load balancer as a plan prints them: members with a line each.
fn fields(prefix: &str, object: &Value, lines: &mut Vec<String>) {
    for (name, value) in object.as_object().unwrap() {
        let path = format!("{prefix}{name}");
        if let Some(members) = value["items"].as_array() {
            for member in members {
                let mut own = Vec::new();
                fields("", member, &mut own);
                let path = path.trim_end_matches("Reference");
                let text = |name: &str| member[name].as_str();
                let name = text("name").unwrap_or_default();
                let key = match text("partition") {
                    Some(partition) => format!("/{partition}/{name}"),
                    None => name.to_owned(),
                };
                let own: Vec<String> = own
                    .iter()
                    .map(|field| field.replacen(": ", "=", 1))
                    .collect();
                lines.push(format!("{path}: {key} {}", own.join(" ")));
            }
        } else if value.is_object() {
            fields(&format!("{path}."), value, lines);
        } else {
            // BIG-IP ends several texts with a blank.
            let value = value.to_string().replace(" \"", "\"");
            lines.push(format!("{path}: {value}"));
        }
    }
}

/// Whether a device's line has all words of a predicted one: devices add fields to members.
fn has(lines: &[String], predicted: &str) -> bool {
    let contains = |line: &String| {
        let words: Vec<&str> = line.split(' ').collect();
        predicted.split(' ').all(|word| words.contains(&word))
    };
    lines.iter().any(|line| line == predicted || contains(line))
}

/// What a plan predicts of a load balancer's objects is what they are after the apply.
#[tokio::test(flavor = "multi_thread")]
async fn predicted_objects_equal_those_of_the_load_balancer() {
    let mut lab = Lab::new();
    lab.add_load_balancer("lb1", &[]).await;
    let first = example("lb1");
    let mut second = first.clone();
    for resource in second["resources"].as_array_mut().unwrap() {
        let changes = match resource["type"].as_str().unwrap() {
            "F5_pool" => json!({
                "load_balancing_method": "round-robin",
                "members": [{"name": "/shop/web1", "port": "8080"}],
            }),
            "F5_monitor" => json!({"interval": 7, "timeout": 22, "receive_string": "204"}),
            "F5_irule" => json!({"definition": "when HTTP_REQUEST {\n  return\n}"}),
            "F5_node" => json!({"health_monitors": ["/Common/gateway_icmp"]}),
            "F5_vlan" => json!({"vlan_tag": 121}),
            "F5_ntp" => json!({"servers": ["192.0.2.12"], "timezone": "Europe/Berlin"}),
            "F5_virtualserver" => json!({"service_port": "444", "source": "192.0.2.0/24"}),
            _ => json!({}),
        };
        for (name, value) in changes.as_object().unwrap() {
            resource["parameters"][name] = value.clone();
        }
    }
    for (catalog, expected) in [(first, 30), (second, 10)] {
        lab.write_catalog("lb1", &catalog);
        let plan = lab.run(&["plan", "--output", "json"]).await;
        let diff = plan.device("lb1")["configuration_diff"].clone();
        lab.apply().await.assert_code(2);
        let predicted = predicted_fields(diff.as_str().unwrap());
        let mut wrong = Vec::new();
        for (object, sign, field) in &predicted {
            let (path, name) = object.split_once(' ').unwrap_or((object, ""));
            let path = path
                .split('?')
                .next()
                .unwrap()
                .trim_start_matches("/mgmt/tm/");
            let path = match name {
                "" => path.to_owned(),
                name => format!(
                    "{path}/{}?expandSubcollections=true",
                    name.replace('/', "~")
                ),
            };
            let found = lab.load_balancers["lb1"].get(&path);
            let mut actual = Vec::new();
            fields("", &found.unwrap_or_else(|| json!({})), &mut actual);
            if has(&actual, field) != (*sign == '+') {
                wrong.push(format!("{object}: {sign}{field}\n  {actual:?}"));
            }
        }
        assert!(predicted.len() >= expected, "{}: {diff}", predicted.len());
        assert!(wrong.is_empty(), "{}\n{diff}", wrong.join("\n"));
    }
}

#[test]
fn plan_has_colors_on_request() {
    let output = test_support::program::run(&[
        "plan",
        "--mock",
        "--inventory",
        "examples/inventory.toml",
        "--catalog",
        "examples/catalogs",
        "--target",
        "sw1",
        "--color",
        "always",
    ]);
    output.assert_code(0);
    for expected in [
        "  \u{1b}[1mNetwork_vlan[10]\u{1b}[0m  (/etc/",
        "\n  \u{1b}[32m+ name users\u{1b}[0m\n",
        "\n  \u{1b}[36m@@ ",
    ] {
        assert!(output.stdout.contains(expected), "{}", output.stdout);
    }
}
