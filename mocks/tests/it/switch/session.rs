//! Logging in, `enable`, paging, prompts, pipelining, the log.

use std::io::Write;
use std::sync::{Arc, Mutex};

use russh::keys::{Algorithm, PrivateKey, PrivateKeyWithHashAlg};
use switchtender_mocks::cli_switch::LoginMethods;
use switchtender_mocks::{CliSwitch, SharedWriter, SwitchOptions};

use super::terminal::{Terminal, connect, keyboard_interactive, start};

#[tokio::test]
async fn login_methods_accept_and_refuse() {
    let key = PrivateKey::random(&mut russh::keys::key::safe_rng(), Algorithm::Ed25519).unwrap();
    let other = PrivateKey::random(&mut russh::keys::key::safe_rng(), Algorithm::Ed25519).unwrap();
    let authorized_keys = vec![key.public_key().to_openssh().unwrap()];
    let switch = start(SwitchOptions {
        authorized_keys,
        ..SwitchOptions::default()
    })
    .await;

    let mut handle = connect(&switch).await;
    assert!(
        !handle
            .authenticate_password("admin", "wrong")
            .await
            .unwrap()
            .success()
    );
    assert!(
        !handle
            .authenticate_password("root", "admin")
            .await
            .unwrap()
            .success()
    );
    assert!(
        handle
            .authenticate_password("admin", "admin")
            .await
            .unwrap()
            .success()
    );

    let mut handle = connect(&switch).await;
    assert!(!keyboard_interactive(&mut handle, "wrong").await);
    assert!(keyboard_interactive(&mut handle, "admin").await);

    let mut handle = connect(&switch).await;
    let with = |key: PrivateKey| PrivateKeyWithHashAlg::new(Arc::new(key), None);
    assert!(
        !handle
            .authenticate_publickey("admin", with(other))
            .await
            .unwrap()
            .success()
    );
    assert!(
        handle
            .authenticate_publickey("admin", with(key))
            .await
            .unwrap()
            .success()
    );
}

#[tokio::test]
async fn login_methods_not_offered_are_refused() {
    let login = LoginMethods::KeyboardInteractive;
    let switch = start(SwitchOptions {
        login,
        ..SwitchOptions::default()
    })
    .await;
    let mut handle = connect(&switch).await;
    assert!(
        !handle
            .authenticate_password("admin", "admin")
            .await
            .unwrap()
            .success()
    );
    assert!(keyboard_interactive(&mut handle, "admin").await);
}

#[tokio::test]
async fn host_key_has_both_formats() {
    let switch = start(SwitchOptions::default()).await;
    let key = switch.host_key();
    let parsed = russh::keys::PublicKey::from_openssh(&key.public_key).unwrap();
    assert_eq!(
        parsed.fingerprint(russh::keys::HashAlg::Sha256).to_string(),
        key.fingerprint
    );
    assert!(key.fingerprint.starts_with("SHA256:"));
}

#[tokio::test]
async fn enable_allows_three_attempts_without_echo() {
    let switch = start(SwitchOptions::default()).await;
    let mut terminal = Terminal::login(&switch).await;
    terminal.write("enable\nwrong-1\nwrong-2\nwrong-3\n").await;
    let seen = terminal.until("sw1>").await;
    assert_eq!(seen.matches("Password: ").count(), 3, "{seen}");
    assert!(
        seen.contains("% Bad secrets\r\n") && !seen.contains("wrong"),
        "{seen}"
    );
    assert!(
        terminal
            .command("show privilege")
            .await
            .contains("level is 1\n")
    );
    terminal.write("enable\nwrong-1\nenable\n").await;
    assert!(terminal.until("sw1#").await.ends_with("\r\nsw1#"));
    assert!(
        terminal
            .command("show privilege")
            .await
            .contains("level is 15\n")
    );
    assert!(
        !switch
            .log()
            .received()
            .iter()
            .any(|line| line.contains("wrong")),
        "passwords are not in the log"
    );
}

#[tokio::test]
async fn login_banner_with_a_number_sign_precedes_a_privileged_prompt() {
    let motd = Some("# Authorised users only #\nTicket #".to_owned());
    let switch = start(SwitchOptions {
        motd,
        start_privileged: true,
        ..SwitchOptions::default()
    })
    .await;
    let mut handle = connect(&switch).await;
    assert!(
        handle
            .authenticate_password("admin", "admin")
            .await
            .unwrap()
            .success()
    );
    let mut terminal = Terminal::open(handle).await;
    let seen = terminal.until("sw1#").await;
    assert_eq!(seen, "\r\n# Authorised users only #\r\nTicket #\r\nsw1#");
}

