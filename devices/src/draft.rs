//! Drafts of definitions from the output of a device.
//!
//! A draft is a proposal for its author: it loads, and comments mark what was guessed.

mod command_reference;
mod definition_text;
mod existing_model;
mod lines;
mod platform;
mod reference_type;
mod resource_type;
mod toml_text;
mod transcript;

use crate::definitions::DefinitionFile;
use crate::names::TypeName;

pub use platform::draft_platform;
pub use reference_type::draft_reference;
pub use resource_type::draft_type;

/// Definition files, and what their author must decide.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// The files.
    pub files: Vec<DefinitionFile>,
    /// What was guessed, one sentence each.
    pub guesses: Vec<String>,
    /// What the base has and the draft has not, with the reasons.
    pub left_out: Vec<String>,
}

/// Why a text is no base for a draft.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DraftError {
    /// The text has no lines.
    #[error("the sample has no lines")]
    Empty,
    /// No lines have common words.
    #[error("the lines of the sample have no common beginning")]
    NoPattern,
    /// No draft of the lines passes its own tests.
    #[error("the lines of the sample contradict each other")]
    Contradiction,
    /// No property of a reference has a line that can be drafted.
    #[error("no property has a line that can be drafted")]
    NoLine {
        /// The properties, with the reasons.
        reasons: Vec<String>,
    },
    /// The lines have more or fewer names than instances of the type.
    #[error("the lines have {found} names, and instances of {type_name} have {needed}")]
    Names {
        /// The type.
        type_name: TypeName,
        /// Names in the lines.
        found: usize,
        /// Names of an instance.
        needed: usize,
    },
}

#[cfg(test)]
mod tests;
