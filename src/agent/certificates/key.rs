//! A device's private key: read in the three formats that sites have, or made.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{KeyPair, PublicKeyData as _};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use super::super::settings::KeyType;

/// A private key. It has no `Debug`.
pub struct Key {
    pair: KeyPair,
}

/// Why a key cannot be used. No message shows any of it.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("the key has a pass phrase, which is not supported")]
    Encrypted,
    #[error("the file holds no private key in PEM form")]
    NoKey,
    #[error("the key is of a kind that is not supported (RSA, P-256 and P-384 are)")]
    Kind,
    #[error("no key could be made")]
    Make,
}

impl Key {
    /// Reads PKCS#1, PKCS#8 or SEC1.
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        if pem.contains("ENCRYPTED") {
            return Err(KeyError::Encrypted);
        }
        let der = PrivateKeyDer::from_pem_slice(pem.as_bytes()).map_err(|_| KeyError::NoKey)?;
        let pkcs8 = match &der {
            PrivateKeyDer::Pkcs8(key) => key.secret_pkcs8_der().to_vec(),
            PrivateKeyDer::Pkcs1(key) => wrap_rsa(key.secret_pkcs1_der()),
            PrivateKeyDer::Sec1(key) => wrap_ec(key.secret_sec1_der()).ok_or(KeyError::Kind)?,
            _ => return Err(KeyError::Kind),
        };
        Self::from_pkcs8(pkcs8)
    }

    /// Makes a key. RSA takes its time: call it where blocking is allowed.
    pub fn generate(kind: KeyType) -> Result<Self, KeyError> {
        let algorithm = match kind {
            KeyType::P256 => &rcgen::PKCS_ECDSA_P256_SHA256,
            KeyType::P384 => &rcgen::PKCS_ECDSA_P384_SHA384,
            KeyType::Rsa { bits } => return Self::generate_rsa(bits),
        };
        let pair = KeyPair::generate_for(algorithm).map_err(|_| KeyError::Make)?;
        Ok(Self { pair })
    }

    fn generate_rsa(bits: u16) -> Result<Self, KeyError> {
        use rsa::pkcs8::EncodePrivateKey as _;
        let key =
            rsa::RsaPrivateKey::new(&mut rand::rng(), bits.into()).map_err(|_| KeyError::Make)?;
        let der = key.to_pkcs8_der().map_err(|_| KeyError::Make)?;
        Self::from_pkcs8(der.as_bytes().to_vec())
    }

    fn from_pkcs8(der: Vec<u8>) -> Result<Self, KeyError> {
        let pair = KeyPair::try_from(&PrivatePkcs8KeyDer::from(der)).map_err(|_| KeyError::Kind)?;
        Ok(Self { pair })
    }

    /// The key as the peer would write it: PKCS#1 for RSA, else PKCS#8.
    pub fn to_pem(&self) -> String {
        let pkcs8 = self.pair.serialized_der();
        if self.is_rsa()
            && let Some(pkcs1) = unwrap_rsa(pkcs8)
        {
            return pem("RSA PRIVATE KEY", pkcs1);
        }
        pem("PRIVATE KEY", pkcs8)
    }

    /// The key as TLS takes it.
    pub fn to_der(&self) -> PrivateKeyDer<'static> {
        PrivatePkcs8KeyDer::from(self.pair.serialized_der().to_vec()).into()
    }

    /// The bits of the public key, to compare with a certificate's.
    pub fn public_key(&self) -> &[u8] {
        self.pair.der_bytes()
    }

    pub fn pair(&self) -> &KeyPair {
        &self.pair
    }

    fn is_rsa(&self) -> bool {
        self.pair.algorithm() == &rcgen::PKCS_RSA_SHA256
    }
}

/// PEM with lines of 64 characters.
pub(super) fn pem(label: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let mut pem = format!("-----BEGIN {label}-----\n");
    for line in text.as_bytes().chunks(64) {
        pem.push_str(std::str::from_utf8(line).expect("base64 is ASCII"));
        pem.push('\n');
    }
    pem.push_str(&format!("-----END {label}-----\n"));
    pem
}

/// rsaEncryption with its NULL.
const RSA: &[u8] = &[
    0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00,
];
/// id-ecPublicKey on prime256v1.
const P256: &[u8] = &[
    0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48,
    0xce, 0x3d, 0x03, 0x01, 0x07,
];
/// id-ecPublicKey on secp384r1.
const P384: &[u8] = &[
    0x30, 0x10, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x05, 0x2b, 0x81, 0x04,
    0x00, 0x22,
];
const VERSION_0: &[u8] = &[0x02, 0x01, 0x00];

