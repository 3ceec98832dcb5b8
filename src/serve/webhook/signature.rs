//! Signatures of webhooks, as in the specification Standard Webhooks 1.0: HMAC-SHA256 of identifier, time
//! and body.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::Sha256;

/// Marks keys in base64.
const PREFIX: &str = "whsec_";

/// The value of the header `webhook-signature`. A secret is a key in base64 after `whsec_`, or the key
/// itself.
pub(super) fn signature(secret: &SecretString, id: &str, seconds: i64, body: &str) -> String {
    let secret = secret.expose_secret();
    let decoded = secret
        .strip_prefix(PREFIX)
        .and_then(|key| STANDARD.decode(key).ok());
    let key = decoded.unwrap_or_else(|| secret.as_bytes().to_vec());
    let mut mac: Hmac<Sha256> = Hmac::new_from_slice(&key).expect("a key has any length");
    mac.update(format!("{id}.{seconds}.{body}").as_bytes());
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the reference libraries of the specification.
    #[test]
    fn webhook_signature_is_that_of_the_reference_libraries() {
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".to_owned().into();
        let id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
        let signed = signature(&secret, id, 1_614_265_330, r#"{"test": 2432232314}"#);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        let other = signature(&secret, id, 1_614_265_330, r#"{"test": 2432232315}"#);
        assert_ne!(signed, other);
    }
}
