//! Requests a certificate and waits for the signature.

use std::time::Duration;

use super::{Bootstrap, BootstrapError};
use crate::agent::ca::certificate_request::{self, CsrAttributes};
use crate::agent::ca::key::PrivateKey;
use crate::agent::ca::local_identity;
use crate::agent::device_file::{self, FileMode};
use crate::agent::http::tls::Trust;
use crate::agent::http::{self, Client, Request, error_body};
use crate::agent::puppet_conf::Server;
use crate::agent::run_log::RunLog;

impl Bootstrap<'_> {
    /// Requests a certificate and waits for it.
    pub(super) async fn obtain(
        &self,
        key: &PrivateKey,
        trust: &Trust,
        log: &mut dyn RunLog,
    ) -> Result<String, BootstrapError> {
        let device = &self.layout.certname;
        let client = Client::new(&self.settings.http, self.settings.runinterval, trust, None)?;
        let csr = self.csr(key)?;
        let fingerprint =
            certificate_request::fingerprint(&csr).expect("the request was just created");
        let server = self.submit(&client, &csr, &fingerprint, log).await?;
        let pem = self.wait(&client, &server, &fingerprint, log).await?;
        // Only a certificate for this key is stored: the next run may get another one.
        local_identity::validate_certificate(self.layout, &pem, key)?;
        device_file::write(&self.layout.certificate(), &pem, FileMode::WorldReadable)?;
        device_file::remove(&self.layout.request())?;
        log.notice(format!("Downloaded certificate for {device}"));
        Ok(pem)
    }

    /// The pending request, so that its fingerprint stays; otherwise a new one.
    fn csr(&self, key: &PrivateKey) -> Result<String, BootstrapError> {
        let failed = |source| BootstrapError::Request {
            device: self.layout.certname.clone(),
            source,
        };
        if let Some(pending) = device_file::read(&self.layout.request())?
            && certificate_request::fingerprint(&pending).is_some()
        {
            return Ok(pending);
        }
        let attributes = CsrAttributes::read(&self.layout.csr_attributes()).map_err(failed)?;
        let certificates = &self.settings.certificates;
        let csr = certificate_request::create(
            &self.layout.certname,
            key,
            &certificates.dns_alt_names,
            &attributes,
            !certificates.renewal_interval.is_zero(),
        )
        .map_err(failed)?;
        device_file::write(&self.layout.request(), &csr, FileMode::WorldReadable)?;
        Ok(csr)
    }

    async fn submit(
        &self,
        client: &Client,
        csr: &str,
        fingerprint: &str,
        log: &mut dyn RunLog,
    ) -> Result<Server, BootstrapError> {
        let device = &self.layout.certname;
        let target = format!(
            "/puppet-ca/v1/certificate_request/{}",
            http::target::encode(device)
        );
        let put = Request::put(target, "text/plain", "text/plain", csr);
        let (server, answer) = self.authority.send(client, &put).await?;
        match answer.status {
            200..300 => log.notice(format!(
                "Certificate request for {device} sent to {server}, SHA-256 {fingerprint}"
            )),
            400 => match Rejection::parse(&error_body::message(&answer.body)) {
                // An existing certificate for this key is as good as a new one.
                Rejection::AlreadyExists(message) => log.info(message),
                Rejection::Other(message) => {
                    return Err(BootstrapError::Refused {
                        device: device.clone(),
                        server,
                        message,
                    });
                }
            },
            _ => return Err(answer.to_error().into()),
        }
        Ok(server)
    }

    async fn wait(
        &self,
        client: &Client,
        server: &Server,
        fingerprint: &str,
        log: &mut dyn RunLog,
    ) -> Result<String, BootstrapError> {
        let device = &self.layout.certname;
        let settings = &self.settings.certificates;
        let not_signed = |waited| BootstrapError::NotSigned {
            device: device.clone(),
            fingerprint: fingerprint.to_owned(),
            waited,
        };
        let target = format!("/puppet-ca/v1/certificate/{}", http::target::encode(device));
        let mut waited = Duration::ZERO;
        loop {
            let answer = client
                .send(server, &Request::get(target.as_str(), "text/plain"))
                .await?;
            if answer.status != 404 {
                return Ok(answer.expect_success()?.text());
            }
            if settings.waitforcert.is_zero() {
                return Err(not_signed(None));
            }
            if settings.maxwaitforcert.is_some_and(|limit| waited >= limit) {
                return Err(not_signed(Some(waited)));
            }
            if waited.is_zero() {
                log.notice(format!(
                    "Couldn't fetch certificate from CA server; you might still need to sign this agent's certificate ({device}). SHA-256 of the request: {fingerprint}"
                ));
            } else {
                log.notice(format!(
                    "the certificate of {device} is not signed after {} s; SHA-256 of the request: {fingerprint}",
                    waited.as_secs()
                ));
            }
            let left = settings.maxwaitforcert.map(|limit| limit - waited);
            let pause = left.map_or(settings.waitforcert, |left| settings.waitforcert.min(left));
            tokio::time::sleep(pause).await;
            waited += pause;
        }
    }
}

/// A certificate request that the CA rejected with status 400.
enum Rejection {
    /// The CA has a request or a certificate with this certname.
    AlreadyExists(String),
    Other(String),
}

impl Rejection {
    /// The CA has no code for the cause, only this text.
    fn parse(message: &str) -> Self {
        if message.contains("already has a") {
            Self::AlreadyExists(message.to_owned())
        } else {
            Self::Other(message.to_owned())
        }
    }
}
