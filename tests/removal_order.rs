//! Removing what others need: in any order of the catalog it comes after what needs it.

use std::fs;
use std::process::Command;

/// Everything of a small service, in the order in which it was made: the wrong one for removal.
const CATALOG: &str = r#"{
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

const DEVICE: &str = r#"[
  ["POST /mgmt/tm/auth/partition", {"name": "shop"}],
  ["POST /mgmt/tm/ltm/node", {"name": "web1", "partition": "shop", "address": "198.51.100.11"}],
  ["POST /mgmt/tm/ltm/pool", {"name": "web", "partition": "shop", "members": [{"name": "/shop/web1:80"}]}],
  ["POST /mgmt/tm/ltm/virtual", {"name": "vs", "partition": "shop", "destination": "/shop/203.0.113.80:80",
    "ipProtocol": "tcp", "pool": "/shop/web", "profiles": [{"name": "/Common/tcp"}]}]
]"#;

#[test]
fn a_service_is_taken_away_from_its_front_to_its_back() {
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
    let catalog = write("lb1.json", CATALOG);
    write("lb1.cfg", DEVICE);
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
    let removed: Vec<&str> = text
        .lines()
        .filter(|line| line.ends_with("ensure: removed"))
        .map(|line| line.rsplit('/').nth(1).unwrap_or(line))
        .collect();
    assert_eq!(
        removed,
        ["vs]", "web]", "web1]", "F5_partition[shop]"],
        "{text}"
    );
}
