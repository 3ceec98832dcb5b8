//! What the `show` commands print, compared with the form that real devices use.

use super::terminal::configuring;

#[tokio::test]
async fn show_vlan_prints_a_table() {
    let (_switch, mut terminal) = configuring("C9300-24P").await;
    for line in [
        "vlan 10",
        "name users",
        "vlan 20",
        "shutdown",
        "interface Gi1/0/1",
        "switchport access vlan 10",
        "interface Gi1/0/2",
        "switchport mode trunk",
        "end",
    ] {
        terminal.command(line).await;
    }
    let table = terminal.command("show vlan brief").await;
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(
        lines[1],
        "VLAN Name                             Status    Ports"
    );
    assert_eq!(
        lines[2],
        "---- -------------------------------- --------- -------------------------------"
    );
    assert_eq!(
        lines[3],
        "1    default                          active    Gi1/0/3, Gi1/0/4, Gi1/0/5"
    );
    assert!(
        lines[4].starts_with("                                                Gi1/0/6, "),
        "{}",
        lines[4]
    );
    assert!(
        table.contains("\n10   users                            active    Gi1/0/1\n"),
        "{table}"
    );
    assert!(
        table.contains("\n20   VLAN0020                         act/lshut \n"),
        "{table}"
    );
    assert!(
        table.contains("\n1002 fddi-default                     act/unsup \n"),
        "{table}"
    );
}

#[tokio::test]
async fn show_interfaces_switchport_prints_blocks() {
    let (_switch, mut terminal) = configuring("C9300-24P").await;
    for line in [
        "vlan 10",
        "name users",
        "interface Gi1/0/1",
        "switchport mode access",
        "switchport access vlan 10",
        "switchport voice vlan 10",
        "interface Te1/1/1",
        "switchport mode trunk",
        "switchport nonegotiate",
        "switchport trunk native vlan 99",
        "switchport trunk allowed vlan 10,20-22",
        "interface Gi1/0/3",
        "no switchport",
        "end",
    ] {
        terminal.command(line).await;
    }
    let all = terminal.command("show interfaces switchport").await;
    let block = |name: &str| {
        let start = all
            .find(&format!("Name: {name}\n"))
            .unwrap_or_else(|| panic!("{name} is missing"));
        let rest = &all[start + 1..];
        rest[..rest.find("Name: ").unwrap_or(rest.len())].to_owned()
    };
    for (name, lines) in [
        (
            "Gi1/0/1",
            &[
                "Switchport: Enabled",
                "Administrative Mode: static access",
                "Access Mode VLAN: 10 (users)",
                "Voice VLAN: 10 (users)",
                "Negotiation of Trunking: Off",
                "Trunking VLANs Enabled: ALL",
            ][..],
        ),
        (
            "Gi1/0/2",
            &[
                "Administrative Mode: dynamic auto",
                "Access Mode VLAN: 1 (default)",
                "Voice VLAN: none",
                "Negotiation of Trunking: On",
                "Pruning VLANs Enabled: 2-1001",
            ],
        ),
        ("Gi1/0/3", &["Switchport: Disabled"]),
        (
            "Te1/1/1",
            &[
                "Administrative Mode: trunk",
                "Administrative Trunking Encapsulation: dot1q",
                "Trunking Native Mode VLAN: 99 (Inactive)",
                "Negotiation of Trunking: Off",
                "Trunking VLANs Enabled: 10,20-22",
            ],
        ),
    ] {
        let block = block(name);
        for line in lines {
            assert!(
                block.lines().any(|found| found == *line),
                "{name} has no {line:?}:\n{block}"
            );
        }
    }
    let one = terminal.command("show interfaces Gi1/0/1 switchport").await;
    assert_eq!(one.matches("Name: ").count(), 1);
}

#[tokio::test]
async fn show_interfaces_status_prints_columns() {
    let (_switch, mut terminal) = configuring("C9300-24P").await;
    for line in [
        "interface Gi1/0/1",
        "description a rather long description",
        "speed 100",
        "duplex full",
        "shutdown",
        "end",
    ] {
        terminal.command(line).await;
    }
    let table = terminal.command("show interfaces status").await;
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(
        lines[1],
        "Port         Name               Status       Vlan       Duplex  Speed Type"
    );
    assert_eq!(
        lines[2],
        "Gi1/0/1      a rather long desc disabled     1            full    100 10/100/1000BaseTX"
    );
    assert_eq!(
        lines[3],
        "Gi1/0/2                         connected    1          a-full a-1000 10/100/1000BaseTX"
    );
    assert_eq!(
        lines[4],
        "Gi1/0/3                         notconnect   1            auto   auto 10/100/1000BaseTX"
    );
}

