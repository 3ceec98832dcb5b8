//! Global settings of the spanning tree.

use serde_json::json;
use test_support::catalog::resource;

use super::{PORT_TYPES, Step, follow, follow_on};

#[tokio::test(flavor = "multi_thread")]
async fn life_cycle_of_the_spanning_tree() {
    let steps = vec![
        Step {
            resources: vec![resource(
                "Ios_stp_global",
                "default",
                json!({"bridge_assurance": false, "loopguard": true, "mode": "mst", "mst_name": "CAMPUS",
                       "mst_revision": 1, "mst_inst_vlan_map": [[1, "10-19, 30"], [2, "20"]],
                       "mst_priority": [["0-1", 8192]], "mst_hello_time": 4, "pathcost": "long",
                       "portfast": ["default", "bpduguard_default"], "uplinkfast_max_update_rate": 200,
                       "vlan_priority": [["10,20", 4096]], "vlan_max_age": [["10", 30]]}),
            )],
            lines: &[
                "spanning-tree mode mst",
                "no spanning-tree bridge assurance",
                "spanning-tree portfast bpduguard default",
                "spanning-tree portfast default",
                "spanning-tree loopguard default",
                "spanning-tree extend system-id",
                "spanning-tree pathcost method long",
                "spanning-tree uplinkfast max-update-rate 200",
                "spanning-tree mst configuration",
                " name CAMPUS",
                " revision 1",
                " instance 1 vlan 10-19, 30",
                " instance 2 vlan 20",
                "spanning-tree mst hello-time 4",
                "spanning-tree mst 0-1 priority 8192",
                "spanning-tree vlan 10,20 priority 4096",
                "spanning-tree vlan 10 max-age 30",
            ],
        },
        Step {
            resources: vec![resource(
                "Ios_stp_global",
                "default",
                json!({"bridge_assurance": true, "mode": "rapid-pvst", "mst_revision": 2,
                       "mst_inst_vlan_map": [[1, "10-19"]], "mst_priority": [["0-1", 4096]],
                       "portfast": ["bpduguard_default"], "vlan_priority": [["10", 8192]]}),
            )],
            lines: &[
                "spanning-tree mode rapid-pvst",
                "spanning-tree portfast bpduguard default",
                "spanning-tree loopguard default",
                "spanning-tree extend system-id",
                "spanning-tree pathcost method long",
                "spanning-tree uplinkfast max-update-rate 200",
                "spanning-tree mst configuration",
                " name CAMPUS",
                " revision 2",
                " instance 1 vlan 10-19",
                "spanning-tree mst hello-time 4",
                "spanning-tree mst 0-1 priority 4096",
                "spanning-tree vlan 10 priority 8192",
                "spanning-tree vlan 10 max-age 30",
            ],
        },
        Step {
            resources: vec![resource(
                "Ios_stp_global",
                "default",
                json!({"loopguard": false, "mode": "pvst", "mst_name": "unset", "mst_revision": "unset",
                       "mst_inst_vlan_map": "unset", "mst_priority": "unset", "mst_hello_time": "unset",
                       "pathcost": "short", "portfast": "unset", "uplinkfast_max_update_rate": "unset",
                       "vlan_priority": "unset", "vlan_max_age": "unset"}),
            )],
            lines: &[
                "spanning-tree extend system-id",
                "spanning-tree mst configuration",
            ],
        },
    ];
    let config = "spanning-tree mode rapid-pvst\nspanning-tree extend system-id\n";
    follow(config, &["spanning-tree"], steps).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn life_cycle_of_the_spanning_tree_with_types_of_ports() {
    const PORT: &str = "GigabitEthernet1/0/1";
    let steps = vec![
        Step {
            resources: vec![
                resource(
                    "Ios_stp_global",
                    "default",
                    json!({"portfast": ["default", "bpduguard_default"]}),
                ),
                resource("Ios_stp_interface", PORT, json!({"portfast": true})),
            ],
            lines: &[
                "spanning-tree portfast edge bpduguard default",
                "spanning-tree portfast edge default",
                "interface GigabitEthernet1/0/1",
                " spanning-tree portfast edge",
            ],
        },
        Step {
            resources: vec![
                resource(
                    "Ios_stp_global",
                    "default",
                    json!({"portfast": ["bpdufilter_default", "bpduguard_default"]}),
                ),
                resource(
                    "Ios_stp_interface",
                    PORT,
                    json!({"portfast": false, "portfast_trunk": true}),
                ),
            ],
            lines: &[
                "spanning-tree portfast edge bpduguard default",
                "spanning-tree portfast edge bpdufilter default",
                "interface GigabitEthernet1/0/1",
                " spanning-tree portfast edge trunk",
            ],
        },
        Step {
            resources: vec![
                resource("Ios_stp_global", "default", json!({"portfast": "unset"})),
                resource("Ios_stp_interface", PORT, json!({"portfast_trunk": false})),
            ],
            lines: &["interface GigabitEthernet1/0/1"],
        },
    ];
    let words = ["spanning-tree portfast", "interface GigabitEthernet1/0/1"];
    let config = "interface GigabitEthernet1/0/1\n";
    follow_on(Some(PORT_TYPES), config, &words, steps).await;
}
