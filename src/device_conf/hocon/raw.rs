//! The tree of a file as written: includes and substitutions are not resolved.

use super::Mark;

/// The root object of a file.
pub(crate) struct Document {
    pub entries: Vec<RawEntry>,
    pub(crate) mark: Mark,
}

pub(crate) enum RawEntry {
    Field(RawField),
    Include(Include),
}

/// `key: value`
pub(crate) struct RawField {
    pub key: String,
    pub(crate) mark: Mark,
    pub(crate) value: Raw,
}

/// `include "file"`
pub(crate) struct Include {
    pub(crate) path: String,
    pub required: bool,
    pub(crate) mark: Mark,
}

/// A value as written.
pub(crate) struct Raw {
    pub(crate) value: RawValue,
    pub(crate) mark: Mark,
}

pub(crate) enum RawValue {
    /// A simple value; several pieces are joined as text.
    Text(Vec<Piece>),
    List(Vec<Raw>),
    Object(Vec<RawField>),
}

pub(crate) enum Piece {
    Quoted(String),
    /// Unquoted text, or the spaces between pieces.
    Bare(String),
    /// `${name}`, or `${?name}` which may be undefined.
    Substitution {
        name: String,
        optional: bool,
        mark: Mark,
    },
}
