//! Access lists without their entries, and entries whose kind the list decides.

use serde_json::json;
use test_support::catalog::resource;

use super::{Step, follow};

#[tokio::test(flavor = "multi_thread")]
async fn life_cycle_of_lists_and_their_entries() {
    let absent = |of: &str, title: &str| resource(of, title, json!({ "ensure": "absent" }));
    let steps = vec![
        Step {
            resources: vec![
                resource(
                    "Ios_access_list",
                    "WEB",
                    json!({"access_list_type": "Extended"}),
                ),
                resource(
                    "Ios_access_list",
                    "MGMT",
                    json!({"access_list_type": "Standard"}),
                ),
                resource(
                    "Ios_access_list",
                    "SPARE",
                    json!({"access_list_type": "Standard"}),
                ),
                resource(
                    "Ios_acl_entry",
                    "WEB 10",
                    json!({"permission": "permit", "protocol": "tcp", "source_address_any": true,
                           "destination_address_host": "192.0.2.10", "destination_eq": ["443"]}),
                ),
                resource(
                    "Ios_acl_entry",
                    "the first of MGMT",
                    json!({"access_list": "MGMT", "entry": 10, "permission": "deny",
                           "source_address": "192.0.2.0", "source_address_wildcard_mask": "0.0.0.255"}),
                ),
            ],
            lines: &[
                "ip access-list standard MGMT",
                " 10 deny 192.0.2.0 0.0.0.255",
                "ip access-list standard SPARE",
                "ip access-list extended WEB",
                " 10 permit tcp any host 192.0.2.10 eq 443",
            ],
        },
        Step {
            resources: vec![
                resource(
                    "Ios_acl_entry",
                    "WEB 10",
                    json!({"permission": "permit", "protocol": "ip", "source_address_any": true,
                           "destination_address_any": true, "log": true}),
                ),
                absent("Ios_acl_entry", "MGMT 10"),
                absent("Ios_access_list", "SPARE"),
            ],
            lines: &[
                "ip access-list standard MGMT",
                "ip access-list extended WEB",
                " 10 permit ip any any log",
            ],
        },
        Step {
            resources: vec![
                absent("Ios_access_list", "WEB"),
                absent("Ios_access_list", "MGMT"),
            ],
            lines: &[],
        },
    ];
    follow("", &["ip access-list"], steps).await;
}
