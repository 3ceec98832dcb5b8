//! Remarks of access lists, descriptions of prefix lists, and users of SNMPv2c: lines of their own.

use serde_json::json;
use test_support::catalog::resource;

use super::{Step, follow};

#[tokio::test(flavor = "multi_thread")]
async fn life_cycle_of_texts_of_lists() {
    let absent = |of: &str, title: &str| resource(of, title, json!({ "ensure": "absent" }));
    let steps = vec![
        Step {
            resources: vec![
                resource(
                    "Ios_acl",
                    "WEB extended 10",
                    json!({"permission": "permit", "protocol": "tcp", "source_address_any": true,
                           "destination_address_any": true}),
                ),
                resource("Ios_acl_remark", "from the office extended WEB", json!({})),
                resource(
                    "Ios_prefix_list_description",
                    "LAB",
                    json!({"description": "networks of the laboratory"}),
                ),
                resource(
                    "Ios_prefix_list_description",
                    "LAB ipv6",
                    json!({"description": "the same"}),
                ),
            ],
            lines: &[
                "ip prefix-list LAB description networks of the laboratory",
                "ipv6 prefix-list LAB description the same",
                "ip access-list extended WEB",
                " 10 permit tcp any any",
                " 20 remark from the office",
            ],
        },
        Step {
            resources: vec![
                absent("Ios_acl_remark", "from the office extended WEB"),
                resource(
                    "Ios_prefix_list_description",
                    "LAB",
                    json!({"description": "networks"}),
                ),
                absent("Ios_prefix_list_description", "LAB ipv6"),
            ],
            lines: &[
                "ip prefix-list LAB description networks",
                "ip access-list extended WEB",
                " 10 permit tcp any any",
            ],
        },
    ];
    let words = ["ip access-list", "ip prefix-list", "ipv6 prefix-list"];
    follow("", &words, steps).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn life_cycle_of_users_of_snmp_v2c() {
    let user = |group: &str| resource("Ios_snmp_user", "bob v2c", json!({ "group": group }));
    let steps = vec![
        Step {
            resources: vec![user("RO")],
            lines: &["snmp-server user bob RO v2c"],
        },
        Step {
            resources: vec![user("RW")],
            lines: &["snmp-server user bob RW v2c"],
        },
        Step {
            resources: vec![resource(
                "Ios_snmp_user",
                "bob v2c",
                json!({"ensure": "absent"}),
            )],
            lines: &[],
        },
    ];
    follow("", &["snmp-server user"], steps).await;
}
