//! Ports of hosts and terminals: spanning tree, port security, storm control, 802.1X, discovery, lines.

use serde_json::json;
use test_support::catalog::resource;

use super::{Step, follow};

const PORT: &str = "GigabitEthernet1/0/1";

#[tokio::test(flavor = "multi_thread")]
async fn life_cycle_of_ports() {
    let steps = vec![
        Step {
            resources: vec![
                resource(
                    "Ios_stp_interface",
                    "gi1/0/1",
                    json!({"portfast": true, "bpduguard": "enable", "bpdufilter": "disable", "guard": "root",
                           "cost": 100, "port_priority": 64, "link_type": "shared"}),
                ),
                resource(
                    "Ios_port_security",
                    PORT,
                    json!({"enable": true, "maximum": 3, "violation": "restrict", "sticky": true,
                           "aging_time": 5, "aging_type": "inactivity", "addresses": ["0011.2233.44AA"]}),
                ),
                resource(
                    "Ios_storm_control",
                    PORT,
                    json!({"broadcast": "5.00 2.50", "multicast": "pps 5k", "action": ["trap", "shutdown"]}),
                ),
            ],
            lines: &[
                "interface GigabitEthernet1/0/1",
                " switchport mode access",
                " switchport port-security maximum 3",
                " switchport port-security violation restrict",
                " switchport port-security aging time 5",
                " switchport port-security aging type inactivity",
                " switchport port-security mac-address sticky",
                " switchport port-security mac-address 0011.2233.44aa",
                " switchport port-security",
                " spanning-tree portfast",
                " spanning-tree bpduguard enable",
                " spanning-tree bpdufilter disable",
                " spanning-tree guard root",
                " spanning-tree cost 100",
                " spanning-tree port-priority 64",
                " spanning-tree link-type shared",
                " storm-control broadcast level 5.00 2.50",
                " storm-control multicast level pps 5k",
                " storm-control action shutdown",
                " storm-control action trap",
            ],
        },
        Step {
            resources: vec![
                resource(
                    "Ios_stp_interface",
                    PORT,
                    json!({"portfast": false, "portfast_trunk": true, "bpduguard": "disable", "bpdufilter": "unset",
                           "guard": "unset", "cost": 200, "port_priority": "unset", "link_type": "unset"}),
                ),
                resource(
                    "Ios_port_security",
                    PORT,
                    json!({"maximum": 2, "violation": "shutdown", "addresses": ["0011.2233.4466"]}),
                ),
                resource(
                    "Ios_storm_control",
                    PORT,
                    json!({"broadcast": "10.00", "multicast": "unset", "action": ["trap"]}),
                ),
            ],
            lines: &[
                "interface GigabitEthernet1/0/1",
                " switchport mode access",
                " switchport port-security maximum 2",
                " switchport port-security aging time 5",
                " switchport port-security aging type inactivity",
                " switchport port-security mac-address sticky",
                " switchport port-security mac-address 0011.2233.4466",
                " switchport port-security",
                " spanning-tree portfast trunk",
                " spanning-tree bpduguard disable",
                " spanning-tree cost 200",
                " storm-control broadcast level 10.00",
                " storm-control action trap",
            ],
        },
        Step {
            resources: vec![
                resource(
                    "Ios_stp_interface",
                    PORT,
                    json!({"portfast_trunk": false, "bpduguard": "unset", "cost": "unset"}),
                ),
                resource(
                    "Ios_port_security",
                    PORT,
                    json!({"enable": false, "maximum": "unset", "sticky": false, "aging_time": "unset",
                           "aging_type": "absolute", "addresses": "unset"}),
                ),
                resource(
                    "Ios_storm_control",
                    PORT,
                    json!({"broadcast": "unset", "action": "unset"}),
                ),
            ],
            lines: &["interface GigabitEthernet1/0/1", " switchport mode access"],
        },
    ];
    let config = "interface GigabitEthernet1/0/1\n switchport mode access\n";
    follow(config, &["interface GigabitEthernet1/0/1"], steps).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn life_cycle_of_lines() {
    let steps = vec![
        Step {
            resources: vec![
                resource(
                    "Ios_line",
                    "vty 0 4",
                    json!({"login": "local", "exec_timeout": [15, 0], "privilege": 15,
                           "transport_input": ["telnet", "ssh"], "access_class_in": "MGMT",
                           "logging_synchronous": true, "length": 0, "transport_output": ["none"],
                           "transport_preferred": "none"}),
                ),
                resource("Ios_line", "vty 5 15", json!({"transport_input": "none"})),
            ],
            lines: &[
                "line vty 0 4",
                " access-class MGMT in",
                " exec-timeout 15 0",
                " privilege level 15",
                " logging synchronous",
                " login local",
                " length 0",
                " transport input ssh telnet",
                " transport output none",
                " transport preferred none",
                "line vty 5 15",
                " transport input none",
            ],
        },
        Step {
            resources: vec![resource(
                "Ios_line",
                "vty 0 4",
                json!({"login_authentication": "VTY", "exec_timeout": "unset", "privilege": "unset",
                       "transport_input": ["ssh"], "access_class_in": "OTHER", "logging_synchronous": false,
                       "length": "unset", "transport_output": "unset", "transport_preferred": "unset"}),
            )],
            lines: &[
                "line vty 0 4",
                " access-class OTHER in",
                " login authentication VTY",
                " transport input ssh",
                "line vty 5 15",
                " transport input none",
            ],
        },
        Step {
            resources: vec![resource(
                "Ios_line",
                "vty 0 4",
                json!({"login_authentication": "unset", "access_class_in": "unset"}),
            )],
            lines: &[
                "line vty 0 4",
                " transport input ssh",
                "line vty 5 15",
                " transport input none",
            ],
        },
    ];
    let config = "line vty 0 4\n login\n transport input telnet\nline vty 5 15\n";
    follow(config, &["line vty"], steps).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn life_cycle_of_authentication_and_discovery() {
    let steps = vec![
        Step {
            resources: vec![
                resource(
                    "Ios_dot1x",
                    "default",
                    json!({"enable": true, "critical_eapol": true}),
                ),
                resource(
                    "Ios_dot1x_interface",
                    PORT,
                    json!({"port_control": "auto", "host_mode": "multi-domain", "order": ["mab", "dot1x"],
                           "priority": ["dot1x", "mab"], "periodic": true, "mab": true, "pae": true,
                           "tx_period": 10}),
                ),
                resource(
                    "Ios_cdp",
                    "default",
                    json!({"enable": false, "timer": 10, "holdtime": 40}),
                ),
                resource(
                    "Ios_lldp",
                    "default",
                    json!({"enable": true, "timer": 10, "holdtime": 40}),
                ),
                resource(
                    "Ios_discovery_interface",
                    PORT,
                    json!({"cdp": false, "lldp_transmit": false, "lldp_receive": false}),
                ),
            ],
            lines: &[
                "interface GigabitEthernet1/0/1",
                " switchport mode access",
                " no cdp enable",
                " no lldp transmit",
                " no lldp receive",
                " authentication host-mode multi-domain",
                " authentication order mab dot1x",
                " authentication priority dot1x mab",
                " authentication port-control auto",
                " authentication periodic",
                " mab",
                " dot1x pae authenticator",
                " dot1x timeout tx-period 10",
                "dot1x system-auth-control",
                "dot1x critical eapol",
                "no cdp run",
                "cdp timer 10",
                "cdp holdtime 40",
                "lldp run",
                "lldp timer 10",
                "lldp holdtime 40",
            ],
        },
        Step {
            resources: vec![
                resource("Ios_dot1x", "default", json!({"critical_eapol": false})),
                resource(
                    "Ios_dot1x_interface",
                    PORT,
                    json!({"host_mode": "multi-auth", "order": ["dot1x", "mab"], "periodic": false}),
                ),
                resource(
                    "Ios_cdp",
                    "default",
                    json!({"enable": true, "timer": 20, "holdtime": "unset"}),
                ),
                resource(
                    "Ios_lldp",
                    "default",
                    json!({"timer": "unset", "holdtime": 50}),
                ),
                resource(
                    "Ios_discovery_interface",
                    PORT,
                    json!({"lldp_receive": true}),
                ),
            ],
            lines: &[
                "interface GigabitEthernet1/0/1",
                " switchport mode access",
                " no cdp enable",
                " no lldp transmit",
                " authentication host-mode multi-auth",
                " authentication order dot1x mab",
                " authentication priority dot1x mab",
                " authentication port-control auto",
                " mab",
                " dot1x pae authenticator",
                " dot1x timeout tx-period 10",
                "dot1x system-auth-control",
                "cdp timer 20",
                "lldp run",
                "lldp holdtime 50",
            ],
        },
        Step {
            resources: vec![
                resource("Ios_dot1x", "default", json!({"enable": false})),
                resource(
                    "Ios_dot1x_interface",
                    PORT,
                    json!({"port_control": "force-authorized", "host_mode": "single-host", "order": "unset",
                           "priority": "unset", "mab": false, "pae": false, "tx_period": "unset"}),
                ),
                resource("Ios_cdp", "default", json!({"timer": "unset"})),
                resource(
                    "Ios_lldp",
                    "default",
                    json!({"enable": false, "holdtime": "unset"}),
                ),
                resource(
                    "Ios_discovery_interface",
                    PORT,
                    json!({"cdp": true, "lldp_transmit": true}),
                ),
            ],
            lines: &["interface GigabitEthernet1/0/1", " switchport mode access"],
        },
    ];
    let config = "interface GigabitEthernet1/0/1\n switchport mode access\n";
    let words = ["interface GigabitEthernet1/0/1", "dot1x", "cdp", "lldp"];
    follow(config, &words, steps).await;
}
