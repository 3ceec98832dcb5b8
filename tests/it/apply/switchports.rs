//! A routed port becomes a switch port, and a switch port a routed one.

use serde_json::{Value, json};
use switchtender_mocks::SwitchOptions;

use test_support::catalog::resource;
use test_support::lab::{Lab, switch_options};

const ROUTED: &str = "interface GigabitEthernet1/0/1\n no switchport\n\
                      interface GigabitEthernet1/0/2\n no switchport\n\
                      interface GigabitEthernet1/0/3\n no switchport\n";

async fn lab() -> Lab {
    let mut lab = Lab::new();
    lab.add_switch_with(SwitchOptions {
        config: Some(ROUTED.to_owned()),
        ..switch_options("sw1")
    })
    .await;
    lab
}

fn ports(ensure: &str, settings: &Value) -> [Value; 3] {
    let port = |of: &str, number: u8, settings: &Value| {
        let mut settings = settings.clone();
        settings["ensure"] = json!(ensure);
        resource(of, &format!("GigabitEthernet1/0/{number}"), settings)
    };
    [
        port("Network_trunk", 1, settings),
        port("Ios_network_trunk", 2, settings),
        port("Network_trunk", 3, &json!({})),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn switchport_changes_from_routed_to_trunk_and_back() {
    let lab = lab().await;
    let trunk = json!({"mode": "trunk", "untagged_vlan": 10});
    let lines = [
        "interface GigabitEthernet1/0/1",
        "switchport",
        "switchport mode trunk",
        "switchport trunk native vlan 10",
        "interface GigabitEthernet1/0/2",
        "switchport",
        "switchport mode trunk",
        "switchport trunk native vlan 10",
        "interface GigabitEthernet1/0/3",
        "switchport",
    ];

    lab.write_resources("sw1", &ports("present", &trunk));
    let plan = lab.run(&["plan"]).await;
    for line in lines {
        plan.assert_contains(line);
    }
    lab.apply().await.assert_code(2);
    assert_eq!(lab.log("sw1").configuration_lines(), lines);
    lab.apply().await.assert_code(0);

    lab.write_resources("sw1", &ports("absent", &json!({})));
    lab.apply().await.assert_code(2);
    lab.apply().await.assert_code(0);
    let sent = lab.log("sw1").configuration_lines();
    let routed = [
        "interface GigabitEthernet1/0/1",
        "no switchport",
        "interface GigabitEthernet1/0/2",
        "no switchport",
        "interface GigabitEthernet1/0/3",
        "no switchport",
    ];
    assert_eq!(sent[lines.len()..], routed);

    let before = sent.len();
    lab.write_resources("sw1", &ports("present", &trunk));
    lab.apply().await.assert_code(2);
    let sent = lab.log("sw1").configuration_lines();
    let switchports = sent[before..].iter().filter(|line| *line == "switchport");
    assert_eq!(switchports.count(), 3, "{sent:?}");
    lab.apply().await.assert_code(0);
}
