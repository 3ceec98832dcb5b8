//! Recorded catalogs, each with what it must make of a device: the lines or requests that were
//! sent (the fewest), the device's state, the events, the exit codes, and a second run.
//!
//! The expectations are written from the catalogs and `docs/reference/devices`, not from the program.

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
    let mut shown: Vec<String> = lab.log(device).received();
    shown.retain(|line| !dialogue.contains(&line.as_str()));
    let mut expected: Vec<&str> = reads.to_vec();
    shown.sort();
    expected.sort_unstable();
    assert_eq!(shown, expected);
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

const SW1_READS: &[&str] = &[
    "show version",
    "show running-config",
    "show vlan brief",
    "show interfaces switchport",
    "show interfaces status",
];

#[tokio::test(flavor = "multi_thread")]
async fn sw1() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    lab.write_catalog("sw1", &example("sw1"));

    let ran = lab.apply().await;
    ran.assert_code(2);
    // What the device has by itself (speed and duplex `auto`, ports that are up, VLANs that are
    // not shut down, VLAN 1 as native, port 514) is not sent.
    assert_eq!(
        lab.log("sw1").configuration_lines(),
        [
            "ntp server 192.0.2.10 maxpoll 10 minpoll 6 prefer source Vlan10",
            "ntp server 192.0.2.11 maxpoll 10 minpoll 6 source Vlan10",
            "ntp server 192.0.2.12 maxpoll 10 minpoll 6 source Vlan10",
            "logging host 192.0.2.20",
            "logging host 192.0.2.21",
            "snmp-server community monitoring RO snmp-ro",
            "vlan 10",
            "name users",
            "vlan 20",
            "name voice",
            "vlan 30",
            "name guests",
            "interface GigabitEthernet1/0/1",
            "description access vlan 10",
            "switchport mode access",
            "switchport trunk native vlan 10",
            "interface GigabitEthernet1/0/2",
            "description access vlan 10",
            "switchport mode access",
            "switchport trunk native vlan 10",
            "interface GigabitEthernet1/0/3",
            "description access vlan 30",
            "switchport mode access",
            "switchport trunk native vlan 30",
            "interface TenGigabitEthernet1/1/1",
            "description uplink to core1.lab.test",
            "mtu 9000",
            "speed 10000",
            "duplex full",
            "switchport mode trunk",
        ]
    );
    let entered = lab.log("sw1").received();
    let entered = entered.iter().filter(|line| *line == "configure terminal");
    assert_eq!(entered.count(), 1, "the configuration mode is entered once");

    let config = lab.switches["sw1"].running_config();
    for line in [
        "ntp server 192.0.2.12 maxpoll 10 minpoll 6 source Vlan10",
        "logging host 192.0.2.21",
        "snmp-server community monitoring RO snmp-ro",
    ] {
        assert!(
            config.lines().any(|there| there == line),
            "{line}\n{config}"
        );
    }
    assert_eq!(
        block(&config, "interface GigabitEthernet1/0/2"),
        [
            "description access vlan 10",
            "switchport trunk native vlan 10",
            "switchport mode access"
        ]
    );
    let mut vlans = lab.switches["sw1"].vlans();
    vlans.retain(|(number, ..)| (2..1000).contains(number));
    let names = [(10, "users"), (20, "voice"), (30, "guests")];
    assert_eq!(
        vlans,
        names.map(|(number, name)| (number, name.to_owned(), false))
    );

    let defined =
        |reference: &str| format!("{reference}/ensure: success: defined 'ensure' as 'present'");
    let set = |reference: &str, property: &str, text: &str| {
        format!("{reference}/{property}: success: {property} changed {text}")
    };
    let mut expected = vec![
        defined("Ntp_server[192.0.2.10]"),
        defined("Ntp_server[192.0.2.11]"),
        defined("Ntp_server[192.0.2.12]"),
        defined("Syslog_server[192.0.2.20]"),
        defined("Syslog_server[192.0.2.21]"),
        defined("Snmp_community[monitoring]"),
        "Notify[switch sw1 runs LabOS]/message: success: \
         defined 'message' as 'switch sw1 runs LabOS'"
            .to_owned(),
        defined("Network_vlan[10]"),
        defined("Network_vlan[20]"),
        defined("Network_vlan[30]"),
    ];
    for (port, vlan) in [(1, 10), (2, 10), (3, 30)] {
        let port = format!("GigabitEthernet1/0/{port}");
        let (interface, trunk) = (
            format!("Network_interface[{port}]"),
            format!("Network_trunk[{port}]"),
        );
        let text = format!("'unset' to 'access vlan {vlan}'");
        expected.push(set(&interface, "description", &text));
        expected.push(set(&trunk, "mode", "'dynamic_auto' to 'access'"));
        expected.push(set(&trunk, "untagged_vlan", &format!("1 to {vlan}")));
    }
    let uplink = "Network_interface[TenGigabitEthernet1/1/1]";
    expected.extend([
        set(
            uplink,
            "description",
            "'unset' to 'uplink to core1.lab.test'",
        ),
        set(uplink, "mtu", "1500 to 9000"),
        set(uplink, "speed", "'auto' to '10g'"),
        set(uplink, "duplex", "'auto' to 'full'"),
        set(
            "Network_trunk[TenGigabitEthernet1/1/1]",
            "mode",
            "'dynamic_auto' to 'trunk'",
        ),
    ]);
    assert_eq!(ran.events("sw1"), expected);
    assert_eq!(ran.device("sw1")["status"], "changed");
    assert_eq!(ran.warnings("sw1"), Vec::<String>::new());
    let positioned = ran.resource("sw1", "Snmp_community[monitoring]");
    assert_eq!(positioned["line"], 35);
    assert_eq!(
        positioned["operations"],
        json!(["snmp-server community •••• RO snmp-ro"])
    );

    lab.log("sw1").clear();
    let again = lab.apply().await;
    again.assert_code(2);
    // Puppet's `notify` logs its message in every run, and counts as a change.
    assert_eq!(again.device("sw1")["counts"]["changed"], 1);
    assert_eq!(again.device("sw1")["counts"]["operations"], 0);
    only_reads_once(&lab, "sw1", SW1_READS);

    lab.log("sw1").clear();
    let plain = lab.run(&["apply"]).await;
    plain.assert_code(0);
    only_reads_once(&lab, "sw1", SW1_READS);
}

