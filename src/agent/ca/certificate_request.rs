//! The certificate request (`docs/reference/agent-protocol.md`, section 8.3).

use std::collections::BTreeMap;
use std::path::Path;

use pkcs8::der::asn1::AnyRef;
use pkcs8::der::{Encode as _, Tag};
use rcgen::{Attribute, CertificateParams, CustomExtension, DistinguishedName, DnType, SanType};
use serde::Deserialize;

use super::key::Key;

/// What `csr_attributes.yaml` asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CsrAttributes {
    #[serde(default)]
    custom_attributes: BTreeMap<String, Scalar>,
    #[serde(default)]
    extension_requests: BTreeMap<String, Scalar>,
}

/// A value of the file as text.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
enum Scalar {
    Boolean(bool),
    Integer(i64),
    Text(String),
}

impl Scalar {
    fn text(&self) -> String {
        match self {
            Scalar::Boolean(truth) => truth.to_string(),
            Scalar::Integer(number) => number.to_string(),
            Scalar::Text(text) => text.clone(),
        }
    }
}

/// Why a request cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    #[error("cannot read {path}")]
    Unreadable {
        path: String,
        #[source]
        source: std::io::Error,
    },
    #[error("{path} is not what csr_attributes.yaml may be: {why}")]
    Attributes { path: String, why: String },
    #[error("`{0}` is neither an OID nor a known short name of an extension")]
    UnknownName(String),
    #[error("`{0}` cannot be an alternative name")]
    AlternativeName(String),
    #[error("cannot encode an attribute")]
    Encode(#[source] pkcs8::der::Error),
    #[error("cannot sign the request with the key")]
    Sign(#[source] rcgen::Error),
}

/// The arcs of the peer's own extensions.
const EXTENSIONS: [u64; 9] = [1, 3, 6, 1, 4, 1, 34380, 1, 1];
const AUTHORIZATION: [u64; 9] = [1, 3, 6, 1, 4, 1, 34380, 1, 3];

/// Short names below [`EXTENSIONS`], from number 1.
const SHORT_NAMES: &[&str] = &[
    "pp_uuid",
    "pp_instance_id",
    "pp_image_name",
    "pp_preshared_key",
    "pp_cost_center",
    "pp_product",
    "pp_project",
    "pp_application",
    "pp_service",
    "pp_employee",
    "pp_created_by",
    "pp_environment",
    "pp_role",
    "pp_software_version",
    "pp_department",
    "pp_cluster",
    "pp_provisioner",
    "pp_region",
    "pp_datacenter",
    "pp_zone",
    "pp_network",
    "pp_securitypolicy",
    "pp_cloudplatform",
    "pp_apptier",
    "pp_hostname",
    "pp_owner",
];

/// Short names below [`AUTHORIZATION`].
const AUTHORIZATION_NAMES: &[(&str, u64)] = &[
    ("pp_authorization", 1),
    ("pp_auth_auto_renew", 2),
    ("pp_auth_role", 13),
    ("pp_cli_auth", 39),
];

impl CsrAttributes {
    /// Reads the file; a missing one asks for nothing.
    pub fn read(path: &Path) -> Result<Self, RequestError> {
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&path.display().to_string(), &text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(RequestError::Unreadable {
                path: path.display().to_string(),
                source,
            }),
        }
    }

    fn parse(path: &str, text: &str) -> Result<Self, RequestError> {
        serde_saphyr::from_str(text).map_err(|error| RequestError::Attributes {
            path: path.to_owned(),
            // The first line says what and where; more would quote the file, which may hold a
            // pre-shared key.
            why: error
                .to_string()
                .lines()
                .next()
                .unwrap_or_default()
                .to_owned(),
        })
    }
}

/// Makes a request in PEM for this name.
pub fn request(
    certname: &str,
    key: &Key,
    dns_alt_names: &[String],
    attributes: &CsrAttributes,
    auto_renew: bool,
) -> Result<String, RequestError> {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, certname);
    if !dns_alt_names.is_empty() {
        let names = dns_alt_names.iter().map(String::as_str);
        params.subject_alt_names = names
            .chain([certname])
            .map(alternative_name)
            .collect::<Result<_, _>>()?;
    }
    for (name, value) in &attributes.extension_requests {
        let content = der(Tag::Utf8String, value.text().as_bytes())?;
        params
            .custom_extensions
            .push(CustomExtension::from_oid_content(&oid(name)?, content));
    }
    let mut own = Vec::new();
    for (name, value) in &attributes.custom_attributes {
        own.push((
            oid(name)?,
            der(Tag::PrintableString, value.text().as_bytes())?,
        ));
    }
    let renewal = [&AUTHORIZATION[..], &[2]].concat();
    if auto_renew && own.iter().all(|(oid, _)| *oid != renewal) {
        own.push((renewal, der(Tag::Utf8String, b"true")?));
    }
    let own = own
        .into_iter()
        .map(|(oid, value)| {
            Ok(Attribute {
                // rcgen requires `'static`; a device needs one request in its life.
                oid: Vec::leak(oid),
                values: der(Tag::Set, &value)?,
            })
        })
        .collect::<Result<_, RequestError>>()?;
    params
        .serialize_request_with_attributes(key.pair(), own)
        .and_then(|request| request.pem())
        .map_err(RequestError::Sign)
}

/// An element with this content. Like OpenSSL, it does not check the characters of a string.
fn der(tag: Tag, content: &[u8]) -> Result<Vec<u8>, RequestError> {
    AnyRef::new(tag, content)
        .and_then(|element| element.to_der())
        .map_err(RequestError::Encode)
}

