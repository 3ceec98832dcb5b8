//! Reading HOCON, the superset of JSON in which credentials files are written.
//!
//! Covered is what configuration files use (`docs/reference/agent-protocol.md`, section 2): unquoted keys and
//! values, `:` or `=`, comments, nested objects and dotted keys, lists, `+=`, several lines in
//! triple quotes, `include`, substitutions with `${a.b}` and `${?A}`, the environment as the last
//! resort of a substitution. Every key and value knows its place. Places point into a copy of the
//! text in which values are masked ([`redact`]): a finding about a credentials file is shown with
//! the lines around it, and those hold passwords.

mod parse;
mod redact;
mod resolve;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use switchtender_devices::diagnostic::{Diagnostic, Source};

pub use redact::Redacted;

/// A value with its place.
#[derive(Clone)]
pub struct HoconNode {
    pub value: HoconValue,
    pub mark: Mark,
}

/// A place in a masked text.
#[derive(Clone, Debug)]
pub struct Mark {
    pub source: Arc<Source>,
    pub span: Range<usize>,
}

/// What a value is. There is no `Debug`: any of it may be a secret.
#[derive(Clone, PartialEq)]
pub enum HoconValue {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    String(String),
    List(Vec<HoconNode>),
    Object(Vec<HoconField>),
}

/// A field of an object, at the place of its last definition.
#[derive(Clone, PartialEq)]
pub struct HoconField {
    pub key: String,
    pub key_mark: Mark,
    pub node: HoconNode,
}

impl PartialEq for Mark {
    /// Values are equal wherever they stand.
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
    /// The kind of value, for messages that must not show it.
    pub fn kind(&self) -> &'static str {
        match self {
            HoconValue::Null => "nothing",
            HoconValue::Bool(_) => "a boolean",
            HoconValue::Integer(_) => "an integer",
            HoconValue::Float(_) => "a fraction",
            HoconValue::String(_) => "a string",
            HoconValue::List(_) => "a list",
            HoconValue::Object(_) => "an object",
        }
    }
}

/// What reading a file may ask of the world: included files and environment variables.
pub trait ConfigIo {
    /// The text of a file.
    fn read(&self, path: &Path) -> std::io::Result<String>;
    fn variable(&self, name: &str) -> Option<String>;
}

/// Reads a file's text. The root must be an object, its braces may be left out.
pub fn read(path: &Path, text: &str, world: &dyn ConfigIo) -> Result<HoconNode, Box<Diagnostic>> {
    let root = read_included(path, text, world, &mut vec![path.to_owned()])?;
    resolve::resolve(root, world)
}

fn read_included(
    path: &Path,
    text: &str,
    world: &dyn ConfigIo,
    open: &mut Vec<PathBuf>,
) -> Result<parse::Raw, Box<Diagnostic>> {
    let document = parse::parse(&path.display().to_string(), text)?;
    include(document, path, world, open)
}

/// Replaces the `include` entries of an object by what the files hold.
fn include(
    raw: parse::Raw,
    path: &Path,
    world: &dyn ConfigIo,
    open: &mut Vec<PathBuf>,
) -> Result<parse::Raw, Box<Diagnostic>> {
    use parse::{Raw, RawEntry, RawValue};

    let RawValue::Object(entries) = raw.value else {
        return Ok(raw);
    };
    let mut all = Vec::with_capacity(entries.len());
    for entry in entries {
        match entry {
            RawEntry::Field(mut field) => {
                for part in &mut field.parts {
                    if matches!(part.value, RawValue::Object(_)) {
                        *part = include(part.clone(), path, world, open)?;
                    }
                }
                all.push(RawEntry::Field(field));
            }
            RawEntry::Include {
                path: wanted,
                required,
                mark,
            } => {
                let file = path.parent().unwrap_or(Path::new("")).join(&wanted);
                let failed = |why: String| {
                    Box::new(
                        Diagnostic::error(
                            "include",
                            format!("cannot include {}: {why}", file.display()),
                        )
                        .at(&mark.source, mark.span.clone(), ""),
                    )
                };
                if open.contains(&file) {
                    return Err(failed("it includes itself".to_owned()));
                }
                let text = match world.read(&file) {
                    Ok(text) => text,
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound && !required => {
                        continue;
                    }
                    Err(error) => return Err(failed(error.to_string())),
                };
                open.push(file.clone());
                let included = read_included(&file, &text, world, open)?;
                open.pop();
                if let RawValue::Object(entries) = included.value {
                    all.extend(entries);
                }
            }
        }
    }
    Ok(Raw {
        value: RawValue::Object(all),
        mark: raw.mark,
    })
}

#[cfg(test)]
mod tests;
