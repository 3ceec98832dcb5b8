//! Faults that prevent the run of a device: nothing is changed on it.

use super::*;

#[track_caller]
fn not_run(lab: &Lab, ran: &ProgramOutput, words: &[&str]) {
    ran.assert_code(1);
    let device = ran.device("sw1");
    assert_eq!(device["status"], "not run", "{device}");
    let error = device["error"].as_str().unwrap();
    assert!(error.contains("sw1"), "{error}");
    for word in words {
        let is_reported =
            error.contains(word) || device["hint"].as_str().unwrap_or("").contains(word);
        assert!(is_reported, "`{word}` is not in {device}");
    }
    assert_eq!(lab.log("sw1").configuration_lines(), Vec::<String>::new());
    the_other_succeeds(lab, ran);
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_connection_refused() {
    let mut lab = two(&[]).await;
    // Bound, so that the port is reserved, without a listener.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let port = socket.local_addr().unwrap().port();
    lab.add_device("sw1", "cisco_ios", port, None);
    let ran = lab.apply().await;
    not_run(
        &lab,
        &ran,
        &[
            &format!("cannot connect to 127.0.0.1:{port}"),
            "check address, port",
        ],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_host_key_differs_from_fingerprint() {
    let mut lab = two(&[]).await;
    let port = lab.switches["sw1"].address().port();
    let other = format!("SHA256:{}", "A".repeat(43));
    lab.add_device("sw1", "cisco_ios", port, Some(&other));
    let ran = lab.apply().await;
    let found = lab.switches["sw1"].host_key().fingerprint;
    not_run(&lab, &ran, &["host key", &found, &other]);
    assert_eq!(lab.log("sw1").received(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_host_key_unknown() {
    let mut lab = two(&[]).await;
    let port = lab.switches["sw1"].address().port();
    lab.add_device("sw1", "cisco_ios", port, None);
    let ran = lab.apply().await;
    let found = lab.switches["sw1"].host_key().fingerprint;
    not_run(
        &lab,
        &ran,
        &["is not in known_hosts", &found, "ssh-keyscan"],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_wrong_password_is_tried_once() {
    let mut lab = two(&[]).await;
    lab.configure("sw1", "password = { env = \"LAB_WRONG\" }");
    lab.environment
        .insert("LAB_WRONG".to_owned(), "s3cret-wrong".to_owned());
    let ran = lab.apply().await;
    not_run(&lab, &ran, &["refused the login of ops", "tried once"]);
    assert_eq!(lab.log("sw1").connections(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_login_refused() {
    let lab = two(&["login-refused=1"]).await;
    let ran = lab.apply().await;
    not_run(&lab, &ran, &["refused the login of ops"]);
    lab.apply().await.assert_code(2);
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_missing_password_has_its_position_in_the_inventory() {
    let mut lab = two(&[]).await;
    lab.configure("sw1", "password = { env = \"LAB_UNSET\" }");
    // It is known before the first connection, and ends the run.
    let ended = lab.run(&["apply"]).await;
    ended.assert_code(1);
    ended.assert_contains("LAB_UNSET");
    assert_eq!(lab.log("sw2").connections(), 0);
    let ran = lab.run(&["apply", "--keep-going"]).await;
    ran.assert_code(1);
    ran.assert_contains("LAB_UNSET");
    ran.assert_contains("inventory.toml:");
    assert_eq!(lab.log("sw1").connections(), 0);
    assert!(lab.switches["sw2"].vlans().iter().any(|row| row.0 == 10));
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_wrong_enable_password() {
    let mut lab = two(&[]).await;
    lab.configure("sw1", "enable_password = { env = \"LAB_WRONG\" }");
    lab.environment
        .insert("LAB_WRONG".to_owned(), "s3cret-wrong".to_owned());
    let ran = lab.apply().await;
    not_run(&lab, &ran, &["refused the enable password", "tried once"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_timeout_names_the_command() {
    let lab = two(&["stall-after=^show version"]).await;
    let ran = lab.apply().await;
    not_run(&lab, &ran, &["`show version`", "2s", "command_timeout"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_invalid_answer() {
    let lab = two(&["garbage-after=^show version"]).await;
    let ran = lab.apply().await;
    not_run(&lab, &ran, &["`show version`"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_disconnect_before_changes() {
    let lab = two(&["drop-after=^show version"]).await;
    let ran = lab.apply().await;
    not_run(&lab, &ran, &["the connection ended", "`show version`"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_enable_password_is_not_sent_without_a_prompt() {
    let mut lab = Lab::new();
    lab.add_switch_with(switchtender_mocks::SwitchOptions {
        start_privileged: true,
        ..switch_options("sw1")
    })
    .await;
    lab.write_resources("sw1", &[vlan(10, "one")]);
    lab.apply().await.assert_code(2);
    let received = lab.log("sw1").received();
    assert!(!received.iter().any(|line| line.contains(ENABLE)));
}
