//! What a device does not keep of a value makes no difference: the second run has nothing to do.

use serde_json::json;
use switchtender_mocks::SwitchOptions;

use test_support::catalog::{resource, sensitive};
use test_support::lab::{Lab, switch_options};

#[tokio::test(flavor = "multi_thread")]
async fn empty_list_equals_none() {
    let mut lab = Lab::new();
    lab.add_load_balancer("lb1", &[]).await;
    let service = |members: &serde_json::Value, irules: &serde_json::Value| {
        [
            resource(
                "F5_node",
                "/Common/n1",
                json!({"ensure": "present", "address": "198.51.100.11"}),
            ),
            resource(
                "F5_irule",
                "/Common/r",
                json!({"ensure": "present", "definition": "when HTTP_REQUEST { drop }"}),
            ),
            resource(
                "F5_pool",
                "/Common/p",
                json!({"ensure": "present", "members": members, "health_monitors": []}),
            ),
            resource(
                "F5_monitor",
                "/Common/s",
                json!({"ensure": "present", "provider": "sip", "header_list": [],
                       "additional_accepted_status_codes": [],
                       "additional_rejected_status_codes": "none"}),
            ),
            resource(
                "F5_virtualserver",
                "/Common/vs",
                json!({"ensure": "present", "provider": "standard", "protocol": "tcp",
                       "destination_address": "203.0.113.80", "service_port": 443,
                       "irules": irules, "policies": [], "ssl_profile_client": []}),
            ),
        ]
    };
    lab.write_resources("lb1", &service(&json!([]), &json!([])));
    lab.apply().await.assert_code(2);
    lab.apply().await.assert_code(0);

    let member = json!([{"name": "/Common/n1", "port": 80}]);
    lab.write_resources("lb1", &service(&member, &json!(["/Common/r"])));
    lab.apply().await.assert_code(2);
    lab.apply().await.assert_code(0);

    lab.write_resources("lb1", &service(&json!([]), &json!([])));
    lab.apply().await.assert_code(2);
    lab.apply().await.assert_code(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn empty_banners_and_surrounding_spaces_are_in_sync() {
    let mut lab = Lab::new();
    lab.add_switch_with(SwitchOptions {
        config: Some("interface GigabitEthernet1/0/1\nbanner motd ^Cold^C\n".to_owned()),
        ..switch_options("sw1")
    })
    .await;
    let banner = |motd: &str, login: &str| {
        [
            resource(
                "Network_interface",
                "GigabitEthernet1/0/1",
                json!({"enable": true, "description": "  to the core "}),
            ),
            resource("Banner", "default", json!({"motd": motd, "login": login})),
        ]
    };
    lab.write_resources("sw1", &banner("", "\n"));
    lab.apply().await.assert_code(2);
    let lines = lab.log("sw1").configuration_lines();
    assert_eq!(
        lines,
        [
            "interface GigabitEthernet1/0/1",
            "description to the core",
            "no banner motd",
        ]
    );
    lab.apply().await.assert_code(0);

    // The device shows the ends of a text as `^C`; in the middle of a line it is text.
    lab.write_resources(
        "sw1",
        &banner("Press ^C to stop,\nor ^Z", "Welcome  \nto ^ and %"),
    );
    lab.apply().await.assert_code(2);
    lab.apply().await.assert_code(0);

    let secret = banner("A sensitive\ntext\n", "One line\n");
    let secret = secret.map(|one| {
        if one["type"] == "Banner" {
            sensitive(one, &["motd", "login"])
        } else {
            one
        }
    });
    lab.write_resources("sw1", &secret);
    lab.apply().await.assert_code(2);
    lab.apply().await.assert_code(0);

    lab.write_resources("sw1", &banner("stop with ^C\nand go", ""));
    let connections = lab.log("sw1").connections();
    let ran = lab.apply().await;
    ran.assert_contains("a line of the text ends in `^C`");
    ran.assert_contains("Banner[default]");
    assert_eq!(lab.log("sw1").connections(), connections);
}