fn wrap_rsa(pkcs1: &[u8]) -> Vec<u8> {
    wrap(RSA, pkcs1)
}

/// The length of the private number tells the curve.
fn wrap_ec(sec1: &[u8]) -> Option<Vec<u8>> {
    let body = element(sec1, 0x30)?.0;
    let (_, rest) = element(body, 0x02)?;
    let (number, _) = element(rest, 0x04)?;
    match number.len() {
        32 => Some(wrap(P256, sec1)),
        48 => Some(wrap(P384, sec1)),
        _ => None,
    }
}

fn wrap(algorithm: &[u8], key: &[u8]) -> Vec<u8> {
    let mut body = VERSION_0.to_vec();
    body.extend_from_slice(algorithm);
    body.extend(tlv(0x04, key));
    tlv(0x30, &body)
}

fn unwrap_rsa(pkcs8: &[u8]) -> Option<&[u8]> {
    let (body, _) = element(pkcs8, 0x30)?;
    let (_, rest) = element(body, 0x02)?;
    let (_, rest) = element(rest, 0x30)?;
    Some(element(rest, 0x04)?.0)
}

/// A DER element: tag, length, content.
pub(super) fn tlv(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut der = vec![tag];
    let length = content.len().to_be_bytes();
    let length: Vec<u8> = length.into_iter().skip_while(|byte| *byte == 0).collect();
    match length.as_slice() {
        [] => der.push(0),
        [short] if *short < 0x80 => der.push(*short),
        long => {
            der.push(0x80 | u8::try_from(long.len()).expect("at most eight"));
            der.extend_from_slice(long);
        }
    }
    der.extend_from_slice(content);
    der
}

/// The content of a DER element with this tag, and what follows it.
fn element(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (first, rest) = der.split_first()?;
    let (length, rest) = rest.split_first()?;
    if *first != tag {
        return None;
    }
    let (length, rest) = if *length < 0x80 {
        (usize::from(*length), rest)
    } else {
        let count = usize::from(*length & 0x7f);
        let (bytes, rest) = (rest.get(..count)?, rest.get(count..)?);
        let length = bytes.iter().try_fold(0_usize, |sum, byte| {
            sum.checked_mul(256)?.checked_add((*byte).into())
        })?;
        (length, rest)
    };
    Some((rest.get(..length)?, rest.get(length..)?))
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
    fn all_three_formats_are_the_same_key() {
        let (one, other) = (Key::from_pem(PKCS1).unwrap(), Key::from_pem(PKCS8).unwrap());
        assert_eq!(one.public_key(), other.public_key());
        assert_eq!(one.to_pem(), PKCS1, "RSA keys are written as PKCS#1");
        let (one, other) = (
            Key::from_pem(SEC1).unwrap(),
            Key::from_pem(EC_PKCS8).unwrap(),
        );
        assert_eq!(one.public_key(), other.public_key());
    }

    #[test]
    fn new_keys_are_found_again() {
        for kind in [KeyType::P256, KeyType::P384] {
            let key = Key::generate(kind).unwrap();
            assert_eq!(
                Key::from_pem(&key.to_pem()).unwrap().public_key(),
                key.public_key()
            );
        }
    }

    #[test]
    fn new_rsa_keys_are_written_as_the_peer_writes_them() {
        // The smallest that settings allow: large ones take long without optimisation.
        let key = Key::generate(KeyType::Rsa { bits: 2048 }).unwrap();
        assert!(
            key.to_pem()
                .starts_with("-----BEGIN RSA PRIVATE KEY-----\n")
        );
        assert_eq!(
            Key::from_pem(&key.to_pem()).unwrap().public_key(),
            key.public_key()
        );
    }

    #[test]
    fn unusable_keys_are_told_apart() {
        let encrypted =
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
        let old = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END RSA PRIVATE KEY-----\n";
        for (text, expected) in [
            (
                encrypted,
                "the key has a pass phrase, which is not supported",
            ),
            (old, "the key has a pass phrase, which is not supported"),
            ("", "the file holds no private key in PEM form"),
            (
                "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
                "the key is of a kind that is not supported (RSA, P-256 and P-384 are)",
            ),
        ] {
            let Err(error) = Key::from_pem(text) else {
                panic!("{text}")
            };
            assert_eq!(error.to_string(), expected);
        }
    }
}
