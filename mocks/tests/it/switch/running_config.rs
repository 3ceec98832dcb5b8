//! Lines of the command line, and what the switch keeps of them: its configuration afterwards.

mod global_lines;
mod interface_lines;

use switchtender_mocks::cli_switch::RunningSwitch;

use global_lines::GLOBAL_CASES;
use interface_lines::INTERFACE_CASES;

use super::terminal::{ISL, OLD, Terminal, XE, configuring};

/// A machine, lines typed in global configuration, and lines that its configuration must then have one after the other
/// (with the indentation), or must not have (with `-` before them).
struct ConfigCase {
    model: &'static str,
    typed: &'static [&'static str],
    printed: &'static [&'static str],
    absent: &'static [&'static str],
}

fn printed_together(config: &str, lines: &[&str]) -> bool {
    let all: Vec<&str> = config.lines().collect();
    lines.is_empty() || all.windows(lines.len()).any(|window| window == lines)
}

#[tokio::test]
async fn running_config_lines_are_normalized_like_the_device() {
    for case in INTERFACE_CASES.iter().chain(GLOBAL_CASES) {
        let (switch, mut terminal) = configuring(case.model).await;
        for line in case.typed {
            if *line == "banner login @" {
                terminal
                    .write("banner login @\nfirst\n\n  third\n@\n")
                    .await;
                terminal.until("@\r\n").await;
                terminal.until("'@'.\r\n").await;
                terminal.until_prompt().await;
            } else {
                terminal.command(line).await;
            }
        }
        let config = switch.running_config();
        let groups = case.printed.split(|line| line.is_empty());
        for group in groups {
            assert!(
                printed_together(&config, group),
                "{:?} gives no {group:#?}:\n{config}",
                case.typed
            );
        }
        for text in case.absent {
            assert!(
                !config.contains(text),
                "{:?} must leave no {text:?}:\n{config}",
                case.typed
            );
        }
        switch.stop().await;
    }
}

fn vlan(switch: &RunningSwitch, number: u16) -> Option<(String, bool)> {
    switch
        .vlans()
        .into_iter()
        .find(|(id, ..)| *id == number)
        .map(|(_, name, shut)| (name, shut))
}

#[tokio::test]
async fn vlan_exists_after_its_submode_ends() {
    let (switch, mut terminal) = configuring(XE).await;
    terminal.command("vlan 42").await;
    terminal.command("name lab").await;
    terminal.command("shutdown").await;
    assert_eq!(vlan(&switch, 42), None);
    terminal.command("vlan 43").await;
    assert_eq!(vlan(&switch, 42), Some(("lab".to_owned(), true)));
    terminal.command("end").await;
    assert_eq!(vlan(&switch, 43), Some(("VLAN0043".to_owned(), false)));
    terminal.command("configure terminal").await;
    terminal.command("vlan 42").await;
    terminal.command("no name").await;
    terminal.command("interface Gi1/0/1").await;
    assert_eq!(vlan(&switch, 42), Some(("VLAN0042".to_owned(), true)));
    terminal.command("no vlan 42-43").await;
    assert_eq!((vlan(&switch, 42), vlan(&switch, 43)), (None, None));
    assert!(
        !switch.running_config().contains("vlan 42"),
        "VLANs are no part of the configuration"
    );
}

#[tokio::test]
async fn banner_is_read_to_its_delimiter_and_printed_with_control_c() {
    let (switch, mut terminal) = configuring(XE).await;
    terminal
        .write("banner motd %\nAuthorised users only # really\n\n  indented\n%\n")
        .await;
    let seen = terminal.until_prompt().await;
    assert!(
        seen.contains("Enter TEXT message.  End with the character '%'.\r\n"),
        "{seen}"
    );
    assert!(
        switch
            .running_config()
            .contains("banner motd ^C\nAuthorised users only # really\n\n  indented\n^C\n")
    );
    let mut second = Terminal::login(&switch).await;
    assert!(
        second
            .command("show privilege")
            .await
            .contains("level is 1")
    );
    terminal.command("no banner motd").await;
    assert!(!switch.running_config().contains("banner"));
}
