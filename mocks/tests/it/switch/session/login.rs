//! Login, host keys and `enable`.

use super::*;

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
    assert!(!password_is_accepted(&mut handle, "admin", "wrong").await);
    assert!(!password_is_accepted(&mut handle, "root", "admin").await);
    assert!(password_is_accepted(&mut handle, "admin", "admin").await);

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
    assert!(!password_is_accepted(&mut handle, "admin", "admin").await);
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
    assert!(password_is_accepted(&mut handle, "admin", "admin").await);
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
