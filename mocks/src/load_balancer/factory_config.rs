//! The factory default configuration: one partition, system monitors and profiles, ports, two units of a cluster.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::files;
use super::path::FullPath;
use super::schema::{self, ObjectKind};
use super::tree::{Object, Tree};
use crate::serial_number;

/// Kinds whose base object has another name than the kind.
const BASES: &[(&str, &str)] = &[
    ("client-ssl", "clientssl"),
    ("server-ssl", "serverssl"),
    ("fastl4", "fastL4"),
    ("tcp-half-open", "tcp_half_open"),
    ("gateway-icmp", "gateway_icmp"),
    ("one-connect", "oneconnect"),
    ("http-compression", "httpcompression"),
    ("web-acceleration", "webacceleration"),
    ("statistics", "stats"),
    ("dest-addr", "dest_addr"),
    ("source-addr", "source_addr"),
];

/// System objects in addition to the base objects.
const OTHERS: &[(&str, &str)] = &[
    ("ltm/profile/tcp", "tcp-lan-optimized"),
    ("ltm/profile/tcp", "tcp-wan-optimized"),
    ("ltm/profile/server-ssl", "serverssl-insecure-compatible"),
];

/// The factory default tree; devices copy it.
static FACTORY: LazyLock<Tree> = LazyLock::new(build);

/// Name of the parent of all other objects of a kind.
pub(super) fn base_name(kind: &str) -> &str {
    let last = kind.rsplit('/').next().unwrap_or(kind);
    BASES
        .iter()
        .find(|(kind, _)| *kind == last)
        .map_or(last, |(_, base)| base)
}

/// Whether the object is part of the factory default configuration.
pub(super) fn is_system(kind: &ObjectKind, path: &str) -> bool {
    FACTORY.object(&kind.path, path).is_some()
}

/// A tree for a device of this name and version.
pub(super) fn tree(hostname: &str, version: &str) -> Tree {
    let mut tree = FACTORY.clone();
    tree.singletons.insert(
        "sys/global-settings".to_owned(),
        fields(json!({"hostname": hostname, "guiSetup": "disabled", "consoleInactivityTimeout": 0, "mgmtDhcp": "enabled"})),
    );
    // The peer unit is first, as can occur on a real pair.
    let peer = format!("peer-of-{hostname}");
    for (number, (name, is_self)) in [(peer.as_str(), "false"), (hostname, "true")]
        .into_iter()
        .enumerate()
    {
        // Burned in, so that no two units have the same one.
        let burned_in = serial_number(name);
        let address = burned_in.as_bytes().iter().rev().take(4);
        let address: String = address.map(|byte| format!(":{byte:02x}")).collect();
        add(
            &mut tree,
            "cm/device",
            &format!("/Common/{name}"),
            json!({
                "baseMac": format!("02:00{address}"),
                "chassisId": format!("mock-{number}"),
                "configsyncIp": "none",
                "failoverState": if is_self == "true" { "active" } else { "standby" },
                "hostname": name,
                "managementIp": format!("192.0.2.{}", 10 + number),
                "marketingName": "BIG-IP Virtual Edition",
                "mirrorIp": "any6",
                "platformId": "Z100",
                "selfDevice": is_self,
                "timeZone": "UTC",
                "version": version,
            }),
        );
    }
    tree
}

fn fields(value: Value) -> super::tree::Fields {
    match value {
        Value::Object(fields) => fields,
        _ => super::tree::Fields::new(),
    }
}

fn add(tree: &mut Tree, kind: &str, path: &str, value: Value) {
    let mut object = Object::new(FullPath::parse(path, ""));
    let defaults = schema::kind(kind).into_iter().flat_map(|kind| &kind.fields);
    object.fields = defaults
        .filter_map(|(name, field)| Some((name.clone(), field.default.clone()?)))
        .collect();
    object.fields.extend(fields(value));
    tree.insert(kind, object);
}

fn build() -> Tree {
    let mut tree = Tree::default();
    add(
        &mut tree,
        "auth/partition",
        "Common",
        json!({"description": "Repository for system objects and shared objects."}),
    );
    add(
        &mut tree,
        "auth/user",
        "admin",
        json!({"description": "Admin User", "partitionAccess": [{"name": "all-partitions", "role": "admin"}]}),
    );
    tree.license = "AAAAA-BBBBB-CCCCC-DDDDD-EEEEEEE".to_owned();
    for (path, content) in files::FACTORY {
        tree.files.insert((*path).to_owned(), (*content).to_owned());
    }
    for (kind, name) in [
        ("ssl-cert", "default.crt"),
        ("ssl-cert", "ca-bundle.crt"),
        ("ssl-key", "default.key"),
    ] {
        let source = json!({"sourcePath": format!("/config/ssl/{kind}/{name}")});
        let (kind, path) = (format!("sys/file/{kind}"), format!("/Common/{name}"));
        add(&mut tree, &kind, &path, source);
    }
    let template = "/Common/f5.http";
    add(&mut tree, "sys/application/template", template, json!({}));
    add(
        &mut tree,
        "cm/device-group",
        "/Common/device_trust_group",
        json!({"autoSync": "enabled"}),
    );
    for (family, names) in [
        ("monitor", schema::MONITORS),
        ("profile", schema::PROFILES),
        ("persistence", schema::PERSISTENCES),
    ] {
        for name in names {
            let kind = format!("ltm/{family}/{name}");
            let path = format!("/Common/{}", base_name(&kind));
            let special = match (family, *name) {
                ("monitor", "http" | "https") => json!({"send": "GET /\\r\\n"}),
                ("monitor", "icmp") => json!({"destination": "*"}),
                ("monitor", "udp") => json!({"send": "default send string"}),
                ("profile", "client-ssl") => {
                    json!({"cert": "/Common/default.crt", "key": "/Common/default.key"})
                }
                _ => json!({}),
            };
            add(&mut tree, &kind, &path, special);
        }
    }
    for (kind, name) in OTHERS {
        let base = format!("/Common/{}", base_name(kind));
        add(
            &mut tree,
            kind,
            &format!("/Common/{name}"),
            json!({"defaultsFrom": base}),
        );
    }
    for number in 1..=8 {
        add(
            &mut tree,
            "net/interface",
            &format!("1.{number}"),
            json!({}),
        );
    }
    add(&mut tree, "net/interface", "mgmt", json!({}));
    for module in ["afm", "apm", "asm", "gtm", "ltm"] {
        let level = if module == "ltm" { "nominal" } else { "none" };
        add(&mut tree, "sys/provision", module, json!({"level": level}));
    }
    tree.singletons.insert(
        "sys/dns".to_owned(),
        fields(json!({"description": "configured-by-dhcp"})),
    );
    tree.singletons.insert(
        "sys/ntp".to_owned(),
        fields(json!({"timezone": "America/Los_Angeles"})),
    );
    tree
}
