//! What a device has by itself counts as it is on that device.

use serde_json::json;
use switchtender_mocks::SwitchOptions;

use test_support::catalog::resource;
use test_support::lab::{Lab, switch_options};

/// A switch whose ports have 9000 bytes by themselves: 1500 is then a line like any other, and
/// 9000 is none.
#[tokio::test(flavor = "multi_thread")]
async fn default_mtu_of_ports_is_the_system_mtu() {
    let mut lab = Lab::new();
    let config = "system mtu 9000\ninterface GigabitEthernet1/0/1\n\
                  interface GigabitEthernet1/0/2\n mtu 1600\ninterface GigabitEthernet1/0/3\n\
                  interface GigabitEthernet1/0/4\n mtu 1500\ninterface GigabitEthernet1/0/5\n";
    lab.add_switch_with(SwitchOptions {
        config: Some(config.to_owned()),
        ..switch_options("sw1")
    })
    .await;
    let port = |name: &str, mtu| {
        let attributes = json!({ "enable": true, "mtu": mtu });
        resource("Network_interface", name, attributes)
    };
    lab.write_resources(
        "sw1",
        &[
            port("GigabitEthernet1/0/1", json!(1500)),
            port("GigabitEthernet1/0/2", json!(9000)),
            port("GigabitEthernet1/0/3", json!(9000)),
            port("GigabitEthernet1/0/4", json!("unset")),
            port("GigabitEthernet1/0/5", json!("unset")),
        ],
    );
    let ran = lab.apply().await;
    ran.assert_code(2);
    assert_eq!(
        lab.log("sw1").configuration_lines(),
        [
            "interface GigabitEthernet1/0/1",
            "mtu 1500",
            "interface GigabitEthernet1/0/2",
            "no mtu",
            "interface GigabitEthernet1/0/4",
            "no mtu",
        ]
    );
    assert_eq!(
        ran.events("sw1"),
        [
            "Network_interface[GigabitEthernet1/0/1]/mtu: success: mtu changed 9000 to 1500",
            "Network_interface[GigabitEthernet1/0/2]/mtu: success: mtu changed 1600 to 9000",
            "Network_interface[GigabitEthernet1/0/4]/mtu: success: mtu changed 1500 to 'unset'",
        ]
    );
    lab.apply().await.assert_code(0);
}
