//! Lists of methods, and groups of RADIUS servers.

use serde_json::json;
use test_support::catalog::resource;

use super::{Step, follow};

#[tokio::test(flavor = "multi_thread")]
async fn life_cycle_of_aaa_lists() {
    let absent = |of: &str, title: &str| resource(of, title, json!({ "ensure": "absent" }));
    let steps = vec![
        Step {
            resources: vec![
                resource(
                    "Ios_aaa_authentication",
                    "login default",
                    json!({"authentication_list_set": "login", "authentication_list": "default",
                           "server_groups": ["tacacs+", "radius"], "local": true, "enable_password": false}),
                ),
                resource(
                    "Ios_aaa_authentication",
                    "suppress null-username",
                    json!({"authentication_list_set": "suppress", "suppress_null_username": true}),
                ),
                resource(
                    "Ios_aaa_authorization",
                    "commands 15 default",
                    json!({"authorization_service": "commands", "commands_enable_level": 15,
                           "server_groups": ["tacacs+"], "if_authenticated": true}),
                ),
                // The title is any text if the attributes name the list.
                resource(
                    "Ios_aaa_authorization",
                    "shells",
                    json!({"authorization_service": "reverse_access", "authorization_list": "VTY", "local": true}),
                ),
                resource(
                    "Ios_aaa_accounting",
                    "identity default",
                    json!({"accounting_service": "identity", "accounting_list": "default",
                           "accounting_status": "start-stop", "server_groups": ["radius"]}),
                ),
                resource(
                    "Ios_aaa_accounting",
                    "update newinfo",
                    json!({"accounting_service": "update", "update_newinfo": true}),
                ),
                resource(
                    "Ios_aaa_session_id",
                    "default",
                    json!({"session_id_type": "unique"}),
                ),
            ],
            lines: &[
                "aaa authentication suppress null-username",
                "aaa authentication login default group tacacs+ group radius local",
                "aaa authorization reverse-access VTY local",
                "aaa authorization commands 15 default group tacacs+ if-authenticated",
                "aaa accounting update newinfo",
                "aaa accounting identity default start-stop group radius",
                "aaa session-id unique",
            ],
        },
        Step {
            resources: vec![
                resource(
                    "Ios_aaa_authentication",
                    "login default",
                    json!({"server_groups": ["radius", "tacacs+"], "line": true}),
                ),
                resource(
                    "Ios_aaa_authorization",
                    "commands 15 default",
                    json!({"server_groups": ["tacacs+", "AUTHOR"]}),
                ),
                resource(
                    "Ios_aaa_accounting",
                    "update periodic",
                    json!({"accounting_service": "update", "update_periodic": 30}),
                ),
                resource(
                    "Ios_aaa_accounting",
                    "identity default",
                    json!({"accounting_status": "none"}),
                ),
                resource(
                    "Ios_aaa_session_id",
                    "default",
                    json!({"session_id_type": "common"}),
                ),
            ],
            lines: &[
                "aaa authentication suppress null-username",
                "aaa authentication login default group radius group tacacs+ line",
                "aaa authorization reverse-access VTY local",
                "aaa authorization commands 15 default group tacacs+ group AUTHOR",
                "aaa accounting update periodic 30",
                "aaa accounting identity default none",
                "aaa session-id common",
            ],
        },
        Step {
            resources: vec![
                absent("Ios_aaa_authentication", "login default"),
                absent("Ios_aaa_authentication", "suppress null-username"),
                absent("Ios_aaa_authorization", "commands 15 default"),
                absent("Ios_aaa_authorization", "reverse_access VTY"),
                absent("Ios_aaa_accounting", "update"),
                absent("Ios_aaa_accounting", "identity default"),
            ],
            lines: &["aaa session-id common"],
        },
    ];
    let words = [
        "aaa authen",
        "aaa author",
        "aaa accounting",
        "aaa session-id",
    ];
    follow("aaa new-model\n", &words, steps).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn life_cycle_of_radius_groups_and_attributes() {
    let steps = vec![
        Step {
            resources: vec![
                resource(
                    "Radius_server_group",
                    "RAD",
                    json!({"servers": ["192.0.2.1", "rad2"]}),
                ),
                resource(
                    "Ios_radius_server_group",
                    "PRIVATE",
                    json!({"servers": ["rad2"], "private_servers": ["192.0.2.3"]}),
                ),
                resource(
                    "Ios_radius_global",
                    "default",
                    json!({"attributes": [[6, "on-for-login-auth"], [31, "mac format ietf"]], "timeout": 10}),
                ),
            ],
            lines: &[
                "aaa group server radius RAD",
                " server 192.0.2.1 auth-port 1645 acct-port 1646",
                " server name rad2",
                "aaa group server radius PRIVATE",
                " server name rad2",
                " server-private 192.0.2.3 auth-port 1645 acct-port 1646",
                "radius-server attribute 6 on-for-login-auth",
                "radius-server attribute 31 mac format ietf",
                "radius-server timeout 10",
            ],
        },
        Step {
            resources: vec![
                resource(
                    "Radius_server_group",
                    "RAD",
                    json!({"servers": ["rad2", "192.0.2.1"]}),
                ),
                resource(
                    "Ios_radius_server_group",
                    "PRIVATE",
                    json!({"servers": "unset", "private_servers": ["192.0.2.4"]}),
                ),
                resource(
                    "Ios_radius_global",
                    "default",
                    json!({"attributes": [[31, "mac format unformatted"]], "timeout": "unset"}),
                ),
            ],
            lines: &[
                "aaa group server radius RAD",
                " server name rad2",
                " server 192.0.2.1 auth-port 1645 acct-port 1646",
                "aaa group server radius PRIVATE",
                " server-private 192.0.2.4 auth-port 1645 acct-port 1646",
                "radius-server attribute 31 mac format unformatted",
            ],
        },
        Step {
            resources: vec![
                resource("Radius_server_group", "RAD", json!({"ensure": "absent"})),
                resource(
                    "Ios_radius_server_group",
                    "PRIVATE",
                    json!({"ensure": "absent"}),
                ),
                resource(
                    "Ios_radius_global",
                    "default",
                    json!({"attributes": "unset"}),
                ),
            ],
            lines: &[],
        },
    ];
    follow("aaa new-model\n", &["aaa group", "radius-server"], steps).await;
}
