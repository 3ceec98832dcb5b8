//! Another spelling of a value that the device has is no difference, and nothing is removed that an
//! added value equals.

use serde_json::json;
use switchtender_mocks::LoadBalancerOptions;

use test_support::catalog::resource;
use test_support::lab::{Lab, PASSWORD};

/// A partition whose objects are in route domain 30 unless their address has another one.
fn partition_with_default_domain() -> LoadBalancerOptions {
    LoadBalancerOptions {
        user: "ops".to_owned(),
        password: PASSWORD.to_owned(),
        config: Some(json!({
            "POST /mgmt/tm/auth/partition": {"name": "rd", "defaultRouteDomain": 30},
        })),
        ..LoadBalancerOptions::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn route_domain_0_stays_in_a_partition_with_another_default() {
    let mut lab = Lab::new();
    lab.add_load_balancer_with(partition_with_default_domain())
        .await;
    let node = |name: &str, address: &str| {
        let parameters = json!({"ensure": "present", "address": address});
        resource("F5_node", name, parameters)
    };
    let resources = [
        node("/rd/n0", "192.0.2.31%0"),
        node("/rd/n30", "192.0.2.32%30"),
        node("/rd/n", "192.0.2.33"),
        node("/Common/n0", "2001:DB8:0:0::1%0"),
        resource(
            "F5_virtualserver",
            "/rd/vs0",
            json!({"ensure": "present", "provider": "standard", "protocol": "tcp",
                   "destination_address": "203.0.113.20%0", "service_port": 80}),
        ),
    ];
    lab.write_resources("lb1", &resources);
    lab.apply().await.assert_code(2);

    let field = |path: &str, field: &str| {
        let object = lab.load_balancers["lb1"].get(path).unwrap();
        object[field].as_str().unwrap().to_owned()
    };
    let address = |path: &str| field(path, "address");
    assert_eq!(address("ltm/node/~rd~n0"), "192.0.2.31%0");
    assert_eq!(address("ltm/node/~rd~n30"), "192.0.2.32");
    assert_eq!(address("ltm/node/~rd~n"), "192.0.2.33");
    assert_eq!(address("ltm/node/~Common~n0"), "2001:db8::1");
    let destination = field("ltm/virtual/~rd~vs0", "destination");
    assert_eq!(destination, "/rd/203.0.113.20%0:80");

    lab.apply().await.assert_code(0);
}
