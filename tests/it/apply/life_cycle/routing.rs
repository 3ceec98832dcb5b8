//! IP on interfaces, HSRP, static routes, prefix lists and OSPF.

use serde_json::json;
use test_support::catalog::resource;

use super::{Step, follow};

#[tokio::test(flavor = "multi_thread")]
async fn life_cycle_of_ip_interfaces() {
    let steps = vec![
        Step {
            resources: vec![
                resource(
                    "Ios_ip_interface",
                    "vl10",
                    json!({"vrf": "BLUE", "ipv4_address": "192.0.2.2", "ipv4_mask": "255.255.255.0",
                           "ipv4_secondary": [["198.51.100.2", "255.255.255.0"]],
                           "ipv6_addresses": ["2001:db8::2/64"], "helper_addresses": ["203.0.113.1", "203.0.113.2"],
                           "access_group_in": "IN", "redirects": false, "unreachables": false,
                           "proxy_arp": false, "ip_mtu": 1400}),
                ),
                resource(
                    "Ios_hsrp_group",
                    "Vlan10 10",
                    json!({"address": "192.0.2.1", "priority": 110, "preempt": true, "group_name": "USERS",
                           "tracks": [[1, 20]]}),
                ),
                resource(
                    "Ios_ospf_interface",
                    "Vlan10",
                    json!({"process": 1, "area": "0", "cost": 10, "priority": 0, "network_type": "point-to-point",
                           "hello_interval": 5, "dead_interval": 20, "mtu_ignore": true}),
                ),
            ],
            lines: &[
                "interface Vlan10",
                " vrf forwarding BLUE",
                " ip address 192.0.2.2 255.255.255.0",
                " ip address 198.51.100.2 255.255.255.0 secondary",
                " ip access-group IN in",
                " ip helper-address 203.0.113.1",
                " ip helper-address 203.0.113.2",
                " ip mtu 1400",
                " no ip unreachables",
                " standby 10 ip 192.0.2.1",
                " standby 10 priority 110",
                " standby 10 preempt",
                " standby 10 name USERS",
                " standby 10 track 1 decrement 20",
                " ip ospf network point-to-point",
                " ip ospf priority 0",
                " ip ospf cost 10",
                " ip ospf hello-interval 5",
                " ip ospf dead-interval 20",
                " ip ospf mtu-ignore",
                " ip ospf 1 area 0",
                " no ip redirects",
                " no ip proxy-arp",
                " ipv6 address 2001:DB8::2/64",
            ],
        },
        Step {
            resources: vec![
                resource(
                    "Ios_ip_interface",
                    "Vlan10",
                    json!({"ipv4_address": "192.0.2.3", "ipv4_mask": "255.255.255.128", "ipv4_secondary": "unset",
                           "ipv6_addresses": "unset", "ipv6_enable": true, "helper_addresses": ["203.0.113.2"],
                           "access_group_in": "OTHER", "access_group_out": "OUT", "redirects": true,
                           "unreachables": true, "proxy_arp": true, "ip_mtu": "unset"}),
                ),
                resource(
                    "Ios_hsrp_group",
                    "Vlan10 10",
                    json!({"priority": "unset", "preempt": false, "tracks": [[1, 30]]}),
                ),
                resource(
                    "Ios_ospf_interface",
                    "Vlan10",
                    json!({"process": 1, "area": "1", "cost": "unset", "priority": "unset",
                           "network_type": "unset", "hello_interval": "unset", "dead_interval": "unset",
                           "mtu_ignore": false}),
                ),
            ],
            lines: &[
                "interface Vlan10",
                " vrf forwarding BLUE",
                " ip address 192.0.2.3 255.255.255.128",
                " ip access-group OTHER in",
                " ip access-group OUT out",
                " ip helper-address 203.0.113.2",
                " standby 10 ip 192.0.2.1",
                " standby 10 name USERS",
                " standby 10 track 1 decrement 30",
                " ip ospf 1 area 1",
                " ipv6 enable",
            ],
        },
        Step {
            resources: vec![
                resource("Ios_hsrp_group", "Vlan10 10", json!({"ensure": "absent"})),
                resource("Ios_ospf_interface", "Vlan10", json!({"process": "unset"})),
                resource("Ios_ip_interface", "Vlan10", json!({"ensure": "absent"})),
            ],
            lines: &[],
        },
    ];
    follow("vrf definition BLUE\n", &["interface Vlan10"], steps).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn life_cycle_of_routes_and_ospf() {
    let steps = vec![
        Step {
            resources: vec![
                resource(
                    "Ios_static_route",
                    "0.0.0.0 0.0.0.0 192.0.2.1",
                    json!({"distance": 250}),
                ),
                resource(
                    "Ios_static_route",
                    "BLUE 10.0.0.0 255.0.0.0 Null0",
                    json!({"description": "drop", "tag": 7}),
                ),
                resource(
                    "Ios_prefix_list_entry",
                    "LAB 10",
                    json!({"action": "permit", "prefix": "10.1.0.0/8", "le": 24}),
                ),
                resource(
                    "Ios_ipv6_prefix_list_entry",
                    "SIX 10",
                    json!({"action": "permit", "prefix": "2001:db8::/32", "le": 48}),
                ),
                resource(
                    "Ios_ospf_process",
                    "1",
                    json!({"router_id": "192.0.2.1", "passive_default": true, "active_interfaces": ["vl10"],
                           "networks": [["192.0.2.0", "0.0.0.255", "0"]], "reference_bandwidth": 100_000,
                           "default_originate": "always", "redistribute": ["connected subnets"]}),
                ),
                resource(
                    "Ios_ospf_process",
                    "2 BLUE",
                    json!({"passive_interfaces": ["vl10"]}),
                ),
            ],
            lines: &[
                "router ospf 1",
                " router-id 192.0.2.1",
                " auto-cost reference-bandwidth 100000",
                " redistribute connected subnets",
                " passive-interface default",
                " no passive-interface Vlan10",
                " network 192.0.2.0 0.0.0.255 area 0",
                " default-information originate always",
                "router ospf 2 vrf BLUE",
                " passive-interface Vlan10",
                "ip route 0.0.0.0 0.0.0.0 192.0.2.1 250",
                "ip route vrf BLUE 10.0.0.0 255.0.0.0 Null0 tag 7 name drop",
                "ip prefix-list LAB seq 10 permit 10.0.0.0/8 le 24",
                "ipv6 prefix-list SIX seq 10 permit 2001:DB8::/32 le 48",
            ],
        },
        Step {
            resources: vec![
                resource(
                    "Ios_static_route",
                    "0.0.0.0 0.0.0.0 192.0.2.1",
                    json!({"distance": 1}),
                ),
                resource(
                    "Ios_prefix_list_entry",
                    "LAB 10",
                    json!({"action": "deny", "prefix": "10.0.0.0/8"}),
                ),
                resource(
                    "Ios_ipv6_prefix_list_entry",
                    "SIX 10",
                    json!({"action": "deny", "prefix": "2001:db8::/32", "ge": 64}),
                ),
                resource(
                    "Ios_ospf_process",
                    "1",
                    json!({"router_id": "unset", "active_interfaces": "unset",
                           "networks": [["192.0.2.0", "0.0.0.255", "1"]], "reference_bandwidth": "unset",
                           "default_originate": false, "redistribute": ["static"]}),
                ),
            ],
            lines: &[
                "router ospf 1",
                " redistribute static",
                " passive-interface default",
                " network 192.0.2.0 0.0.0.255 area 1",
                "router ospf 2 vrf BLUE",
                " passive-interface Vlan10",
                "ip route 0.0.0.0 0.0.0.0 192.0.2.1",
                "ip route vrf BLUE 10.0.0.0 255.0.0.0 Null0 tag 7 name drop",
                "ip prefix-list LAB seq 10 deny 10.0.0.0/8",
                "ipv6 prefix-list SIX seq 10 deny 2001:DB8::/32 ge 64",
            ],
        },
        Step {
            resources: vec![
                resource(
                    "Ios_static_route",
                    "0.0.0.0 0.0.0.0 192.0.2.1",
                    json!({"ensure": "absent"}),
                ),
                resource(
                    "Ios_static_route",
                    "BLUE 10.0.0.0 255.0.0.0 Null0",
                    json!({"ensure": "absent"}),
                ),
                resource(
                    "Ios_prefix_list_entry",
                    "LAB 10",
                    json!({"ensure": "absent", "action": "deny", "prefix": "10.0.0.0/8"}),
                ),
                resource(
                    "Ios_ipv6_prefix_list_entry",
                    "SIX 10",
                    json!({"ensure": "absent", "action": "deny", "prefix": "2001:db8::/32"}),
                ),
                resource("Ios_ospf_process", "1", json!({"ensure": "absent"})),
                resource("Ios_ospf_process", "2 BLUE", json!({"ensure": "absent"})),
            ],
            lines: &[],
        },
    ];
    let words = [
        "router ospf",
        "ip route ",
        "ip prefix-list",
        "ipv6 prefix-list",
    ];
    follow("vrf definition BLUE\n", &words, steps).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn life_cycle_of_eigrp_and_lists_of_bgp() {
    let steps = vec![
        Step {
            resources: vec![
                resource(
                    "Ios_eigrp_process",
                    "1",
                    json!({"router_id": "192.0.2.1", "networks": [["192.0.2.0", "0.0.0.127"]],
                           "classful_networks": ["198.51.100.0"], "passive_default": true,
                           "active_interfaces": ["vl10"], "redistribute": ["connected route-map IN", "static"],
                           "stub": "connected summary", "maximum_paths": 8, "variance": 2}),
                ),
                resource(
                    "Ios_eigrp_process",
                    "2",
                    json!({"passive_interfaces": ["vl10"]}),
                ),
                resource(
                    "Ios_as_path_list",
                    "10",
                    json!({"entries": ["deny _65001_", "permit .*"]}),
                ),
                resource("Ios_as_path_list", "2", json!({"entries": ["permit ^$"]})),
                resource(
                    "Ios_community_list",
                    "standard CUST",
                    json!({"entries": ["permit 65000:100 65000:200", "deny no-export"]}),
                ),
                resource(
                    "Ios_community_list",
                    "expanded ANY",
                    json!({"entries": ["permit 65000:[0-9]+"]}),
                ),
            ],
            lines: &[
                "router eigrp 1",
                " variance 2",
                " maximum-paths 8",
                " network 192.0.2.0 0.0.0.127",
                " network 198.51.100.0",
                " redistribute connected route-map IN",
                " redistribute static",
                " passive-interface default",
                " no passive-interface Vlan10",
                " eigrp router-id 192.0.2.1",
                " eigrp stub connected summary",
                "router eigrp 2",
                " passive-interface Vlan10",
                "ip community-list standard CUST permit 65000:100 65000:200",
                "ip community-list standard CUST deny no-export",
                "ip community-list expanded ANY permit 65000:[0-9]+",
                "ip as-path access-list 2 permit ^$",
                "ip as-path access-list 10 deny _65001_",
                "ip as-path access-list 10 permit .*",
            ],
        },
        Step {
            resources: vec![
                resource(
                    "Ios_eigrp_process",
                    "1",
                    json!({"router_id": "192.0.2.2", "networks": [["192.0.2.128", "0.0.0.127"]],
                           "classful_networks": "unset", "passive_default": false, "active_interfaces": "unset",
                           "redistribute": ["connected route-map OUT"], "stub": "unset",
                           "maximum_paths": "unset", "variance": "unset"}),
                ),
                resource(
                    "Ios_as_path_list",
                    "10",
                    json!({"entries": ["deny _65002_", "permit .*"]}),
                ),
                resource(
                    "Ios_community_list",
                    "standard CUST",
                    json!({"entries": ["deny no-export", "permit 65000:100 65000:200"]}),
                ),
                resource(
                    "Ios_community_list",
                    "expanded ANY",
                    json!({"entries": ["permit 65000:[0-9]+", "deny .*"]}),
                ),
            ],
            lines: &[
                "router eigrp 1",
                " network 192.0.2.128 0.0.0.127",
                " redistribute connected route-map OUT",
                " eigrp router-id 192.0.2.2",
                "router eigrp 2",
                " passive-interface Vlan10",
                "ip community-list standard CUST deny no-export",
                "ip community-list standard CUST permit 65000:100 65000:200",
                "ip community-list expanded ANY permit 65000:[0-9]+",
                "ip community-list expanded ANY deny .*",
                "ip as-path access-list 2 permit ^$",
                "ip as-path access-list 10 deny _65002_",
                "ip as-path access-list 10 permit .*",
            ],
        },
        Step {
            resources: vec![
                resource("Ios_eigrp_process", "1", json!({"ensure": "absent"})),
                resource("Ios_eigrp_process", "2", json!({"ensure": "absent"})),
                resource("Ios_as_path_list", "10", json!({"ensure": "absent"})),
                resource("Ios_as_path_list", "2", json!({"ensure": "absent"})),
                resource(
                    "Ios_community_list",
                    "standard CUST",
                    json!({"ensure": "absent"}),
                ),
                resource(
                    "Ios_community_list",
                    "expanded ANY",
                    json!({"ensure": "absent"}),
                ),
            ],
            lines: &[],
        },
    ];
    let words = ["router eigrp", "ip as-path", "ip community-list"];
    follow("ip bgp-community new-format\n", &words, steps).await;
}