fn alternative_name(name: &str) -> Result<SanType, RequestError> {
    let wrong = || RequestError::AlternativeName(name.to_owned());
    if let Some(address) = name.strip_prefix("IP:") {
        return address.parse().map(SanType::IpAddress).map_err(|_| wrong());
    }
    let name = name.strip_prefix("DNS:").unwrap_or(name);
    name.try_into().map(SanType::DnsName).map_err(|_| wrong())
}

fn oid(name: &str) -> Result<Vec<u64>, RequestError> {
    if let Some(index) = SHORT_NAMES.iter().position(|known| *known == name) {
        return Ok([&EXTENSIONS[..], &[index as u64 + 1]].concat());
    }
    if let Some((_, last)) = AUTHORIZATION_NAMES.iter().find(|(known, _)| *known == name) {
        return Ok([&AUTHORIZATION[..], &[*last]].concat());
    }
    let parts: Option<Vec<u64>> = name.split('.').map(|part| part.parse().ok()).collect();
    parts
        .filter(|parts| parts.len() > 2 && parts[0] < 3 && (parts[0] == 2 || parts[1] < 40))
        .ok_or_else(|| RequestError::UnknownName(name.to_owned()))
}

/// SHA-256 of a request, which operators compare before they sign.
pub fn fingerprint(pem: &str) -> Option<String> {
    use rustls::pki_types::CertificateSigningRequestDer;
    use rustls::pki_types::pem::PemObject as _;
    let der = CertificateSigningRequestDer::from_pem_slice(pem.as_bytes()).ok()?;
    Some(crate::agent::certificate::fingerprint(&der))
}

#[cfg(test)]
mod tests {
    use x509_parser::certification_request::X509CertificationRequest;
    use x509_parser::prelude::FromDer as _;

    use super::*;
    use crate::agent::puppet_conf::KeyType;

    fn made(names: &[&str], attributes: &str, auto_renew: bool) -> Result<String, RequestError> {
        let key = Key::generate(KeyType::P256).unwrap();
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let attributes = CsrAttributes::parse("csr_attributes.yaml", attributes)?;
        request("sw1.lab.test", &key, &names, &attributes, auto_renew)
    }

    /// The OIDs of attributes and of requested extensions.
    fn oids(pem: &str) -> Vec<String> {
        let (_, pem) = x509_parser::pem::parse_x509_pem(pem.as_bytes()).unwrap();
        let (_, request) = X509CertificationRequest::from_der(&pem.contents).unwrap();
        assert_eq!(
            request.certification_request_info.subject.to_string(),
            "CN=sw1.lab.test"
        );
        assert_eq!(request.certification_request_info.version.0, 0);
        let mut oids: Vec<String> = request
            .certification_request_info
            .iter_attributes()
            .map(|attribute| attribute.oid.to_id_string())
            .collect();
        for attribute in request.certification_request_info.iter_attributes() {
            if let x509_parser::cri_attributes::ParsedCriAttribute::ExtensionRequest(requested) =
                attribute.parsed_attribute()
            {
                oids.extend(
                    requested
                        .extensions
                        .iter()
                        .map(|extension| extension.oid.to_id_string()),
                );
            }
        }
        oids
    }

    #[test]
    fn a_request_has_what_was_asked_for_and_no_more() {
        assert_eq!(oids(&made(&[], "", false).unwrap()), [""; 0]);
        assert_eq!(
            oids(&made(&[], "", true).unwrap()),
            ["1.3.6.1.4.1.34380.1.3.2"]
        );
        let yaml = "---\ncustom_attributes:\n  1.2.840.113549.1.9.7: \"342thbjkt82094y0uthhor289jnqthpc2290\"\nextension_requests:\n  pp_uuid: ED803750\n  pp_zone: 7\n  1.3.6.1.4.1.34380.1.2.1.1: x\n  pp_auth_role: switch\n";
        let mut found = oids(&made(&["alt.lab.test", "IP:10.0.0.1"], yaml, true).unwrap());
        found.sort();
        assert_eq!(
            found,
            [
                "1.2.840.113549.1.9.14",
                "1.2.840.113549.1.9.7",
                "1.3.6.1.4.1.34380.1.1.1",
                "1.3.6.1.4.1.34380.1.1.20",
                "1.3.6.1.4.1.34380.1.2.1.1",
                "1.3.6.1.4.1.34380.1.3.13",
                "1.3.6.1.4.1.34380.1.3.2",
                "2.5.29.17",
            ]
        );
    }

    #[test]
    fn unusable_attributes_are_told_without_their_values() {
        let cases = [
            (
                "extension_requests:\n  pp_nonsense: s3cret\n",
                "`pp_nonsense` is neither an OID nor a known short name of an extension",
            ),
            (
                "extra:\n  a: s3cret\n",
                "csr_attributes.yaml is not what csr_attributes.yaml may be",
            ),
            (
                "extension_requests: [s3cret]\n",
                "csr_attributes.yaml is not what csr_attributes.yaml may be",
            ),
        ];
        for (yaml, expected) in cases {
            let error = made(&[], yaml, false).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
            assert!(!error.contains("s3cret"), "{error}");
        }
        let error = made(&["ä b"], "", false).unwrap_err().to_string();
        assert_eq!(error, "`ä b` cannot be an alternative name");
    }

    #[test]
    fn the_fingerprint_of_a_recorded_request_is_the_one_operators_see() {
        let pem = include_str!("../../../tests/fixtures/puppetserver/ssl/csr.pem");
        let expected = include_str!("../../../tests/fixtures/puppetserver/ssl/csr.sha256");
        assert_eq!(fingerprint(pem).as_deref(), Some(expected.trim()));
    }
}
