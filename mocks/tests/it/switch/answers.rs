//! Lines of the command line, and the answers and questions of the switch.

use super::terminal::{ISL, OLD, Terminal, XE, configuring};

/// A machine, lines typed before, the line, and its complete answer. `^N` in an answer stands for the caret under column N
/// of the line.
const ANSWERS: &[(&str, &[&str], &str, &str)] = &[
    (
        XE,
        &[],
        "ntp servr 192.0.2.1",
        "^4\n% Invalid input detected at '^' marker.\n\n",
    ),
    (
        XE,
        &[],
        "  vlan 4095",
        "^7\n% Invalid input detected at '^' marker.\n\n",
    ),
    (
        XE,
        &["vlan 30"],
        "name Guests & visitors",
        "^12\n% Invalid input detected at '^' marker.\n\n",
    ),
    (
        XE,
        &["interface Gi1/0/1"],
        "switchport mode trnk",
        "^16\n% Invalid input detected at '^' marker.\n\n",
    ),
    (
        XE,
        &["interface Gi1/0/1"],
        "bogus",
        "^0\n% Invalid input detected at '^' marker.\n\n",
    ),
    (
        XE,
        &[],
        "interface GigabitEthernet9/0/1",
        "^10\n% Invalid input detected at '^' marker.\n\n",
    ),
    (
        XE,
        &["interface Te1/1/1"],
        "speed 10g",
        "^6\n% Invalid input detected at '^' marker.\n\n",
    ),
    (
        XE,
        &[],
        "ip access-list WEB",
        "^15\n% Invalid input detected at '^' marker.\n\n",
    ),
    (
        XE,
        &[],
        "logging sync",
        "^8\n% Invalid input detected at '^' marker.\n\n",
    ),
    (
        XE,
        &["interface Po1"],
        "port-channel min-links 1",
        "^23\n% Invalid input detected at '^' marker.\n\n",
    ),
    (
        XE,
        &["vrf definition NEW", "interface Vlan1"],
        "ip vrf forwarding NEW",
        "% VRF NEW not configured.\n",
    ),
    (
        XE,
        &[
            "ip access-list extended web",
            "10 permit tcp any any eq 22",
            "20 permit tcp any any eq 23",
            "no 10",
        ],
        "10 permit tcp any any eq 23",
        "% Access rule can't be configured at lower sequence num as it is part of the existing rule at sequence num 20\n",
    ),
    (XE, &[], "ntp", "% Incomplete command.\n\n"),
    (XE, &[], "no", "% Incomplete command.\n\n"),
    (XE, &[], "ntp server", "% Incomplete command.\n\n"),
    (
        XE,
        &["interface Gi1/0/1"],
        "switchport access vlan",
        "% Incomplete command.\n\n",
    ),
    (
        XE,
        &[],
        "snmp-server community old",
        "% Incomplete command.\n\n",
    ),
    (XE, &[], "s p", "% Ambiguous command:  \"s\"\n"),
    (
        XE,
        &[],
        "ip domain l",
        "% Ambiguous command:  \"ip domain l\"\n",
    ),
    (
        XE,
        &["interface Gi1/0/1"],
        "switchport trunk encapsulation dot1q",
        "^17\n% Invalid input detected at '^' marker.\n\n",
    ),
    (
        OLD,
        &["interface Fa0/1"],
        "mtu 9000",
        "^0\n% Invalid input detected at '^' marker.\n\n",
    ),
    (
        OLD,
        &["interface Fa0/1"],
        "no switchport",
        "% Incomplete command.\n\n",
    ),
    (
        OLD,
        &[],
        "ip vrf x",
        "^3\n% Invalid input detected at '^' marker.\n\n",
    ),
    (
        ISL,
        &["interface Gi1/0/1"],
        "switchport mode trunk",
        "Command rejected: An interface whose trunk encapsulation is \"Auto\" can not be configured to \"trunk\" mode.\n",
    ),
    (
        XE,
        &["interface Gi1/0/1"],
        "switchport nonegotiate",
        "Command rejected: Conflict between 'nonegotiate' and 'dynamic' status on this interface: Gi1/0/1\n",
    ),
    (
        XE,
        &["interface Gi1/0/1"],
        "switchport access vlan 77",
        "% Access VLAN does not exist. Creating vlan 77\n",
    ),
    (
        XE,
        &["vlan 77", "exit", "interface Gi1/0/1"],
        "switchport access vlan 77",
        "",
    ),
    (
        XE,
        &[],
        "no vlan 1002",
        "Default VLAN 1002 may not be deleted.\n",
    ),
    (
        XE,
        &["vlan 1"],
        "name x",
        "Default VLAN 1 may not have its name changed.\n",
    ),
    (
        XE,
        &["vlan 2000"],
        "shutdown",
        "Command is only allowed on VLAN 2..1001.\n",
    ),
    (
        XE,
        &["vtp mode client"],
        "vlan 30",
        "VTP VLAN configuration not allowed when device is in CLIENT mode.\n",
    ),
    (
        XE,
        &["vtp domain A", "vtp version 2", "vtp mode client"],
        "vtp version 1",
        "Cannot modify version in VTP client mode unless the system is in VTP version 3\n",
    ),
    (
        XE,
        &["vtp domain A"],
        "vtp domain B",
        "Changing VTP domain name from A to B\n",
    ),
    (
        XE,
        &["ip access-list extended a", "10 permit ip any any"],
        "10 deny ip any any",
        "% Duplicate sequence number\n",
    ),
    (
        XE,
        &["ip access-list extended a"],
        "10 permit ip any",
        "% Incomplete command.\n\n",
    ),
    (
        XE,
        &["ip access-list extended a"],
        "10 permit ip any any eq 80",
        "^21\n% Invalid input detected at '^' marker.\n\n",
    ),
    (
        XE,
        &["ip vrf a", "rd 1:1"],
        "rd 1:2",
        "% Cannot overwrite the RD; remove the old one with \"no rd\" first.\n",
    ),
    (
        XE,
        &["ip vrf a"],
        "no ip vrf a",
        "% IPv4 addresses from all interfaces in VRF a have been removed\n",
    ),
    (
        XE,
        &[
            "interface Vlan5",
            "ip address 10.0.0.1 255.255.255.0",
            "interface Vlan6",
        ],
        "ip address 10.0.0.1 255.255.255.0",
        "% 10.0.0.1 overlaps with Vlan5\n",
    ),
    (
        XE,
        &[
            "ip vrf a",
            "interface Vlan5",
            "ip address 10.0.0.1 255.255.255.0",
        ],
        "ip vrf forwarding a",
        "% Interface Vlan5 IPv4 disabled and address(es) removed due to enabling VRF a\n",
    ),
    (
        XE,
        &["interface Gi1/0/1"],
        "ip vrf forwarding nowhere",
        "% VRF nowhere not configured.\n",
    ),
    (
        XE,
        &["interface Gi1/0/1", "channel-group 1 mode active"],
        "channel-group 1 mode passive",
        "Command rejected (Port-channel1, Gi1/0/1): the mode does not fit the channel group's\n",
    ),
    (
        XE,
        &[],
        "no interface Gi1/0/1",
        "% Removal of physical interfaces is not permitted.\n",
    ),
    (
        XE,
        &[],
        "default interface gi1/0/1",
        "Interface GigabitEthernet1/0/1 set to default configuration\n",
    ),
    (
        XE,
        &[],
        "hostname no_$",
        "% Hostname contains one or more illegal characters.\n",
    ),
    (
        OLD,
        &["interface Fa0/1"],
        "duplex full",
        "% Cannot set duplex while speed is set to auto.\n",
    ),
    (OLD, &["interface Fa0/1", "speed 100"], "duplex full", ""),
    (
        XE,
        &[],
        "logging host 192.0.2.300",
        "^13\n% Invalid input detected at '^' marker.\n\n",
    ),
    (
        XE,
        &[],
        "aaa authentication login default local",
        "^4\n% Invalid input detected at '^' marker.\n\n",
    ),
    (XE, &[], "! a remark", ""),
    (
        XE,
        &[],
        "do show privilege",
        "Current privilege level is 15\n",
    ),
    (
        XE,
        &["interface Gi1/0/1"],
        "do show bogus",
        "^8\n% Invalid input detected at '^' marker.\n\n",
    ),
    (
        XE,
        &[],
        "show version",
        "^0\n% Invalid input detected at '^' marker.\n\n",
    ),
];

