//! Errors of loading a catalog: all of them, with their positions.

use std::collections::BTreeSet;
use std::sync::Arc;

use switchtender_devices::diagnostic::{Diagnostic, ManifestPosition, Source};

use super::compiled::Catalog;
use super::level::Level;
use super::node::Tags;
use super::position::{Segment, locate_all};
use super::redact::redact;

/// A catalog that cannot be loaded.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct LoadError {
    /// Puppet's message: the first error, with the position in the manifest.
    pub message: String,
    /// All errors with their positions. Never empty.
    pub diagnostics: Vec<Diagnostic>,
    /// The readable part of the catalog. `None` if the text is not a catalog.
    pub readable: Option<Box<PartialCatalog>>,
    /// Messages about resources before the first error.
    pub(crate) messages: Vec<LoadMessage>,
}

/// The readable part of a catalog that cannot be loaded. For analysis only, not for applying.
#[derive(Clone, Debug)]
pub struct PartialCatalog {
    /// Without values that cannot be read and edges without an end.
    pub catalog: Catalog,
    /// Resources with a missing value, and repeated declarations of a reference.
    pub damaged: BTreeSet<usize>,
}

/// A message about a resource from loading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoadMessage {
    pub(crate) level: Level,
    pub(crate) message: String,
    /// The path of the resource.
    pub(crate) source: String,
    pub(crate) tags: Tags,
    pub(crate) position: Option<ManifestPosition>,
}

/// Collects errors. Their positions in the text are located at the end, in one pass.
pub(super) struct LoadErrors<'a> {
    source: &'a Arc<Source>,
    /// Puppet's message of the first error.
    message: Option<String>,
    errors: Vec<(Diagnostic, Vec<Segment>)>,
}

impl<'a> LoadErrors<'a> {
    pub(crate) fn new(source: &'a Arc<Source>) -> Self {
        Self {
            source,
            message: None,
            errors: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, diagnostic: Diagnostic, message: String, path: Vec<Segment>) {
        self.message.get_or_insert(message);
        self.errors.push((diagnostic, path));
    }

    /// The number of errors so far.
    pub(crate) fn count(&self) -> usize {
        self.errors.len()
    }

    /// The errors, in whose excerpts the attributes of types for which `is_secret` is true are
    /// masked.
    pub(crate) fn finish(self, is_secret: &dyn Fn(&str, &str) -> bool) -> Result<(), LoadError> {
        let Some(message) = self.message else {
            return Ok(());
        };
        let spans = locate_all(
            &self.source.text,
            self.errors.iter().map(|(_, path)| path.as_slice()),
        );
        let redacted = redact(self.source, is_secret);
        let diagnostics = self
            .errors
            .into_iter()
            .zip(spans)
            .map(|((diagnostic, _), span)| match span {
                Some(span) => diagnostic.at(&redacted, span, ""),
                None => diagnostic,
            })
            .collect();
        Err(LoadError {
            message,
            diagnostics,
            readable: None,
            messages: Vec::new(),
        })
    }
}