#[tokio::test]
async fn show_access_lists_prints_sequence_numbers() {
    let (_switch, mut terminal) = configuring("WS-C2960-24TT-L").await;
    for line in [
        "access-list 99 permit 172.16.191.199",
        "access-list 99 deny any log",
        "access-list 99 permit 10.0.10.7 0.255.0.255",
        "ip access-list extended web",
        "permit tcp any host 10.1.1.1 eq 80",
        "25 permit udp any eq 161 bootpc 10.1.0.0 0.0.0.255",
        "permit tcp any any match-all +ack -fin log",
        "remark nothing to show",
        "ip access-list extended empty",
        "end",
    ] {
        assert_eq!(terminal.command(line).await, "", "{line}");
    }
    let expected = "\
Standard IP access list 99
    10 permit 172.16.191.199
    20 deny   any log
    30 permit 10.0.10.0, wildcard bits 0.255.0.255
Extended IP access list web
    10 permit tcp any host 10.1.1.1 eq www
    25 permit udp any eq snmp bootpc 10.1.0.0 0.0.0.255
    35 permit tcp any any match-all +ack -fin log
Extended IP access list empty
";
    assert_eq!(terminal.command("show ip access-lists").await, expected);
}

#[tokio::test]
async fn show_vtp_status_has_what_the_configuration_lacks() {
    let (switch, mut terminal) = configuring("C9300-48P").await;
    for line in ["vtp domain A", "vtp version 2", "vtp pruning", "end"] {
        terminal.command(line).await;
    }
    let status = terminal.command("show vtp status").await;
    for line in [
        "VTP version running             : 2",
        "VTP Domain Name                 : A",
        "VTP Pruning Mode                : Enabled",
        "VTP Operating Mode                : Server",
    ] {
        assert!(status.lines().any(|other| other == line), "{status}");
    }
    assert!(!switch.running_config().contains("vtp"));
}

#[tokio::test]
async fn show_access_lists_prints_groups_and_tags() {
    let (switch, mut terminal) = configuring("C9300-48P").await;
    for line in [
        "ip access-list extended web",
        "permit object-group SVC any any",
        "permit ip object-group A object-group B log",
        "permit tcp any any eq 22 log SSH",
        "permit ospf any any ttl eq 22",
        "deny ip any any log-input OTHER time-range T",
        "end",
    ] {
        assert_eq!(terminal.command(line).await, "", "{line}");
    }
    let expected = "\
Extended IP access list web
    10 permit object-group SVC any any
    20 permit ip object-group A object-group B log
    30 permit tcp any any eq ssh log (tag = SSH)
    40 permit ospf any any ttl eq 22
    50 deny ip any any log-input (tag = OTHER) time-range T
";
    assert_eq!(terminal.command("show ip access-lists").await, expected);
    let config = switch.running_config();
    assert!(
        config.contains(" 30 permit tcp any any eq ssh log SSH\n"),
        "{config}"
    );
}

#[tokio::test]
async fn show_version_names_model_image_and_host() {
    for (model, first, version) in [
        (
            "C9300-48P",
            "Cisco IOS XE Software, Version 17.9.4a",
            "C9300-48P (X86) processor",
        ),
        (
            "WS-C2960-24TT-L",
            "Cisco IOS Software, C2960 Software (C2960-LANBASEK9-M), Version 12.2(55)SE12, RELEASE SOFTWARE (fc1)",
            "WS-C2960-24TT-L (PowerPC405) processor",
        ),
    ] {
        let (_switch, mut terminal) = configuring(model).await;
        terminal.command("end").await;
        let text = terminal.command("show version").await;
        assert_eq!(text.lines().next(), Some(first));
        assert!(
            text.contains(&format!("\ncisco {version}")) && text.contains("\nsw1 uptime is "),
            "{text}"
        );
        assert!(text.contains("\nProcessor board ID "), "{text}");
    }
}

#[tokio::test]
async fn show_output_is_filtered() {
    let (_switch, mut terminal) = configuring("C9300-24P").await;
    for line in ["interface Gi1/0/7", "description here", "shutdown", "end"] {
        terminal.command(line).await;
    }
    for (line, expected) in [
        (
            "show running-config | section ^interface GigabitEthernet1/0/7",
            "interface GigabitEthernet1/0/7\n description here\n shutdown\n",
        ),
        (
            "show running-config | sec Vlan1",
            "interface Vlan1\n shutdown\n no ip address\n",
        ),
        (
            "show running-config | include description|hostname",
            "hostname sw1\n description here\n",
        ),
        ("show running-config | include nothing at all", ""),
    ] {
        assert_eq!(terminal.command(line).await, expected, "{line}");
    }
    assert!(
        terminal
            .command("show running-config | begin ^ntp")
            .await
            .is_empty()
    );
    assert!(
        !terminal
            .command("show version | exclude Cisco")
            .await
            .contains("Cisco")
    );
    let one = terminal
        .command("show running-config interface gi1/0/7")
        .await;
    assert!(
        one.ends_with("!\ninterface GigabitEthernet1/0/7\n description here\n shutdown\nend\n\n"),
        "{one}"
    );
}

#[tokio::test]
async fn exec_looks_up_a_single_unknown_word_as_a_host() {
    let (_switch, mut terminal) = configuring("C9300-24P").await;
    terminal.command("end").await;
    assert!(
        terminal
            .command("bogus")
            .await
            .starts_with("Translating \"bogus\"...domain server")
    );
    assert_eq!(
        terminal.command("show bogus").await,
        "         ^\n% Invalid input detected at '^' marker.\n\n"
    );
    terminal.command("configure terminal").await;
    terminal.command("no ip domain lookup").await;
    terminal.command("end").await;
    assert_eq!(
        terminal.command("bogus").await,
        "    ^\n% Invalid input detected at '^' marker.\n\n"
    );
}
