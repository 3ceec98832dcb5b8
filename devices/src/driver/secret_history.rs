//! Secrets that a device does not print, as this program set them last.

use crate::value::Value;

/// Secrets that a device does not print, as this program set them last.
pub trait SecretHistory {
    /// Whether the value was set last; `None` if unknown.
    fn matches_last_set(&self, reference: &str, attribute: &str, value: &Value) -> Option<bool>;
}

/// No remembered secrets.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSecretHistory;

impl SecretHistory for NoSecretHistory {
    fn matches_last_set(&self, _: &str, _: &str, _: &Value) -> Option<bool> {
        None
    }
}