#[tokio::test]
async fn enable_fails_without_a_configured_password() {
    let switch = start(SwitchOptions {
        enable_password: None,
        ..SwitchOptions::default()
    })
    .await;
    let mut terminal = Terminal::login(&switch).await;
    assert_eq!(terminal.command("enable").await, "% No password set\n");
}

#[tokio::test]
async fn pager_stops_output_until_disabled() {
    let options = SwitchOptions {
        start_privileged: true,
        model: Some("C9300-24P".into()),
        ..SwitchOptions::default()
    };
    let switch = start(options).await;
    let mut terminal = Terminal::login(&switch).await;
    terminal
        .write("show vlan brief\nshow running-config\n")
        .await;
    let first = terminal.until(" --More-- ").await;
    let from = first.find("show running-config").unwrap();
    assert_eq!(
        first[from..].matches("\r\n").count(),
        24,
        "the echo and 23 lines: {first}"
    );
    terminal.write("\n").await;
    let one = terminal.until(" --More-- ").await;
    assert!(
        one.starts_with("\x08\x08") && one.matches("\r\n").count() == 1,
        "{one:?}"
    );
    terminal.write(" ").await;
    let page = terminal.until(" --More-- ").await;
    assert_eq!(page.matches("\r\n").count(), 23, "{page:?}");
    terminal.write("q").await;
    assert!(!terminal.until("sw1#").await.contains("\r\nend\r\n"));
    terminal.command("terminal length 0").await;
    assert!(
        terminal
            .command("show running-config")
            .await
            .ends_with("\nend\n\n")
    );
}

#[tokio::test]
async fn pipelined_lines_are_answered_in_order() {
    let switch = start(SwitchOptions {
        start_privileged: true,
        ..SwitchOptions::default()
    })
    .await;
    let mut terminal = Terminal::login(&switch).await;
    terminal.write("terminal length 0\nconfigure terminal\nvlan 42\nname lab\nvlan 43\rbogus\r\nend\nshow privilege\n").await;
    let seen = terminal.until("level is 15\r\nsw1#").await;
    let expected = "terminal length 0\r\nsw1#configure terminal\r\n\
        Enter configuration commands, one per line.  End with CNTL/Z.\r\n\
        sw1(config)#vlan 42\r\nsw1(config-vlan)#name lab\r\nsw1(config-vlan)#vlan 43\r\n\
        sw1(config-vlan)#bogus\r\n                 ^\r\n% Invalid input detected at '^' marker.\r\n\r\n\
        sw1(config-vlan)#end\r\nsw1#show privilege\r\nCurrent privilege level is 15\r\nsw1#";
    assert_eq!(seen, expected);
    assert_eq!(
        switch.log().configuration_lines(),
        ["vlan 42", "name lab", "vlan 43", "bogus"]
    );
}

#[tokio::test]
async fn prompt_follows_the_hostname_and_is_truncated_in_configuration() {
    let switch = start(SwitchOptions {
        start_privileged: true,
        ..SwitchOptions::default()
    })
    .await;
    let mut terminal = Terminal::login(&switch).await;
    terminal
        .write("configure terminal\nhostname a-name-that-is-much-too-long\n")
        .await;
    terminal.until("a-name-that-is-much-(config)#").await;
    terminal.write("end\n").await;
    terminal.until("\r\na-name-that-is-much-too-long#").await;
}

#[tokio::test]
async fn line_editor_scrolls_long_lines_and_stops_at_254_characters() {
    let switch = start(SwitchOptions {
        start_privileged: true,
        ..SwitchOptions::default()
    })
    .await;
    let mut terminal = Terminal::login(&switch).await;
    terminal
        .write("terminal width 80\nconfigure terminal\ninterface Gi1/0/1\n")
        .await;
    terminal.until("(config-if)#").await;
    let text = "x".repeat(300);
    terminal.write(&format!("description {text}\n")).await;
    let echo = terminal.until("(config-if)#").await;
    assert!(echo.contains("\x08$") && echo.contains('\x07'), "{echo:?}");
    let kept = "x".repeat(254 - "description ".len());
    assert!(
        switch
            .running_config()
            .contains(&format!(" description {kept}\n"))
    );
}

