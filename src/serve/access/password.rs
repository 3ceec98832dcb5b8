//! Passwords of local users: Argon2id hashes in PHC format.

use argon2::Argon2;
use argon2::password_hash::phc;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use secrecy::{ExposeSecret as _, SecretString};

/// The hash of a password, such as `$argon2id$v=19$…`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct PasswordHash(String);

impl TryFrom<String> for PasswordHash {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match phc::PasswordHash::new(&text) {
            Ok(hash) if hash.algorithm.as_str() == "argon2id" => Ok(Self(text)),
            _ => Err("the password is not an argon2id hash in PHC format".to_owned()),
        }
    }
}

impl From<PasswordHash> for String {
    fn from(hash: PasswordHash) -> Self {
        hash.0
    }
}

impl PasswordHash {
    /// Whether a password has this hash. Takes tens of milliseconds and megabytes of memory.
    pub(super) fn is_hash_of(&self, password: &SecretString) -> bool {
        let hash = phc::PasswordHash::new(&self.0).expect("it was checked when it was read");
        Argon2::default()
            .verify_password(password.expose_secret().as_bytes(), &hash)
            .is_ok()
    }
}

/// Hashes a password with a random salt.
pub(crate) fn hash_password(password: &SecretString) -> PasswordHash {
    let hash = Argon2::default().hash_password(password.expose_secret().as_bytes());
    PasswordHash(hash.expect("the default parameters are valid").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn password_hash_matches_its_password_only() {
        let hash = hash_password(&"correct".to_owned().into());
        assert!(hash.is_hash_of(&"correct".to_owned().into()));
        assert!(!hash.is_hash_of(&"Correct".to_owned().into()));
        assert!(hash.0.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
    }

    /// The reference vector of the Argon2 command line program:
    /// `echo -n password | argon2 somesalt -id -t 2 -m 16 -p 1`.
    #[test]
    fn password_hash_of_the_reference_program_is_verified() {
        let hash = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
        let hash = PasswordHash::try_from(hash.to_owned()).unwrap();
        assert!(hash.is_hash_of(&"password".to_owned().into()));
        assert!(!hash.is_hash_of(&"passwore".to_owned().into()));
    }

    #[test]
    fn password_hashes_of_other_algorithms_are_rejected() {
        for text in [
            "secret",
            "$2b$12$abcdefghijklmnopqrstuv",
            "$argon2i$v=19$m=16,t=2,p=1$c29tZXNhbHQ$AAAAAAAAAAAAAAAAAAAAAA",
        ] {
            assert!(PasswordHash::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
