//! How a type is read and written on a platform, as text for users.

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
    /// Other notes: not supported, ignored, confirmation required.
    pub notes: Vec<String>,
}
