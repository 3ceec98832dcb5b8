//! Shapes of lines: which lines open blocks, and which replace one another.

use regex::{Captures, Regex, RegexBuilder};

/// The lines for one setting at one position of the configuration.
#[derive(Debug, Clone, Default)]
pub struct LineShape {
    /// Patterns of the headers around the line, outermost first.
    pub block: Vec<String>,
    /// Patterns of the line. A pattern matches a complete line behind a blank. Named groups are the
    /// names of the setting, in order: lines with other names are other settings.
    pub patterns: Vec<String>,
    /// The line is the header of a block.
    pub is_header: bool,
    /// A line replaces the other lines of the setting.
    pub is_unique: bool,
    /// The line without its rest is the name of a setting, and removes its lines in inner blocks too.
    pub reaches_inner: bool,
    /// What the configuration has after a line that removes.
    pub negative: NegativeForm,
}

/// What the configuration has after a line that removes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NegativeForm {
    /// Nothing.
    #[default]
    Absent,
    /// The line that removes.
    Printed,
    /// The line that removes; and nothing after the line that sets.
    OnlyPrinted,
}

/// A pattern of a shape is invalid.
#[derive(Debug, thiserror::Error)]
#[error("the pattern `{pattern}` of a line is invalid")]
pub struct InvalidShape {
    /// The pattern.
    pub pattern: String,
    /// The reason.
    pub source: regex::Error,
}

/// A shape with compiled patterns.
#[derive(Debug)]
pub(super) struct CompiledShape {
    block: Vec<Regex>,
    patterns: Vec<Regex>,
    pub(super) is_header: bool,
    pub(super) is_unique: bool,
    pub(super) reaches_inner: bool,
    pub(super) negative: NegativeForm,
}

/// The names of a setting.
pub(super) type Key = Vec<String>;

impl CompiledShape {
    pub(super) fn new(shape: &LineShape) -> Result<Self, InvalidShape> {
        let all = |patterns: &[String]| -> Result<Vec<Regex>, InvalidShape> {
            patterns.iter().map(|pattern| compile(pattern)).collect()
        };
        Ok(Self {
            block: all(&shape.block)?,
            patterns: all(&shape.patterns)?,
            is_header: shape.is_header,
            is_unique: shape.is_unique,
            reaches_inner: shape.reaches_inner,
            negative: shape.negative,
        })
    }

    /// Whether the shape belongs to the block with these headers.
    pub(super) fn is_in(&self, headers: &[String]) -> bool {
        self.block.len() == headers.len()
            && self
                .block
                .iter()
                .zip(headers)
                .all(|(pattern, header)| pattern.is_match(&format!(" {header}")))
    }

    /// The names in a line of the shape.
    pub(super) fn key(&self, line: &str) -> Option<Key> {
        let line = format!(" {line}");
        self.patterns.iter().find_map(|pattern| {
            let found = pattern.captures(&line)?;
            Some(names(pattern, &found))
        })
    }
}

pub(super) fn compile(pattern: &str) -> Result<Regex, InvalidShape> {
    let compiled = RegexBuilder::new(pattern).case_insensitive(true).build();
    compiled.map_err(|source| InvalidShape {
        pattern: pattern.to_owned(),
        source,
    })
}

fn names(pattern: &Regex, found: &Captures<'_>) -> Key {
    let groups = pattern.capture_names().flatten();
    let names = groups.filter_map(|name| found.name(name));
    names.map(|name| name.as_str().to_lowercase()).collect()
}
