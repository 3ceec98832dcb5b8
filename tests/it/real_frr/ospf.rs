//! OSPF and route maps: blocks, lines in a block, and a header that changes.

use super::steps::{an_apply_sends_nothing, plan_predicts};
use super::*;

/// The process, an interface, a redistribution and the entries of its route map.
fn resources(
    process: Value,
    interface: Value,
    redistribution: Value,
    entries: [Value; 2],
) -> Vec<Resource> {
    let [first, second] = entries;
    vec![
        resource("Frr_ospf", "default", process),
        resource("Frr_ospf_interface", "eth1", interface),
        resource("Frr_ospf_redistribution", "static", redistribution),
        resource("Frr_route_map_entry", "RM 10", first),
        resource("Frr_route_map_entry", "RM 20", second),
    ]
}

fn first() -> Vec<Resource> {
    resources(
        json!({ "router_id": "198.51.100.1", "log_adjacency_changes": "detail", "reference_bandwidth": 40_000 }),
        json!({
            "area": "0", "cost": 15, "network": "point-to-point", "hello_interval": 5, "dead_interval": 20,
            "authentication": "message-digest", "message_digest_keys": [[1, "s3cret"]],
        }),
        json!({ "metric": 10, "metric_type": 1, "route_map": "RM" }),
        [
            json!({ "action": "permit", "match_prefix_list": "CUSTOMER", "set_metric": "50", "set_community": "65001:10 additive" }),
            json!({ "action": "deny" }),
        ],
    )
}

fn changed() -> Vec<Resource> {
    resources(
        json!({ "router_id": "198.51.100.1", "log_adjacency_changes": "on", "reference_bandwidth": "unset", "distance": 120 }),
        json!({
            "area": "0.0.0.1", "cost": "unset", "network": "unset", "hello_interval": "unset",
            "message_digest_keys": [[1, "another"], [2, "newer"]],
        }),
        json!({ "metric": 20, "metric_type": 2, "route_map": "unset" }),
        [
            json!({ "action": "permit", "match_prefix_list": "unset", "set_community": "unset", "set_tag": 7 }),
            json!({ "action": "permit", "description": "all others", "on_match": "next" }),
        ],
    )
}

pub(super) fn ospf_and_route_maps(router: &Router, site: &Site) {
    plan_predicts(router, site, "OSPF", &first(), &[]);
    let config = router.config();
    for expected in [
        "\
interface eth1
 description Uplink to spine 2
 ip ospf area 0
 ip ospf authentication message-digest
 ip ospf cost 15
 ip ospf dead-interval 20
 ip ospf hello-interval 5
 ip ospf message-digest-key 1 md5 s3cret
 ip ospf network point-to-point
exit
",
        "\
router ospf
 ospf router-id 198.51.100.1
 log-adjacency-changes detail
 auto-cost reference-bandwidth 40000
 redistribute static metric 10 metric-type 1 route-map RM
exit
",
        "\
route-map RM permit 10
 match ip address prefix-list CUSTOMER
 set community 65001:10 additive
 set metric 50
exit
route-map RM deny 20
exit
",
    ] {
        assert!(config.contains(expected), "{config}");
    }
    an_apply_sends_nothing(site, &first());

    // What another user changed is set again.
    router.configure(&["interface eth1", "ip ospf cost 99"]);
    router.configure(&["route-map RM deny 10"]);
    let output = site.apply("drift", &first());
    assert_eq!(output.code, 2, "{output}");
    assert_eq!(router.config(), config);

    plan_predicts(router, site, "changed OSPF", &changed(), &[]);
    let config = router.config();
    for expected in [
        " ip ospf area 1\n",
        " ip ospf message-digest-key 1 md5 another\n ip ospf message-digest-key 2 md5 newer\nexit\n",
        " log-adjacency-changes\n redistribute static metric 20\n distance 120\nexit\n",
        "route-map RM permit 10\n set metric 50\n set tag 7\nexit\n",
        "route-map RM permit 20\n description all others\n on-match next\nexit\n",
    ] {
        assert!(config.contains(expected), "{expected:?} in {config}");
    }
    an_apply_sends_nothing(site, &changed());

    // An area at interfaces and networks of the process exclude each other.
    router.configure(&["interface eth1", "no ip ospf area"]);
    router.configure(&["router ospf", "network 192.0.2.0/24 area 0"]);
    let before = router.config();
    let refused = [resource(
        "Frr_ospf_interface",
        "eth1",
        json!({ "area": "0" }),
    )];
    let output = site.apply("refused area", &refused);
    assert_eq!(output.code, 4, "{output}");
    let expected = "\
leaf:   > ip ospf area 0
leaf:   Please remove all network commands first.
";
    assert!(output.stdout.contains(expected), "{output}");
    assert_eq!(router.config(), before);
    networks_and_areas(router, site);

    let absent = || json!({ "ensure": "absent" });
    let none = json!({
        "area": "unset", "dead_interval": "unset", "authentication": "unset",
        "message_digest_keys": "unset",
    });
    let removed = resources(absent(), none, absent(), [absent(), absent()]);
    let output = site.apply("removed OSPF", &removed);
    assert_eq!(output.code, 2, "{output}");
    let config = router.config();
    let left = ["ospf", "route-map"].map(|word| config.contains(word));
    assert_eq!(left, [false, false], "{config}");
    an_apply_sends_nothing(site, &removed);
}

/// Networks of the process, and settings of its areas.
fn networks_and_areas(router: &Router, site: &Site) {
    let network = |name: &'static str, area: &str| {
        resource("Frr_ospf_network", name, json!({ "area": area }))
    };
    let area = |settings: Value| resource("Frr_ospf_area", "0.0.0.1", settings);
    let first = [
        network("192.0.2.0/24", "0"),
        network("203.0.113.0/24", "0.0.0.1"),
        area(json!({ "stub": "no-summary", "authentication": "message-digest" })),
    ];
    plan_predicts(router, site, "networks", &first, &[]);
    let config = router.config();
    for expected in [
        " network 192.0.2.0/24 area 0\n network 203.0.113.0/24 area 1\n",
        " area 1 stub no-summary\n",
        " area 1 authentication message-digest\n",
    ] {
        assert!(config.contains(expected), "{expected:?} in {config}");
    }
    an_apply_sends_nothing(site, &first);

    let changed = [
        network("203.0.113.0/24", "0.0.0.2"),
        area(json!({ "stub": "unset", "authentication": "unset" })),
    ];
    plan_predicts(router, site, "changed networks", &changed, &[]);
    let config = router.config();
    assert!(
        config.contains(" network 203.0.113.0/24 area 2\n"),
        "{config}"
    );
    assert!(!config.contains(" area 1 "), "{config}");
    an_apply_sends_nothing(site, &changed);
}
