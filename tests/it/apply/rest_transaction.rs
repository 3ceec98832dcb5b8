//! The requests of one change are a transaction of the load balancer, if the platform declares it.

use serde_json::json;
use test_support::catalog::resource;
use test_support::lab::Lab;

/// The file that `docs/definitions.md` has as its example, with one more key.
pub(super) fn documented_transactions(key: &str) -> String {
    let page = include_str!("../../../docs/definitions.md");
    let (_, after) = page
        .split_once("Transactions of BIG-IP, in a file")
        .unwrap();
    let (_, after) = after.split_once("```toml\n").unwrap();
    let (text, _) = after.split_once("```").unwrap();
    let text = text.replacen("schema  = 1", "schema  = 1\nplatform = \"f5_bigip\"", 1);
    text.replacen("[candidate]", &format!("[candidate]\n{key}"), 1)
}

fn pool(description: &str, members: &serde_json::Value) -> serde_json::Value {
    let desired = json!({"ensure": "present", "description": description, "members": members});
    resource("F5_pool", "/Common/web", desired)
}

#[tokio::test(flavor = "multi_thread")]
async fn change_of_several_requests_is_one_transaction() {
    let mut lab = Lab::new();
    lab.add_load_balancer("lb1", &[]).await;
    let file = lab.path("definitions").join("f5_bigip/platform.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, documented_transactions("")).unwrap();
    let arguments = [
        "apply",
        "--definitions",
        "definitions",
        "--detailed-exitcodes",
    ];
    let node = json!({"ensure": "present", "address": "192.0.2.1"});
    let node = resource("F5_node", "/Common/n1", node);
    lab.write_resources("lb1", &[node, pool("a", &json!("none"))]);
    lab.run(&arguments).await.assert_code(2);
    lab.log("lb1").clear();

    let member = json!([{"name": "/Common/n1", "port": "80"}]);
    lab.write_resources("lb1", &[pool("b", &member)]);
    lab.run(&arguments).await.assert_code(2);
    let writes = lab.log("lb1").writes();
    let verbs: Vec<&str> = writes
        .iter()
        .map(|line| line.split(' ').next().unwrap())
        .collect();
    assert_eq!(verbs, ["POST", "PATCH", "POST", "PATCH"], "{writes:#?}");
    assert!(
        writes[0].starts_with("POST /mgmt/tm/transaction"),
        "{writes:#?}"
    );
    assert!(
        writes[3].starts_with("PATCH /mgmt/tm/transaction/"),
        "{writes:#?}"
    );
    lab.log("lb1").clear();
    lab.run(&arguments).await.assert_code(0);
    assert_eq!(lab.log("lb1").writes(), [""; 0]);

    // The device refuses the second request: the first one has no effect.
    let unknown = json!([{"name": "/Common/missing", "port": "80"}]);
    lab.write_resources("lb1", &[pool("c", &unknown)]);
    let refused = lab.run(&arguments).await;
    refused.assert_code(4);
    lab.write_resources("lb1", &[pool("b", &member)]);
    lab.run(&arguments).await.assert_code(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_of_several_resources_are_one_transaction() {
    let mut lab = Lab::new();
    lab.add_load_balancer("lb1", &[]).await;
    let file = lab.path("definitions").join("f5_bigip/platform.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, documented_transactions("scope = \"run\"")).unwrap();
    let arguments = [
        "apply",
        "--definitions",
        "definitions",
        "--detailed-exitcodes",
    ];
    let node = |name: &str, address: &str| {
        let desired = json!({"ensure": "present", "address": address});
        resource("F5_node", name, desired)
    };
    let member = json!([{"name": "/Common/n1", "port": "80"}]);
    lab.write_resources(
        "lb1",
        &[
            node("/Common/n1", "192.0.2.1"),
            node("/Common/n2", "192.0.2.2"),
            pool("a", &member),
        ],
    );
    let applied = lab.run(&arguments).await;
    applied.assert_code(2);
    for reference in [
        "F5_node[/Common/n1]",
        "F5_node[/Common/n2]",
        "F5_pool[/Common/web]",
    ] {
        applied.assert_contains(&format!("/{reference}/ensure: created"));
    }
    let writes = lab.log("lb1").writes();
    let verbs: Vec<&str> = writes
        .iter()
        .map(|line| line.split(' ').next().unwrap())
        .collect();
    assert_eq!(
        verbs,
        ["POST", "POST", "POST", "POST", "PATCH"],
        "{writes:#?}"
    );
    assert!(
        writes[0].starts_with("POST /mgmt/tm/transaction"),
        "{writes:#?}"
    );
    lab.log("lb1").clear();
    lab.run(&arguments).await.assert_code(0);
    assert_eq!(lab.log("lb1").writes(), [""; 0]);

    // The device refuses one request: no resource is changed, and none is reported as changed.
    let unknown = json!([{"name": "/Common/missing", "port": "80"}]);
    lab.write_resources(
        "lb1",
        &[node("/Common/n3", "192.0.2.3"), pool("b", &unknown)],
    );
    let refused = lab.run(&arguments).await;
    refused.assert_code(4);
    assert!(
        !refused.stdout.contains("ensure: created"),
        "{}",
        refused.text()
    );
    let report = lab.report("lb1");
    for reference in ["F5_node[/Common/n3]", "F5_pool[/Common/web]"] {
        assert_eq!(report["resource_statuses"][reference]["failed"], true);
        assert_eq!(report["resource_statuses"][reference]["changed"], false);
    }
    let gone = json!({"ensure": "absent"});
    let gone = resource("F5_node", "/Common/n3", gone);
    lab.write_resources("lb1", &[gone, pool("a", &member)]);
    lab.run(&arguments).await.assert_code(0);
}