#[tokio::test(flavor = "multi_thread")]
async fn lb1() {
    let mut lab = Lab::new();
    lab.add_load_balancer("lb1", &[]).await;
    lab.write_catalog("lb1", &example("lb1"));

    let ran = lab.apply().await;
    ran.assert_code(2);
    let node = |number: u8| {
        request(
            "POST /mgmt/tm/ltm/node",
            json!({"name": format!("web{number}"), "partition": "shop",
                   "address": format!("198.51.100.1{number}"), "monitor": "/Common/icmp"}),
        )
    };
    let member = |number: u8| json!({"name": format!("/shop/web{number}:8080")});
    let expected = [
        request("POST /mgmt/tm/auth/partition", json!({"name": "shop"})),
        request(
            "POST /mgmt/tm/net/vlan",
            json!({"name": "servers", "partition": "Common", "tag": 120,
                   "interfaces": [{"name": "1.2", "tagged": true}]}),
        ),
        request(
            "POST /mgmt/tm/net/self",
            json!({"name": "self-servers", "partition": "Common",
                   "address": "198.51.100.1/24", "vlan": "/Common/servers"}),
        ),
        request(
            "POST /mgmt/tm/ltm/monitor/http",
            json!({"name": "http_health", "partition": "shop", "defaultsFrom": "/Common/http",
                   "interval": 5, "timeout": 16, "recv": "200 OK",
                   "send": "GET /health HTTP/1.1\\r\\nHost: shop.example\\r\\n\
                            Connection: close\\r\\n\\r\\n"}),
        ),
        node(1),
        node(2),
        node(3),
        request(
            "POST /mgmt/tm/ltm/pool",
            json!({"name": "web", "partition": "shop", "monitor": "/shop/http_health",
                   "loadBalancingMode": "least-connections-member",
                   "members": [member(1), member(2), member(3)]}),
        ),
        request(
            "POST /mgmt/tm/ltm/rule",
            json!({"name": "redirect", "partition": "shop",
                   "apiAnonymous": "when HTTP_REQUEST {\n  \
                                    HTTP::redirect \"https://[HTTP::host][HTTP::uri]\"\n}"}),
        ),
        request(
            "POST /mgmt/tm/ltm/virtual",
            json!({"name": "web_vs", "partition": "shop",
                   "destination": "/shop/203.0.113.80:443", "mask": "255.255.255.255",
                   "source": "0.0.0.0/0", "ipProtocol": "tcp", "pool": "/shop/web",
                   "rules": ["/shop/redirect"],
                   "sourceAddressTranslation": {"type": "automap"},
                   "vlansEnabled": true, "vlans": ["/Common/servers"],
                   "profiles": [{"name": "/Common/http"},
                                {"name": "/Common/tcp", "context": "all"}]}),
        ),
        request(
            "PATCH /mgmt/tm/sys/ntp",
            json!({"servers": ["192.0.2.10", "192.0.2.11"], "timezone": "UTC"}),
        ),
    ];
    let sent: Vec<(String, Value)> = lab
        .log("lb1")
        .writes()
        .iter()
        .map(|line| parsed(line))
        .collect();
    for (sent, expected) in sent.iter().zip(&expected) {
        assert_eq!(sent, expected);
    }
    assert_eq!(sent.len(), expected.len(), "{sent:#?}");

    let device = &lab.load_balancers["lb1"];
    let pool = device
        .get("ltm/pool/~shop~web?expandSubcollections=true")
        .unwrap();
    assert_eq!(pool["loadBalancingMode"], "least-connections-member");
    assert_eq!(
        pool["monitor"].as_str().unwrap().trim(),
        "/shop/http_health"
    );
    let members = pool["membersReference"]["items"].as_array().unwrap();
    let members: Vec<&str> = members
        .iter()
        .map(|member| member["fullPath"].as_str().unwrap())
        .collect();
    assert_eq!(
        members,
        ["/shop/web1:8080", "/shop/web2:8080", "/shop/web3:8080"]
    );
    let server = device
        .get("ltm/virtual/~shop~web_vs?expandSubcollections=true")
        .unwrap();
    assert_eq!(server["destination"], "/shop/203.0.113.80:443");
    assert_eq!(server["rules"], json!(["/shop/redirect"]));
    assert_eq!(server["vlans"], json!(["/Common/servers"]));
    assert_eq!(device.get("sys/ntp").unwrap()["timezone"], "UTC");
    assert!(
        !device.is_saved(),
        "nothing is saved unless it is asked for"
    );
    assert_eq!(device.tokens(), 0, "the session was ended");

    let created = |reference: &&str| format!("{reference}/ensure: success: created");
    let mut expected: Vec<String> = [
        "F5_partition[shop]",
        "F5_vlan[/Common/servers]",
        "F5_selfip[/Common/self-servers]",
        "F5_monitor[/shop/http_health]",
        "F5_node[/shop/web1]",
        "F5_node[/shop/web2]",
        "F5_node[/shop/web3]",
        "F5_pool[/shop/web]",
        "F5_irule[/shop/redirect]",
        "F5_virtualserver[/shop/web_vs]",
    ]
    .iter()
    .map(created)
    .collect();
    // What a new device has: no server, and the time of the factory.
    let ntp = "F5_ntp[/Common/ntp]";
    expected.push(format!(
        "{ntp}/servers: success: servers changed [] to ['192.0.2.10', '192.0.2.11']"
    ));
    expected.push(format!(
        "{ntp}/timezone: success: timezone changed 'America/Los_Angeles' to 'UTC'"
    ));
    assert_eq!(ran.events("lb1"), expected);
    assert_eq!(ran.warnings("lb1"), Vec::<String>::new());

    lab.log("lb1").clear();
    let again = lab.apply().await;
    nothing_happened(&again, "lb1");
    assert_eq!(lab.log("lb1").writes(), Vec::<String>::new());
    let mut reads = lab.log("lb1").received();
    reads.retain(|line| line.starts_with("GET "));
    let all = reads.len();
    reads.sort();
    reads.dedup();
    assert_eq!(reads.len(), all, "each read once: {reads:#?}");
}

fn request(line: &str, body: Value) -> (String, Value) {
    (line.to_owned(), body)
}

/// `METHOD /path {…}` in its parts, lists of objects in the order of their names.
fn parsed(received: &str) -> (String, Value) {
    let (line, body) = received.split_at(received.find('{').unwrap_or(received.len()));
    let mut body: Value = serde_json::from_str(body).unwrap_or_default();
    if let Some(profiles) = body.get_mut("profiles").and_then(Value::as_array_mut) {
        profiles.sort_by_key(|profile| profile["name"].to_string());
    }
    (line.trim().to_owned(), body)
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
    let modules = "/etc/puppetlabs/code/environments/production/modules";
    let cases = [
        (
            "sw1",
            format!("{modules}/netlab/manifests/vlan.pp:7"),
            "Network_vlan[30]: vlan_name: \"Guests & visitors\" contains spaces",
        ),
        (
            "failing1",
            "/etc/puppetlabs/code/environments/production/manifests/site.pp:241".to_owned(),
            "Network_vlan[broken-80]: id: \"broken-80\" is not valid",
        ),
    ];
    for (name, place, words) in cases {
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
            ran.assert_contains(&place);
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
