//! The configuration archive, timed changes and their faults.

use std::time::Duration;

use switchtender_mocks::cli_switch::RunningSwitch;
use switchtender_mocks::{Fault, SwitchOptions};
use tokio::task::JoinSet;

use super::terminal::{Terminal, connect_to, password_is_accepted, start};

const NONE_PENDING: &str = "%No Rollback Confirmed Change pending\n";

async fn with(faults: &[&str], config: &str) -> RunningSwitch {
    let faults: Vec<Fault> = faults.iter().map(|fault| fault.parse().unwrap()).collect();
    start(SwitchOptions {
        faults,
        start_privileged: true,
        config: Some(format!("{config}ntp logging\n")),
        ..SwitchOptions::default()
    })
    .await
}

const ARCHIVE: &str = "archive\n path flash:before\n";

/// A switch with a changed configuration that it reverts after five minutes.
async fn changed(faults: &[&str]) -> (RunningSwitch, Terminal) {
    let switch = with(faults, ARCHIVE).await;
    let mut terminal = Terminal::login(&switch).await;
    terminal.command("configure terminal revert timer 5").await;
    terminal.command("no ntp logging").await;
    terminal.command("end").await;
    assert!(switch.is_revert_pending());
    (switch, terminal)
}

#[tokio::test]
async fn archive_without_a_path_refuses_timed_changes() {
    let switch = with(&[], "").await;
    let mut terminal = Terminal::login(&switch).await;
    for (command, answer) in [
        ("show archive", " Archive feature not enabled\n"),
        (
            "configure terminal revert timer 5",
            "%Turn config archive on before using Rollback Confirmed Change\n",
        ),
        ("configure confirm", NONE_PENDING),
        ("configure revert now", NONE_PENDING),
        ("configure revert timer 3", NONE_PENDING),
        ("show archive config rollback timer", NONE_PENDING),
    ] {
        assert_eq!(terminal.command(command).await, answer, "{command}");
    }
}

#[tokio::test]
async fn archive_lists_and_restores_its_files() {
    let switch = with(&[], ARCHIVE).await;
    let mut terminal = Terminal::login(&switch).await;
    terminal.command("archive config").await;
    let listed = terminal.command("show archive").await;
    let file = "flash:before-Jan--1-00-00-00.000-0";
    assert!(
        listed.contains(&format!("{file} <- Most Recent")),
        "{listed}"
    );
    assert!(listed.contains("next archive file will be named flash:before-<timestamp>-1"));
    terminal.command("configure terminal").await;
    terminal.command("no ntp logging").await;
    terminal.command("end").await;
    let replaced = terminal
        .command(&format!("configure replace {file} force"))
        .await;
    assert!(replaced.contains("Rollback Done"), "{replaced}");
    assert!(switch.running_config().contains("ntp logging"));
}

#[tokio::test]
async fn timed_change_is_reverted_at_the_end_of_its_timer() {
    let (switch, mut terminal) = changed(&[]).await;
    let timer = terminal.command("show archive config rollback timer").await;
    assert!(
        timer.contains("Timer type: absolute timer\nTimer value: 5 min\n"),
        "{timer}"
    );
    switch.advance_clock(Duration::from_secs(299));
    assert!(switch.is_revert_pending());
    switch.advance_clock(Duration::from_secs(1));
    assert!(!switch.is_revert_pending());
    assert!(switch.running_config().contains("ntp logging"));
}

#[tokio::test]
async fn timed_change_stays_after_its_confirmation() {
    let (switch, mut terminal) = changed(&[]).await;
    assert_eq!(terminal.command("configure confirm").await, "");
    switch.advance_clock(Duration::from_secs(600));
    assert!(!switch.running_config().contains("ntp logging"));
    assert_eq!(terminal.command("configure confirm").await, NONE_PENDING);
}

#[tokio::test]
async fn timed_change_is_reverted_on_request_without_the_vlans_of_a_vtp_server() {
    let (switch, mut terminal) = changed(&[]).await;
    for command in ["configure terminal", "vlan 30", "end"] {
        terminal.command(command).await;
    }
    let answer = terminal.command("configure revert now").await;
    assert!(
        answer.contains("Total number of passes: 1\nRollback Done\n"),
        "{answer}"
    );
    assert!(switch.running_config().contains("ntp logging"));
    assert!(switch.vlans().iter().any(|(number, ..)| *number == 30));
}

#[tokio::test]
async fn fault_lost_revert_keeps_the_configuration() {
    let (switch, _terminal) = changed(&["lost-revert=^configure terminal revert"]).await;
    switch.advance_clock(Duration::from_secs(300));
    assert!(!switch.is_revert_pending());
    assert!(!switch.running_config().contains("ntp logging"));
}

#[tokio::test]
async fn fault_cut_off_ends_with_the_revert() {
    let switch = with(&["cut-off=^no ntp"], ARCHIVE).await;
    let mut terminal = Terminal::login(&switch).await;
    terminal.command("configure terminal revert timer 1").await;
    terminal.write("no ntp logging\n").await;
    terminal.until_end().await;
    assert!(!switch.running_config().contains("ntp logging"));
    let mut logins = JoinSet::new();
    logins.spawn(connect_to(switch.address()));
    let login = logins.join_next().await.unwrap();
    assert!(login.is_err(), "no connection may succeed");
    switch.advance_clock(Duration::from_secs(60));
    let mut terminal = Terminal::login(&switch).await;
    let privilege = terminal.command("show privilege").await;
    assert!(privilege.contains("level is 15"), "{privilege}");
    assert!(switch.running_config().contains("ntp logging"));
}

#[tokio::test]
async fn fault_restart_loads_the_saved_configuration_and_ends_the_timer() {
    let (switch, mut terminal) = changed(&["restart=^show clock"]).await;
    let mut other = Terminal::login(&switch).await;
    terminal.write("show clock\n").await;
    terminal.until_end().await;
    assert!(switch.running_config().contains("ntp logging"));
    assert!(!switch.is_revert_pending());
    other.write("show clock\n").await;
    other.until_end().await;
}

#[tokio::test]
async fn fault_login_refused_at_refuses_one_login() {
    let switch = with(&["login-refused-at=2"], "").await;
    let mut accepted = Vec::new();
    for _ in 0..3 {
        accepted.push(
            password_is_accepted(&mut connect_to(switch.address()).await, "admin", "admin").await,
        );
    }
    assert_eq!(accepted, [true, false, true]);
}
