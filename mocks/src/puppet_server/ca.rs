//! The certificate authority: a root, an intermediate, their CRLs, and the server's certificate.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams,
    CertificateSigningRequestParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyIdMethod,
    KeyPair, KeyUsagePurpose, RevokedCertParams, SanType, SerialNumber, date_time_ymd,
};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;

/// Certificates expire on the first day of this year.
const LAST_YEAR: i32 = 2089;

const INTERMEDIATE_SERIAL: u64 = 2;

/// Properties of the certificates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CertificateProfile {
    /// All certificates are valid.
    Valid,
    /// The server's certificate has expired.
    ExpiredServer,
    /// The server's certificate has a common name and no alternative names.
    CommonNameOnly,
    /// The certificates of devices have expired.
    ExpiredDevices,
}

/// A CA with a root and an intermediate certificate.
pub struct CertificateAuthority {
    root: Level,
    intermediate: Level,
    server: (String, KeyPair),
    profile: CertificateProfile,
    next_serial: u64,
    revoked: Vec<u64>,
    intermediate_is_revoked: bool,
    /// The lists of the intermediate and of the root CA have expired.
    crls_expired: (bool, bool),
}

struct Level {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl std::fmt::Debug for CertificateAuthority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CertificateAuthority")
            .finish_non_exhaustive()
    }
}

impl Default for CertificateAuthority {
    fn default() -> Self {
        Self::new()
    }
}

impl CertificateAuthority {
    /// A CA whose certificates are valid.
    pub fn new() -> Self {
        Self::with_profile(CertificateProfile::Valid)
    }

    /// A CA with these properties.
    pub fn with_profile(profile: CertificateProfile) -> Self {
        let root_key = key();
        let params = ca_params("Puppet Root CA: test");
        let root_pem = params
            .self_signed(&root_key)
            .expect("valid parameters")
            .pem();
        let root = Level {
            pem: root_pem,
            issuer: Issuer::new(params, root_key),
        };
        let intermediate_key = key();
        let mut params = ca_params("Puppet CA: puppetserver.test");
        params.serial_number = Some(SerialNumber::from(INTERMEDIATE_SERIAL));
        let intermediate_pem = params
            .signed_by(&intermediate_key, &root.issuer)
            .expect("valid parameters")
            .pem();
        let intermediate = Level {
            pem: intermediate_pem,
            issuer: Issuer::new(params, intermediate_key),
        };
        let server_key = key();
        let mut params = leaf_params("puppetserver.test", 3);
        if profile == CertificateProfile::ExpiredServer {
            params.not_before = date_time_ymd(2001, 1, 1);
            params.not_after = date_time_ymd(2002, 1, 1);
        }
        if profile != CertificateProfile::CommonNameOnly {
            params.subject_alt_names = vec![
                SanType::DnsName("puppetserver.test".try_into().expect("ASCII")),
                SanType::DnsName("localhost".try_into().expect("ASCII")),
                SanType::IpAddress([127, 0, 0, 1].into()),
            ];
        }
        let server = params
            .signed_by(&server_key, &intermediate.issuer)
            .expect("valid parameters");
        Self {
            root,
            server: (server.pem(), server_key),
            intermediate,
            profile,
            next_serial: 4,
            revoked: Vec::new(),
            intermediate_is_revoked: false,
            crls_expired: (false, false),
        }
    }

    /// Both CA certificates, the intermediate first.
    pub fn bundle(&self) -> String {
        format!("{}{}", self.intermediate.pem, self.root.pem)
    }

    /// The CRLs of both levels.
    pub fn crls(&self) -> String {
        let by_root: &[u64] = if self.intermediate_is_revoked {
            &[INTERMEDIATE_SERIAL]
        } else {
            &[]
        };
        format!(
            "{}{}",
            crl(&self.intermediate, &self.revoked, self.crls_expired.0),
            crl(&self.root, by_root, self.crls_expired.1)
        )
    }

    /// Signs a request in PEM; `None` if it is invalid.
    pub fn sign(&mut self, request: &str) -> Option<String> {
        self.sign_until(request, LAST_YEAR)
    }

    /// Signs a request again; the new certificate expires one year later.
    pub fn renew(&mut self, request: &str) -> Option<String> {
        self.sign_until(request, LAST_YEAR + 1)
    }

