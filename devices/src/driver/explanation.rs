//! How a type is read and written on a platform, as text for users.

use std::fmt;

use crate::diagnostic::Severity;
use crate::read::ReadRequest;

/// How a type is read and written on a platform, as text for users.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// The read commands or requests.
    pub reads: Vec<ReadRequest>,
    /// How an instance is recognized, created and removed: pairs of a word and the text.
    pub instance: Vec<(String, String)>,
    pub attributes: Vec<AttributeExplanation>,
}

/// How an attribute is read and written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttributeExplanation {
    /// Its name.
    pub name: String,
    /// Sources of its value.
    pub read: Vec<String>,
    /// Pairs of a value (`any` for all values without an entry) and the command that sets it.
    pub write: Vec<(String, String)>,
    /// Other notes, such as a question of the device.
    pub notes: Vec<String>,
    /// Why the platform does not apply it.
    pub not_applied: Option<NotApplied>,
}

impl AttributeExplanation {
    /// All notes, the reason why it is not applied first.
    pub fn all_notes(&self) -> Vec<String> {
        let not_applied = self.not_applied.iter().map(ToString::to_string);
        not_applied.chain(self.notes.iter().cloned()).collect()
    }
}

/// Why a platform does not apply an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotApplied {
    /// The severity of the finding if a catalog sets the attribute. With an error the resource is refused.
    pub severity: Severity,
    /// The reason, as text for users.
    pub reason: String,
}

impl fmt::Display for NotApplied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match self.severity {
            Severity::Note => "ignored",
            Severity::Warning => "ignored with a warning",
            Severity::Error => "not supported",
        };
        write!(f, "{how}: {}", self.reason)
    }
}
