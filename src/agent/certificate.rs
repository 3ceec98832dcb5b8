//! The fields of a certificate.

use jiff::Timestamp;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use sha2::Digest as _;
use switchtender_devices::names::Certname;
use x509_parser::prelude::{FromDer as _, GeneralName, X509Certificate};

/// The fields of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    pub(crate) common_name: Option<String>,
    pub(crate) issuer: String,
    /// DNS names and addresses.
    pub(crate) alternative_names: Vec<String>,
    /// Upper-case hex with colons.
    pub(crate) serial: String,
    pub(crate) not_before: Timestamp,
    /// End of the validity period.
    pub not_after: Timestamp,
    /// Upper-case hex with colons.
    pub(crate) sha256: String,
    /// The bits of the public key, for comparison with a private key.
    pub(crate) public_key: Vec<u8>,
}

/// A text without a valid certificate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a certificate: {0}")]
pub struct ParseCertificateError(String);

impl Certificate {
    /// The first certificate in a PEM text.
    pub(crate) fn from_pem(pem: &str) -> Result<Self, ParseCertificateError> {
        let der = CertificateDer::from_pem_slice(pem.as_bytes())
            .map_err(|error| ParseCertificateError(error.to_string()))?;
        Self::from_der(&der)
    }

    /// All certificates of a bundle.
    pub(crate) fn bundle(pem: &str) -> Result<Vec<Self>, ParseCertificateError> {
        let found: Vec<Self> = CertificateDer::pem_slice_iter(pem.as_bytes())
            .map(|der| match der {
                Ok(der) => Self::from_der(&der),
                Err(error) => Err(ParseCertificateError(error.to_string())),
            })
            .collect::<Result<_, _>>()?;
        if found.is_empty() {
            return Err(ParseCertificateError("the file contains none".to_owned()));
        }
        Ok(found)
    }

    pub(crate) fn from_der(der: &[u8]) -> Result<Self, ParseCertificateError> {
        let (_, read) = X509Certificate::from_der(der)
            .map_err(|error| ParseCertificateError(error.to_string()))?;
        let time = |time: x509_parser::time::ASN1Time| {
            Timestamp::from_second(time.timestamp())
                .map_err(|error| ParseCertificateError(error.to_string()))
        };
        let alternative_names = read
            .subject_alternative_name()
            .ok()
            .flatten()
            .map(|extension| {
                extension
                    .value
                    .general_names
                    .iter()
                    .filter_map(|name| match name {
                        GeneralName::DNSName(name) => Some((*name).to_owned()),
                        GeneralName::IPAddress(bytes) => address(bytes),
                        _ => None,
                    })
                    .collect()
            })
            .unwrap_or_default();
        Ok(Self {
            common_name: read
                .subject()
                .iter_common_name()
                .next()
                .and_then(|name| name.as_str().ok())
                .map(str::to_owned),
            issuer: read.issuer().to_string(),
            alternative_names,
            serial: read.raw_serial_as_string().to_uppercase(),
            not_before: time(read.validity().not_before)?,
            not_after: time(read.validity().not_after)?,
            sha256: fingerprint(der),
            public_key: read.public_key().subject_public_key.data.to_vec(),
        })
    }

    /// The names that a worker proves with it: its DNS names, or the common name if there is none.
    pub(crate) fn worker_names(&self) -> Vec<String> {
        let is_address = |name: &String| name.parse::<std::net::IpAddr>().is_ok();
        let names = self.alternative_names.iter();
        let names: Vec<String> = names.filter(|name| !is_address(name)).cloned().collect();
        if names.is_empty() {
            self.common_name.iter().cloned().collect()
        } else {
            names
        }
    }

    /// Whether the certificate is for this name.
    pub fn is_for(&self, name: &Certname) -> bool {
        let is = |other: &String| other.eq_ignore_ascii_case(name);
        self.common_name.as_ref().is_some_and(is) || self.alternative_names.iter().any(is)
    }
}

fn address(bytes: &[u8]) -> Option<String> {
    match bytes.len() {
        4 => <[u8; 4]>::try_from(bytes)
            .ok()
            .map(|bytes| std::net::Ipv4Addr::from(bytes).to_string()),
        16 => <[u8; 16]>::try_from(bytes)
            .ok()
            .map(|bytes| std::net::Ipv6Addr::from(bytes).to_string()),
        _ => None,
    }
}

/// SHA-256 in upper-case hex with colons, the format of `puppetserver ca`.
pub fn fingerprint(bytes: &[u8]) -> String {
    let digest = sha2::Sha256::digest(bytes);
    let octets: Vec<String> = digest
        .iter()
        .map(|byte| hex::encode_upper([*byte]))
        .collect();
    octets.join(":")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_pem_reads_a_recorded_certificate() {
        let pem = include_str!("../../tests/fixtures/puppetserver/ssl/signed_certificate.pem");
        let text = include_str!("../../tests/fixtures/puppetserver/ssl/signed_certificate.txt");
        let certificate = Certificate::from_pem(pem).unwrap();
        assert_eq!(certificate.common_name.as_deref(), Some("ca1.lab.test"));
        assert!(text.contains("CN = ca1.lab.test"), "the same one");
        assert_eq!(certificate.alternative_names, ["ca1.lab.test"]);
        assert_eq!(certificate.issuer, "CN=Puppet CA: puppetserver.test");
        let is_for = |name| certificate.is_for(&Certname::parse(name).unwrap());
        assert!(is_for("CA1.lab.test") && !is_for("ca2.lab.test"));
        assert_eq!(certificate.not_after.to_string(), "2031-11-20T08:21:44Z");
    }

    #[test]
    fn bundle_reads_all_certificates() {
        let chain = include_str!("../../tests/fixtures/puppetserver/ssl/ca_bundle_chain.pem");
        assert_eq!(Certificate::bundle(chain).unwrap().len(), 2);
        assert!(Certificate::bundle("no PEM").is_err());
        assert!(
            Certificate::from_pem("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
                .is_err()
        );
    }
}
