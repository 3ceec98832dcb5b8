//! Recorded catalogs, each with what it must make of a device: the lines or requests that were
//! sent (the fewest), the device's state, the events, the exit codes, and a second run.
//!
//! The expectations are written from the catalogs and `docs/reference/devices`, not from the program.

mod load_balancer;
mod switch;

use serde_json::{Value, json};

use test_support::catalog::{example, recorded};
use test_support::lab::{Lab, switch_options};
use test_support::program::ProgramOutput;

/// What the device prints at most once per run, and nothing else but logging in and out.
#[track_caller]
fn only_reads_once(lab: &Lab, device: &str, reads: &[&str]) {
    let dialogue = [
        "terminal length 0",
        "terminal width 511",
        "terminal no monitor",
        "enable",
        "<password>",
        "show privilege",
        "exit",
    ];
    let mut received: Vec<String> = lab.log(device).received();
    received.retain(|line| !dialogue.contains(&line.as_str()));
    let mut expected: Vec<&str> = reads.to_vec();
    received.sort();
    expected.sort_unstable();
    assert_eq!(received, expected);
    assert_eq!(lab.log(device).connections(), 1);
}

/// Lines of a block of the running configuration, without indentation.
fn block(config: &str, head: &str) -> Vec<String> {
    config
        .lines()
        .skip_while(|line| *line != head)
        .skip(1)
        .take_while(|line| line.starts_with(' '))
        .map(|line| line.trim().to_owned())
        .collect()
}

#[track_caller]
fn nothing_happened(ran: &ProgramOutput, device: &str) {
    ran.assert_code(0);
    assert_eq!(ran.device(device)["status"], "unchanged");
    assert_eq!(ran.device(device)["counts"]["operations"], 0);
    assert_eq!(ran.warnings(device), Vec::<String>::new());
}
#[tokio::test(flavor = "multi_thread")]
async fn mixed1() {
    let mut lab = Lab::new();
    lab.add_switch("mixed1", &[]).await;
    lab.write_catalog("mixed1", &recorded("mixed1"));
    let ran = lab.apply().await;
    ran.assert_code(2);
    assert_eq!(
        lab.log("mixed1").configuration_lines(),
        [
            "vlan 40",
            "name printers",
            "interface GigabitEthernet1/0/9",
            "description printer",
            "ntp server 192.0.2.10",
            "logging host 192.0.2.20",
        ]
    );
    assert_eq!(
        ran.events("mixed1"),
        [
            "Network_vlan[40]/ensure: success: defined 'ensure' as 'present'",
            "Network_interface[GigabitEthernet1/0/9]/description: success: \
             description changed 'unset' to 'printer'",
            "Ntp_server[192.0.2.10]/ensure: success: defined 'ensure' as 'present'",
            "Syslog_server[192.0.2.20]/ensure: success: defined 'ensure' as 'present'",
        ]
    );
    for host in ["Package[ntp]", "Exec[write memory]", "User[netops]"] {
        assert_eq!(ran.resource("mixed1", host)["skipped"], true, "{host}");
    }
    let config = lab.switches["mixed1"].running_config();
    assert_eq!(
        block(&config, "interface GigabitEthernet1/0/9"),
        ["description printer"]
    );

    lab.log("mixed1").clear();
    let again = lab.apply().await;
    again.assert_code(0);
    assert_eq!(again.device("mixed1")["status"], "unchanged");
    only_reads_once(
        &lab,
        "mixed1",
        &[
            "show version",
            "show running-config",
            "show vlan brief",
            "show interfaces status",
        ],
    );
}

/// A zone in which it is half past the hour given or so.
fn zone_where_it_is(hour: i64) -> String {
    let seconds = switchtender::clock::timestamp().as_second();
    let offset = (hour * 3600 + 1800 - seconds).rem_euclid(86400);
    // POSIX counts west of Greenwich, and to 24 hours.
    let west = (86400 - offset) % 86400;
    format!("LAB{}:{:02}", west / 3600, west % 3600 / 60)
}

