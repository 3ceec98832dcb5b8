//! A value of the inventory with the place it comes from.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use switchtender_devices::diagnostic::{Diagnostic, Source};

/// The table in which a setting stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Table {
    Defaults,
    Platform(String),
    Device(String),
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Table::Defaults => f.write_str("[defaults]"),
            Table::Platform(name) => write!(f, "[platform.{name}]"),
            Table::Device(name) => write!(f, "[device.{name}]"),
        }
    }
}

/// Where a value was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    pub table: Table,
    pub source: Arc<Source>,
    pub span: Range<usize>,
}

impl Origin {
    /// Line in the file, from 1.
    pub fn line(&self) -> usize {
        self.source.position(self.span.start).0
    }

    /// An error at this place.
    pub fn error(&self, code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(code, message).at(&self.source, self.span.clone(), "")
    }

    /// A warning at this place.
    pub fn warning(&self, code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::warning(code, message).at(&self.source, self.span.clone(), "")
    }
}

/// A value with its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting<T> {
    pub value: T,
    pub origin: Origin,
}
