//! `[version]`: a number of the configuration that each write names, so that a device refuses a write
//! after the change of another client.

use serde_json::Value as Json;
use switchtender_outline::VersionShape;

use crate::document::keys;
use crate::operation::Method;
use crate::operation::outline::{PathPart, request_shape};
use crate::read::field_path::{FieldPath, scalar_text};

keys! {
    /// The number of a configuration, which each write names.
    pub(crate) struct VersionRules {
        /// Path of the read of the number.
        path: String,
        /// Parameter of writes.
        parameter: String,
    }
}

/// The status of a write with another number than the current one.
pub(crate) const CONFLICT: u16 = 409;

impl VersionRules {
    /// The read and the parameter, for a mock.
    pub(crate) fn outline(&self) -> VersionShape {
        VersionShape {
            request: request_shape(Method::Get, &[PathPart::Literal(&self.path)]),
            at: FieldPath::default().outline(),
            parameter: self.parameter.clone(),
            stale_status: CONFLICT,
        }
    }

    /// A path with the number in an answer; `None` if the answer has none.
    pub(crate) fn versioned(&self, path: &str, answer: &str) -> Option<String> {
        let answer: Json = serde_json::from_str(answer).ok()?;
        let number = scalar_text(&answer)?;
        let is_plain = |c: char| c.is_ascii_alphanumeric();
        if number.is_empty() || !number.chars().all(is_plain) {
            return None;
        }
        let separator = if path.contains('?') { '&' } else { '?' };
        Some(format!("{path}{separator}{}={number}", self.parameter))
    }
}
