//! Faults of a load balancer.

use super::*;

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
        message.contains("the device was read again: the value is unknown, not present yet"),
        "{message}"
    );
    // The session continues.
    assert_eq!(nodes(&lab), ["web1", "web4"]);
    the_other_succeeds(&lab, &ran);
}

// The load balancer.

async fn balanced(faults: &[&str]) -> Lab {
    let mut lab = Lab::new();
    lab.add_load_balancer("lb1", faults).await;
    lab.add_switch("sw2", &[]).await;
    shorten_timeout("lb1", faults, &mut lab);
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
    let mut dependent = node(3);
    dependent["parameters"]["require"] = json!("F5_irule[/Common/hello]");
    lab.write_resources("lb1", &[node(1), rule, dependent, node(4)]);
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

    // Without a pin it is verified against the system's CA certificates, and none of them has signed it.
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
    assert_warning(&ran, "lb1", "01070151: Rule does not compile");
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
    let rule = ran.resource("lb1", RULE);
    assert_eq!(
        (&rule["failed"], &rule["amended"]),
        (&json!(true), &json!(true))
    );
    the_other_succeeds(&lab, &ran);
}
