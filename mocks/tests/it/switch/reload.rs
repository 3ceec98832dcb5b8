//! Scheduled reloads: questions, messages, and what a restart restores.

use std::time::Duration;

use switchtender_mocks::SwitchOptions;
use switchtender_mocks::cli_switch::RunningSwitch;

use super::terminal::{Terminal, start};

const NOT_SCHEDULED: &str = "No reload is scheduled.\n";
const SAVE: &str = "System configuration has been modified. Save? [yes/no]: ";
const PROCEED: &str = "Proceed with reload? [confirm]";

async fn with(config: &str, faults: &[&str]) -> (RunningSwitch, Terminal) {
    let faults = faults.iter().map(|fault| fault.parse().unwrap()).collect();
    let switch = start(SwitchOptions {
        faults,
        start_privileged: true,
        config: Some(format!("{config}ntp logging\n")),
        ..SwitchOptions::default()
    })
    .await;
    let terminal = Terminal::login(&switch).await;
    (switch, terminal)
}

/// Schedules a reload. The message on the terminals follows the prompt.
async fn schedule(terminal: &mut Terminal, command: &str, message: &str) -> String {
    terminal.write(&format!("{command}\n")).await;
    let questions = terminal.until(PROCEED).await;
    terminal.write("\n").await;
    let expected =
        format!("\r\nsw1#\r\n\r\n\r\n\u{7}***\r\n*** --- SHUTDOWN in {message} ---\r\n***\r\n");
    let printed = terminal.until(&expected).await;
    assert_eq!(printed, expected, "{command}");
    questions
}

async fn change(terminal: &mut Terminal) {
    for command in ["configure terminal", "no ntp logging", "end"] {
        terminal.command(command).await;
    }
}

#[tokio::test]
async fn reload_is_scheduled_printed_and_canceled() {
    for (command, message, remaining) in [
        ("reload in 10", "0:10:00", "(in 10 minutes)"),
        ("reload in 1:20", "1:20:00", "(in 1 hour and 20 minutes)"),
        ("reload in 2 upgrade", "0:02:00", "(in 2 minutes)"),
    ] {
        let (switch, mut terminal) = with("", &[]).await;
        assert_eq!(terminal.command("show reload").await, NOT_SCHEDULED);
        let questions = schedule(&mut terminal, command, message).await;
        assert!(!questions.contains("Save?"), "{questions}");
        let reload = terminal.command("show reload").await;
        assert!(reload.starts_with("Reload scheduled for "), "{reload}");
        assert!(reload.contains(remaining), "{reload}");
        let reason = if command.ends_with("upgrade") {
            "upgrade"
        } else {
            "Reload Command"
        };
        assert!(reload.contains(&format!("Reload reason: {reason}\n")));
        terminal.write("reload cancel\n").await;
        let printed = terminal.until("--- SHUTDOWN ABORTED ---\r\n***\r\n").await;
        assert!(printed.contains("reload cancel\r\nsw1#\r\n"), "{printed}");
        assert_eq!(terminal.command("show reload").await, NOT_SCHEDULED);
        let again = terminal.command("reload cancel").await;
        assert_eq!(again, format!("%{NOT_SCHEDULED}"));
        switch.advance_clock(Duration::from_secs(7200));
        assert_eq!(terminal.command("show reload").await, NOT_SCHEDULED);
    }
}

#[tokio::test]
async fn reload_restores_the_saved_configuration_and_ends_sessions() {
    let archive = "archive\n path flash:before\n";
    let (switch, mut terminal) = with(archive, &[]).await;
    schedule(&mut terminal, "reload in 10", "0:10:00").await;
    terminal.command("configure terminal revert timer 60").await;
    terminal.command("no ntp logging").await;
    terminal.command("vlan 30").await;
    terminal.command("end").await;
    switch.advance_clock(Duration::from_secs(599));
    assert!(!switch.running_config().contains("ntp logging"));
    switch.advance_clock(Duration::from_secs(1));
    assert!(switch.running_config().contains("ntp logging"));
    assert!(!switch.is_revert_pending());
    // VLANs of a VTP server are in `vlan.dat`.
    assert!(switch.vlans().iter().any(|(number, ..)| *number == 30));
    terminal.write("show clock\n").await;
    terminal.until_end().await;
}

