//! Devices of both kinds in one process.

use switchtender_mocks::fleet::{DeviceOptions, Fleet, RunningDevice};
use switchtender_mocks::{LoadBalancerOptions, SwitchOptions};
use tokio::net::TcpStream;

fn both() -> Vec<DeviceOptions> {
    vec![
        DeviceOptions::Switch(SwitchOptions {
            name: "sw7".into(),
            ..SwitchOptions::default()
        }),
        DeviceOptions::LoadBalancer(LoadBalancerOptions {
            name: "lb7".into(),
            ..LoadBalancerOptions::default()
        }),
    ]
}

#[tokio::test]
async fn fleet_finds_devices_by_name_and_stops_them() {
    let fleet = Fleet::start(both(), 0).await.unwrap();
    assert!(matches!(fleet.find("sw7"), Some(RunningDevice::Switch(_))));
    assert!(matches!(
        fleet.find("lb7"),
        Some(RunningDevice::LoadBalancer(_))
    ));
    assert!(fleet.find("other").is_none());
    let addresses: Vec<_> = fleet.devices().iter().map(RunningDevice::address).collect();
    for address in &addresses {
        TcpStream::connect(address).await.unwrap();
    }
    fleet.stop().await;
    for address in &addresses {
        TcpStream::connect(address).await.unwrap_err();
    }
}

#[tokio::test]
async fn fleet_ports_are_consecutive_or_refused() {
    let error = Fleet::start(both(), 65_535).await.unwrap_err().to_string();
    assert_eq!(
        error,
        "cannot start 2 devices from port 65535: the highest port is 65535"
    );
    let taken = Fleet::start(both(), 0).await.unwrap();
    let port = taken.find("sw7").unwrap().address().port();
    let error = Fleet::start(both(), port).await.unwrap_err().to_string();
    assert!(
        error.contains("sw7") && error.contains(&port.to_string()),
        "{error}"
    );
}

#[tokio::test]
async fn fleet_refuses_faults_that_a_mock_does_not_support() {
    for (switch, fault) in [
        (true, "half-body=1"),
        (true, "unavailable=2 ^GET"),
        (false, "confirm=^vlan"),
        (false, "syslog-after=3"),
    ] {
        let faults = vec![fault.parse().unwrap()];
        let options = if switch {
            DeviceOptions::Switch(SwitchOptions {
                faults,
                ..SwitchOptions::default()
            })
        } else {
            DeviceOptions::LoadBalancer(LoadBalancerOptions {
                faults,
                ..LoadBalancerOptions::default()
            })
        };
        let error = Fleet::start(vec![options], 0).await.unwrap_err();
        let (mock, has, lacks) = if switch {
            ("switch", "confirm=N|EACH", "half-body=")
        } else {
            ("load balancer", "half-body=N|REGEX", "confirm=")
        };
        let name = fault.split('=').next().unwrap();
        let text = error.to_string();
        let words =
            format!("the mock {mock} does not support the fault `{name}`; supported: latency=");
        assert!(text.starts_with(&words), "{text}");
        assert!(text.contains(has) && !text.contains(lacks), "{text}");
    }
}