    fn sign_until(&mut self, request: &str, year: i32) -> Option<String> {
        let request = CertificateSigningRequestParams::from_pem(request).ok()?;
        let name = request_name(&request)?;
        let mut params = leaf_params(&name, self.next_serial);
        params.not_after = date_time_ymd(year, 1, 1);
        self.next_serial += 1;
        params.subject_alt_names = vec![SanType::DnsName(name.as_str().try_into().ok()?)];
        if self.profile == CertificateProfile::ExpiredDevices {
            params.not_before = date_time_ymd(2001, 1, 1);
            params.not_after = date_time_ymd(2002, 1, 1);
        }
        params
            .signed_by(&request.public_key, &self.intermediate.issuer)
            .ok()
            .map(|certificate| certificate.pem())
    }

    /// Revokes a signed certificate by its index, from 0.
    pub fn revoke(&mut self, index: u64) {
        self.revoked.push(4 + index);
    }

    /// Revokes the server's own certificate.
    pub fn revoke_server(&mut self) {
        self.revoked.push(3);
    }

    /// Revokes the certificate of the intermediate CA.
    pub fn revoke_intermediate(&mut self) {
        self.intermediate_is_revoked = true;
    }

    /// Sets whether the CRLs of the intermediate and of the root CA expired in 2021.
    pub fn expire_crls(&mut self, intermediate: bool, root: bool) {
        self.crls_expired = (intermediate, root);
    }

    pub(super) fn server_config(&self) -> rustls::ServerConfig {
        let mut roots = rustls::RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(self.bundle().as_bytes()) {
            roots
                .add(certificate.expect("generated PEM"))
                .expect("generated certificate");
        }
        let crls: Vec<_> = CertificateRevocationListDer::pem_slice_iter(self.crls().as_bytes())
            .collect::<Result<_, _>>()
            .expect("generated PEM");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
            .with_crls(crls)
            .allow_unauthenticated()
            .build()
            .expect("valid trust anchors");
        self.configured(verifier)
    }

    /// Configuration of a server that does not request client certificates.
    pub(super) fn server_config_without_client_certificates(&self) -> rustls::ServerConfig {
        self.configured(WebPkiClientVerifier::no_client_auth())
    }

    fn configured(&self, verifier: Arc<dyn ClientCertVerifier>) -> rustls::ServerConfig {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let leaf = CertificateDer::from_pem_slice(self.server.0.as_bytes()).expect("generated PEM");
        let key = PrivateKeyDer::try_from(self.server.1.serialize_der()).expect("generated key");
        rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring supports them")
            .with_client_cert_verifier(verifier)
            .with_single_cert(vec![leaf], key)
            .expect("the key belongs to the certificate")
    }
}

/// A CRL in PEM format.
fn crl(level: &Level, revoked: &[u64], expired: bool) -> String {
    let last_year = if expired { 2021 } else { 2090 };
    CertificateRevocationListParams {
        this_update: date_time_ymd(2020, 1, 1),
        next_update: date_time_ymd(last_year, 1, 1),
        crl_number: SerialNumber::from(revoked.len() as u64 + 1),
        issuing_distribution_point: None,
        revoked_certs: revoked
            .iter()
            .map(|serial| RevokedCertParams {
                serial_number: SerialNumber::from(*serial),
                revocation_time: date_time_ymd(2021, 1, 1),
                reason_code: None,
                invalidity_date: None,
            })
            .collect(),
        key_identifier_method: KeyIdMethod::Sha256,
    }
    .signed_by(&level.issuer)
    .and_then(|list| list.pem())
    .expect("valid parameters")
}

/// The common name of a request.
pub(super) fn request_name(request: &CertificateSigningRequestParams) -> Option<String> {
    let (_, value) = request
        .params
        .distinguished_name
        .iter()
        .find(|(kind, _)| **kind == DnType::CommonName)?;
    Some(match value {
        rcgen::DnValue::Utf8String(text) => text.clone(),
        rcgen::DnValue::PrintableString(text) => text.as_str().to_owned(),
        _ => return None,
    })
}

fn key() -> KeyPair {
    KeyPair::generate().expect("random numbers are available")
}

fn ca_params(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![
        KeyUsagePurpose::KeyCertSign,
        KeyUsagePurpose::CrlSign,
        KeyUsagePurpose::DigitalSignature,
    ];
    params
}

fn leaf_params(name: &str, serial: u64) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.remove(DnType::CommonName);
    params.distinguished_name.push(DnType::CommonName, name);
    params.serial_number = Some(SerialNumber::from(serial));
    params.use_authority_key_identifier_extension = true;
    params.not_after = date_time_ymd(LAST_YEAR, 1, 1);
    params.extended_key_usages = vec![
        ExtendedKeyUsagePurpose::ServerAuth,
        ExtendedKeyUsagePurpose::ClientAuth,
    ];
    params
}
