//! Changes of what the session or the next login uses: refused, unless the device reverts them or they are
//! allowed by name.

use serde_json::{Value, json};
use switchtender_mocks::SwitchOptions;
use test_support::catalog::resource;
use test_support::lab::{Lab, switch_options};

use super::undo::configuration;

/// The lab reaches the devices at 127.0.0.1, as the user `ops`.
const CONFIG: &str = "\
archive
 path flash:before
username ops privilege 15 secret 9 $9$a$b
username guest privilege 1 secret 9 $9$a$b
ip access-list standard HOSTS
 10 permit 127.0.0.0 0.255.255.255
ip access-list standard OTHER
 10 permit 192.0.2.0 0.0.0.255
interface Vlan10
 ip address 127.0.0.1 255.0.0.0
 ip access-group HOSTS in
 no shutdown
interface GigabitEthernet1/0/1
 switchport mode trunk
interface GigabitEthernet1/0/2
 switchport mode trunk
ip route 192.0.2.0 255.255.255.0 198.51.100.1
line vty 0 4
 access-class MGMT in
";

/// The resources, each with the beginning of a line that changes it, and whether a session uses it.
fn resources() -> Vec<(Value, &'static str, bool)> {
    let acl = |title: &str| {
        let entry =
            json!({ "permission": "permit", "source_address_any": true, "ensure": "present" });
        resource("Ios_acl", title, entry)
    };
    let route = |title: &str| resource("Ios_static_route", title, json!({ "ensure": "present" }));
    let user = |name: &str| resource("Ios_user", name, json!({ "privilege": 7 }));
    let trunk = |name: &str, vlans: &str| {
        resource("Ios_network_trunk", name, json!({ "allowed_vlans": vlans }))
    };
    let login = json!({ "local": true, "ensure": "present" });
    vec![
        (acl("HOSTS standard 20"), "20 permit any", true),
        (acl("MGMT standard 30"), "30 permit any", true),
        (acl("OTHER standard 40"), "40 permit any", false),
        (
            route("127.0.0.0 255.255.0.0 198.51.100.9"),
            "ip route 127.0.0.0",
            true,
        ),
        (
            route("203.0.113.0 255.255.255.0 198.51.100.9"),
            "ip route 203.0.113.0",
            false,
        ),
        (user("ops"), "username ops", true),
        (user("guest"), "username guest", false),
        (
            trunk("GigabitEthernet1/0/1", "20-30"),
            "switchport trunk allowed vlan 20-30",
            true,
        ),
        (
            trunk("GigabitEthernet1/0/2", "10,20"),
            "switchport trunk allowed vlan 10,20",
            false,
        ),
        (
            resource("Ios_line", "vty 0 4", json!({ "exec_timeout": [5, 0] })),
            "exec-timeout 5",
            true,
        ),
        (
            resource("Ios_line", "con 0", json!({ "exec_timeout": [6, 0] })),
            "exec-timeout 6",
            false,
        ),
        (
            resource("Ios_aaa_new_model", "default", json!({ "enable": true })),
            "aaa new-model",
            true,
        ),
        (
            resource("Ios_aaa_authentication", "login default", login),
            "aaa authentication login",
            true,
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn own_path_covers_routes_lists_trunks_users_and_logins() {
    let arguments = ["apply", "--output", "json"];
    for (policy, allow, permits) in [
        ("off", &[][..], false),
        ("off", &["--allow", "own-path"], true),
        ("required", &[], true),
    ] {
        let mut lab = Lab::new();
        let options = SwitchOptions {
            config: Some(CONFIG.to_owned()),
            vlans: vec![(10, "ops".to_owned())],
            ..switch_options("sw1")
        };
        lab.add_switch_with(options).await;
        lab.configure("sw1", &format!("protect = \"{policy}\""));
        let resources = resources();
        let catalog: Vec<Value> = resources
            .iter()
            .map(|(resource, ..)| resource.clone())
            .collect();
        lab.write_resources("sw1", &catalog);
        let ran = lab.run(&[&arguments[..], allow].concat()).await;
        let lines = lab.log("sw1").configuration_lines();
        for (resource, line, is_used) in &resources {
            let is_sent = lines.iter().any(|sent| sent.starts_with(line));
            let expected = permits || !is_used;
            assert_eq!(
                is_sent,
                expected,
                "{policy} {allow:?} {resource}: {lines:#?} {}",
                ran.text()
            );
        }
        let text = "the session to the device uses it";
        assert_eq!(ran.text().contains(text), !permits, "{}", ran.text());
    }
}

/// Server groups that only ports use, and settings of SSH that close no session, are changed.
#[tokio::test(flavor = "multi_thread")]
async fn own_path_covers_server_groups_of_logins_and_versions_of_ssh() {
    let config = "\
aaa new-model
aaa group server radius FIRST
aaa group server radius PORTS
aaa group server tacacs+ LAST
aaa authentication login default group FIRST group LAST local
aaa authentication dot1x default group PORTS
line vty 0 4
 login authentication OPS
";
    let group = |type_name: &str, name: &str| {
        resource(
            type_name,
            name,
            json!({ "ensure": "present", "servers": ["s1"] }),
        )
    };
    let ssh = |attributes: Value| resource("Ios_ssh", "default", attributes);
    let list = |title: &str| {
        let methods = json!({ "local": true, "ensure": "present" });
        resource("Ios_aaa_authentication", title, methods)
    };
    for (resource, line, is_used) in [
        (
            group("Radius_server_group", "FIRST"),
            "server name s1",
            true,
        ),
        (
            group("Radius_server_group", "PORTS"),
            "server name s1",
            false,
        ),
        (group("Tacacs_server_group", "LAST"), "server name s1", true),
        (
            list("login OPS"),
            "aaa authentication login OPS local",
            true,
        ),
        // No line uses it.
        (
            list("login SPARE"),
            "aaa authentication login SPARE local",
            false,
        ),
        (ssh(json!({ "version": 2 })), "ip ssh version 2", true),
        (ssh(json!({ "time_out": 60 })), "ip ssh time-out 60", false),
    ] {
        let mut lab = Lab::new();
        let options = SwitchOptions {
            config: Some(config.to_owned()),
            ..switch_options("sw1")
        };
        lab.add_switch_with(options).await;
        lab.write_resources("sw1", std::slice::from_ref(&resource));
        let ran = lab.apply().await;
        let lines = lab.log("sw1").configuration_lines();
        let is_sent = lines.iter().any(|sent| sent.trim() == line);
        assert_eq!(is_sent, !is_used, "{resource}: {lines:#?} {}", ran.text());
        let text = "the session to the device uses it";
        assert_eq!(ran.text().contains(text), is_used, "{}", ran.text());
    }
}

/// A device without a timed revert refuses the changes also with protection.
#[tokio::test(flavor = "multi_thread")]
async fn own_path_without_a_timed_revert_is_changed_only_by_name() {
    let mut lab = Lab::new();
    lab.add_load_balancer("lb1", &[]).await;
    let present = |type_name: &str, title: &str, mut attributes: Value| {
        attributes["ensure"] = json!("present");
        resource(type_name, title, attributes)
    };
    let route = |title: &str, network: &str| {
        present(
            "F5_route",
            title,
            json!({ "network": network, "gw": "192.0.2.1" }),
        )
    };
    let vlan = present("F5_vlan", "/Common/lan", json!({ "vlan_tag": 10 }));
    let own =
        json!({ "address": "192.0.2.10/24", "vlan": "/Common/lan", "port_lockdown": ["default"] });
    let own = present("F5_selfip", "/Common/lan-self", own);
    lab.write_resources("lb1", &[vlan.clone(), own.clone()]);
    lab.run(&["apply"]).await.assert_code(0);
    lab.log("lb1").clear();
    let all = [
        vlan,
        own,
        route("/Common/default", "default"),
        route("/Common/lab", "203.0.113.0/24"),
    ];
    lab.write_resources("lb1", &all);
    let writes = || lab.log("lb1").writes().concat();
    lab.run(&["apply", "--protect", "auto"])
        .await
        .assert_code(1);
    assert!(
        !writes().contains("/Common/default") && writes().contains("203.0.113.0/24"),
        "{}",
        writes()
    );
    lab.run(&["apply", "--allow", "own-path"])
        .await
        .assert_code(0);
    assert!(writes().contains("\"default\""), "{}", writes());
    // The network of an address of the device needs no route.
    let connected =
        json!({ "address": "127.0.0.2/8", "vlan": "/Common/lan", "port_lockdown": ["default"] });
    let connected = present("F5_selfip", "/Common/connected", connected);
    lab.write_resources("lb1", &[connected, route("/Common/half", "0.0.0.0/1")]);
    lab.run(&["apply"]).await.assert_code(0);
    assert!(writes().contains("0.0.0.0/1"), "{}", writes());

    let lab = Lab::with_devices(&[("r1", "frr")]);
    let route = |title: &str| resource("Frr_static_route", title, json!({ "ensure": "present" }));
    let default = "Frr_static_route[0.0.0.0/0 198.51.100.9]";
    let all = [
        route("0.0.0.0/0 198.51.100.9"),
        route("203.0.113.0/24 198.51.100.9"),
    ];
    lab.write_resources("r1", &all);
    for (arguments, failed) in [
        (&["--protect", "auto"][..], true),
        (&["--allow", "own-path"], false),
    ] {
        let apply = ["apply", "--mock", "--output", "json"];
        let ran = lab.run(&[&apply[..], arguments].concat()).await;
        assert_eq!(
            ran.resource("r1", default)["failed"],
            failed,
            "{}",
            ran.text()
        );
        let other = ran.resource("r1", "Frr_static_route[203.0.113.0/24 198.51.100.9]");
        assert_eq!(other["failed"], false, "{}", ran.text());
    }
}

/// The session reaches Vlan10 through a trunk: which one, the switch does not show.
const TRUNKS: &str = "\
vrf definition BLUE
ip access-list standard MGMT
 10 permit 127.0.0.0 0.255.255.255
ip access-list standard OTHER
 10 permit 192.0.2.0 0.0.0.255
interface Vlan10
 ip address 127.0.0.1 255.0.0.0
 no shutdown
interface Vlan30
 no shutdown
interface GigabitEthernet1/0/1
 switchport mode trunk
 no shutdown
interface GigabitEthernet1/0/2
 switchport mode trunk
 no shutdown
interface GigabitEthernet1/0/3
 switchport mode trunk
 no shutdown
interface GigabitEthernet1/0/4
 switchport mode trunk
 switchport trunk allowed vlan 20
 no shutdown
interface GigabitEthernet1/0/5
 switchport mode trunk
 switchport trunk allowed vlan 20
interface GigabitEthernet1/0/6
 switchport mode access
 switchport access vlan 10
 no shutdown
line vty 0 4
 access-class MGMT in
";

#[tokio::test(flavor = "multi_thread")]
async fn own_path_covers_trunks_interfaces_and_entries_of_lists() {
    let mut lab = Lab::new();
    let vlan = |id: u16, name: &str| (id, name.to_owned());
    let options = SwitchOptions {
        config: Some(TRUNKS.to_owned()),
        vlans: vec![vlan(10, "ops"), vlan(20, "users"), vlan(30, "labs")],
        ..switch_options("sw1")
    };
    lab.add_switch_with(options).await;
    let port = |number: u8| format!("GigabitEthernet1/0/{number}");
    let trunk = |number: u8, attributes: Value| ("Ios_network_trunk", port(number), attributes);
    let interface =
        |name: &str, attributes: Value| ("Network_interface", name.to_owned(), attributes);
    let shut = || json!({ "enable": false });
    let entry = |list: &str| {
        let any = json!({ "permission": "deny", "source_address_any": true, "ensure": "present" });
        ("Ios_acl_entry", format!("{list} 5"), any)
    };
    let list = |name: &str| {
        let absent = json!({ "ensure": "absent" });
        ("Ios_access_list", name.to_owned(), absent)
    };
    let vrf = |name: &str| ("Ios_interface", name.to_owned(), json!({ "vrf": "BLUE" }));
    let vlan = |id: &str| ("Network_vlan", id.to_owned(), json!({ "shutdown": true }));
    // The resource, the line that it adds or removes, and whether the session could use it.
    let cases = [
        (
            interface(&port(1), shut()),
            "interface GigabitEthernet1/0/1 / shutdown",
            true,
        ),
        (
            trunk(2, json!({ "mode": "access" })),
            "interface GigabitEthernet1/0/2 / switchport mode access",
            true,
        ),
        (
            trunk(3, json!({ "untagged_vlan": 10 })),
            "interface GigabitEthernet1/0/3 / switchport trunk native vlan 10",
            true,
        ),
        (
            interface(&port(4), shut()),
            "interface GigabitEthernet1/0/4 / shutdown",
            false,
        ),
        (
            trunk(5, json!({ "mode": "access" })),
            "interface GigabitEthernet1/0/5 / switchport mode access",
            false,
        ),
        (
            interface(&port(6), shut()),
            "interface GigabitEthernet1/0/6 / shutdown",
            false,
        ),
        (
            interface("Vlan10", json!({ "enable": true, "mtu": 2000 })),
            "interface Vlan10 / mtu 2000",
            true,
        ),
        (
            interface("Vlan30", json!({ "enable": true, "mtu": 2000 })),
            "interface Vlan30 / mtu 2000",
            false,
        ),
        (
            vrf("Vlan10"),
            "interface Vlan10 / vrf forwarding BLUE",
            true,
        ),
        (
            vrf("Vlan30"),
            "interface Vlan30 / vrf forwarding BLUE",
            false,
        ),
        (
            entry("MGMT"),
            "ip access-list standard MGMT / 5 deny any",
            true,
        ),
        (
            entry("OTHER"),
            "ip access-list standard OTHER / 5 deny any",
            false,
        ),
    ];
    let has = |line: &str| configuration(&lab, "sw1").iter().any(|found| found == line);
    // Ports come after their VLANs.
    let vlans = [(vlan("10"), "", true), (vlan("30"), "", false)];
    for cases in [&cases[..], &vlans] {
        let resources = cases.iter().map(|((type_name, title, attributes), ..)| {
            resource(type_name, title, attributes.clone())
        });
        lab.write_resources("sw1", &resources.collect::<Vec<_>>());
        let ran = lab.run(&["apply", "--output", "json"]).await;
        for ((type_name, title, _), line, is_used) in cases {
            let reference = format!("{type_name}[{title}]");
            let failed = &ran.resource("sw1", &reference)["failed"];
            assert_eq!(*failed, *is_used, "{reference}: {}", ran.text());
            assert!(
                line.is_empty() || has(line) != *is_used,
                "{line}: {:#?}",
                configuration(&lab, "sw1")
            );
        }
    }

    for (name, is_used) in [("MGMT", true), ("OTHER", false)] {
        let (type_name, title, absent) = list(name);
        lab.write_resources("sw1", &[resource(type_name, &title, absent)]);
        lab.run(&["apply"]).await.assert_code(i32::from(is_used));
        assert_eq!(
            has(&format!("ip access-list standard {name}")),
            is_used,
            "{name}"
        );
    }
}

/// The session reaches the virtual address of a group.
const VIRTUAL: &str = "\
interface Vlan10
 ip address 127.0.0.2 255.0.0.0
 standby 10 ip 127.0.0.1
 no shutdown
interface Vlan20
 ip address 192.0.2.2 255.255.255.0
 standby 20 ip 192.0.2.1
 no shutdown
";

#[tokio::test(flavor = "multi_thread")]
async fn own_path_covers_a_virtual_address() {
    for (number, is_used) in [(10, true), (20, false)] {
        let group = format!("Vlan{number} {number}");
        let interface = format!("Vlan{number}");
        let (address, mask) = if is_used {
            ("127.0.0.3", "255.0.0.0")
        } else {
            ("192.0.2.3", "255.255.255.0")
        };
        let cases = [
            ("Ios_hsrp_group", &group, json!({ "priority": 90 })),
            ("Ios_hsrp_group", &group, json!({ "ensure": "absent" })),
            ("Network_interface", &interface, json!({ "enable": false })),
            (
                "Ios_ip_interface",
                &interface,
                json!({ "ipv4_address": address, "ipv4_mask": mask }),
            ),
        ];
        for (type_name, title, desired) in cases {
            let mut lab = Lab::new();
            let options = SwitchOptions {
                config: Some(VIRTUAL.to_owned()),
                ..switch_options("sw1")
            };
            lab.add_switch_with(options).await;
            let reference = format!("{type_name}[{title}] {desired}");
            lab.write_resources("sw1", &[resource(type_name, title, desired)]);
            let before = configuration(&lab, "sw1");
            let ran = lab.run(&["apply", "--output", "json"]).await;
            ran.assert_code(i32::from(is_used));
            let text = "the session to the device uses it";
            assert_eq!(
                ran.text().contains(text),
                is_used,
                "{reference}: {}",
                ran.text()
            );
            let is_unchanged = configuration(&lab, "sw1") == before;
            assert_eq!(is_unchanged, is_used, "{reference}: {}", ran.text());
        }
    }
}
