//! BGP with its filters, and keys of HSRP groups.

use serde_json::json;
use test_support::catalog::resource;

use super::{Step, follow};

#[tokio::test(flavor = "multi_thread")]
async fn life_cycle_of_bgp() {
    let absent = |of: &str, title: &str| resource(of, title, json!({ "ensure": "absent" }));
    let steps = vec![
        Step {
            resources: vec![
                resource(
                    "Ios_bgp_process",
                    "65000",
                    json!({"router_id": "192.0.2.1", "log_neighbor_changes": true,
                           "ipv4_networks": [["192.0.2.0", "255.255.255.128"]],
                           "ipv4_redistribute": ["connected"], "ipv4_maximum_paths": 4}),
                ),
                resource(
                    "Ios_bgp_neighbor",
                    "65000 LEAFS",
                    json!({"is_group": true, "remote_as": 65010}),
                ),
                resource(
                    "Ios_bgp_neighbor",
                    "65000 192.0.2.9",
                    json!({"group": "LEAFS", "update_source": "lo0", "ipv4_unicast": false}),
                ),
                resource(
                    "Ios_bgp_neighbor",
                    "65000 198.51.100.1",
                    json!({"remote_as": 65001, "description": "to the provider", "timers": [10, 30],
                           "ebgp_multihop": 2, "ipv4_unicast": true, "ipv4_route_map_out": "OUT",
                           "ipv4_send_community": "both", "ipv4_soft_reconfiguration": true}),
                ),
                resource(
                    "Ios_route_map_entry",
                    "OUT 10",
                    json!({"action": "permit", "match_prefix_lists": ["A", "B"], "match_communities": ["4", "5"],
                           "set_as_path_prepend": "65000 65000", "set_metric": 50, "continue_with": 30,
                           "add_community": ["65000:100"], "set_next_hop": ["192.0.2.10", "192.0.2.9"],
                           "set_weight": 100}),
                ),
                resource(
                    "Ios_route_map_entry",
                    "OUT 20",
                    json!({"action": "deny", "match_access_list": ["10", "MGMT"]}),
                ),
            ],
            lines: &[
                "router bgp 65000",
                " bgp router-id 192.0.2.1",
                " bgp log-neighbor-changes",
                " neighbor LEAFS peer-group",
                " neighbor LEAFS remote-as 65010",
                " neighbor 192.0.2.9 peer-group LEAFS",
                " neighbor 192.0.2.9 update-source Loopback0",
                " neighbor 198.51.100.1 remote-as 65001",
                " neighbor 198.51.100.1 description to the provider",
                " neighbor 198.51.100.1 ebgp-multihop 2",
                " neighbor 198.51.100.1 timers 10 30",
                " !",
                " address-family ipv4",
                "  network 192.0.2.0 mask 255.255.255.128",
                "  redistribute connected",
                "  no neighbor 192.0.2.9 activate",
                "  neighbor 198.51.100.1 activate",
                "  neighbor 198.51.100.1 send-community both",
                "  neighbor 198.51.100.1 soft-reconfiguration inbound",
                "  neighbor 198.51.100.1 route-map OUT out",
                "  maximum-paths 4",
                " exit-address-family",
                "route-map OUT permit 10",
                " match ip address prefix-list A B",
                " match community 4 5",
                " continue 30",
                " set as-path prepend 65000 65000",
                " set community 65000:100 additive",
                " set metric 50",
                " set ip next-hop 192.0.2.10 192.0.2.9",
                " set weight 100",
                "route-map OUT deny 20",
                " match ip address 10 MGMT",
            ],
        },
        Step {
            resources: vec![
                resource(
                    "Ios_bgp_process",
                    "65000",
                    json!({"router_id": "unset",
                           "ipv4_networks": [["192.0.2.128", "255.255.255.128"]],
                           "ipv4_redistribute": "unset", "ipv4_maximum_paths": "unset"}),
                ),
                absent("Ios_bgp_neighbor", "65000 192.0.2.9"),
                resource(
                    "Ios_bgp_neighbor",
                    "65000 198.51.100.1",
                    json!({"remote_as": 65002, "description": "unset", "timers": "unset",
                           "ipv4_route_map_out": "unset", "ipv4_route_map_in": "IN",
                           "ipv4_send_community": "unset", "ipv4_next_hop_self": true}),
                ),
                resource(
                    "Ios_route_map_entry",
                    "OUT 10",
                    json!({"action": "deny", "match_prefix_lists": ["A", "C"], "match_communities": ["4"],
                           "set_as_path_prepend": "unset", "continue_with": "next",
                           "add_community": "unset", "set_community": ["no-export"],
                           "set_next_hop": ["192.0.2.9"], "set_weight": "unset"}),
                ),
                absent("Ios_route_map_entry", "OUT 20"),
            ],
            lines: &[
                "router bgp 65000",
                " bgp log-neighbor-changes",
                " neighbor LEAFS peer-group",
                " neighbor LEAFS remote-as 65010",
                " neighbor 198.51.100.1 remote-as 65002",
                " neighbor 198.51.100.1 ebgp-multihop 2",
                " !",
                " address-family ipv4",
                "  network 192.0.2.128 mask 255.255.255.128",
                "  neighbor 198.51.100.1 activate",
                "  neighbor 198.51.100.1 next-hop-self",
                "  neighbor 198.51.100.1 soft-reconfiguration inbound",
                "  neighbor 198.51.100.1 route-map IN in",
                " exit-address-family",
                "route-map OUT deny 10",
                " match ip address prefix-list A C",
                " match community 4",
                " continue",
                " set community no-export",
                " set metric 50",
                " set ip next-hop 192.0.2.9",
            ],
        },
        Step {
            resources: vec![
                absent("Ios_bgp_process", "65000"),
                absent("Ios_route_map_entry", "OUT 10"),
            ],
            lines: &[],
        },
    ];
    let config = "interface Loopback0\nip bgp-community new-format\n";
    follow(config, &["router bgp", "route-map"], steps).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn life_cycle_of_bgp_for_ipv6_and_in_vrfs() {
    let absent = |of: &str, title: &str| resource(of, title, json!({ "ensure": "absent" }));
    let steps = vec![
        Step {
            resources: vec![
                resource(
                    "Ios_bgp_process",
                    "65000",
                    json!({"ipv6_networks": ["2001:db8:1::/48"]}),
                ),
                resource(
                    "Ios_bgp_neighbor",
                    "65000 2001:db8::9",
                    json!({"remote_as": 65001, "ipv4_unicast": false, "ipv6_unicast": true,
                           "ipv6_prefix_list_out": "OUT6"}),
                ),
                resource(
                    "Ios_bgp_vrf",
                    "65000 BLUE",
                    json!({"router_id": "192.0.2.1", "networks": [["192.0.2.0", "255.255.255.128"]],
                           "redistribute": ["connected"]}),
                ),
                resource(
                    "Ios_bgp_vrf_neighbor",
                    "65000 BLUE LEAFS",
                    json!({"is_group": true, "remote_as": 65010, "send_community": "both"}),
                ),
                resource(
                    "Ios_bgp_vrf_neighbor",
                    "65000 BLUE 192.0.2.9",
                    json!({"group": "LEAFS", "activate": true}),
                ),
                resource(
                    "Ios_bgp_vrf_neighbor",
                    "65000 BLUE 198.51.100.1",
                    json!({"remote_as": 65002, "activate": false, "route_map_in": "IN"}),
                ),
            ],
            lines: &[
                "router bgp 65000",
                " bgp log-neighbor-changes",
                " neighbor 2001:DB8::9 remote-as 65001",
                " !",
                " address-family ipv4",
                "  no neighbor 2001:DB8::9 activate",
                " exit-address-family",
                " !",
                " address-family ipv6",
                "  network 2001:DB8:1::/48",
                "  neighbor 2001:DB8::9 activate",
                "  neighbor 2001:DB8::9 prefix-list OUT6 out",
                " exit-address-family",
                " !",
                " address-family ipv4 vrf BLUE",
                "  bgp router-id 192.0.2.1",
                "  network 192.0.2.0 mask 255.255.255.128",
                "  redistribute connected",
                "  neighbor LEAFS peer-group",
                "  neighbor LEAFS remote-as 65010",
                "  neighbor LEAFS send-community both",
                "  neighbor 192.0.2.9 peer-group LEAFS",
                "  neighbor 192.0.2.9 activate",
                "  neighbor 198.51.100.1 remote-as 65002",
                "  no neighbor 198.51.100.1 activate",
                "  neighbor 198.51.100.1 route-map IN in",
                " exit-address-family",
            ],
        },
        Step {
            resources: vec![
                resource(
                    "Ios_bgp_process",
                    "65000",
                    json!({"ipv6_networks": ["2001:db8:2::/48"]}),
                ),
                resource(
                    "Ios_bgp_neighbor",
                    "65000 2001:db8::9",
                    json!({"ipv6_unicast": false, "ipv6_prefix_list_out": "unset",
                           "ipv6_next_hop_self": true}),
                ),
                resource(
                    "Ios_bgp_vrf",
                    "65000 BLUE",
                    json!({"router_id": "unset", "networks": "unset", "redistribute": ["static route-map RM"]}),
                ),
                absent("Ios_bgp_vrf_neighbor", "65000 BLUE 192.0.2.9"),
                resource(
                    "Ios_bgp_vrf_neighbor",
                    "65000 BLUE 198.51.100.1",
                    json!({"remote_as": 65003, "activate": true, "route_map_in": "unset"}),
                ),
            ],
            lines: &[
                "router bgp 65000",
                " bgp log-neighbor-changes",
                " neighbor 2001:DB8::9 remote-as 65001",
                " !",
                " address-family ipv4",
                "  no neighbor 2001:DB8::9 activate",
                " exit-address-family",
                " !",
                " address-family ipv6",
                "  network 2001:DB8:2::/48",
                "  neighbor 2001:DB8::9 next-hop-self",
                " exit-address-family",
                " !",
                " address-family ipv4 vrf BLUE",
                "  redistribute static route-map RM",
                "  neighbor LEAFS peer-group",
                "  neighbor LEAFS remote-as 65010",
                "  neighbor LEAFS send-community both",
                "  neighbor 198.51.100.1 remote-as 65003",
                "  neighbor 198.51.100.1 activate",
                " exit-address-family",
            ],
        },
        Step {
            resources: vec![
                absent("Ios_bgp_neighbor", "65000 2001:db8::9"),
                absent("Ios_bgp_vrf", "65000 BLUE"),
            ],
            lines: &[
                "router bgp 65000",
                " bgp log-neighbor-changes",
                " !",
                " address-family ipv4",
                " exit-address-family",
                " !",
                " address-family ipv6",
                "  network 2001:DB8:2::/48",
                " exit-address-family",
            ],
        },
    ];
    follow("vrf definition BLUE\n rd 65000:1\n", &["router bgp"], steps).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn life_cycle_of_the_authentication_of_hsrp() {
    let group = |attributes| resource("Ios_hsrp_group", "Vlan10 10", attributes);
    let steps = vec![
        Step {
            resources: vec![group(
                json!({"address": "192.0.2.1", "authentication": "clear"}),
            )],
            lines: &[
                "interface Vlan10",
                " standby 10 ip 192.0.2.1",
                " standby 10 authentication clear",
                " no ip address",
            ],
        },
        Step {
            resources: vec![group(json!({"md5_key": "s3cret", "md5_key_format": 0}))],
            lines: &[
                "interface Vlan10",
                " standby 10 ip 192.0.2.1",
                " standby 10 authentication md5 key-string s3cret",
                " no ip address",
            ],
        },
        Step {
            resources: vec![group(json!({"md5_key": "0ther", "md5_key_format": 0}))],
            lines: &[
                "interface Vlan10",
                " standby 10 ip 192.0.2.1",
                " standby 10 authentication md5 key-string 0ther",
                " no ip address",
            ],
        },
        Step {
            resources: vec![group(json!({"md5_key": "unset"}))],
            lines: &[
                "interface Vlan10",
                " standby 10 ip 192.0.2.1",
                " no ip address",
            ],
        },
    ];
    follow("interface Vlan10\n", &["interface Vlan10"], steps).await;
}
