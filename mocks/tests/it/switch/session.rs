//! Logging in, `enable`, paging, prompts, pipelining, the log.

mod configuration;
mod line_editor;
mod login;

use std::io::Write;
use std::sync::{Arc, Mutex};

use russh::keys::{Algorithm, PrivateKey, PrivateKeyWithHashAlg};
use switchtender_mocks::LoginMethods;
use switchtender_mocks::{CliSwitch, SharedWriter, SwitchOptions};

use super::terminal::{
    Terminal, connect, keyboard_interactive, password_is_accepted, privileged, start,
};

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
