//! Patterns of shapes.

use regex::{Regex, RegexBuilder};

/// A pattern of a shape is invalid.
#[derive(Debug, thiserror::Error)]
#[error("the pattern `{pattern}` is invalid")]
pub struct InvalidShape {
    /// The pattern.
    pub pattern: String,
    /// The reason.
    pub source: regex::Error,
}

/// Compiles a pattern; letters match in both cases.
pub(crate) fn compile(pattern: &str) -> Result<Regex, InvalidShape> {
    let compiled = RegexBuilder::new(pattern).case_insensitive(true).build();
    compiled.map_err(|source| InvalidShape {
        pattern: pattern.to_owned(),
        source,
    })
}
