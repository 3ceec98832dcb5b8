//! A catalog as it is declared: what a server compiled, before resources have their types.

use std::fmt;
use std::sync::Arc;

use switchtender_devices::diagnostic::{Place, Source};
use switchtender_devices::value::Attributes;

use super::index::ResourceIndex;
use super::resource_ref::ResourceRef;

/// A catalog whose references all lead somewhere. What its resources mean is not yet known.
#[derive(Clone, Debug)]
pub struct Catalog {
    /// The node or device it was compiled for.
    pub name: String,
    pub version: Option<ConfigVersion>,
    pub environment: Option<String>,
    pub code_id: Option<String>,
    pub catalog_uuid: Option<String>,
    /// From 2 on every resource carries its kind.
    pub format: u64,
    pub tags: Vec<String>,
    /// Lower-case names of the classes, for `classes.txt`.
    pub classes: Vec<String>,
    /// In the order of the catalog, which is the order of evaluation where nothing else decides.
    pub resources: Vec<CatalogResource>,
    /// Containment, from container to content, as indexes into `resources`.
    pub edges: Vec<(usize, usize)>,
    /// Under what names resources are found, as far as their types do not matter.
    pub(super) names: ResourceIndex,
    /// The text it was read from, for messages.
    pub source: Arc<Source>,
}

/// The configuration version; only logged and reported.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(untagged)]
pub enum ConfigVersion {
    Number(i64),
    Text(String),
}

impl fmt::Display for ConfigVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigVersion::Number(number) => number.fmt(f),
            ConfigVersion::Text(text) => text.fmt(f),
        }
    }
}

/// A resource as the catalog declares it.
#[derive(Clone, Debug)]
pub struct CatalogResource {
    pub reference: ResourceRef,
    pub kind: ResourceKind,
    pub tags: Vec<Arc<str>>,
    /// Position in the manifest. A line without a file is not kept.
    pub place: Option<Place>,
    pub exported: bool,
    /// Calls are made, rich data is read; values named as sensitive are wrapped.
    pub parameters: Attributes,
    /// The names that the compiler marked as sensitive, whether they have a value or not.
    pub sensitive: Vec<String>,
}

impl CatalogResource {
    /// ` (file: F, line: L)`, or nothing: what Puppet appends to messages.
    pub fn position(&self) -> String {
        position(self.place.as_ref())
    }
}

/// ` (file: F, line: L)`, or nothing: what Puppet appends to messages.
pub(crate) fn position(place: Option<&Place>) -> String {
    Position(place).to_string()
}

/// As [`position`], made when a message is.
#[derive(Clone, Copy)]
pub(super) struct Position<'a>(pub Option<&'a Place>);

impl fmt::Display for Position<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(place) => write!(f, " (file: {}, line: {})", place.file, place.line),
            None => Ok(()),
        }
    }
}

/// What the compiler said a resource is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceKind {
    /// Has a type that agents know.
    Compilable,
    Class,
    Defined,
    Unknown,
    /// Not said.
    Missing,
}
