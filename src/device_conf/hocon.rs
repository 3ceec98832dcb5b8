//! Reads HOCON, the superset of JSON in which credentials files are written.
//!
//! The supported subset is listed in `docs/reference/agent-protocol.md`, section 2; other HOCON
//! features are errors. Every key and value has a position in a copy of the text with masked values
//! ([`redact`]), because findings print the surrounding lines, which contain passwords.

mod parse;
mod raw;
mod redact;
mod resolve;

use std::io::ErrorKind;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use switchtender_devices::diagnostic::{Diagnostic, Source};

use raw::{Include, RawEntry, RawField};
pub(crate) use redact::Redacted;

/// A value with its position.
#[derive(Clone)]
pub(crate) struct HoconNode {
    pub(crate) value: HoconValue,
    pub(crate) mark: Mark,
}

/// A position in a masked text.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    pub(crate) source: Arc<Source>,
    pub(crate) span: Range<usize>,
}

/// A value. It has no `Debug`, because it may be a secret.
#[derive(Clone, PartialEq)]
pub(crate) enum HoconValue {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    String(String),
    List(Vec<HoconNode>),
    Object(Vec<HoconField>),
}

/// A field of an object, at the position of its last definition.
#[derive(Clone, PartialEq)]
pub(crate) struct HoconField {
    pub(crate) key: String,
    pub(crate) key_mark: Mark,
    pub(crate) node: HoconNode,
}

impl PartialEq for Mark {
    /// Positions do not affect the equality of values.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl PartialEq for HoconNode {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl HoconValue {
    /// The kind of value, for messages without the value.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            HoconValue::Null => "null",
            HoconValue::Bool(_) => "a boolean",
            HoconValue::Integer(_) => "an integer",
            HoconValue::Float(_) => "a floating-point number",
            HoconValue::String(_) => "a string",
            HoconValue::List(_) => "a list",
            HoconValue::Object(_) => "an object",
        }
    }
}

/// Access to included files and environment variables.
pub(crate) trait ConfigIo {
    /// The text of a file.
    fn read(&self, path: &Path) -> std::io::Result<String>;
    fn variable(&self, name: &str) -> Option<String>;
}

/// Reads the text of a file. The root is an object with optional braces.
///
/// # Errors
/// The first error, with its position in the masked text.
pub(crate) fn read(
    path: &Path,
    text: &str,
    io: &dyn ConfigIo,
) -> Result<HoconNode, Box<Diagnostic>> {
    let document = parse::parse(&path.display().to_string(), text)?;
    let mut fields = Vec::with_capacity(document.entries.len());
    for entry in document.entries {
        match entry {
            RawEntry::Field(field) => fields.push(field),
            RawEntry::Include(include) => fields.extend(included(path, &include, io)?),
        }
    }
    resolve::resolve(&fields, document.mark, io)
}

/// The fields of an included file, whose path is relative to the including file.
fn included(
    path: &Path,
    include: &Include,
    io: &dyn ConfigIo,
) -> Result<Vec<RawField>, Box<Diagnostic>> {
    let file = path.parent().unwrap_or(Path::new("")).join(&include.path);
    let error = |mark: &Mark, message: String| {
        Box::new(Diagnostic::error("include", message).at(&mark.source, mark.span.clone(), ""))
    };
    let text = match io.read(&file) {
        Ok(text) => text,
        Err(missing) if missing.kind() == ErrorKind::NotFound && !include.required => {
            return Ok(Vec::new());
        }
        Err(why) => {
            let message = format!("cannot include {}: {why}", file.display());
            return Err(error(&include.mark, message));
        }
    };
    let document = parse::parse(&file.display().to_string(), &text)?;
    document
        .entries
        .into_iter()
        .map(|entry| match entry {
            RawEntry::Field(field) => Ok(field),
            RawEntry::Include(nested) => Err(error(
                &nested.mark,
                "an included file cannot include another file".to_owned(),
            )),
        })
        .collect()
}

#[cfg(test)]
mod tests;
