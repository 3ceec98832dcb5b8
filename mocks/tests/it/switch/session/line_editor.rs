//! The pager, the prompt and the line editor.

use super::*;

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
    let (switch, mut terminal) = privileged().await;
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
    let (_switch, mut terminal) = privileged().await;
    terminal
        .write("configure terminal\nhostname a-name-that-is-much-too-long\n")
        .await;
    terminal.until("a-name-that-is-much-(config)#").await;
    terminal.write("end\n").await;
    terminal.until("\r\na-name-that-is-much-too-long#").await;
}

#[tokio::test]
async fn line_editor_scrolls_long_lines_and_stops_at_254_characters() {
    let (switch, mut terminal) = privileged().await;
    terminal
        .write("terminal width 80\nconfigure terminal\ninterface Gi1/0/1\n")
        .await;
    terminal.until("(config-if)#").await;
    let text = "x".repeat(300);
    terminal.write(&format!("description {text}\n")).await;
    let echo = terminal.until("(config-if)#").await;
    assert!(echo.contains("\x08$") && echo.contains('\x07'), "{echo:?}");
    let stored = "x".repeat(254 - "description ".len());
    assert!(
        switch
            .running_config()
            .contains(&format!(" description {stored}\n"))
    );
}

#[tokio::test]
async fn line_editor_shows_help_on_question_mark_unless_quoted_by_control_v() {
    let (switch, mut terminal) = privileged().await;
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
