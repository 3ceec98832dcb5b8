//! SNMP notifications and their receivers.

use serde_json::json;
use test_support::catalog::resource;

use super::{Step, follow};

#[tokio::test(flavor = "multi_thread")]
async fn life_cycle_of_notification_receivers() {
    let receiver =
        |title: &str, attributes| resource("Snmp_notification_receiver", title, attributes);
    let steps = vec![
        Step {
            resources: vec![
                receiver(
                    "192.0.2.9 public 1620",
                    json!({"username": "public", "port": 1620, "version": "v2c"}),
                ),
                receiver(
                    "192.0.2.9 bob MGMT",
                    json!({"username": "bob", "vrf": "MGMT", "version": "v3", "security": "priv",
                           "type": "informs"}),
                ),
            ],
            lines: &[
                "snmp-server host 192.0.2.9 version 2c public udp-port 1620",
                "snmp-server host 192.0.2.9 vrf MGMT informs version 3 priv bob",
            ],
        },
        Step {
            resources: vec![
                receiver(
                    "192.0.2.9 public 1620",
                    json!({"version": "v1", "type": "informs"}),
                ),
                receiver(
                    "192.0.2.9 bob MGMT",
                    json!({"version": "v3", "security": "auth", "type": "traps"}),
                ),
            ],
            lines: &[
                "snmp-server host 192.0.2.9 informs public udp-port 1620",
                "snmp-server host 192.0.2.9 vrf MGMT version 3 auth bob",
            ],
        },
        Step {
            resources: vec![
                receiver("192.0.2.9 public 1620", json!({"ensure": "absent"})),
                receiver("192.0.2.9 bob MGMT", json!({"ensure": "absent"})),
            ],
            lines: &[],
        },
    ];
    follow("vrf definition MGMT\n", &["snmp-server host"], steps).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn life_cycle_of_notifications() {
    let kind = |title: &str, enable: bool| {
        resource("Snmp_notification", title, json!({ "enable": enable }))
    };
    let steps = vec![
        Step {
            resources: vec![kind("bgp", true), kind("entity-diag status", true)],
            lines: &[
                "snmp-server enable traps bgp",
                "snmp-server enable traps entity-diag status",
            ],
        },
        Step {
            resources: vec![kind("bgp", false), kind("config", true), kind("vtp", false)],
            lines: &[
                "snmp-server enable traps entity-diag status",
                "snmp-server enable traps config",
            ],
        },
        Step {
            resources: vec![kind("config", false), kind("entity-diag status", false)],
            lines: &[],
        },
    ];
    follow("interface Vlan1\n", &["snmp-server enable"], steps).await;
}
