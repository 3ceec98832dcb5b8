//! A refresh of a REST type sends the request of its definition.

use serde_json::json;
use test_support::catalog::resource;
use test_support::lab::Lab;

use super::rest_transaction::documented_transactions;

const MODEL: &str = "schema = 1\nextends = \"shipped\"\nrefresh = \"yes\"\n";
const REFRESH: &str = r#"schema = 1
extends = "shipped"
platform = "f5_bigip"
type = "f5_ntp"

[refresh]
path = "/mgmt/tm/sys/config"
body = { command = "save", comment = "{timezone}" }
"#;

/// Writes the definitions of a site.
fn write_definitions(lab: &Lab, model: &str, implementation: &str) {
    for (path, text) in [
        ("models/f5_ntp.toml", model),
        ("f5_bigip/f5_ntp.toml", implementation),
    ] {
        let path = lab.path("definitions").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn refresh_of_a_rest_type_sends_its_request_once() {
    let mut lab = Lab::new();
    lab.add_load_balancer("lb1", &[]).await;
    write_definitions(&lab, MODEL, REFRESH);
    let mut dns = resource("F5_dns", "/Common/dns", json!({"search": ["lab.test"]}));
    dns["parameters"]["notify"] = json!("F5_ntp[/Common/ntp]");
    let ntp = resource("F5_ntp", "/Common/ntp", json!({"servers": ["192.0.2.1"]}));
    lab.write_resources("lb1", &[dns, ntp]);
    let arguments = ["--definitions", "definitions", "--detailed-exitcodes"];
    let ran = lab.run(&[&["apply"], &arguments[..]].concat()).await;
    ran.assert_code(2);
    ran.assert_contains("Triggered 'refresh' from 1 event");
    assert_eq!(
        lab.log("lb1").writes(),
        [
            "PATCH /mgmt/tm/sys/dns {\"search\":[\"lab.test\"]}",
            "PATCH /mgmt/tm/sys/ntp {\"servers\":[\"192.0.2.1\"]}",
            "POST /mgmt/tm/sys/config {\"command\":\"save\",\"comment\":\"America/Los_Angeles\"}",
        ]
    );
    lab.log("lb1").clear();
    let again = lab.run(&[&["apply"], &arguments[..]].concat()).await;
    again.assert_code(0);
    assert_eq!(lab.log("lb1").writes(), [""; 0]);
    let explained = test_support::program::switchtender(&[
        "driver",
        "explain",
        "f5_bigip",
        "f5_ntp",
        "--definitions",
    ])
    .arg(lab.path("definitions"))
    .output()
    .unwrap();
    let explained = String::from_utf8(explained.stdout).unwrap();
    let request = "POST /mgmt/tm/sys/config {\"command\": \"save\", \"comment\": \"{timezone}\"}";
    assert!(explained.contains(request), "{explained}");
}

/// With one transaction for the run, a refresh waits for the commit of the changes before it.
#[tokio::test(flavor = "multi_thread")]
async fn refresh_is_sent_after_the_commit_of_a_run() {
    let mut lab = Lab::new();
    lab.add_load_balancer("lb1", &[]).await;
    write_definitions(&lab, MODEL, REFRESH);
    let platform = lab.path("definitions/f5_bigip/platform.toml");
    std::fs::write(platform, documented_transactions("scope = \"run\"")).unwrap();
    let mut dns = resource("F5_dns", "/Common/dns", json!({"search": ["lab.test"]}));
    dns["parameters"]["notify"] = json!("F5_ntp[/Common/ntp]");
    let mut ntp = resource("F5_ntp", "/Common/ntp", json!({"servers": ["192.0.2.1"]}));
    ntp["parameters"]["require"] = json!("F5_node[/Common/n1]");
    let node = json!({"ensure": "present", "address": "192.0.2.7"});
    let node = resource("F5_node", "/Common/n1", node);
    lab.write_resources("lb1", &[node, dns.clone(), ntp]);
    let arguments = [
        "apply",
        "--definitions",
        "definitions",
        "--detailed-exitcodes",
    ];
    let ran = lab.run(&arguments).await;
    ran.assert_code(2);
    ran.assert_contains("Triggered 'refresh' from 1 event");
    let writes = lab.log("lb1").writes();
    let position = |beginning: &str| {
        let found = writes.iter().position(|line| line.starts_with(beginning));
        found.unwrap_or_else(|| panic!("{beginning}: {writes:#?}"))
    };
    let refresh = position("POST /mgmt/tm/sys/config ");
    let commit = position("PATCH /mgmt/tm/transaction/");
    for member in ["POST /mgmt/tm/ltm/node ", "PATCH /mgmt/tm/sys/dns "] {
        assert!(position(member) < commit, "{writes:#?}");
    }
    assert!(commit < refresh, "{writes:#?}");
    assert!(position("PATCH /mgmt/tm/sys/ntp ") < refresh, "{writes:#?}");

    // The device refuses the commit: nothing is refreshed.
    lab.log("lb1").clear();
    let mut ntp = resource("F5_ntp", "/Common/ntp", json!({"servers": ["192.0.2.9"]}));
    ntp["parameters"]["require"] = json!("F5_pool[/Common/web]");
    dns["parameters"]["search"] = json!(["other.test"]);
    let missing = json!([{"name": "/Common/missing", "port": "80"}]);
    let pool = json!({"ensure": "present", "members": missing});
    let pool = resource("F5_pool", "/Common/web", pool);
    lab.write_resources("lb1", &[pool, dns, ntp]);
    let refused = lab.run(&arguments).await;
    refused.assert_code(4);
    let writes = lab.log("lb1").writes();
    let is_refresh = |line: &String| line.starts_with("POST /mgmt/tm/sys/config");
    assert!(!writes.iter().any(is_refresh), "{writes:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn refresh_without_refresh_in_the_model_is_an_error_of_the_definition() {
    let lab = Lab::new();
    let model = MODEL.replace("refresh = \"yes\"", "doc = \"x\"");
    for (model, implementation, message) in [
        (
            model.as_str(),
            REFRESH,
            "the model of f5_ntp has no refresh",
        ),
        (
            MODEL,
            &REFRESH.replace("{timezone}", "{timezome}"),
            "did you mean `timezone`?",
        ),
    ] {
        write_definitions(&lab, model, implementation);
        let checked = test_support::program::switchtender(&["driver", "validate"])
            .arg(lab.path("definitions"))
            .output()
            .unwrap();
        let text = String::from_utf8(checked.stdout).unwrap()
            + &String::from_utf8(checked.stderr).unwrap();
        assert!(text.contains(message), "{text}");
        assert_eq!(checked.status.code(), Some(1), "{text}");
    }
}
