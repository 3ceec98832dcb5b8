//! Named sets of algorithms to offer to a device.

use std::borrow::Cow;

use russh::client::GexParams;
use russh::keys::{Algorithm, EcdsaCurve, HashAlg};
use russh::{AlgorithmKind, Preferred, cipher, compression, kex, mac};

use crate::session::connect_params::Algorithms;

/// Key exchanges without SHA-1, on curves and groups without known weaknesses.
const MODERN_KEX: &[kex::Name] = &[
    kex::MLKEM768X25519_SHA256,
    kex::CURVE25519,
    kex::CURVE25519_PRE_RFC_8731,
    kex::DH_GEX_SHA256,
    kex::DH_G18_SHA512,
    kex::DH_G17_SHA512,
    kex::DH_G16_SHA512,
    kex::DH_G15_SHA512,
    kex::DH_G14_SHA256,
];
const COMPATIBLE_KEX: &[kex::Name] = &[
    kex::ECDH_SHA2_NISTP256,
    kex::ECDH_SHA2_NISTP384,
    kex::ECDH_SHA2_NISTP521,
    kex::DH_G14_SHA1,
];
/// Fixed groups first: group exchange does not allow the 1024 bits of old devices.
const LEGACY_KEX: &[kex::Name] = &[kex::DH_G1_SHA1, kex::DH_GEX_SHA1];

/// Without these markers in the list the library turns off strict key exchange.
const MARKERS: &[kex::Name] = &[
    kex::EXTENSION_SUPPORT_AS_CLIENT,
    kex::EXTENSION_OPENSSH_STRICT_KEX_AS_CLIENT,
];

const MODERN_CIPHERS: &[cipher::Name] = &[
    cipher::CHACHA20_POLY1305,
    cipher::AES_256_GCM,
    cipher::AES_128_GCM,
    cipher::AES_256_CTR,
    cipher::AES_192_CTR,
    cipher::AES_128_CTR,
];
const COMPATIBLE_CIPHERS: &[cipher::Name] = &[
    cipher::AES_256_CBC,
    cipher::AES_192_CBC,
    cipher::AES_128_CBC,
];
const LEGACY_CIPHERS: &[cipher::Name] = &[cipher::TRIPLE_DES_CBC];

const MODERN_MACS: &[mac::Name] = &[
    mac::HMAC_SHA512_ETM,
    mac::HMAC_SHA256_ETM,
    mac::HMAC_SHA512,
    mac::HMAC_SHA256,
];
const COMPATIBLE_MACS: &[mac::Name] = &[mac::HMAC_SHA1_ETM, mac::HMAC_SHA1];

fn modern_keys() -> Vec<Algorithm> {
    let curve = |curve| Algorithm::Ecdsa { curve };
    let rsa = |hash| Algorithm::Rsa { hash: Some(hash) };
    vec![
        Algorithm::Ed25519,
        curve(EcdsaCurve::NistP256),
        curve(EcdsaCurve::NistP384),
        curve(EcdsaCurve::NistP521),
        rsa(HashAlg::Sha512),
        rsa(HashAlg::Sha256),
    ]
}

/// The algorithms to offer. Those of known host keys come first, so that a device with several
/// keys presents a known one.
pub(super) fn preferred(set: Algorithms, recorded: &[Algorithm]) -> Preferred {
    let mut kex = MODERN_KEX.to_vec();
    let mut cipher = MODERN_CIPHERS.to_vec();
    let mut mac = MODERN_MACS.to_vec();
    let mut key = modern_keys();
    if set != Algorithms::Modern {
        kex.extend(COMPATIBLE_KEX);
        cipher.extend(COMPATIBLE_CIPHERS);
        mac.extend(COMPATIBLE_MACS);
        key.push(Algorithm::Rsa { hash: None });
    }
    if set == Algorithms::Legacy {
        kex.extend(LEGACY_KEX);
        cipher.extend(LEGACY_CIPHERS);
    }
    kex.extend(MARKERS);
    key.sort_by_key(|algorithm| {
        !recorded
            .iter()
            .any(|recorded| is_same_key(recorded, algorithm))
    });
    Preferred {
        kex: Cow::Owned(kex),
        key: Cow::Owned(key),
        cipher: Cow::Owned(cipher),
        mac: Cow::Owned(mac),
        compression: Cow::Borrowed(&[compression::NONE]),
        ..Preferred::DEFAULT
    }
}

