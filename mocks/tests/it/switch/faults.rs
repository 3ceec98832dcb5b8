//! Every fault that a switch can show, as a client sees it.

#![expect(clippy::disallowed_methods, reason = "the tests measure durations")]

use std::time::{Duration, Instant};

use switchtender_mocks::cli_switch::RunningSwitch;
use switchtender_mocks::{Fault, SwitchOptions};

use super::terminal::{Terminal, Trusting, connect, password_is_accepted, start};

async fn with(faults: &[&str]) -> RunningSwitch {
    let faults: Vec<Fault> = faults.iter().map(|fault| fault.parse().unwrap()).collect();
    start(SwitchOptions {
        faults,
        start_privileged: true,
        ..SwitchOptions::default()
    })
    .await
}

#[tokio::test]
async fn fault_latency_delays_a_burst_once() {
    let switch = with(&["latency=40ms"]).await;
    let mut terminal = Terminal::login(&switch).await;
    switch.log().clear();
    let started = Instant::now();
    for _ in 0..5 {
        terminal.command("show privilege").await;
    }
    let one_by_one = started.elapsed();
    assert!(one_by_one >= Duration::from_millis(200), "{one_by_one:?}");
    assert_eq!(switch.log().round_trips(), 5);
    switch.log().clear();
    let started = Instant::now();
    terminal.write(&"show privilege\n".repeat(20)).await;
    for _ in 0..20 {
        terminal.until("level is 15\r\nsw1#").await;
    }
    let together = started.elapsed();
    assert!(
        together >= Duration::from_millis(40) && together < one_by_one,
        "{together:?}"
    );
    assert_eq!(switch.log().round_trips(), 1);
}

#[tokio::test]
async fn fault_drop_after_cuts_before_the_command_and_only_once() {
    let switch = with(&["drop-after=^ntp authenticate"]).await;
    let mut terminal = Terminal::login(&switch).await;
    terminal
        .write("configure terminal\nntp logging\nntp authenticate\nntp update-calendar\n")
        .await;
    let seen = terminal.until_end().await;
    assert!(
        seen.contains("ntp logging\r\nsw1(config)#ntp authenticate"),
        "{seen}"
    );
    let config = switch.running_config();
    assert!(
        config.contains("ntp logging")
            && !config.contains("ntp authenticate")
            && !config.contains("update"),
        "{config}"
    );
    let mut terminal = Terminal::login(&switch).await;
    terminal.command("configure terminal").await;
    assert_eq!(terminal.command("ntp authenticate").await, "");
}

#[tokio::test]
async fn fault_drop_after_counts_commands() {
    let switch = with(&["drop-after=2"]).await;
    let mut terminal = Terminal::login(&switch).await;
    terminal.command("show privilege").await;
    terminal.command("show privilege").await;
    terminal.write("show clock\n").await;
    assert!(!terminal.until_end().await.contains("UTC"));
}

#[tokio::test]
async fn fault_drop_unanswered_applies_the_command() {
    let switch = with(&["drop-unanswered=^ntp authenticate"]).await;
    let mut terminal = Terminal::login(&switch).await;
    terminal.command("configure terminal").await;
    terminal.write("ntp authenticate\n").await;
    terminal.until_end().await;
    assert!(switch.running_config().contains("ntp authenticate"));
}

#[tokio::test]
async fn fault_drop_at_byte_ends_the_output() {
    let switch = with(&["drop-at-byte=100"]).await;
    let mut terminal = Terminal::login(&switch).await;
    let greeting = "\r\nsw1#".len();
    terminal.write("show version\n").await;
    assert_eq!(greeting + terminal.until_end().await.len(), 100);
}

#[tokio::test]
async fn fault_stall_after_silences_the_session() {
    let switch = with(&["stall-after=^show clock"]).await;
    let mut terminal = Terminal::login(&switch).await;
    terminal.write("show clock\n").await;
    terminal.until("show clock\r\n").await;
    assert!(terminal.is_silent().await);
    terminal.write("show privilege\n").await;
    assert!(terminal.is_silent().await);
}

#[tokio::test]
async fn fault_garbage_after_prints_no_prompt() {
    let switch = with(&["garbage-after=^show clock"]).await;
    let mut terminal = Terminal::login(&switch).await;
    terminal.write("show clock\n").await;
    terminal.until("show clock\r\n").await;
    tokio::time::timeout(Duration::from_millis(300), terminal.until_prompt())
        .await
        .expect_err("no prompt may follow");
    assert!(!terminal.unread.is_empty());
}

