//! Login methods.

use super::*;

const INTERACTIVE: &[MethodKind] = &[MethodKind::KeyboardInteractive];

#[tokio::test]
async fn login_by_password_opens_a_wide_terminal() {
    let server = serve(ServerBehavior::default()).await;
    assert_eq!(clock(&target_of(&server)).await.as_deref(), Ok(CLOCK));
    let attempts = server.attempts.lock().expect("free").clone();
    assert_eq!(
        attempts,
        ["admin password pw-secret", "terminal vt100 511x0"]
    );
    let lines = server.device.lock().expect("free").lines.clone();
    assert_eq!(lines.last().map(String::as_str), Some("core1#exit"));
}

#[tokio::test]
async fn login_sends_a_wrong_password_once() {
    let cases: [&[MethodKind]; 3] = [
        &[MethodKind::Password],
        INTERACTIVE,
        &[MethodKind::KeyboardInteractive, MethodKind::Password],
    ];
    for methods in cases {
        let server = serve(ServerBehavior {
            methods,
            password: "another",
            ..ServerBehavior::default()
        })
        .await;
        let error = clock(&target_of(&server)).await.expect_err("refused");
        assert!(
            matches!(error, SessionErrorKind::LoginRefused { .. }),
            "{error}"
        );
        assert_eq!(attempts(&server).len(), 1, "{methods:?}");
        assert!(!error.to_string().contains("secret"));
    }
}

#[tokio::test]
async fn login_answers_keyboard_interactive_prompts_once() {
    let cases: [(Rounds, bool, &[&str]); 4] = [
        (
            &[&[("Password: ", false)]],
            true,
            &["admin answers pw-secret"],
        ),
        (
            &[&[("Username: ", true), ("Passcode: ", false)]],
            true,
            &["admin answers admin,pw-secret"],
        ),
        // Nothing to answer: a message to be read.
        (
            &[&[("Password: ", false)], &[]],
            true,
            &["admin answers pw-secret", "admin answers "],
        ),
        (
            &[&[("Password: ", false)], &[("Password: ", false)]],
            false,
            &["admin answers pw-secret"],
        ),
    ];
    for (rounds, accepted, expected) in cases {
        let server = serve(ServerBehavior {
            methods: INTERACTIVE,
            rounds,
            ..ServerBehavior::default()
        })
        .await;
        let result = clock(&target_of(&server)).await;
        assert_eq!(result.is_ok(), accepted, "{result:?}");
        assert_eq!(attempts(&server), expected);
    }
}

fn key_file(passphrase: Option<&str>) -> (tempfile::TempDir, PathBuf, PublicKey) {
    let key = PrivateKey::random(&mut safe_rng(), Algorithm::Ed25519).expect("made");
    let public = key.public_key().clone();
    let key = match passphrase {
        Some(passphrase) => key.encrypt(&mut safe_rng(), passphrase).expect("encrypted"),
        None => key,
    };
    let directory = tempfile::tempdir().expect("made");
    let path = directory.path().join("key");
    let text = key.to_openssh(LineEnding::LF).expect("written");
    std::fs::write(&path, text.as_bytes()).expect("written");
    (directory, path, public)
}

#[tokio::test]
async fn login_by_private_key() {
    for passphrase in [None, Some("open sesame")] {
        let (_directory, path, public) = key_file(passphrase);
        let server = serve(ServerBehavior {
            methods: &[MethodKind::PublicKey],
            client_key: Some(public),
            ..ServerBehavior::default()
        })
        .await;
        let mut target = target_of(&server);
        target.ssh.private_key = Some(path);
        target.ssh.passphrase = passphrase.map(SecretString::from);
        assert_eq!(clock(&target).await.as_deref(), Ok(CLOCK));
        if passphrase.is_some() {
            target.ssh.passphrase = Some(SecretString::from("wrong-phrase"));
            let error = clock(&target).await.expect_err("locked");
            assert!(
                error.to_string().starts_with("cannot use the private key"),
                "{error}"
            );
            assert!(!error.to_string().contains("wrong-phrase"));
        }
    }
}

/// An agent on a socket, with these keys.
async fn agent(directory: &std::path::Path, keys: &[PrivateKey]) -> PathBuf {
    #[derive(Clone)]
    struct Obliging;
    impl russh::keys::agent::server::Agent for Obliging {}
    let path = directory.join("agent");
    let listener = tokio::net::UnixListener::bind(&path).expect("bound");
    let connections = futures::stream::poll_fn(move |context| {
        listener
            .poll_accept(context)
            .map(|accepted| Some(accepted.map(|(socket, _)| socket)))
    });
    tokio::spawn(russh::keys::agent::server::serve(connections, Obliging));
    let mut client = AgentClient::connect_uds(&path).await.expect("connected");
    for key in keys {
        client.add_identity(key, &[]).await.expect("added");
    }
    path
}

#[tokio::test]
async fn login_by_agent_uses_an_accepted_key() {
    let keys: Vec<_> = (0..2)
        .map(|_| PrivateKey::random(&mut safe_rng(), Algorithm::Ed25519).expect("made"))
        .collect();
    let directory = tempfile::tempdir().expect("made");
    let socket = agent(directory.path(), &keys).await;
    let server = serve(ServerBehavior {
        methods: &[MethodKind::PublicKey],
        client_key: Some(keys[1].public_key().clone()),
        ..ServerBehavior::default()
    })
    .await;
    let mut target = target_of(&server);
    target.ssh.agent = Some(socket);
    assert_eq!(clock(&target).await.as_deref(), Ok(CLOCK));
    for (socket, reason) in [
        (PathBuf::new(), "not set"),
        ("/nowhere".into(), "no such file"),
    ] {
        target.ssh.agent = Some(socket);
        let error = clock(&target).await.expect_err("no agent");
        assert!(
            error.to_string().starts_with("cannot use the SSH agent: "),
            "{error}"
        );
        assert!(error.to_string().contains(reason), "{error}");
    }
}

#[tokio::test]
async fn login_uses_the_password_after_a_refused_key() {
    let (_directory, path, _) = key_file(None);
    let server = serve(ServerBehavior {
        methods: &[MethodKind::PublicKey, MethodKind::Password],
        ..ServerBehavior::default()
    })
    .await;
    let mut target = target_of(&server);
    target.ssh.private_key = Some(path);
    assert_eq!(clock(&target).await.as_deref(), Ok(CLOCK));
}

#[tokio::test]
async fn login_without_credentials_sends_nothing() {
    let server = serve(ServerBehavior::default()).await;
    let mut target = target_of(&server);
    target.password = None;
    let error = clock(&target).await.expect_err("nothing to show");
    assert_eq!(
        error.to_string(),
        "cannot log in: the device accepts only password"
    );
    assert_eq!(attempts(&server), [""; 0]);
}

#[tokio::test]
async fn login_sends_no_password_to_an_unknown_host() {
    let server = serve(ServerBehavior::default()).await;
    let mut target = target_of(&server);
    target.ssh.host_key = HostKeyPolicy::KnownHosts(Vec::new());
    let error = clock(&target).await.expect_err("unknown");
    assert!(
        matches!(error, SessionErrorKind::HostKeyUnknown { .. }),
        "{error}"
    );
    target.ssh.host_key = HostKeyPolicy::Fingerprint("SHA256:abc".to_owned());
    let error = clock(&target).await.expect_err("another");
    assert!(
        matches!(error, SessionErrorKind::HostKeyFingerprint { .. }),
        "{error}"
    );
    assert_eq!(attempts(&server), [""; 0]);
}
