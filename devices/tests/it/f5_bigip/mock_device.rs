//! The requests with the mock load balancer. It is independent of the definitions: it checks
//! references, rewrites values and fills in defaults as the real device does.

use serde_json::json;
use switchtender_devices::change::Desired;
use switchtender_devices::driver::Driver;
use switchtender_devices::operation::Outcome;
use switchtender_devices::read::Reads;
use switchtender_devices::session::{Access, open};
use switchtender_mocks::{LoadBalancer, LoadBalancerOptions, RunningLoadBalancer};

use super::{desired, print, resources, shipped};
use crate::support::offline::apply;
use crate::support::session::load_balancer_target;

/// Reads a device, applies the resources, and returns the requests.
pub(super) async fn run(
    driver: &Driver,
    resources: &[Desired],
    device: &RunningLoadBalancer,
) -> Vec<String> {
    let protocol = driver.platform().protocol();
    let mut session = open(&load_balancer_target(device), protocol, Access::ReadWrite)
        .await
        .expect("opened");
    let all: Vec<&Desired> = resources.iter().collect();
    let requests = driver.reads_for(&all);
    let texts = session.read(&requests).await.expect("read");
    let names = requests.into_iter().map(|request| request.name);
    let reads: Reads = names.zip(texts).collect();
    let mut state = driver.platform().parse(&reads).expect("JSON");
    let mut sent = Vec::new();
    for desired in resources {
        let operations = apply(driver, desired, &mut state);
        let results = session.commit(&operations).await;
        for (operation, result) in print(&operations).into_iter().zip(results) {
            assert!(
                matches!(result.outcome, Outcome::Done { .. }),
                "{}: {operation}: {:?}",
                desired.reference,
                result.outcome
            );
            sent.push(operation);
        }
    }
    session.close().await;
    sent
}

#[tokio::test]
async fn mock_device_accepts_all_requests_and_the_second_run_sends_nothing() {
    let (registry, driver) = shipped();
    let device = LoadBalancer::start(LoadBalancerOptions::default(), 0)
        .await
        .expect("started");
    let mut catalog = resources(registry, &driver, "lb1");
    assert_eq!(run(&driver, &catalog, &device).await.len(), 11);
    assert_eq!(run(&driver, &catalog, &device).await, [""; 0]);

    // Every attribute of these types, changed and read back.
    let more = [
        (
            "f5_dns",
            json!({"name_servers": ["192.0.2.53", "2001:DB8::53"], "search": "lab.test"}),
        ),
        (
            "f5_node",
            json!({"name": "/shop/web1", "ensure": "present", "state": "forced_offline", "ratio": 3, "connection_limit": "100",
                "connection_rate_limit": 50, "description": "007", "logging": true,
                "health_monitors": ["/Common/icmp", "/shop/http_health"], "availability_requirement": 1}),
        ),
        (
            "f5_pool",
            json!({"name": "/shop/web", "ensure": "present", "allow_nat": false, "service_down": "reject", "slow_ramp_time": 20,
                "request_queuing": true, "request_queue_depth": 7, "priority_group_activation": 1, "ip_tos_to_client": "mimic",
                "members": [{"name": "/shop/web1", "port": 8080}, {"name": "/shop/web2", "port": "0"}],
                "health_monitors": "none"}),
        ),
        (
            "f5_monitor",
            json!({"name": "/shop/http_health", "ensure": "present", "provider": "http", "interval": 7, "reverse": "yes",
                "alias_address": "192.0.2.9", "alias_service_port": 81, "receive_disable_string": "off", "up_interval": 9}),
        ),
        (
            "f5_vlan",
            json!({"name": "/Common/servers", "ensure": "present", "vlan_tag": 121, "mtu": 9000, "source_check": true,
                "sflow_polling_interval": 10, "interfaces": [{"name": "1.2", "tagged": false}]}),
        ),
        (
            "f5_selfip",
            json!({"name": "/Common/self-servers", "ensure": "present", "port_lockdown": ["tcp:443", "tcp:22"]}),
        ),
        (
            "f5_virtualserver",
            json!({"name": "/shop/web_vs", "ensure": "present", "provider": "standard", "protocol": "tcp", "state": "disabled", "service_port": 8443,
                "default_pool": "none", "irules": "none", "source_address_translation": "none", "vlan_and_tunnel_traffic": "all",
                "protocol_profile_client": "/Common/tcp-wan-optimized", "ssl_profile_client": "/Common/clientssl", "http_profile": "none",
                "default_persistence_profile": "/Common/source_addr", "connection_limit": 5, "address_translation": "disabled"}),
        ),
        (
            "f5_virtualserver",
            json!({"name": "/shop/six", "ensure": "present", "provider": "performance_l4", "destination_address": "2001:DB8::80",
                "service_port": 80, "protocol": "tcp", "protocol_profile_client": "/Common/fastL4"}),
        ),
        (
            "f5_virtualserver",
            json!({"name": "/shop/no", "ensure": "present", "provider": "reject", "destination_address": "203.0.113.81", "service_port": "*"}),
        ),
        (
            "f5_partition",
            json!({"name": "shop", "ensure": "present", "description": "the shop"}),
        ),
    ];
    let changed: Vec<Desired> = more
        .iter()
        .map(|(kind, attributes)| desired(registry, &driver, kind, attributes))
        .collect();
    assert!(!run(&driver, &changed, &device).await.is_empty());
    assert_eq!(run(&driver, &changed, &device).await, [""; 0]);

    // Remove the objects of the catalog in reverse rank order.
    catalog.extend(changed);
    catalog.retain(|desired| desired.attributes.contains_key("ensure"));
    catalog.sort_by_key(|desired| std::cmp::Reverse(driver.rank(&desired.model)));
    for desired in &mut catalog {
        desired
            .attributes
            .insert("ensure".to_owned(), "absent".into());
    }
    run(&driver, &catalog, &device).await;
    assert_eq!(run(&driver, &catalog, &device).await, [""; 0]);
    assert_eq!(device.tokens(), 0, "every session logs off");
    device.stop().await;
}
