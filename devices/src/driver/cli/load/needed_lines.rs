//! Loads `needs`: lines of the top level that come before others.

use super::instance_keys::CompleteName;
use crate::document::{Item, KeyValue, Named, ValueShape, keys};
use crate::driver::cli::rules::NeededLine;
use crate::driver::context::Context;

keys! {
    /// A line that some resources need.
    struct NeededLineKeys {
        /// The line.
        line: String,
        /// Patterns of complete values of the resources that need it.
        only: Named<CompleteName>,
        /// Lines of the top level that the device adds with it, and that stay with it.
        adds: Vec<String>,
    }
}

impl KeyValue for NeededLine {
    fn declare(shape: &ValueShape) {
        String::declare(shape);
        NeededLineKeys::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        if !item.is_table() {
            let text = String::read(item)?;
            let (only, adds) = (Vec::new(), Vec::new());
            return Some(Self { text, only, adds });
        }
        let keys = NeededLineKeys::read(item)?;
        let only = keys.only.into_iter();
        Some(Self {
            text: keys.line,
            adds: keys.adds,
            only: only
                .map(|(name, CompleteName(pattern))| (name, pattern.value))
                .collect(),
        })
    }
}

/// Reports attributes that the type does not have.
pub(super) fn check(context: &Context<'_>, lines: &[NeededLine], item: &Item<'_>) {
    let names = lines.iter().flat_map(|line| &line.only);
    for (name, _) in names {
        if !context.model.attributes.contains_key(name.as_str()) {
            let message = format!("the type has no attribute `{}`", name.value);
            let findings = item.findings;
            findings.error("unknown-attribute", name.span.clone(), message);
        }
    }
}
