//! `resources { TYPE: purge => true }` removes what the catalog does not declare, and nothing that the
//! device or the session needs.

use serde_json::{Value, json};
use switchtender_devices::driver::Registry;
use switchtender_mocks::SwitchOptions;

use test_support::catalog::{example, resource};
use test_support::lab::{Lab, switch_options};
use test_support::program::ProgramOutput;

fn purge(type_name: &str) -> Value {
    resource("Resources", type_name, json!({ "purge": true }))
}

async fn switch(config: &str, vlans: &[(u16, &str)]) -> Lab {
    let mut lab = Lab::new();
    let vlans = vlans.iter().map(|(id, name)| (*id, (*name).to_owned()));
    lab.add_switch_with(SwitchOptions {
        config: Some(config.to_owned()),
        vlans: vlans.collect(),
        ..switch_options("sw1")
    })
    .await;
    lab
}

async fn verbose(lab: &Lab) -> ProgramOutput {
    let arguments = ["--detailed-exitcodes", "--allow", "purge"];
    lab.run(&[&["apply", "-v", "--output", "json"], &arguments[..]].concat())
        .await
}

/// The lab reaches the switch at 127.0.0.1, which is the address of its VLAN 10.
#[tokio::test(flavor = "multi_thread")]
async fn purge_spares_what_the_session_uses() {
    let config = "vrf definition OPS\n rd 1:1\n address-family ipv4\n\
                  vrf definition OLD\n rd 2:2\n address-family ipv4\n\
                  interface Vlan10\n vrf forwarding OPS\n ip address 127.0.0.1 255.0.0.0\n\
                  interface Vlan20\n ip address 198.51.100.1 255.255.255.0\n";
    let lab = switch(config, &[(10, "ops"), (20, "old")]).await;
    lab.write_resources("sw1", &[purge("network_vlan"), purge("vrf")]);
    let ran = verbose(&lab).await;
    ran.assert_code(2);
    let mut lines = lab.log("sw1").configuration_lines();
    lines.sort();
    assert_eq!(lines, ["no vlan 20", "no vrf definition OLD"]);
    for spared in ["Network_vlan[10]", "Vrf[OPS]"] {
        ran.assert_contains(&format!(
            "{spared} is not purged: the session to the device uses it"
        ));
    }
}

/// The session can use an address that several switches share.
#[tokio::test(flavor = "multi_thread")]
async fn purge_spares_what_the_session_uses_through_a_virtual_address() {
    for line in [
        "standby 1 ip 127.0.0.1",
        "standby ip 127.0.0.1",
        "vrrp 10 ip 127.0.0.1",
        "glbp 10 ip 127.0.0.1",
    ] {
        let config = format!(
            "interface Vlan10\n ip address 198.51.100.2 255.255.255.0\n {line}\n\
             interface Vlan20\n ip address 203.0.113.2 255.255.255.0\n"
        );
        let lab = switch(&config, &[(10, "ops"), (20, "old")]).await;
        lab.write_resources("sw1", &[purge("network_vlan")]);
        verbose(&lab).await.assert_code(2);
        assert_eq!(
            lab.log("sw1").configuration_lines(),
            ["no vlan 20"],
            "{line}"
        );
    }
}

