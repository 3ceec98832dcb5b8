//! Neighbors of BGP: lines with a common beginning, in the block of the process and in those of its
//! address families.

use super::steps::{an_apply_sends_nothing, plan_predicts};
use super::*;

fn neighbor(title: &'static str, parameters: Value) -> Resource {
    resource("Frr_bgp_neighbor", title, parameters)
}

fn neighbors() -> Vec<Resource> {
    vec![
        neighbor(
            "65001 SPINES",
            json!({ "is_group": true, "remote_as": 65100, "ipv4_prefix_list_in": "CUSTOMER" }),
        ),
        neighbor(
            "65001 192.0.2.2",
            json!({ "group": "SPINES", "description": "spine 1" }),
        ),
        neighbor(
            "65001 2001:DB8::2",
            json!({
                "remote_as": 65200, "ebgp_multihop": 2, "ipv4_unicast": false, "ipv6_unicast": true,
                "ipv6_prefix_list_in": "SIX",
            }),
        ),
    ]
}

pub(super) fn bgp_neighbors_have_lines_in_address_families(router: &Router, site: &Site) {
    plan_predicts(router, site, "neighbors", &neighbors(), &[]);
    let config = router.config();
    let expected = "\
router bgp 65001
 neighbor SPINES peer-group
 neighbor SPINES remote-as 65100
 neighbor 192.0.2.2 peer-group SPINES
 neighbor 192.0.2.2 description spine 1
 neighbor 2001:db8::2 remote-as 65200
 neighbor 2001:db8::2 ebgp-multihop 2
 !
 address-family ipv4 unicast
  neighbor SPINES prefix-list CUSTOMER in
  no neighbor 2001:db8::2 activate
 exit-address-family
 !
 address-family ipv6 unicast
  neighbor 2001:db8::2 activate
  neighbor 2001:db8::2 prefix-list SIX in
 exit-address-family
exit
";
    assert!(config.contains(expected), "{config}");
    an_apply_sends_nothing(site, &neighbors());

    // What another user changed is set again.
    router.configure(&["router bgp 65001", "neighbor 192.0.2.2 shutdown"]);
    let mut desired = neighbors();
    desired[1].parameters["shutdown"] = json!(false);
    let output = site.apply("drift", &desired);
    assert_eq!(output.code, 2, "{output}");
    assert_eq!(router.config(), config);

    desired[0].parameters["ipv4_prefix_list_in"] = json!("unset");
    desired[0].parameters["ipv4_maximum_prefix"] = json!(100);
    desired[1].parameters["description"] = json!("unset");
    desired[2].parameters = json!({ "ensure": "absent" });
    // The router does not print an address family without lines.
    plan_predicts(
        router,
        site,
        "changed neighbors",
        &desired,
        &["address-family ipv6 unicast"],
    );
    let config = router.config();
    let expected = "\
router bgp 65001
 neighbor SPINES peer-group
 neighbor SPINES remote-as 65100
 neighbor 192.0.2.2 peer-group SPINES
 !
 address-family ipv4 unicast
  neighbor SPINES maximum-prefix 100
 exit-address-family
exit
";
    assert!(config.contains(expected), "{config}");
    an_apply_sends_nothing(site, &desired);

    // A neighbor needs an autonomous system or a group before other settings.
    let refused = [neighbor(
        "65001 192.0.2.9",
        json!({ "description": "early" }),
    )];
    let output = site.apply("refused neighbor", &refused);
    assert_eq!(output.code, 4, "{output}");
    let expected = "\
leaf:   > neighbor 192.0.2.9 description early
leaf:   % Specify remote-as or peer-group commands first
";
    assert!(output.stdout.contains(expected), "{output}");
    assert_eq!(router.config(), config);

    // Groups are removed with another line than neighbors.
    let removed = ["65001 192.0.2.2", "65001 SPINES"];
    let removed = removed.map(|title| neighbor(title, json!({ "ensure": "absent" })));
    let output = site.apply("removed neighbors", &removed);
    assert_eq!(output.code, 2, "{output}");
    assert!(!router.config().contains("neighbor"), "{}", router.config());
    an_apply_sends_nothing(site, &removed);
}
