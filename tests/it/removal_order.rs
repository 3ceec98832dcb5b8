//! Removing what others need: in any order of the catalog it comes after what needs it.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

/// Everything of a small service, in the order in which it was made: the wrong one for removal.
const NAMED: &str = r#"{
  "name": "lb1.example", "version": 1, "environment": "production", "catalog_format": 2,
  "resources": [
    {"type": "Stage", "title": "main", "kind": "compilable_type", "parameters": {"name": "main"}},
    {"type": "Class", "title": "main", "kind": "class", "parameters": {"name": "main"}},
    {"type": "F5_partition", "title": "shop", "kind": "compilable_type", "parameters": {"ensure": "absent"}},
    {"type": "F5_node", "title": "/shop/web1", "kind": "compilable_type", "parameters": {"ensure": "absent"}},
    {"type": "F5_pool", "title": "/shop/web", "kind": "compilable_type",
     "parameters": {"ensure": "absent", "members": [{"name": "/shop/web1", "port": "80"}]}},
    {"type": "F5_virtualserver", "title": "/shop/vs", "kind": "compilable_type",
     "parameters": {"ensure": "absent", "provider": "standard", "default_pool": "/shop/web"}}
  ],
  "edges": [
    {"source": "Stage[main]", "target": "Class[main]"},
    {"source": "Class[main]", "target": "F5_partition[shop]"},
    {"source": "Class[main]", "target": "F5_node[/shop/web1]"},
    {"source": "Class[main]", "target": "F5_pool[/shop/web]"},
    {"source": "Class[main]", "target": "F5_virtualserver[/shop/vs]"}
  ],
  "classes": []
}"#;

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
fn removed(device: &str, catalog: &str) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let inventory = write(
        "inventory.toml",
        "[device.lb1]\nplatform = \"f5_bigip\"\ncertname = \"lb1.example\"\naddress = \"192.0.2.1\"\nuser = \"x\"\n",
    );
    let catalog = write("lb1.json", catalog);
    write("lb1.cfg", device);
    let output = Command::new(env!("CARGO_BIN_EXE_switchtender"))
        .args(["apply", "--mock", "--twice", "--inventory"])
        .arg(inventory)
        .arg("--catalog")
        .arg(catalog)
        .arg("--mock-config")
        .arg(dir.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{text}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let lines = text.lines();
    let lines = lines.filter_map(|line| line.strip_suffix("/ensure: removed"));
    lines
        .map(|line| line.rsplit_once("Main/").unwrap().1.to_owned())
        .collect()
}

/// A catalog of these resources, in this order.
fn catalog(resources: &[Value]) -> String {
    let mut all = vec![
        json!({"type": "Stage", "title": "main", "kind": "compilable_type", "parameters": {"name": "main"}}),
        json!({"type": "Class", "title": "main", "kind": "class", "parameters": {"name": "main"}}),
    ];
    let mut edges = vec![json!({"source": "Stage[main]", "target": "Class[main]"})];
    for resource in resources {
        let name = |key: &str| resource[key].as_str().unwrap();
        edges.push(json!({
            "source": "Class[main]", "target": format!("{}[{}]", name("type"), name("title"))
        }));
        all.push(resource.clone());
    }
    json!({
        "name": "lb1.example", "version": 1, "environment": "production", "catalog_format": 2,
        "resources": all, "edges": edges, "classes": [],
    })
    .to_string()
}

fn resource(of: &str, title: &str, parameters: Value) -> Value {
    json!({"type": of, "title": title, "kind": "compilable_type", "parameters": parameters})
}

fn gone(of: &str, title: &str) -> Value {
    resource(of, title, json!({"ensure": "absent"}))
}

#[test]
fn a_service_is_taken_away_from_its_front_to_its_back() {
    assert_eq!(
        removed(SERVICE, NAMED),
        [
            "F5_virtualserver[/shop/vs]",
            "F5_pool[/shop/web]",
            "F5_node[/shop/web1]",
            "F5_partition[shop]",
        ]
    );
}

#[test]
fn what_is_only_said_to_be_gone_goes_after_what_may_use_it() {
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
fn what_is_let_go_of_is_removed_in_the_same_run() {
    let monitor = json!({"ensure": "absent", "provider": "http"});
    let server = json!({
        "ensure": "present", "provider": "standard", "irules": [], "default_pool": "/shop/web",
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
fn what_the_catalog_demands_comes_first() {
    let mut node = gone("F5_node", "/Common/unused");
    node["parameters"]["before"] = json!("F5_pool[/shop/web]");
    let resources = [
        gone("F5_pool", "/shop/web"),
        node,
        resource(
            "F5_virtualserver",
            "/shop/vs",
            json!({"ensure": "present", "provider": "standard", "default_pool": "none", "irules": []}),
        ),
    ];
    assert_eq!(
        removed(LARGER, &catalog(&resources)),
        ["F5_node[/Common/unused]", "F5_pool[/shop/web]"]
    );
}
