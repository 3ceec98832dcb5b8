//! A device's private key: read in the three formats that sites have, or generated.

use pkcs8::der::asn1::{AnyRef, OctetStringRef};
use pkcs8::der::pem::PemLabel as _;
use pkcs8::spki::AlgorithmIdentifierRef;
use pkcs8::{EncodePrivateKey as _, LineEnding, PrivateKeyInfoRef, SecretDocument};
use rcgen::{KeyPair, PublicKeyData as _};
use rsa::pkcs1;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use sec1::{EcParameters, EcPrivateKey};

use crate::agent::puppet_conf::KeyType;

/// A private key. It has no `Debug`.
pub struct PrivateKey {
    pair: KeyPair,
}

/// Why a key is unusable. No message contains any part of the key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The key is encrypted with a pass phrase.
    #[error("keys with a pass phrase are not supported")]
    Encrypted,
    /// The text contains no private key in PEM format.
    #[error("the file contains no private key in PEM format")]
    NoKey,
    /// The key is not RSA, P-256 or P-384, or its encoding is invalid.
    #[error("unsupported key type (supported: RSA, P-256, P-384)")]
    UnsupportedType,
    /// The generation of a new key failed.
    #[error("cannot generate a key")]
    Generate,
}

impl PrivateKey {
    /// Reads a key in PKCS#1, PKCS#8 or SEC1 format.
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        if pem.contains("ENCRYPTED") {
            return Err(KeyError::Encrypted);
        }
        let key = PrivateKeyDer::from_pem_slice(pem.as_bytes()).map_err(|_| KeyError::NoKey)?;
        match &key {
            PrivateKeyDer::Pkcs8(key) => Self::from_pkcs8(key.secret_pkcs8_der()),
            PrivateKeyDer::Pkcs1(key) => {
                Self::from_algorithm(pkcs1::ALGORITHM_ID, key.secret_pkcs1_der())
            }
            PrivateKeyDer::Sec1(key) => Self::from_sec1(key.secret_sec1_der()),
            _ => Err(KeyError::UnsupportedType),
        }
    }

    /// Generates a key. RSA takes seconds: call it where blocking is allowed.
    pub fn generate(key_type: KeyType) -> Result<Self, KeyError> {
        let algorithm = match key_type {
            KeyType::P256 => &rcgen::PKCS_ECDSA_P256_SHA256,
            KeyType::P384 => &rcgen::PKCS_ECDSA_P384_SHA384,
            KeyType::Rsa { bits } => return Self::generate_rsa(bits),
        };
        let pair = KeyPair::generate_for(algorithm).map_err(|_| KeyError::Generate)?;
        Ok(Self { pair })
    }

    fn generate_rsa(bits: u16) -> Result<Self, KeyError> {
        let key = rsa::RsaPrivateKey::new(&mut rand::rng(), bits.into())
            .map_err(|_| KeyError::Generate)?;
        let document = key.to_pkcs8_der().map_err(|_| KeyError::Generate)?;
        Self::from_pkcs8(document.as_bytes())
    }

    fn from_sec1(der: &[u8]) -> Result<Self, KeyError> {
        let key = EcPrivateKey::try_from(der).map_err(|_| KeyError::UnsupportedType)?;
        // RFC 5915 requires the parameters in a file.
        let curve = key
            .parameters
            .and_then(EcParameters::named_curve)
            .ok_or(KeyError::UnsupportedType)?;
        let algorithm = AlgorithmIdentifierRef {
            oid: sec1::ALGORITHM_OID,
            parameters: Some(AnyRef::from(&curve)),
        };
        Self::from_algorithm(algorithm, der)
    }

    fn from_algorithm(algorithm: AlgorithmIdentifierRef<'_>, key: &[u8]) -> Result<Self, KeyError> {
        let document = OctetStringRef::new(key)
            .and_then(|key| SecretDocument::encode_msg(&PrivateKeyInfoRef::new(algorithm, key)))
            .map_err(|_| KeyError::UnsupportedType)?;
        Self::from_pkcs8(document.as_bytes())
    }

    fn from_pkcs8(der: &[u8]) -> Result<Self, KeyError> {
        let pair = KeyPair::try_from(&PrivatePkcs8KeyDer::from(der))
            .map_err(|_| KeyError::UnsupportedType)?;
        Ok(Self { pair })
    }

    /// The key in Puppet's file format: PKCS#1 for RSA, otherwise PKCS#8.
    pub(crate) fn to_pem(&self) -> String {
        if !self.is_rsa() {
            return self.pair.serialize_pem();
        }
        let pkcs8 = PrivateKeyInfoRef::try_from(self.pair.serialized_der());
        let pem = pkcs8.map(|info| {
            SecretDocument::try_from(info.private_key.as_bytes())
                .and_then(|key| key.to_pem(pkcs1::RsaPrivateKey::PEM_LABEL, LineEnding::LF))
        });
        pem.expect("a key pair contains valid PKCS#8")
            .expect("PKCS#8 of an RSA key contains valid PKCS#1")
            .to_string()
    }

    /// The key for TLS.
    pub fn to_der(&self) -> PrivateKeyDer<'static> {
        PrivatePkcs8KeyDer::from(self.pair.serialized_der().to_vec()).into()
    }

    /// The bits of the public key, for comparison with a certificate.
    pub(crate) fn public_key(&self) -> &[u8] {
        self.pair.der_bytes()
    }

    pub(crate) fn pair(&self) -> &KeyPair {
        &self.pair
    }

    fn is_rsa(&self) -> bool {
        self.pair.algorithm() == &rcgen::PKCS_RSA_SHA256
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made with `openssl genrsa -traditional`, `ecparam -genkey` and `genpkey`.
    const PKCS1: &str = include_str!("../../../tests/fixtures/keys/rsa_pkcs1.pem");
    const PKCS8: &str = include_str!("../../../tests/fixtures/keys/rsa_pkcs8.pem");
    const SEC1: &str = include_str!("../../../tests/fixtures/keys/ec_sec1.pem");
    const EC_PKCS8: &str = include_str!("../../../tests/fixtures/keys/ec_pkcs8.pem");

    #[test]
    fn key_is_equal_in_all_formats() {
        let (one, other) = (
            PrivateKey::from_pem(PKCS1).unwrap(),
            PrivateKey::from_pem(PKCS8).unwrap(),
        );
        assert_eq!(one.public_key(), other.public_key());
        assert_eq!(one.to_pem(), PKCS1, "RSA keys are written as PKCS#1");
        let (one, other) = (
            PrivateKey::from_pem(SEC1).unwrap(),
            PrivateKey::from_pem(EC_PKCS8).unwrap(),
        );
        assert_eq!(one.public_key(), other.public_key());
    }

    #[test]
    fn key_survives_a_round_trip() {
        for kind in [KeyType::P256, KeyType::P384] {
            let key = PrivateKey::generate(kind).unwrap();
            assert_eq!(
                PrivateKey::from_pem(&key.to_pem()).unwrap().public_key(),
                key.public_key()
            );
        }
    }

    #[test]
    fn key_of_type_rsa_is_written_as_pkcs1() {
        // The smallest that settings allow: larger keys take long in debug builds.
        let key = PrivateKey::generate(KeyType::Rsa { bits: 2048 }).unwrap();
        assert!(
            key.to_pem()
                .starts_with("-----BEGIN RSA PRIVATE KEY-----\n")
        );
        assert_eq!(
            PrivateKey::from_pem(&key.to_pem()).unwrap().public_key(),
            key.public_key()
        );
    }

    #[test]
    fn key_errors_name_the_reason() {
        let encrypted =
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
        let old = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END RSA PRIVATE KEY-----\n";
        for (text, expected) in [
            (encrypted, "keys with a pass phrase are not supported"),
            (old, "keys with a pass phrase are not supported"),
            ("", "the file contains no private key in PEM format"),
            (
                "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
                "unsupported key type (supported: RSA, P-256, P-384)",
            ),
        ] {
            let Err(error) = PrivateKey::from_pem(text) else {
                panic!("{text}")
            };
            assert_eq!(error.to_string(), expected);
        }
    }
}