#[tokio::test]
async fn line_editor_shows_help_on_question_mark_unless_quoted_by_control_v() {
    let switch = start(SwitchOptions {
        start_privileged: true,
        ..SwitchOptions::default()
    })
    .await;
    let mut terminal = Terminal::login(&switch).await;
    terminal
        .write("configure terminal\ninterface Gi1/0/1\n")
        .await;
    terminal.until("(config-if)#").await;
    terminal.write("switchport mode ?").await;
    let help = terminal.until("(config-if)#switchport mode ").await;
    assert!(
        help.contains("  access\r\n  dynamic\r\n  trunk\r\n"),
        "{help}"
    );
    terminal.write("\x15description why\x16?\n").await;
    terminal.until_prompt().await;
    assert!(switch.running_config().contains(" description why?\n"));
}

#[tokio::test]
async fn configuration_is_saved_and_reverted() {
    let switch = start(SwitchOptions {
        start_privileged: true,
        ..SwitchOptions::default()
    })
    .await;
    let mut terminal = Terminal::login(&switch).await;
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
crypto pki trustpoint TP
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
            "crypto pki trustpoint TP",
            " some future line"
        ]
    );
    let printed = switch.running_config();
    for part in [
        "hostname core-1\n",
        "crypto pki trustpoint TP\n enrollment selfsigned\n subject-name cn=x\n",
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

#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn exchange_log_has_one_json_line_per_exchange() {
    let memory = Memory::default();
    let log = Some(SharedWriter::new(memory.clone()));
    let switch = start(SwitchOptions {
        log,
        start_privileged: true,
        name: "core".into(),
        ..SwitchOptions::default()
    })
    .await;
    let mut terminal = Terminal::login(&switch).await;
    terminal.command("show privilege").await;
    terminal.command("configure terminal").await;
    terminal.command("bogus").await;
    let text = String::from_utf8(memory.0.lock().unwrap().clone()).unwrap();
    let lines: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let seen: Vec<_> = lines
        .iter()
        .map(|line| {
            (
                line["device"].as_str().unwrap(),
                line["mode"].as_str().unwrap(),
                line["received"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("core", "privileged", "show privilege"),
            ("core", "privileged", "configure terminal"),
            ("core", "config", "bogus")
        ]
    );
    assert_eq!(lines[0]["answered"], "Current privilege level is 15\n");
    assert_eq!(switch.log().connections(), 1);
    switch.log().clear();
    assert!(switch.log().exchanges().is_empty());
}

#[tokio::test]
async fn options_that_are_invalid_are_refused() {
    let model = SwitchOptions {
        model: Some("WS-NONE".into()),
        ..SwitchOptions::default()
    };
    let error = CliSwitch::start(model, 0).await.unwrap_err().to_string();
    assert!(
        error.contains("WS-NONE") && error.contains("C9300-48P"),
        "{error}"
    );
    let key = SwitchOptions {
        authorized_keys: vec!["nonsense".into()],
        ..SwitchOptions::default()
    };
    assert!(
        CliSwitch::start(key, 0)
            .await
            .unwrap_err()
            .to_string()
            .contains("nonsense")
    );
    let first = start(SwitchOptions::default()).await;
    let error = CliSwitch::start(SwitchOptions::default(), first.address().port())
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains(&first.address().port().to_string()),
        "{error}"
    );
}

#[tokio::test]
async fn start_runs_two_hundred_switches_in_parallel() {
    let mut switches = Vec::new();
    for number in 0..200 {
        let hostname = format!("sw{number}");
        switches.push(
            start(SwitchOptions {
                hostname,
                start_privileged: true,
                ..SwitchOptions::default()
            })
            .await,
        );
    }
    for (number, switch) in switches.iter().enumerate().step_by(40) {
        let mut terminal = Terminal::login(switch).await;
        assert!(
            terminal
                .command("show running-config | include ^hostname")
                .await
                .contains(&format!("hostname sw{number}\n"))
        );
    }
    for switch in switches {
        switch.stop().await;
    }
}

#[tokio::test]
async fn stop_ends_sessions() {
    let switch = start(SwitchOptions::default()).await;
    let mut terminal = Terminal::login(&switch).await;
    switch.stop().await;
    terminal.until_end().await;
}
