//! Certificates that expire soon.

use super::*;

#[tokio::test]
async fn certificate_expiry_is_a_warning_without_renewal() {
    let server = PuppetServer::start().await;
    // Everything ends soon when soon is a century.
    let proxy = Proxy::new(&server, &[("hostcert_renewal_interval", "100y")]);
    let (outcome, log) = proxy.set_up("sw1.lab.test").await;
    outcome.unwrap();
    assert!(has_message(
        &log,
        Level::Warning,
        "The certificate of sw1.lab.test expires on "
    ));
    let renewals = server
        .state()
        .received
        .iter()
        .filter(|exchange| exchange.path == "/puppet-ca/v1/certificate_renewal")
        .map(|exchange| (exchange.client.clone(), exchange.status))
        .collect::<Vec<_>>();
    assert_eq!(renewals, [(Some("sw1.lab.test".to_owned()), 403)]);
}

#[tokio::test]
async fn certificate_is_renewed_before_expiry() {
    let server = PuppetServer::start().await;
    server.state().renewal = true;
    // Everything ends soon when soon is a century.
    let proxy = Proxy::new(&server, &[("hostcert_renewal_interval", "100y")]);
    let layout = proxy.layout("sw1.lab.test");
    let (outcome, log) = proxy.set_up("sw1.lab.test").await;
    let ready = outcome.unwrap();
    assert_eq!(
        ready.certificate.not_after.to_string(),
        "2090-01-01T00:00:00Z"
    );
    assert!(has_message(
        &log,
        Level::Notice,
        "Renewed the certificate of sw1.lab.test; it expires on 2090-01-01"
    ));
    assert!(!log.iter().any(|(_, message)| message.contains("days left")));
    let stored = std::fs::read_to_string(layout.certificate()).unwrap();
    assert_eq!(stored, ready.identity.certificate);
    assert_eq!(stored, server.state().certificates["sw1.lab.test"]);
    let key = std::fs::read_to_string(layout.key()).unwrap();

    // The new one is the one that the server sees from now on, and the key has stayed.
    let proxy = Proxy {
        settings: Arc::clone(&proxy.settings),
        authority: CertificateAuthority::new(&proxy.settings),
        host: proxy.host,
    };
    server.state().renewal = false;
    let (outcome, log) = proxy.set_up("sw1.lab.test").await;
    assert_eq!(outcome.unwrap().identity.certificate, stored);
    assert!(has_message(
        &log,
        Level::Warning,
        "The certificate of sw1.lab.test expires on "
    ));
    assert_eq!(std::fs::read_to_string(layout.key()).unwrap(), key);
}

#[tokio::test]
async fn certificate_renewal_with_an_invalid_response_is_discarded() {
    let server = PuppetServer::start().await;
    let proxy = Proxy::new(&server, &[]);
    proxy.set_up("sw1.lab.test").await.0.unwrap();
    proxy.set_up("sw2.lab.test").await.0.unwrap();
    let layout = proxy.layout("sw1.lab.test");
    let own = std::fs::read_to_string(layout.certificate()).unwrap();
    let foreign = server.state().certificates["sw2.lab.test"].clone();
    let proxy = Proxy {
        settings: Arc::new(Settings {
            certificates: puppet_conf::CertificateSettings {
                renewal_interval: Duration::from_secs(100 * 366 * 86_400),
                ..proxy.settings.certificates.clone()
            },
            ..(*proxy.settings).clone()
        }),
        ..proxy
    };
    for answer in [
        ServerResponse::text(200, &foreign),
        ServerResponse::text(200, &own),
        ServerResponse::text(200, "<html>"),
        ServerResponse::text(404, "Not Found"),
        ServerResponse::text(500, "no"),
    ] {
        server
            .state()
            .inject("/puppet-ca/v1/certificate_renewal", [answer.clone()]);
        let (outcome, log) = proxy.set_up("sw1.lab.test").await;
        assert_eq!(outcome.unwrap().identity.certificate, own, "{answer:?}");
        assert!(
            has_message(
                &log,
                Level::Warning,
                "The certificate of sw1.lab.test expires on "
            ),
            "{answer:?}"
        );
        assert_eq!(std::fs::read_to_string(layout.certificate()).unwrap(), own);
    }
}
