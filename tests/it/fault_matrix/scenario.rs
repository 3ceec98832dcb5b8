//! Catalogs, and what a device has when their resources are applied.

use serde_json::{Value, json};
use switchtender_mocks::{Fault, LoadBalancerOptions, SwitchOptions};
use test_support::catalog::{resource, vlan};
use test_support::lab::{Lab, PASSWORD, switch_options};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Platform {
    CiscoIos,
    F5Bigip,
}

/// A catalog for a device in its initial state.
#[derive(Debug)]
pub(super) struct Scenario {
    pub(super) name: &'static str,
    pub(super) platform: Platform,
    pub(super) resources: fn() -> Vec<Value>,
    pub(super) effects: &'static [Effect],
}

/// A property of a resource, and whether a device has its desired value. `ensure` of a new resource
/// stands for all its properties.
#[derive(Debug)]
pub(super) struct Effect {
    pub(super) resource: &'static str,
    pub(super) property: &'static str,
    pub(super) is_applied: fn(&Lab, &str) -> bool,
}

pub(super) static ALL: &[Scenario] = &[
    Scenario {
        name: "objects of a switch",
        platform: Platform::CiscoIos,
        resources: || {
            let absent = resource("Network_vlan", "30", json!({"ensure": "absent"}));
            let ntp = json!({"ensure": "present"});
            vec![
                vlan(10, "one"),
                absent,
                vlan(40, "forty"),
                resource("Ntp_server", "192.0.2.10", ntp),
                vlan(20, "two"),
            ]
        },
        effects: &[
            Effect {
                resource: "Network_vlan[10]",
                property: "ensure",
                is_applied: |lab, device| vlan_name(lab, device, 10).as_deref() == Some("one"),
            },
            Effect {
                resource: "Network_vlan[30]",
                property: "ensure",
                is_applied: |lab, device| vlan_name(lab, device, 30).is_none(),
            },
            Effect {
                resource: "Network_vlan[40]",
                property: "vlan_name",
                is_applied: |lab, device| vlan_name(lab, device, 40).as_deref() == Some("forty"),
            },
            Effect {
                resource: "Ntp_server[192.0.2.10]",
                property: "ensure",
                is_applied: |lab, device| has_line(lab, device, "ntp server 192.0.2.10"),
            },
            Effect {
                resource: "Network_vlan[20]",
                property: "ensure",
                is_applied: |lab, device| vlan_name(lab, device, 20).as_deref() == Some("two"),
            },
        ],
    },
    Scenario {
        name: "attributes of a switch",
        platform: Platform::CiscoIos,
        resources: || {
            vec![
                resource(
                    "Network_interface",
                    "GigabitEthernet1/0/1",
                    json!({"enable": false, "description": "desk", "mtu": 9000}),
                ),
                resource(
                    "Port_channel",
                    "Port-channel5",
                    json!({"ensure": "present", "description": "up"}),
                ),
                resource(
                    "Network_interface",
                    "GigabitEthernet1/0/2",
                    json!({"enable": true, "description": "printer"}),
                ),
            ]
        },
        effects: &[
            Effect {
                resource: "Network_interface[GigabitEthernet1/0/1]",
                property: "enable",
                is_applied: |lab, device| port_has(lab, device, "GigabitEthernet1/0/1", "shutdown"),
            },
            Effect {
                resource: "Network_interface[GigabitEthernet1/0/1]",
                property: "description",
                is_applied: |lab, device| {
                    port_has(lab, device, "GigabitEthernet1/0/1", "description desk")
                },
            },
            Effect {
                resource: "Network_interface[GigabitEthernet1/0/1]",
                property: "mtu",
                is_applied: |lab, device| port_has(lab, device, "GigabitEthernet1/0/1", "mtu 9000"),
            },
            Effect {
                resource: "Port_channel[Port-channel5]",
                property: "ensure",
                is_applied: |lab, device| port_has(lab, device, "Port-channel5", "description up"),
            },
            Effect {
                resource: "Network_interface[GigabitEthernet1/0/2]",
                property: "description",
                is_applied: |lab, device| {
                    port_has(lab, device, "GigabitEthernet1/0/2", "description printer")
                },
            },
        ],
    },
    Scenario {
        name: "nodes of a load balancer",
        platform: Platform::F5Bigip,
        resources: || {
            let update = json!({"ensure": "present", "description": "new"});
            vec![
                node(1),
                resource("F5_node", "/Common/web2", update),
                resource("F5_node", "/Common/web3", json!({"ensure": "absent"})),
                node(4),
            ]
        },
        effects: &[
            Effect {
                resource: "F5_node[/Common/web1]",
                property: "ensure",
                is_applied: |lab, device| has_object(lab, device, "ltm/node/~Common~web1"),
            },
            Effect {
                resource: "F5_node[/Common/web2]",
                property: "description",
                is_applied: |lab, device| {
                    let node = lab.load_balancers[device].get("ltm/node/~Common~web2");
                    node.is_some_and(|node| node["description"] == "new")
                },
            },
            Effect {
                resource: "F5_node[/Common/web3]",
                property: "ensure",
                is_applied: |lab, device| !has_object(lab, device, "ltm/node/~Common~web3"),
            },
            Effect {
                resource: "F5_node[/Common/web4]",
                property: "ensure",
                is_applied: |lab, device| has_object(lab, device, "ltm/node/~Common~web4"),
            },
        ],
    },
    Scenario {
        name: "objects of a load balancer",
        platform: Platform::F5Bigip,
        resources: || {
            let rule =
                json!({"ensure": "present", "definition": "when HTTP_REQUEST {\n  return\n}"});
            let rule = resource("F5_irule", "/Common/hello", rule);
            let mut last = node(4);
            last["parameters"]["require"] = json!("F5_irule[/Common/hello]");
            vec![node(1), rule, last]
        },
        effects: &[
            Effect {
                resource: "F5_node[/Common/web1]",
                property: "ensure",
                is_applied: |lab, device| has_object(lab, device, "ltm/node/~Common~web1"),
            },
            Effect {
                resource: "F5_irule[/Common/hello]",
                property: "ensure",
                is_applied: |lab, device| has_object(lab, device, "ltm/rule/~Common~hello"),
            },
            Effect {
                resource: "F5_node[/Common/web4]",
                property: "ensure",
                is_applied: |lab, device| has_object(lab, device, "ltm/node/~Common~web4"),
            },
        ],
    },
];

