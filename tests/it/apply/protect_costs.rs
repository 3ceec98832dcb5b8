//! What protection adds to a run that changes something. `cargo test --test it protection_adds -- --nocapture` prints it.

use serde_json::{Value, json};
use switchtender_mocks::SwitchOptions;
use test_support::catalog::resource;
use test_support::lab::{Lab, switch_options};

/// A switch with an archive and a NETCONF server, with one change each.
async fn lab() -> Lab {
    let mut lab = Lab::new();
    let config = "archive\n path flash:before\ninterface GigabitEthernet1/0/1\n no shutdown\n";
    lab.add_switch_with(SwitchOptions {
        config: Some(config.to_owned()),
        ..switch_options("sw1")
    })
    .await;
    lab.add_netconf_server("nc1", &[]).await;
    let desk = json!({"description": "desk"});
    lab.write_resources(
        "sw1",
        &[resource("Network_interface", "GigabitEthernet1/0/1", desk)],
    );
    let desk =
        json!({"ensure": "present", "type": "iana-if-type:ethernetCsmacd", "description": "desk"});
    lab.write_resources("nc1", &[resource("Ietf_interface", "eth1", desk)]);
    lab
}

/// Round trips as the program counts them; logins and commands or requests as the mock counts them.
#[derive(Debug, PartialEq, Eq)]
struct Costs {
    round_trips: u64,
    logins: u64,
    commands: usize,
}

async fn costs(lab: &Lab, device: &str, policy: &str) -> Costs {
    let apply = ["apply", "--output", "json", "--protect", policy];
    let ran = lab.run(&apply).await;
    ran.assert_code(0);
    let log = lab.log(device);
    let exchanges = log.exchanges().into_iter();
    let commands = exchanges.filter(|exchange| exchange.mode != "password");
    Costs {
        round_trips: ran.device(device)["round_trips"].as_u64().unwrap(),
        logins: log.connections(),
        commands: commands.count(),
    }
}

/// The costs of the change, protected or not.
async fn costs_of_change(device: &str, policy: &str) -> Costs {
    let lab = lab().await;
    let costs = costs(&lab, device, policy).await;
    let protection = &lab.report(device)["protection"];
    let expected = if policy == "off" {
        Value::Null
    } else {
        json!("applied")
    };
    assert_eq!(protection, &expected);
    costs
}

/// A run without resources logs in and reads the facts, as the second login does.
async fn costs_of_login(device: &str) -> Costs {
    let lab = lab().await;
    for device in ["sw1", "nc1"] {
        lab.write_resources(device, &[]);
    }
    costs(&lab, device, "off").await
}

#[tokio::test(flavor = "multi_thread")]
async fn protection_adds_round_trips_and_a_login() {
    for (device, platform) in [("sw1", "cisco_ios"), ("nc1", "ietf_netconf")] {
        let login = costs_of_login(device).await;
        let without = costs_of_change(device, "off").await;
        // Only `required` asks before the first change whether the device has a timed revert.
        for (policy, most) in [("auto", 5), ("required", 6)] {
            let with = costs_of_change(device, policy).await;
            let more = with.round_trips - without.round_trips;
            println!(
                "{platform}, protect = {policy}: a login with {} round trips, and {} more; {} commands more",
                login.round_trips,
                more - login.round_trips,
                with.commands - without.commands
            );
            assert_eq!(with.logins - without.logins, 1, "{device}");
            assert!(
                more <= login.round_trips + most,
                "{device} {policy}: {more} more, a login has {}",
                login.round_trips
            );
        }
    }
}
