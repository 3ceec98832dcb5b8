//! Lines whose `no` form with options removes the options only: redistribution, areas and summaries.

use serde_json::json;
use test_support::catalog::resource;

use super::{Step, follow};

#[tokio::test(flavor = "multi_thread")]
async fn life_cycle_of_redistributions() {
    let process = |ospf, areas, bgp, aggregates, eigrp| {
        vec![
            resource(
                "Ios_ospf_process",
                "1",
                json!({"redistribute": ospf, "areas": areas}),
            ),
            resource(
                "Ios_bgp_process",
                "65000",
                json!({"log_neighbor_changes": true, "ipv4_redistribute": bgp, "ipv4_aggregates": aggregates}),
            ),
            resource(
                "Ios_bgp_vrf",
                "65000 BLUE",
                json!({"router_id": "192.0.2.1", "redistribute": bgp}),
            ),
            resource(
                "Ios_eigrp_process",
                "1",
                json!({"variance": 2, "redistribute": eigrp}),
            ),
        ]
    };
    let unset = || json!("unset");
    let steps = vec![
        Step {
            resources: process(
                json!([
                    "bgp 65000 subnets",
                    "static metric 10 metric-type 1 subnets tag 7 route-map RM"
                ]),
                json!([
                    ["1", "stub no-summary"],
                    ["2", "range 10.0.0.0 255.0.0.0 cost 5"]
                ]),
                json!([
                    "connected route-map RM",
                    "ospf 1 match internal external route-map RM"
                ]),
                json!(["10.0.0.0 255.0.0.0 summary-only"]),
                json!(["ospf 1 metric 1000 10 255 1 1500 route-map RM"]),
            ),
            lines: &[
                "router eigrp 1",
                " variance 2",
                " redistribute ospf 1 metric 1000 10 255 1 1500 route-map RM",
                "router ospf 1",
                " area 1 stub no-summary",
                " area 2 range 10.0.0.0 255.0.0.0 cost 5",
                " redistribute static metric 10 metric-type 1 subnets tag 7 route-map RM",
                " redistribute bgp 65000 subnets",
                "router bgp 65000",
                " bgp log-neighbor-changes",
                " !",
                " address-family ipv4",
                "  redistribute connected route-map RM",
                "  redistribute ospf 1 match internal external route-map RM",
                "  aggregate-address 10.0.0.0 255.0.0.0 summary-only",
                " exit-address-family",
                " !",
                " address-family ipv4 vrf BLUE",
                "  bgp router-id 192.0.2.1",
                "  redistribute connected route-map RM",
                "  redistribute ospf 1 match internal external route-map RM",
                " exit-address-family",
            ],
        },
        // Another value, fewer options.
        Step {
            resources: process(
                json!(["bgp 65000", "static metric 20 subnets"]),
                json!([["1", "stub"], ["2", "range 10.0.0.0 255.0.0.0"]]),
                json!(["connected route-map OTHER", "ospf 1"]),
                json!(["10.0.0.0 255.0.0.0"]),
                json!(["ospf 1 metric 1000 10 255 1 1500"]),
            ),
            lines: &[
                "router eigrp 1",
                " variance 2",
                " redistribute ospf 1 metric 1000 10 255 1 1500",
                "router ospf 1",
                " area 1 stub",
                " area 2 range 10.0.0.0 255.0.0.0",
                " redistribute static metric 20 subnets",
                " redistribute bgp 65000",
                "router bgp 65000",
                " bgp log-neighbor-changes",
                " !",
                " address-family ipv4",
                "  redistribute connected route-map OTHER",
                "  redistribute ospf 1",
                "  aggregate-address 10.0.0.0 255.0.0.0",
                " exit-address-family",
                " !",
                " address-family ipv4 vrf BLUE",
                "  bgp router-id 192.0.2.1",
                "  redistribute connected route-map OTHER",
                "  redistribute ospf 1",
                " exit-address-family",
            ],
        },
        Step {
            resources: process(unset(), unset(), unset(), unset(), unset()),
            lines: &[
                "router eigrp 1",
                " variance 2",
                "router ospf 1",
                "router bgp 65000",
                " bgp log-neighbor-changes",
                " !",
                " address-family ipv4",
                " exit-address-family",
                " !",
                " address-family ipv4 vrf BLUE",
                "  bgp router-id 192.0.2.1",
                " exit-address-family",
            ],
        },
    ];
    let words = ["router ospf", "router bgp", "router eigrp"];
    follow("vrf definition BLUE\n", &words, steps).await;
}