/// The prompt in front of the next line.
async fn prompt(terminal: &mut Terminal) -> String {
    terminal.write("\n").await;
    let output = terminal.until_prompt().await;
    output.rsplit('\n').next().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn answers_match_the_device() {
    for (model, before, line, expected) in ANSWERS {
        let (switch, mut terminal) = configuring(model).await;
        for line in *before {
            terminal.command(line).await;
        }
        let width = prompt(&mut terminal).await.len();
        let expected = match expected.strip_prefix('^') {
            Some(rest) => {
                let (column, rest) = rest.split_once('\n').unwrap();
                format!(
                    "{}^\n{rest}",
                    " ".repeat(width + column.parse::<usize>().unwrap())
                )
            }
            None => (*expected).to_owned(),
        };
        assert_eq!(
            terminal.command(line).await,
            expected,
            "{before:?} then {line:?} on {model}"
        );
        switch.stop().await;
    }
}

#[tokio::test]
async fn questions_wait_for_a_key_and_accept_only_yes() {
    let (switch, mut terminal) = configuring(XE).await;
    terminal
        .command("username bob privilege 15 secret pw")
        .await;
    terminal.command("aaa new-model").await;
    for (line, key, expected) in [
        ("no username bob", "n", "username bob privilege 15 secret 9"),
        ("no aaa new-model", "n", "aaa session-id common"),
        ("no aaa new-model", "\r", "no aaa new-model"),
    ] {
        terminal.write(&format!("{line}\n")).await;
        terminal.until("[confirm]").await;
        terminal.write(key).await;
        terminal.until_prompt().await;
        assert!(
            switch.running_config().contains(expected),
            "{line}: {}",
            switch.running_config()
        );
    }
    terminal.write("no username bob\n").await;
    terminal.until("Do you want to continue? [confirm]").await;
    terminal.write("\n").await;
    terminal.until_prompt().await;
    assert!(!switch.running_config().contains("bob"));
}