#[tokio::test]
async fn reload_asks_whether_to_save_a_modified_configuration() {
    for (answer, is_saved) in [("no", false), ("n", false), ("yes", true)] {
        let (switch, mut terminal) = with("", &[]).await;
        change(&mut terminal).await;
        terminal.write("reload in 10\n").await;
        terminal.until(SAVE).await;
        terminal.write("perhaps\n").await;
        terminal.until(SAVE).await;
        terminal.write(&format!("{answer}\n")).await;
        terminal.until(PROCEED).await;
        assert_eq!(switch.is_saved(), is_saved, "{answer}");
        terminal.write("n").await;
        terminal.until_prompt().await;
        assert_eq!(terminal.command("show reload").await, NOT_SCHEDULED);
    }
}

#[tokio::test]
async fn reload_without_a_time_is_confirmed_first() {
    let (switch, mut terminal) = with("", &[]).await;
    change(&mut terminal).await;
    terminal.write("reload\n").await;
    terminal.until(SAVE).await;
    terminal.write("no\n").await;
    terminal.until(PROCEED).await;
    assert!(!switch.running_config().contains("ntp logging"));
    terminal.write("\n").await;
    terminal.until_end().await;
    assert!(switch.running_config().contains("ntp logging"));
}

#[tokio::test]
async fn reload_starts_its_time_again() {
    let (switch, mut terminal) = with("", &[]).await;
    schedule(&mut terminal, "reload in 10", "0:10:00").await;
    switch.advance_clock(Duration::from_secs(360));
    terminal.write("show clock\n").await;
    let printed = terminal.until("show clock").await;
    // Less than four minutes, as the clock runs.
    assert!(printed.contains("*** --- SHUTDOWN in 0:0"), "{printed}");
    assert!(printed.ends_with(" ---\r\n***\r\nshow clock"), "{printed}");
    terminal.until_prompt().await;
    schedule(&mut terminal, "reload in 10", "0:10:00").await;
    switch.advance_clock(Duration::from_secs(599));
    assert!(switch.is_revert_pending());
    switch.advance_clock(Duration::from_secs(1));
    assert!(!switch.is_revert_pending());
}

#[tokio::test]
async fn reload_messages_repeat_the_prompt_with_synchronous_logging() {
    let config = "line vty 0 4\n logging synchronous\n";
    let (_switch, mut terminal) = with(config, &[]).await;
    terminal.write("reload in 10\n").await;
    terminal.until(PROCEED).await;
    terminal.write("\n").await;
    terminal
        .until("--- SHUTDOWN in 0:10:00 ---\r\n***\r\nsw1#")
        .await;
}

#[tokio::test]
async fn reload_refuses_other_times() {
    let (_switch, mut terminal) = with("", &[]).await;
    for time in ["0", "1:60", "soon", "-1", "34561", "577:00"] {
        let answer = terminal.command(&format!("reload in {time}")).await;
        assert!(answer.contains("% Invalid input"), "{time}: {answer}");
    }
    let answer = terminal.command("reload in").await;
    assert_eq!(answer, "% Incomplete command.\n\n");
}

#[tokio::test]
async fn fault_lost_revert_prevents_a_reload() {
    let (switch, mut terminal) = with("", &["lost-revert=^reload in"]).await;
    schedule(&mut terminal, "reload in 10", "0:10:00").await;
    change(&mut terminal).await;
    switch.advance_clock(Duration::from_secs(600));
    assert!(!switch.is_revert_pending());
    assert!(!switch.running_config().contains("ntp logging"));
}
