//! API tokens: random texts. Only their SHA-256 digests are stored, because a random text cannot be
//! guessed from a fast digest.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize as _;
use sha2::{Digest as _, Sha256};

/// Marks tokens for scanners of secrets.
const PREFIX: &str = "swt_";

/// A secret text that identifies its owner. It is rendered only where it is created.
pub(crate) struct TokenText(String);

impl std::fmt::Debug for TokenText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TokenText(••••)")
    }
}

impl TokenText {
    /// Creates a token from 32 random bytes.
    pub(crate) fn random() -> Self {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).expect("the operating system has random numbers");
        Self(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// A token of a request.
    pub(crate) fn received(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The text, for its owner.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// The digest that is stored. Digests are compared, so that the time of a comparison is independent of
    /// the text.
    pub(crate) fn digest(&self) -> String {
        hex::encode(Sha256::digest(self.0.as_bytes()))
    }
}

/// A digest of a token. A token in its place is an error that does not have it.
pub(super) fn deserialize_digest<'de, D: serde::Deserializer<'de>>(
    value: D,
) -> Result<String, D::Error> {
    let text = String::deserialize(value)?;
    let is_digest = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_digest {
        Ok(text)
    } else {
        let text = "`sha256` is no digest of a token: write the one of `switchtender access add-token` or `add-worker`";
        Err(serde::de::Error::custom(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_digest_is_sha256_of_the_text() {
        // From RFC 6234 and FIPS 180-2: the digest of "abc".
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(TokenText::received("abc").digest(), digest);
    }

    #[test]
    fn random_tokens_differ_and_are_not_rendered_for_debugging() {
        let (one, other) = (TokenText::random(), TokenText::random());
        assert_ne!(one.digest(), other.digest());
        assert_eq!(one.expose().len(), PREFIX.len() + 43);
        assert!(!format!("{one:?}").contains(one.expose()));
    }
}
