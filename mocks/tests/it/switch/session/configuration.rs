//! The initial configuration, and saving it.

use super::*;

#[tokio::test]
async fn configuration_is_saved_and_reverted() {
    let (switch, mut terminal) = privileged().await;
    terminal
        .write("terminal length 0\nconfigure terminal\nntp logging\nend\nwrite memory\n")
        .await;
    terminal
        .until("Building configuration...\r\n[OK]\r\n")
        .await;
    terminal.until_prompt().await;
    assert!(
        terminal
            .command("show startup-config")
            .await
            .contains("ntp logging")
    );
    terminal
        .write("configure terminal\nno ntp logging\nend\ncopy running-config startup-config\n")
        .await;
    terminal
        .until("Destination filename [startup-config]? ")
        .await;
    terminal.write("\n").await;
    terminal.until("[OK]").await;
    terminal.until_prompt().await;
    assert!(
        !terminal
            .command("show startup-config")
            .await
            .contains("ntp logging")
    );
    terminal.command("configure terminal").await;
    terminal.command("ntp authenticate").await;
    terminal.command("end").await;
    assert!(
        terminal
            .command("configure replace nvram:startup-config force")
            .await
            .contains("Rollback Done")
    );
    assert!(!switch.running_config().contains("ntp authenticate"));
}

#[tokio::test]
async fn initial_configuration_is_read_and_printed_again() {
    let config = "\
Current configuration : 321 bytes
!
version 17.9
boot-start-marker
hostname core-1
!
crypto pki server TP
 enrollment selfsigned
 subject-name cn=x
!
interface GigabitEthernet1/0/1
 description uplink
 switchport mode trunk
 some future line
 shutdown
!
interface Vlan10
 ip address 192.0.2.5 255.255.255.0
!
banner motd ^C
Hello # there
^C
ntp server 192.0.2.10 prefer
end
";
    let options = SwitchOptions {
        config: Some(config.to_owned()),
        vlans: vec![(10, "users".into())],
        ..SwitchOptions::default()
    };
    let switch = start(options).await;
    assert_eq!(
        switch.unknown_lines(),
        [
            "boot-start-marker",
            "crypto pki server TP",
            " some future line"
        ]
    );
    let printed = switch.running_config();
    for part in [
        "hostname core-1\n",
        "crypto pki server TP\n enrollment selfsigned\n subject-name cn=x\n",
        "interface GigabitEthernet1/0/1\n description uplink\n switchport mode trunk\n shutdown\n some future line\n!\n",
        "interface Vlan10\n ip address 192.0.2.5 255.255.255.0\n!\n",
        "banner motd ^C\nHello # there\n^C\n",
        "ntp server 192.0.2.10 prefer\n",
    ] {
        assert!(printed.contains(part), "{part:?} is missing in\n{printed}");
    }
    assert!(
        !printed.contains("GigabitEthernet1/0/2"),
        "the ports are those of the text"
    );
    // Once printed, it is read the same again.
    let again = start(SwitchOptions {
        config: Some(printed.clone()),
        ..SwitchOptions::default()
    })
    .await;
    assert_eq!(again.running_config(), printed);
}

#[tokio::test]
async fn initial_configuration_of_a_router_has_its_ports_and_platform() {
    let config = "\
version 15.7
hostname branch
!
vrf definition CUST
 !
 address-family ipv6
 route-target import 1:1
 exit-address-family
!
interface ATM0/0/0
!
interface Serial0/1/0.101 point-to-point
 description to the branch
!
interface Virtual-Template1 type tunnel
!
interface GigabitEthernet0/0
 ip address 192.0.2.5 255.255.255.0
!
ip access-list WEB
 permit any
end
";
    let options = SwitchOptions {
        config: Some(config.to_owned()),
        ..SwitchOptions::default()
    };
    let switch = start(options).await;
    assert_eq!(switch.unknown_lines(), ["ip access-list WEB"]);
    let printed = switch.running_config();
    let interfaces = printed
        .lines()
        .filter(|line| line.starts_with("interface "));
    let mut interfaces: Vec<&str> = interfaces.collect();
    interfaces.sort_unstable();
    assert_eq!(
        interfaces,
        [
            "interface ATM0/0/0",
            "interface GigabitEthernet0/0",
            "interface Serial0/1/0.101 point-to-point",
            "interface Virtual-Template1 type tunnel",
        ]
    );
    for part in [
        " address-family ipv6\n route-target import 1:1\n exit-address-family\n",
        "interface GigabitEthernet0/0\n ip address 192.0.2.5 255.255.255.0\n",
        "ip access-list WEB\n permit any\n",
    ] {
        assert!(printed.contains(part), "{part:?} is missing in\n{printed}");
    }
    let mut terminal = Terminal::login(&switch).await;
    let version = terminal.command("show version").await;
    assert!(
        version.contains("Cisco CISCO2911/K9 (revision 1.0)"),
        "{version}"
    );
    for command in ["show vlan brief", "show interfaces switchport"] {
        let answer = terminal.command(command).await;
        assert!(answer.contains("% Invalid input"), "{command}: {answer}");
    }
}

#[tokio::test]
async fn initial_configuration_without_indentation_stays_in_its_submodes() {
    let config = "line con 0\nlogging sync\nexit\nvlan 10\nname users\ninterface Vlan10\ndescription users\n";
    let options = SwitchOptions {
        config: Some(config.to_owned()),
        ..SwitchOptions::default()
    };
    let switch = start(options).await;
    assert_eq!(switch.unknown_lines(), [""; 0]);
    let printed = switch.running_config();
    for part in [
        "line con 0\n logging synchronous\n",
        "interface Vlan10\n description users\n",
    ] {
        assert!(printed.contains(part), "{part:?} is missing in\n{printed}");
    }
    assert!(!printed.contains("logging host"), "{printed}");
}
