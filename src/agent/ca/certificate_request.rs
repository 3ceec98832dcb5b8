//! The certificate request (`docs/reference/agent-protocol.md`, section 8.3).

use std::collections::BTreeMap;
use std::path::Path;

use pkcs8::der::asn1::AnyRef;
use pkcs8::der::{Encode as _, Tag};
use rcgen::{Attribute, CertificateParams, CustomExtension, DistinguishedName, DnType, SanType};
use serde::Deserialize;
use switchtender_devices::names::Certname;
use switchtender_devices::regular_file;

use super::key::PrivateKey;

/// The content of `csr_attributes.yaml`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CsrAttributes {
    #[serde(default)]
    custom_attributes: BTreeMap<String, AttributeValue>,
    #[serde(default)]
    extension_requests: BTreeMap<String, AttributeValue>,
}

/// A scalar value of the file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
enum AttributeValue {
    Boolean(bool),
    Integer(i64),
    Text(String),
}

impl AttributeValue {
    fn text(&self) -> String {
        match self {
            AttributeValue::Boolean(truth) => truth.to_string(),
            AttributeValue::Integer(number) => number.to_string(),
            AttributeValue::Text(text) => text.clone(),
        }
    }
}

/// A certificate request cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum CsrError {
    /// The file of the attributes exists but cannot be read.
    #[error("cannot read {path}")]
    Unreadable {
        /// Path of `csr_attributes.yaml`.
        path: String,
        /// I/O error of the read.
        #[source]
        source: std::io::Error,
    },
    /// The file of the attributes is not valid YAML or has unexpected keys or values.
    #[error("invalid attributes in {path}: {reason}")]
    Attributes {
        /// Path of `csr_attributes.yaml`.
        path: String,
        /// First line of the parser's error, without text from the file.
        reason: String,
    },
    /// The name of an attribute or extension is neither an OID nor a short name of Puppet.
    #[error("unknown extension `{0}`: neither an OID nor a short name of Puppet")]
    UnknownName(String),
    /// An entry of `dns_alt_names` is not a valid DNS name or IP address.
    #[error("invalid alternative name `{0}`")]
    AlternativeName(String),
    /// An attribute or extension cannot be encoded as DER.
    #[error("cannot encode an attribute")]
    Encode(#[source] pkcs8::der::Error),
    /// The request cannot be signed or encoded as PEM.
    #[error("cannot sign the request with the key")]
    Sign(#[source] rcgen::Error),
}

/// The arcs of Puppet's extensions.
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
    /// Reads the file; a missing file is empty.
    pub(crate) fn read(path: &Path) -> Result<Self, CsrError> {
        match regular_file::read_text(path, regular_file::LARGEST) {
            Ok(text) => Self::parse(&path.display().to_string(), &text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(CsrError::Unreadable {
                path: path.display().to_string(),
                source,
            }),
        }
    }

    fn parse(path: &str, text: &str) -> Result<Self, CsrError> {
        serde_saphyr::from_str(text).map_err(|error| CsrError::Attributes {
            path: path.to_owned(),
            // The other lines quote the file, which can contain a pre-shared key.
            reason: error
                .to_string()
                .lines()
                .next()
                .unwrap_or_default()
                .to_owned(),
        })
    }
}

/// Creates a signed request in PEM format.
pub fn create(
    certname: &Certname,
    key: &PrivateKey,
    dns_alt_names: &[String],
    attributes: &CsrAttributes,
    auto_renew: bool,
) -> Result<String, CsrError> {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params
        .distinguished_name
        .push(DnType::CommonName, certname.as_str());
    if !dns_alt_names.is_empty() {
        let names = dns_alt_names.iter().map(String::as_str);
        params.subject_alt_names = names
            .chain([certname.as_str()])
            .map(alternative_name)
            .collect::<Result<_, _>>()?;
    }
    for (name, value) in &attributes.extension_requests {
        let content = der(Tag::Utf8String, value.text().as_bytes())?;
        params
            .custom_extensions
            .push(CustomExtension::from_oid_content(&oid(name)?, content));
    }
    let mut custom = Vec::new();
    for (name, value) in &attributes.custom_attributes {
        custom.push((
            oid(name)?,
            der(Tag::PrintableString, value.text().as_bytes())?,
        ));
    }
    let renewal = [&AUTHORIZATION[..], &[2]].concat();
    if auto_renew && custom.iter().all(|(oid, _)| *oid != renewal) {
        custom.push((renewal, der(Tag::Utf8String, b"true")?));
    }
    let custom = custom
        .into_iter()
        .map(|(oid, value)| {
            Ok(Attribute {
                // rcgen requires `'static`; a device needs one request in its life.
                oid: Vec::leak(oid),
                values: der(Tag::Set, &value)?,
            })
        })
        .collect::<Result<_, CsrError>>()?;
    params
        .serialize_request_with_attributes(key.pair(), custom)
        .and_then(|request| request.pem())
        .map_err(CsrError::Sign)
}

/// An element with this content. Like OpenSSL, it does not check the characters of a string.
fn der(tag: Tag, content: &[u8]) -> Result<Vec<u8>, CsrError> {
    AnyRef::new(tag, content)
        .and_then(|element| element.to_der())
        .map_err(CsrError::Encode)
}

fn alternative_name(name: &str) -> Result<SanType, CsrError> {
    let wrong = || CsrError::AlternativeName(name.to_owned());
    if let Some(address) = name.strip_prefix("IP:") {
        return address.parse().map(SanType::IpAddress).map_err(|_| wrong());
    }
    let name = name.strip_prefix("DNS:").unwrap_or(name);
    name.try_into().map(SanType::DnsName).map_err(|_| wrong())
}

fn oid(name: &str) -> Result<Vec<u64>, CsrError> {
    if let Some(index) = SHORT_NAMES.iter().position(|key| *key == name) {
        return Ok([&EXTENSIONS[..], &[index as u64 + 1]].concat());
    }
    if let Some((_, last)) = AUTHORIZATION_NAMES.iter().find(|(key, _)| *key == name) {
        return Ok([&AUTHORIZATION[..], &[*last]].concat());
    }
    let parts: Option<Vec<u64>> = name.split('.').map(|part| part.parse().ok()).collect();
    parts
        .filter(|parts| parts.len() > 2 && parts[0] < 3 && (parts[0] == 2 || parts[1] < 40))
        .ok_or_else(|| CsrError::UnknownName(name.to_owned()))
}

/// The SHA-256 of a request, for comparison before signing.
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

    fn made(names: &[&str], attributes: &str, auto_renew: bool) -> Result<String, CsrError> {
        let key = PrivateKey::generate(KeyType::P256).unwrap();
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let attributes = CsrAttributes::parse("csr_attributes.yaml", attributes)?;
        let certname = Certname::parse("sw1.lab.test").unwrap();
        create(&certname, &key, &names, &attributes, auto_renew)
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
    fn create_adds_only_the_configured_attributes() {
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
    fn csr_attributes_errors_contain_no_values() {
        let cases = [
            (
                "extension_requests:\n  pp_nonsense: s3cret\n",
                "unknown extension `pp_nonsense`: neither an OID nor a short name of Puppet",
            ),
            (
                "extra:\n  a: s3cret\n",
                "invalid attributes in csr_attributes.yaml: ",
            ),
            (
                "extension_requests: [s3cret]\n",
                "invalid attributes in csr_attributes.yaml: ",
            ),
        ];
        for (yaml, expected) in cases {
            let error = made(&[], yaml, false).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
            assert!(!error.contains("s3cret"), "{error}");
        }
        let error = made(&["ä b"], "", false).unwrap_err().to_string();
        assert_eq!(error, "invalid alternative name `ä b`");
    }

    #[test]
    fn fingerprint_matches_a_recorded_request() {
        let pem = include_str!("../../../tests/fixtures/puppetserver/ssl/csr.pem");
        let expected = include_str!("../../../tests/fixtures/puppetserver/ssl/csr.sha256");
        assert_eq!(fingerprint(pem).as_deref(), Some(expected.trim()));
    }
}