#[tokio::test(flavor = "multi_thread")]
async fn meta1() {
    let mut lab = Lab::new();
    let port = |number: u8| format!("interface GigabitEthernet1/0/{number}\n mtu 9000\n");
    lab.add_switch_with(switchtender_mocks::SwitchOptions {
        config: Some((1..=3).map(port).collect()),
        ..switch_options("meta1")
    })
    .await;
    lab.write_catalog("meta1", &recorded("meta1"));
    lab.environment
        .insert("TZ".to_owned(), zone_where_it_is(12));

    let ran = lab.apply().await;
    ran.assert_code(2);
    assert_eq!(
        lab.log("meta1").configuration_lines(),
        [
            "ntp server 192.0.2.10 maxpoll 10 minpoll 6 prefer source Vlan10",
            "ntp server 192.0.2.11 maxpoll 10 minpoll 6 source Vlan10",
            "logging host 192.0.2.20",
            "vlan 50",
            "vlan 60",
            "interface GigabitEthernet1/0/3",
            "no mtu",
            "switchport mode trunk",
        ]
    );
    let harmless = "Network_interface[GigabitEthernet1/0/1]";
    assert!(
        ran.events("meta1").contains(&format!(
            "{harmless}/mtu: noop: mtu changed 9000 to 1500 (noop)"
        )),
        "{:#?}",
        ran.events("meta1")
    );
    let scheduled = "Network_interface[GigabitEthernet1/0/2]";
    assert_eq!(ran.resource("meta1", scheduled)["skipped"], true);

    lab.log("meta1").clear();
    let again = lab.apply().await;
    again.assert_code(0);
    only_reads_once(
        &lab,
        "meta1",
        &[
            "show version",
            "show running-config",
            "show vlan brief",
            "show interfaces status",
            "show interfaces switchport",
        ],
    );

    // In the window of the schedule, its resource has its turn.
    lab.environment.insert("TZ".to_owned(), zone_where_it_is(2));
    lab.log("meta1").clear();
    lab.apply().await.assert_code(2);
    assert_eq!(
        lab.log("meta1").configuration_lines(),
        ["interface GigabitEthernet1/0/2", "no mtu"]
    );
    let config = lab.switches["meta1"].running_config();
    assert_eq!(
        block(&config, "interface GigabitEthernet1/0/1"),
        ["mtu 9000"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn bench1() {
    let mut lab = Lab::new();
    lab.add_switch("bench1", &[]).await;
    lab.write_catalog("bench1", &recorded("bench1"));
    let ran = lab.apply().await;
    ran.assert_code(2);
    let expected: Vec<String> = (101..=120)
        .flat_map(|number| [format!("vlan {number}"), format!("name bench-{number}")])
        .collect();
    assert_eq!(lab.log("bench1").configuration_lines(), expected);
    let vlans = lab.switches["bench1"].vlans();
    let made = vlans
        .iter()
        .filter(|(_, name, _)| name.starts_with("bench-"));
    assert_eq!(made.count(), 20);
    assert_eq!(ran.device("bench1")["counts"]["changed"], 20);

    lab.log("bench1").clear();
    nothing_happened(&lab.apply().await, "bench1");
    only_reads_once(&lab, "bench1", &["show version", "show vlan brief"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn rich1_is_applied_without_printing_secrets() {
    let mut lab = Lab::new();
    lab.add_switch("rich1", &[]).await;
    lab.write_catalog("rich1", &recorded("rich1"));
    let ran = lab
        .run(&[
            "apply",
            "--detailed-exitcodes",
            "--transcripts",
            "seen",
            "-vvv",
        ])
        .await;
    ran.assert_code(2);
    assert_eq!(
        lab.log("rich1").configuration_lines(),
        ["snmp-server community secret-community RW staff-only"]
    );
    // The community is the resource's title, which the catalog does not call sensitive; group and
    // list are.
    let seen = lab.files("seen");
    assert_eq!(seen.len(), 1, "{seen:?}");
    for text in [&ran.text(), &seen[0].1] {
        assert!(!text.contains("staff-only"), "{text}");
        assert!(!text.contains("community secret-community"), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unsupported_values_are_refused_before_connecting() {
    let cases = [(
        "failing1",
        "/etc/puppetlabs/code/environments/production/manifests/site.pp:241".to_owned(),
        "Network_vlan[broken-80]: id: \"broken-80\" is not valid",
    )];
    for (name, position, words) in cases {
        let mut lab = Lab::new();
        lab.add_switch(name, &[]).await;
        lab.write_catalog(name, &recorded(name));
        for command in [
            &["apply"][..],
            &["plan"],
            &["apply", "--detailed-exitcodes"],
        ] {
            let ran = lab.run(command).await;
            ran.assert_code(1);
            ran.assert_contains(&position);
            ran.assert_contains(words);
        }
        assert_eq!(lab.log(name).connections(), 0, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn titles1_loads_and_its_references_resolve() {
    let mut lab = Lab::new();
    lab.add_switch("titles1", &[]).await;
    lab.write_catalog("titles1", &recorded("titles1"));
    let ran = lab.run(&["apply", "--output", "json"]).await;
    ran.assert_code(1);
    // No device has an interface with such a name.
    let findings = ran.device("titles1")["findings"].clone();
    let errors: Vec<&Value> = findings
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["severity"] == "error")
        .collect();
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert!(
        errors[0]["message"].as_str().unwrap().contains("a => b"),
        "{errors:#?}"
    );
    assert_eq!(lab.log("titles1").connections(), 0);
}