/// Compares key types; the signature hash is not part of an RSA key.
fn is_same_key(a: &Algorithm, b: &Algorithm) -> bool {
    matches!((a, b), (Algorithm::Rsa { .. }, Algorithm::Rsa { .. })) || a == b
}

/// The group sizes to request.
pub(super) fn group_exchange(set: Algorithms) -> GexParams {
    let (preferred, largest) = match set {
        Algorithms::Modern => return GexParams::default(),
        // The library requires at least 2048.
        Algorithms::Compatible | Algorithms::Legacy => (2048, 4096),
    };
    GexParams::new(2048, preferred, largest).expect("2048 is the allowed minimum")
}

/// The smallest set that has one of the offered algorithms.
pub(super) fn narrowest(kind: &AlgorithmKind, offered: &[String]) -> Option<Algorithms> {
    let allows = |set| {
        let preferred = preferred(set, &[]);
        let ours: Vec<String> = match kind {
            AlgorithmKind::Kex => names(&preferred.kex),
            AlgorithmKind::Cipher => names(&preferred.cipher),
            AlgorithmKind::Mac => names(&preferred.mac),
            AlgorithmKind::Key => preferred.key.iter().map(ToString::to_string).collect(),
            AlgorithmKind::Compression => Vec::new(),
        };
        offered.iter().any(|name| ours.contains(name))
    };
    [
        Algorithms::Modern,
        Algorithms::Compatible,
        Algorithms::Legacy,
    ]
    .into_iter()
    .find(|set| allows(*set))
}

fn names<N: AsRef<str>>(list: &[N]) -> Vec<String> {
    list.iter().map(|name| name.as_ref().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn algorithm_sets_keep_strict_key_exchange() {
        for set in [
            Algorithms::Modern,
            Algorithms::Compatible,
            Algorithms::Legacy,
        ] {
            let kex = preferred(set, &[]).kex;
            assert!(kex.contains(&kex::EXTENSION_OPENSSH_STRICT_KEX_AS_CLIENT));
            assert!(kex.contains(&kex::EXTENSION_SUPPORT_AS_CLIENT));
        }
    }

    #[test]
    fn narrowest_set_has_an_offered_algorithm() {
        let cases = [
            (
                AlgorithmKind::Kex,
                "diffie-hellman-group14-sha1",
                Some(Algorithms::Compatible),
            ),
            (
                AlgorithmKind::Kex,
                "diffie-hellman-group1-sha1",
                Some(Algorithms::Legacy),
            ),
            (
                AlgorithmKind::Cipher,
                "aes128-cbc",
                Some(Algorithms::Compatible),
            ),
            (AlgorithmKind::Cipher, "3des-cbc", Some(Algorithms::Legacy)),
            (
                AlgorithmKind::Mac,
                "hmac-sha1",
                Some(Algorithms::Compatible),
            ),
            (AlgorithmKind::Mac, "hmac-md5", None),
            (AlgorithmKind::Key, "ssh-rsa", Some(Algorithms::Compatible)),
            (AlgorithmKind::Key, "ssh-dss", None),
        ];
        for (kind, offered, expected) in cases {
            assert_eq!(
                narrowest(&kind, &[offered.to_owned()]),
                expected,
                "{offered}"
            );
        }
    }

    #[test]
    fn preferred_algorithms_of_known_keys_come_first() {
        let recorded = [Algorithm::Rsa { hash: None }];
        let first = preferred(Algorithms::Modern, &recorded).key[0].clone();
        assert!(first.is_rsa());
    }
}