#[tokio::test]
async fn fault_refuse_answers_matching_commands_with_the_text() {
    let switch = with(&[
        "refuse=^vlan 30 => % VLAN 30 is reserved here",
        "refuse=^ntp",
    ])
    .await;
    let mut terminal = Terminal::login(&switch).await;
    terminal.command("configure terminal").await;
    assert_eq!(
        terminal.command("vlan 30").await,
        "% VLAN 30 is reserved here\n"
    );
    assert!(
        terminal
            .command("ntp logging")
            .await
            .starts_with("% Command rejected")
    );
    assert_eq!(terminal.command("vlan 31").await, "");
    assert!(!switch.running_config().contains("ntp logging"));
}

#[tokio::test]
async fn fault_login_refused_counts_logins() {
    let switch = with(&["login-refused=2"]).await;
    for expected in [false, false, true] {
        let mut handle = connect(&switch).await;
        assert_eq!(
            password_is_accepted(&mut handle, "admin", "admin").await,
            expected
        );
    }
}

#[tokio::test]
async fn fault_lost_write_is_answered_and_discarded() {
    let switch = with(&["lost-write=^ntp authenticate", "lost-write=^vlan 30"]).await;
    let mut terminal = Terminal::login(&switch).await;
    terminal.command("configure terminal").await;
    assert_eq!(terminal.command("ntp authenticate").await, "");
    terminal.command("vlan 30").await;
    terminal.command("vlan 31").await;
    terminal.command("exit").await;
    assert!(!switch.running_config().contains("ntp authenticate"));
    let numbers: Vec<u16> = switch.vlans().iter().map(|(number, ..)| *number).collect();
    assert_eq!(numbers, [1, 31, 1002, 1003, 1004, 1005]);
}

#[tokio::test]
async fn fault_confirm_asks_a_question() {
    let switch = with(&["confirm=^ntp authenticate"]).await;
    let mut terminal = Terminal::login(&switch).await;
    terminal.command("configure terminal").await;
    for (key, is_executed) in [("n", false), ("\n", true)] {
        terminal.write("ntp authenticate\n").await;
        terminal.until("[confirm]").await;
        terminal.write(key).await;
        terminal.until_prompt().await;
        assert_eq!(
            switch.running_config().contains("ntp authenticate"),
            is_executed
        );
    }
}

#[tokio::test]
async fn fault_syslog_after_prints_into_the_output() {
    let switch = with(&["syslog-after=^show version"]).await;
    let mut terminal = Terminal::login(&switch).await;
    terminal.command("terminal length 0").await;
    let output = terminal.command("show version").await;
    let index = output
        .lines()
        .position(|line| line.contains("%LINK-3-UPDOWN:"))
        .unwrap();
    assert!(index > 2 && index + 3 < output.lines().count(), "{output}");
    assert!(
        !terminal.command("show version").await.contains("%LINK"),
        "once"
    );
}

#[tokio::test]
async fn fault_slow_sends_one_byte_at_a_time() {
    let switch = with(&["slow=1ms"]).await;
    let mut terminal = Terminal::login(&switch).await;
    let started = Instant::now();
    let answer = terminal.command("show privilege").await;
    assert_eq!(answer, "Current privilege level is 15\n");
    assert!(started.elapsed() >= Duration::from_millis(40));
}

#[tokio::test]
async fn fault_drips_do_not_end() {
    for (fault, expected) in [
        ("drip-bytes=^show clock", "..."),
        ("drip-lines=^show clock", "len 40\r\n*Jan"),
        ("flood=^show clock", "........"),
        ("flood=<shell>", "........"),
    ] {
        let switch = with(&[fault]).await;
        let mut handle = connect(&switch).await;
        let login = handle.authenticate_password("admin", "admin").await;
        assert!(login.unwrap().success());
        let mut terminal = Terminal::open(handle).await;
        if !fault.contains("<shell>") {
            terminal.until_prompt().await;
            terminal.write("show clock\n").await;
        }
        for _ in 0..3 {
            terminal.until(expected).await;
        }
    }
}

#[tokio::test]
async fn fault_endless_pager_continues_after_every_key() {
    let switch = with(&["endless-pager=^show clock"]).await;
    let mut terminal = Terminal::login(&switch).await;
    terminal.write("terminal length 0\nshow clock\n").await;
    terminal.until("UTC").await;
    for key in [" ", "q", "\n", " "] {
        terminal.until(" --More-- ").await;
        terminal.write(key).await;
    }
    terminal.until(" --More-- ").await;
}

