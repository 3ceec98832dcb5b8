//! Removing what others need: in any order of the catalog it comes after what needs it.

use std::fs;

use serde_json::{Value, json};
use test_support::catalog::resource;
use test_support::lab::Lab;

/// Everything of a small service, in the order in which it was made: the wrong one for removal.
fn named() -> Value {
    let service = [
        ("F5_partition", "shop", json!({"ensure": "absent"})),
        ("F5_node", "/shop/web1", json!({"ensure": "absent"})),
        (
            "F5_pool",
            "/shop/web",
            json!({"ensure": "absent", "members": [{"name": "/shop/web1", "port": "80"}]}),
        ),
        (
            "F5_virtualserver",
            "/shop/vs",
            json!({"ensure": "absent", "provider": "standard", "default_pool": "/shop/web"}),
        ),
    ];
    catalog(&service.map(|(of, title, parameters)| resource(of, title, parameters)))
}

/// The service on a device.
const SERVICE: &str = r#"[
  ["POST /mgmt/tm/auth/partition", {"name": "shop"}],
  ["POST /mgmt/tm/ltm/node", {"name": "web1", "partition": "shop", "address": "198.51.100.11"}],
  ["POST /mgmt/tm/ltm/pool", {"name": "web", "partition": "shop", "members": [{"name": "/shop/web1:80"}]}],
  ["POST /mgmt/tm/ltm/virtual", {"name": "vs", "partition": "shop", "destination": "/shop/203.0.113.80:80",
    "ipProtocol": "tcp", "pool": "/shop/web", "profiles": [{"name": "/Common/tcp"}]}]
]"#;

/// A larger one, and a node that nothing uses.
const LARGER: &str = r#"[
  ["POST /mgmt/tm/auth/partition", {"name": "shop"}],
  ["POST /mgmt/tm/net/vlan", {"name": "inside", "partition": "shop", "tag": 120}],
  ["POST /mgmt/tm/net/self", {"name": "self", "partition": "shop", "address": "198.51.100.1/24", "vlan": "/shop/inside"}],
  ["POST /mgmt/tm/ltm/monitor/http", {"name": "health", "partition": "shop"}],
  ["POST /mgmt/tm/ltm/rule", {"name": "rule", "partition": "shop", "apiAnonymous": "when HTTP_REQUEST { drop }"}],
  ["POST /mgmt/tm/ltm/node", {"name": "web1", "partition": "shop", "address": "198.51.100.11"}],
  ["POST /mgmt/tm/ltm/node", {"name": "unused", "partition": "Common", "address": "198.51.100.13"}],
  ["POST /mgmt/tm/ltm/pool", {"name": "web", "partition": "shop", "monitor": "/shop/health", "members": [{"name": "/shop/web1:80"}]}],
  ["POST /mgmt/tm/ltm/virtual", {"name": "vs", "partition": "shop", "destination": "/shop/203.0.113.80:80",
    "ipProtocol": "tcp", "pool": "/shop/web", "rules": ["/shop/rule"], "profiles": [{"name": "/Common/tcp"}]}]
]"#;

/// Applies a catalog twice to a load balancer that has these objects; the names of what was removed,
/// in order.
#[track_caller]
fn removed(device: &str, catalog: &Value) -> Vec<String> {
    let lab = Lab::with_devices(&[("lb1", "f5_bigip")]);
    lab.write_catalog("lb1", catalog);
    fs::write(lab.path("lb1.cfg"), device).unwrap();
    let output = lab.run_blocking(&[
        "apply",
        "--mock",
        "--check-idempotence",
        "--mock-config",
        ".",
    ]);
    output.assert_code(0);
    let text = output.stdout;
    let lines = text.lines();
    let lines = lines.filter_map(|line| line.strip_suffix("/ensure: removed"));
    lines
        .map(|line| line.rsplit_once("Main/").unwrap().1.to_owned())
        .collect()
}

/// A catalog of these resources, in this order.
fn catalog(resources: &[Value]) -> Value {
    test_support::catalog::catalog("lb1.lab.test", resources)
}

fn gone(of: &str, title: &str) -> Value {
    resource(of, title, json!({"ensure": "absent"}))
}

#[test]
fn removal_order_of_a_service_is_front_to_back() {
    assert_eq!(
        removed(SERVICE, &named()),
        [
            "F5_virtualserver[/shop/vs]",
            "F5_pool[/shop/web]",
            "F5_node[/shop/web1]",
            "F5_partition[shop]",
        ]
    );
}

#[test]
fn removal_order_puts_users_first_without_named_relations() {
    let monitor = |name: &str| {
        let parameters = json!({"ensure": "absent", "provider": "http"});
        resource("F5_monitor", name, parameters)
    };
    let server = json!({"ensure": "absent", "provider": "standard"});
    let resources = [
        gone("F5_partition", "shop"),
        gone("F5_vlan", "/shop/inside"),
        monitor("/shop/health"),
        gone("F5_node", "/shop/web1"),
        gone("F5_selfip", "/shop/self"),
        gone("F5_irule", "/shop/rule"),
        gone("F5_pool", "/shop/web"),
        resource("F5_virtualserver", "/shop/vs", server),
    ];
    assert_eq!(
        removed(LARGER, &catalog(&resources)),
        [
            "F5_selfip[/shop/self]",
            "F5_virtualserver[/shop/vs]",
            "F5_vlan[/shop/inside]",
            "F5_irule[/shop/rule]",
            "F5_pool[/shop/web]",
            "F5_node[/shop/web1]",
            "F5_monitor[/shop/health]",
            "F5_partition[shop]",
        ]
    );
}

#[test]
fn removal_order_removes_released_objects_in_the_same_run() {
    let monitor = json!({"ensure": "absent", "provider": "http"});
    let server = json!({
        "ensure": "present", "provider": "standard", "protocol": "tcp", "irules": [], "default_pool": "/shop/web",
    });
    let pool = json!({
        "ensure": "present", "health_monitors": ["/Common/http"], "availability_requirement": "all",
        "members": [{"name": "/shop/web2", "port": "80"}],
    });
    let node = json!({"ensure": "present", "address": "198.51.100.12"});
    let resources = [
        resource("F5_monitor", "/shop/health", monitor),
        gone("F5_node", "/shop/web1"),
        gone("F5_irule", "/shop/rule"),
        resource("F5_virtualserver", "/shop/vs", server),
        resource("F5_pool", "/shop/web", pool),
        // What the pool waits for comes last in the catalog.
        resource("F5_node", "/shop/web2", node),
    ];
    let mut removed = removed(LARGER, &catalog(&resources));
    removed.sort();
    assert_eq!(
        removed,
        [
            "F5_irule[/shop/rule]",
            "F5_monitor[/shop/health]",
            "F5_node[/shop/web1]",
        ]
    );
}

/// An order that the catalog demands is no cycle with the one that is only useful.
#[test]
fn removal_order_yields_to_the_catalog() {
    let mut node = gone("F5_node", "/Common/unused");
    node["parameters"]["before"] = json!("F5_pool[/shop/web]");
    let resources = [
        gone("F5_pool", "/shop/web"),
        node,
        resource(
            "F5_virtualserver",
            "/shop/vs",
            json!({"ensure": "present", "provider": "standard", "protocol": "tcp", "default_pool": "none", "irules": []}),
        ),
    ];
    assert_eq!(
        removed(LARGER, &catalog(&resources)),
        ["F5_node[/Common/unused]", "F5_pool[/shop/web]"]
    );
}
