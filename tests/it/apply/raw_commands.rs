//! Commands of the catalog: sent under their condition, never in noop, and without a prediction.

use serde_json::{Value, json};
use test_support::catalog::resource;
use test_support::lab::Lab;

/// What the switch received since it entered configuration mode.
fn lines(lab: &Lab) -> Vec<String> {
    let writes = lab.log("sw1").writes().into_iter();
    writes
        .skip_while(|line| line != "configure terminal")
        .collect()
}

fn lab_resources() -> Vec<Value> {
    vec![
        resource(
            "Ios_config",
            "domain",
            json!({"command": "ip domain-name raw.example", "idempotent_regex": "^ip domain.name raw"}),
        ),
        resource(
            "Cisco_command_config",
            "port",
            json!({"command": "interface GigabitEthernet1/0/2\n  description raw\n  no mtu"}),
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn raw_lines_are_sent_under_their_condition() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    lab.write_resources("sw1", &lab_resources());
    let plan = lab.run(&["plan"]).await;
    plan.assert_code(0);
    plan.assert_contains("> ip domain-name raw.example");
    plan.assert_contains(
        "no difference shown for ios_config: the effect of its commands cannot be predicted",
    );
    lab.run(&["apply", "--noop"]).await.assert_code(0);
    assert_eq!(lines(&lab), [""; 0], "plan and noop send nothing");
    lab.apply().await.assert_code(2);
    let sent = lines(&lab);
    for line in [
        "ip domain-name raw.example",
        "interface GigabitEthernet1/0/2",
        "description raw",
    ] {
        assert!(
            sent.iter().any(|one| one.trim() == line),
            "{line} in {sent:?}"
        );
    }
    assert!(!sent.iter().any(|one| one.contains("mtu")), "{sent:?}");
    lab.log("sw1").clear();
    lab.apply().await.assert_code(0);
    assert_eq!(lines(&lab), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn raw_line_without_a_condition_is_sent_in_every_run_with_a_warning() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    let command = json!({"command": "ip domain-name raw.example"});
    lab.write_resources("sw1", &[resource("Ios_config", "domain", command)]);
    for _ in 0..2 {
        let ran = lab.apply().await;
        ran.assert_code(2);
        ran.assert_contains("the command has no condition: it is sent in every run");
        assert!(
            lines(&lab)
                .iter()
                .any(|line| line == "ip domain-name raw.example")
        );
        lab.log("sw1").clear();
    }
}

/// The condition does not hold after the command.
#[tokio::test(flavor = "multi_thread")]
async fn raw_line_that_does_not_meet_its_condition_fails_the_verification() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    let command = json!({"command": "ip domain-name raw.example", "idempotent_regex": "^ip domain-name other"});
    lab.write_resources("sw1", &[resource("Ios_config", "domain", command)]);
    let ran = lab.apply().await;
    ran.assert_code(6);
    ran.assert_contains("command was set to");
}

#[tokio::test(flavor = "multi_thread")]
async fn raw_command_of_a_load_balancer_has_a_condition_and_fails_with_its_output() {
    let mut lab = Lab::new();
    lab.add_load_balancer("lb1", &[]).await;
    let zone = json!({
        "tmsh": "tmsh modify sys ntp timezone UTC", "unless": "\"timezone\":\"UTC\"", "unless_path": "/mgmt/tm/sys/ntp",
    });
    lab.write_resources("lb1", &[resource("F5_command", "zone", zone)]);
    lab.apply().await.assert_code(2);
    assert_eq!(
        lab.log("lb1").writes(),
        [
            "POST /mgmt/tm/util/bash {\"command\":\"run\",\"utilCmdArgs\":\"-c \\\"tmsh modify sys ntp timezone UTC\\\"\"}"
        ]
    );
    lab.log("lb1").clear();
    lab.apply().await.assert_code(0);
    assert_eq!(lab.log("lb1").writes(), [""; 0]);
    let wrong = json!({"tmsh": "tmsh show nonsense"});
    lab.write_resources("lb1", &[resource("F5_command", "wrong", wrong)]);
    let ran = lab.apply().await;
    ran.assert_code(4);
    ran.assert_contains("Syntax Error: unexpected argument");
}
