//! Tokens, basic authentication and certificates.

use super::*;

#[tokio::test]
async fn token_is_requested_used_and_revoked() {
    let server = serve(script(&[])).await;
    let mut session = open(&target(&server)).await.expect("opened");
    let texts = session.read(&pools()).await.expect("read");
    assert_eq!(texts, [r#"{"items":[]}"#]);
    assert_eq!(session.close().await, [""; 0]);
    let log = server.seen.lock().expect("free").clone();
    assert_eq!(
        log[0].0,
        format!(
            "{LOGIN} {}",
            r#"{"username":"admin","password":"pw-\"secret\"","loginProviderName":"tmos"}"#
        )
    );
    assert!(log[0].1.to_lowercase().starts_with("authorization: basic"));
    assert_eq!(log[1].0, POOLS);
    assert_eq!(log[1].1.to_lowercase(), "x-f5-auth-token: t0k3n");
    assert_eq!(log[2].0, LOGOUT);
    assert_eq!(log.len(), 3);
    assert_eq!(session.statistics().round_trips, 3);
}

#[tokio::test]
async fn basic_auth_is_used_without_tokens() {
    let server = serve(script(&[(LOGIN, &[Reply::Json(404, "{}")])])).await;
    let mut session = open(&target(&server)).await.expect("opened");
    session.read(&pools()).await.expect("read");
    session.close().await;
    let log = server.seen.lock().expect("free").clone();
    assert!(log[1].1.to_lowercase().starts_with("authorization: basic"));
    assert_eq!(log.len(), 2, "nothing to give back");
}

#[tokio::test]
async fn login_sends_a_wrong_password_once() {
    let refusal = Reply::Json(401, r#"{"code":401,"message":"Authentication failed."}"#);
    for login in [RestLogin::Auto, RestLogin::Basic] {
        let server = serve(script(&[
            (LOGIN, std::slice::from_ref(&refusal)),
            (POOLS, std::slice::from_ref(&refusal)),
        ]))
        .await;
        let mut target = target(&server);
        target.rest.login = login;
        let error = match open(&target).await {
            Err(kind) => kind,
            Ok(mut session) => session.read(&pools()).await.expect_err("refused").kind,
        };
        assert!(
            matches!(error, SessionErrorKind::LoginRefused { .. }),
            "{error}"
        );
        assert_eq!(seen(&server).len(), 1);
        assert!(error.hint().expect("one").contains("tried once"));
    }
}

#[tokio::test]
async fn token_is_renewed_once_after_expiry() {
    let expired = Reply::Json(401, "{}");
    let good = Reply::Json(200, "{}");
    let server = serve(script(&[(POOLS, &[expired.clone(), good, expired])])).await;
    let mut session = open(&target(&server)).await.expect("opened");
    session
        .read(&pools())
        .await
        .expect("read after a new login");
    assert_eq!(
        seen(&server)
            .iter()
            .filter(|line| line.starts_with(LOGIN))
            .count(),
        2
    );
    // Refused with a fresh token, too: that is no matter of time.
    session.read(&pools()).await.expect_err("refused");
    assert_eq!(
        seen(&server)
            .iter()
            .filter(|line| line.starts_with(LOGIN))
            .count(),
        3
    );
}

#[tokio::test]
async fn certificates_are_verified_by_policy() {
    let server = serve(script(&[])).await;
    let mut target = target(&server);
    let other = "00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:\
                 00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF";
    target.rest.tls = TlsPolicy::Fingerprint(server.fingerprint.clone());
    open(&target).await.expect("the pinned one");
    target.rest.tls = TlsPolicy::Fingerprint(other.to_owned());
    let error = open(&target).await.err().expect("another one");
    assert!(
        matches!(error, SessionErrorKind::CertificateFingerprint { .. }),
        "{error}"
    );
    target.rest.tls = TlsPolicy::System;
    let error = open(&target).await.err().expect("not trusted");
    assert!(
        matches!(
            &error,
            SessionErrorKind::CertificateUntrusted { found: Some(found), .. }
                if *found == server.fingerprint
        ),
        "{error}"
    );
    target.rest.tls = TlsPolicy::Ignore;
    let session = open(&target).await.expect("opened");
    assert!(session.notes()[0].contains("is not verified"));
}

#[tokio::test]
async fn ca_certificate_of_a_server_needs_a_fingerprint() {
    let is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let server = serve_as(script(&[]), is_ca).await;
    let mut target = target(&server);
    let error = open(&target).await.err().expect("not trusted");
    let text = error.to_string();
    assert!(
        text.contains(" is not trusted: it is a CA certificate, not a server certificate"),
        "{text}"
    );
    assert!(!text.contains("CaUsedAsEndEntity"), "{text}");
    let hint = error.hint().expect("there is a way out");
    assert!(
        hint.contains("set `fingerprint` instead of `ca_file`"),
        "{hint}"
    );
    target.rest.tls = TlsPolicy::Fingerprint(server.fingerprint.clone());
    open(&target).await.expect("the way out");
}

#[tokio::test]
async fn first_certificate_is_stored_and_then_required() {
    let server = serve(script(&[])).await;
    let file = server.directory.path().join("state/lb1.fingerprint");
    let mut first = target(&server);
    first.rest.tls = TlsPolicy::TrustOnFirstUse(file.clone());
    let session = open(&first).await.expect("first contact");
    assert!(
        session.notes()[0].contains("first connection to"),
        "{:?}",
        session.notes()
    );
    let again = open(&first).await.expect("same certificate");
    assert_eq!(again.notes(), [""; 0]);
    let impostor = serve(script(&[])).await;
    let mut target = target(&impostor);
    target.rest.tls = TlsPolicy::TrustOnFirstUse(file);
    let error = open(&target).await.err().expect("another certificate");
    assert!(
        matches!(error, SessionErrorKind::CertificateFingerprint { .. }),
        "{error}"
    );
    assert_eq!(seen(&impostor), [""; 0], "no password for a stranger");
}

#[tokio::test]
async fn login_has_an_absolute_limit() {
    let server = serve(script(&[(LOGIN, &[Reply::Nothing])])).await;
    let mut target = target(&server);
    target.limits.login = Some(Duration::from_millis(200));
    let error = open(&target).await.err().expect("no login");
    assert_eq!(error.to_string(), "the login did not end within 200ms");
}