/// For every shipped type: what is reserved or built in stays, and a second run finds nothing.
#[tokio::test(flavor = "multi_thread")]
async fn purge_of_any_type_spares_reserved_and_built_in_objects() {
    let registry = Registry::shipped();
    let mut lab = Lab::new();
    // By device: the type that it purges, and beginnings of what is never sent.
    let mut purged: Vec<(String, String, &[&str])> = Vec::new();
    for platform in ["cisco_ios", "f5_bigip"] {
        let types = registry.platform(platform).unwrap().type_drivers();
        let models = types.map(|definition| &definition.model);
        let models: Vec<_> = models.filter(|model| model.is_ensurable()).collect();
        assert!(models.len() > 5, "{}", models.len());
        for model in models {
            let device = format!("{platform}-{}", model.name);
            let spared: &[&str] = if platform == "cisco_ios" {
                let config = "vrf definition Mgmt-vrf\n address-family ipv4\n\
                              interface Vlan10\n ip address 127.0.0.1 255.0.0.0\n";
                lab.add_switch_with(SwitchOptions {
                    config: Some(config.to_owned()),
                    vlans: vec![(10, "ops".to_owned())],
                    ..switch_options(&device)
                })
                .await;
                &[
                    "no vlan 1",
                    "no vrf definition Mgmt-vrf",
                    "no vlan 10",
                    "no interface Vlan1",
                    "no switchport",
                ]
            } else {
                lab.add_load_balancer(&device, &[]).await;
                &[
                    "DELETE /mgmt/tm/auth/partition/Common",
                    "DELETE /mgmt/tm/ltm/monitor/http/~Common~http",
                    "DELETE /mgmt/tm/sys/",
                ]
            };
            lab.write_resources(&device, &[purge(&model.name)]);
            purged.push((device, model.name.to_string(), spared));
        }
    }
    let ran = verbose(&lab).await;
    assert!(matches!(ran.code, Some(0 | 2)), "{}", ran.text());
    for (device, type_name, spared) in purged {
        let sent = if lab.switches.contains_key(&device) {
            lab.log(&device).configuration_lines()
        } else {
            lab.log(&device).writes()
        };
        for line in sent {
            let is_spared = spared.iter().any(|spared| line.starts_with(spared));
            assert!(!is_spared, "{type_name}: {line}");
        }
    }
    verbose(&lab).await.assert_code(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn purge_removes_all_objects_of_a_load_balancer_but_its_own() {
    const TYPES: [&str; 9] = [
        "f5_virtualserver",
        "f5_pool",
        "f5_node",
        "f5_monitor",
        "f5_irule",
        "f5_selfip",
        "f5_vlan",
        "f5_partition",
        "f5_ntp",
    ];
    let mut lab = Lab::new();
    lab.add_load_balancer("lb1", &[]).await;
    lab.write_catalog("lb1", &example("lb1"));
    lab.run(&["apply"]).await.assert_code(0);

    let purgers: Vec<Value> = TYPES.iter().map(|name| purge(name)).collect();
    lab.write_resources("lb1", &purgers);
    let ran = verbose(&lab).await;
    ran.assert_code(2);
    for path in [
        "/mgmt/tm/auth/partition/shop",
        "/mgmt/tm/ltm/monitor/http/~shop~http_health",
        "/mgmt/tm/ltm/virtual/~shop~web_vs",
        "/mgmt/tm/ltm/pool/~shop~web",
        "/mgmt/tm/ltm/node/~shop~web1",
        "/mgmt/tm/net/vlan/~Common~servers",
    ] {
        assert_eq!(lab.load_balancers["lb1"].get(path), None, "{path}");
    }
    ran.assert_contains("F5_partition[Common] is not purged: it belongs to the device");
    ran.assert_contains("is not purged: each device has exactly one");
    verbose(&lab).await.assert_code(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn purge_spares_the_self_ip_of_the_session_with_its_vlan() {
    let mut lab = Lab::new();
    lab.add_load_balancer("lb1", &[]).await;
    let present = |type_name: &str, title: &str, mut attributes: Value| {
        attributes["ensure"] = json!("present");
        resource(type_name, title, attributes)
    };
    lab.write_resources(
        "lb1",
        &[
            present("F5_vlan", "/Common/ops", json!({ "vlan_tag": 10 })),
            present("F5_vlan", "/Common/old", json!({ "vlan_tag": 20 })),
            present(
                "F5_selfip",
                "/Common/self-ops",
                json!({ "address": "127.0.0.1/24", "vlan": "/Common/ops" }),
            ),
        ],
    );
    lab.run(&["apply"]).await.assert_code(0);
    lab.log("lb1").clear();
    lab.write_resources("lb1", &[purge("f5_selfip"), purge("f5_vlan")]);
    let ran = verbose(&lab).await;
    ran.assert_code(2);
    assert_eq!(
        lab.log("lb1").writes(),
        ["DELETE /mgmt/tm/net/vlan/~Common~old"]
    );
    for spared in ["F5_selfip[/Common/self-ops]", "F5_vlan[/Common/ops]"] {
        ran.assert_contains(&format!(
            "{spared} is not purged: the session to the device uses it"
        ));
    }
}
