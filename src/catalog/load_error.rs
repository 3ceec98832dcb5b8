//! What stands in the way of loading a catalog: all of it at once, each with its place.

use std::collections::BTreeSet;
use std::sync::Arc;

use switchtender_devices::diagnostic::{Diagnostic, Place, Source};

use super::compiled::Catalog;
use super::level::Level;
use super::position::{Segment, locate_all};
use super::redact::redact;
use super::resource::Tags;

/// A catalog that cannot be loaded.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct LoadError {
    /// What Puppet says: the first error, with the position in the manifest.
    pub message: String,
    /// Everything that is wrong, with places; never empty.
    pub diagnostics: Vec<Diagnostic>,
    /// What could be read all the same; nothing of a text that is no catalog.
    pub readable: Option<Box<PartialCatalog>>,
    /// What there was to say of resources before the first that is wrong.
    pub messages: Vec<LoadMessage>,
}

/// What could be read of a catalog that cannot be loaded: good for looking at, not for applying.
#[derive(Clone, Debug)]
pub struct PartialCatalog {
    /// Without the values that could not be read and the edges that lead nowhere.
    pub catalog: Catalog,
    /// Resources that lack a value, and later declarations of one reference.
    pub damaged: BTreeSet<usize>,
}

/// A message about a resource, from loading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadMessage {
    pub level: Level,
    pub message: String,
    /// The path of the resource.
    pub source: String,
    pub tags: Tags,
    pub place: Option<Place>,
}

/// LoadErrors whose places in the text are looked up when all are known.
pub(super) struct LoadErrors<'a> {
    source: &'a Arc<Source>,
    /// Puppet's words for the first.
    message: Option<String>,
    found: Vec<(Diagnostic, Vec<Segment>)>,
}

impl<'a> LoadErrors<'a> {
    pub fn new(source: &'a Arc<Source>) -> Self {
        Self {
            source,
            message: None,
            found: Vec::new(),
        }
    }

    pub fn add(&mut self, diagnostic: Diagnostic, message: String, path: Vec<Segment>) {
        self.message.get_or_insert(message);
        self.found.push((diagnostic, path));
    }

    /// How many there are so far.
    pub fn count(&self) -> usize {
        self.found.len()
    }

    pub fn finish(self) -> Result<(), LoadError> {
        let Some(message) = self.message else {
            return Ok(());
        };
        let spans = locate_all(
            &self.source.text,
            self.found.iter().map(|(_, path)| path.as_slice()),
        );
        let shown = redact(self.source);
        let diagnostics = self
            .found
            .into_iter()
            .zip(spans)
            .map(|((diagnostic, _), span)| match span {
                Some(span) => diagnostic.at(&shown, span, ""),
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