#[tokio::test]
async fn fault_endless_question_returns_after_every_answer() {
    let switch = with(&["endless-question=^ntp authenticate"]).await;
    let mut terminal = Terminal::login(&switch).await;
    terminal.command("configure terminal").await;
    terminal.write("ntp authenticate\n").await;
    for answer in ["no\n", "y", "n"] {
        terminal.until("[yes/no]: ").await;
        terminal.write(answer).await;
    }
    terminal.until("[yes/no]: ").await;
    assert!(!switch.running_config().contains("ntp authenticate"));
}

/// Lines that were sent ahead are executed with the deferred one, and answered if the client is there.
#[tokio::test]
async fn fault_busy_executes_later() {
    for disconnected in [false, true] {
        let switch = with(&["busy=^ntp authenticate"]).await;
        let mut terminal = Terminal::login(&switch).await;
        terminal.command("configure terminal").await;
        terminal
            .write("ntp authenticate\nntp update-calendar\n")
            .await;
        switch.wait_for_deferred().await;
        terminal.until("ntp authenticate\r\n").await;
        assert!(terminal.unread.is_empty());
        assert!(!switch.running_config().contains("ntp"));
        if disconnected {
            drop(terminal);
            assert_eq!(switch.resume(), 1);
        } else {
            assert_eq!(switch.resume(), 1);
            terminal
                .until("sw1(config)#ntp update-calendar\r\nsw1(config)#")
                .await;
        }
        let config = switch.running_config();
        for line in ["ntp authenticate", "ntp update-calendar"] {
            assert!(config.contains(line), "{disconnected}: {config}");
        }
        assert_eq!(switch.resume(), 0);
    }
}

#[tokio::test]
async fn fault_busy_for_a_time_answers_by_itself() {
    let switch = with(&["busy=^show privilege for 1ms"]).await;
    let mut terminal = Terminal::login(&switch).await;
    let answer = terminal.command("show privilege").await;
    assert_eq!(answer, "Current privilege level is 15\n");
}

#[tokio::test]
async fn fault_late_effect_follows_the_cut() {
    let switch = with(&["late-effect=^ntp authenticate"]).await;
    let mut terminal = Terminal::login(&switch).await;
    terminal.command("configure terminal").await;
    terminal.write("ntp authenticate\n").await;
    terminal.until_end().await;
    assert!(!switch.running_config().contains("ntp authenticate"));
    let mut second = Terminal::login(&switch).await;
    assert!(
        !second
            .command("show running-config | include ntp")
            .await
            .contains("ntp auth")
    );
    assert_eq!(switch.resume(), 1);
    assert!(switch.running_config().contains("ntp authenticate"));
}

#[tokio::test]
async fn fault_mode_lost_answers_with_the_prompt_of_another_mode() {
    let switch = with(&["mode-lost=^ntp authenticate", "mode-lost=^show clock"]).await;
    let mut terminal = Terminal::login(&switch).await;
    terminal.command("configure terminal").await;
    terminal.write("ntp authenticate\n").await;
    assert_eq!(terminal.until_prompt().await, "ntp authenticate\r\nsw1#");
    terminal.write("show clock\n").await;
    assert_eq!(terminal.until_prompt().await, "show clock\r\nsw1>");
    assert!(!switch.running_config().contains("ntp authenticate"));
}

#[tokio::test]
async fn fault_unlisted_answer_executes_the_command() {
    let switch = with(&["unlisted-answer=^ntp authenticate => Buffers are low."]).await;
    let mut terminal = Terminal::login(&switch).await;
    terminal.command("configure terminal").await;
    assert_eq!(
        terminal.command("ntp authenticate").await,
        "Buffers are low.\n"
    );
    assert!(switch.running_config().contains("ntp authenticate"));
}

#[tokio::test]
async fn fault_at_a_stage_ends_the_connection() {
    let switch = with(&[
        "drop-after=<connect>",
        "drop-after=<login>",
        "drop-after=<shell>",
    ])
    .await;
    let config = || std::sync::Arc::new(russh::client::Config::default());
    let address = switch.address();
    assert!(
        russh::client::connect(config(), address, Trusting)
            .await
            .is_err()
    );
    let mut handle = connect(&switch).await;
    let login = handle.authenticate_password("admin", "admin").await;
    assert!(!login.is_ok_and(|result| result.success()));
    let mut handle = connect(&switch).await;
    assert!(password_is_accepted(&mut handle, "admin", "admin").await);
    assert_eq!(Terminal::open(handle).await.until_end().await, "");
    Terminal::login(&switch).await;
}
