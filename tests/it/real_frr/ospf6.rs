//! OSPFv3: a process whose mode has a command `interface` of its own.

use super::steps::{an_apply_sends_nothing, plan_predicts};
use super::*;

/// The process, an interface and a redistribution.
fn resources(process: Value, interface: Value, redistribution: Value) -> Vec<Resource> {
    vec![
        resource("Frr_ospf6", "default", process),
        resource("Frr_ospf6_interface", "eth1", interface),
        resource("Frr_ospf6_redistribution", "static", redistribution),
    ]
}

fn first() -> Vec<Resource> {
    resources(
        json!({
            "router_id": "198.51.100.1", "log_adjacency_changes": "detail", "reference_bandwidth": 40_000,
            "maximum_paths": 4, "default_information": "always",
        }),
        json!({
            "area": "0", "cost": 15, "network": "point-to-point", "priority": 0, "hello_interval": 5,
            "dead_interval": 20, "passive": true, "mtu_ignore": true, "bfd": true,
        }),
        json!({ "metric": 10, "metric_type": 1, "route_map": "RM" }),
    )
}

fn changed() -> Vec<Resource> {
    resources(
        json!({
            "router_id": "198.51.100.2", "log_adjacency_changes": "on", "reference_bandwidth": "unset",
            "maximum_paths": "unset", "default_information": "on", "distance": 120,
        }),
        json!({
            "area": "0.0.0.1", "cost": "unset", "network": "unset", "priority": "unset",
            "hello_interval": "unset", "dead_interval": "unset", "passive": false, "mtu_ignore": false,
            "bfd": false,
        }),
        json!({ "metric": 20, "metric_type": 2, "route_map": "unset" }),
    )
}

pub(super) fn ospf_for_ipv6(router: &Router, site: &Site) {
    plan_predicts(router, site, "OSPFv3", &first(), &[]);
    let config = router.config();
    for expected in [
        "
 ipv6 ospf6 area 0
 ipv6 ospf6 bfd
 ipv6 ospf6 cost 15
 ipv6 ospf6 dead-interval 20
 ipv6 ospf6 hello-interval 5
 ipv6 ospf6 mtu-ignore
 ipv6 ospf6 network point-to-point
 ipv6 ospf6 passive
 ipv6 ospf6 priority 0
exit
",
        "
router ospf6
 ospf6 router-id 198.51.100.1
 log-adjacency-changes detail
 auto-cost reference-bandwidth 40000
 maximum-paths 4
 redistribute static metric 10 metric-type 1 route-map RM
 default-information originate always
exit
",
    ] {
        assert!(config.contains(expected), "{config}");
    }
    an_apply_sends_nothing(site, &first());

    plan_predicts(router, site, "changed OSPFv3", &changed(), &[]);
    let config = router.config();
    for expected in [
        "\n ipv6 ospf6 area 1\nexit\n",
        "
router ospf6
 ospf6 router-id 198.51.100.2
 log-adjacency-changes
 redistribute static metric 20
 distance 120
 default-information originate
exit
",
    ] {
        assert!(config.contains(expected), "{config}");
    }
    an_apply_sends_nothing(site, &changed());

    let absent = || json!({ "ensure": "absent" });
    let removed = resources(absent(), json!({ "area": "unset" }), absent());
    let output = site.apply("removed OSPFv3", &removed);
    assert_eq!(output.code, 2, "{output}");
    let config = router.config();
    assert!(!config.contains("ospf6"), "{config}");
    an_apply_sends_nothing(site, &removed);
}
