//! Serial numbers of mock devices.

use sha2::{Digest, Sha256};

/// The serial number of a mock: the same for the same text, in the form of Cisco's.
pub fn serial_number(text: &str) -> String {
    let digest = hex::encode_upper(Sha256::digest(text));
    format!("FCW{}", &digest[..8])
}
