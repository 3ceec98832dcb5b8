//! `[version]`: a number of the configuration that each write names, so that a device refuses a write
//! after the change of another client.

use serde_json::Value as Json;
use switchtender_outline::VersionShape;

use crate::document::Table;
use crate::operation::Method;
use crate::operation::outline::{PathPart, request_shape};
use crate::read::field_path::{FieldPath, scalar_text};

/// The number of a configuration.
#[derive(Clone, Debug)]
pub(crate) struct VersionRules {
    /// The path of the read of the number.
    pub(crate) path: String,
    /// The parameter of writes.
    parameter: String,
}

/// The status of a write with another number than the current one.
pub(crate) const CONFLICT: u16 = 409;

impl VersionRules {
    /// Reads `[version]`.
    pub(crate) fn read(table: &Table<'_>) -> Option<Self> {
        let path = table.required_string("path");
        let parameter = table.required_string("parameter");
        table.finish();
        Some(Self {
            path: path?,
            parameter: parameter?,
        })
    }

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