impl Scenario {
    /// Starts a device in its initial state and adds it to the inventory with its catalog.
    pub(super) async fn add(&self, lab: &mut Lab, device: &str, faults: Vec<Fault>) {
        match self.platform {
            Platform::CiscoIos => {
                let options = SwitchOptions {
                    vlans: vec![(30, "old".to_owned()), (40, "four".to_owned())],
                    faults,
                    ..switch_options(device)
                };
                lab.add_switch_with(options).await;
            }
            Platform::F5Bigip => {
                let node = |number: u8| {
                    json!(["POST /mgmt/tm/ltm/node", {
                        "name": format!("web{number}"), "partition": "Common",
                        "address": format!("198.51.100.{number}"),
                    }])
                };
                let options = LoadBalancerOptions {
                    name: device.to_owned(),
                    hostname: format!("{device}.lab.test"),
                    user: "ops".to_owned(),
                    password: PASSWORD.to_owned(),
                    config: Some(json!([node(2), node(3)])),
                    faults,
                    ..LoadBalancerOptions::default()
                };
                lab.add_load_balancer_with(options).await;
            }
        }
        lab.configure(device, "save_config = \"always\"");
        lab.write_resources(device, &(self.resources)());
    }
}

fn node(number: u8) -> Value {
    resource(
        "F5_node",
        &format!("/Common/web{number}"),
        json!({"ensure": "present", "address": format!("198.51.100.{number}")}),
    )
}

fn vlan_name(lab: &Lab, device: &str, number: u16) -> Option<String> {
    let vlans = lab.switches[device].vlans().into_iter();
    vlans
        .filter_map(|(found, name, _)| (found == number).then_some(name))
        .next()
}

fn has_line(lab: &Lab, device: &str, line: &str) -> bool {
    let config = lab.switches[device].running_config();
    config.lines().any(|found| found == line)
}

/// Whether the block of an interface has a line.
fn port_has(lab: &Lab, device: &str, port: &str, line: &str) -> bool {
    let config = lab.switches[device].running_config();
    let mut lines = config.lines();
    let has_port = lines.any(|found| found.strip_prefix("interface ") == Some(port));
    let mut block = lines.take_while(|found| found.starts_with(' '));
    has_port && block.any(|found| found.trim() == line)
}

fn has_object(lab: &Lab, device: &str, path: &str) -> bool {
    lab.load_balancers[device].get(path).is_some()
}
