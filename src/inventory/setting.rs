//! A setting of the inventory with its origin.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use switchtender_devices::diagnostic::{Diagnostic, Source};

/// The table of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InventoryTable {
    Defaults,
    Platform(String),
    Group(String),
    Device(String),
}

impl fmt::Display for InventoryTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InventoryTable::Defaults => f.write_str("[defaults]"),
            InventoryTable::Platform(name) => write!(f, "[platform.{name}]"),
            InventoryTable::Group(name) => write!(f, "[group.{name}]"),
            InventoryTable::Device(name) => write!(f, "[device.{name}]"),
        }
    }
}

/// The position of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TablePosition {
    pub(crate) source: Arc<Source>,
    pub(crate) span: Range<usize>,
}

impl TablePosition {
    /// An error at this position.
    pub(crate) fn error(&self, code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(code, message).at(&self.source, self.span.clone(), "")
    }

    /// A warning at this position.
    pub(crate) fn warning(&self, code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::warning(code, message).at(&self.source, self.span.clone(), "")
    }
}

/// The position of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SettingOrigin {
    pub(crate) table: InventoryTable,
    pub(crate) source: Arc<Source>,
    pub(crate) span: Range<usize>,
}

impl SettingOrigin {
    /// Distinguishes the settings of all sources.
    pub(crate) fn id(&self) -> (*const Source, usize) {
        (Arc::as_ptr(&self.source), self.span.start)
    }

    /// Line in the file, from 1.
    pub(crate) fn line(&self) -> usize {
        self.source.position(self.span.start).0
    }

    /// An error at this position.
    pub(crate) fn error(&self, code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(code, message).at(&self.source, self.span.clone(), "")
    }

    /// A warning at this position.
    pub(crate) fn warning(&self, code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::warning(code, message).at(&self.source, self.span.clone(), "")
    }
}

/// A value with its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableSetting<T> {
    pub(crate) value: T,
    pub(crate) origin: SettingOrigin,
}
