//! A catalog as the server compiled it, before its resources have types.

use std::fmt;
use std::sync::Arc;

use switchtender_devices::diagnostic::{ManifestPosition, Source};
use switchtender_devices::value::Attributes;

use super::index::ResourceIndex;
use super::resource_ref::ResourceRef;

/// A catalog whose references are resolved. Its resources do not have types yet.
#[derive(Clone, Debug)]
pub struct Catalog {
    /// The node or device it was compiled for.
    pub name: String,
    /// The configuration version, if the compiler set one.
    pub version: Option<ConfigVersion>,
    /// The Puppet environment in which the catalog was compiled.
    pub environment: Option<String>,
    pub(crate) code_id: Option<String>,
    pub(crate) catalog_uuid: Option<String>,
    /// From format 2 on every resource has a kind.
    pub(crate) format: u64,
    /// Lower-case names of the classes, for `classes.txt`.
    pub(crate) classes: Vec<String>,
    /// In the order of the catalog. This is the order of evaluation unless relationships change it.
    pub resources: Vec<CatalogResource>,
    /// Containment, from container to content, as indexes into `resources`.
    pub(crate) edges: Vec<(usize, usize)>,
    /// Resources by name, without the names that depend on types.
    pub(super) names: ResourceIndex,
    /// The text of the catalog, for messages.
    pub(crate) source: Arc<Source>,
}

/// The configuration version, for logs and reports.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
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
    pub(crate) tags: Vec<Arc<str>>,
    /// The position in the manifest. A line without a file is dropped.
    pub(crate) position: Option<ManifestPosition>,
    /// Declared and not realized: it is skipped. Servers leave such resources out.
    pub(crate) is_virtual: bool,
    /// Rich data is decoded and deferred calls are resolved. Values of sensitive parameters are
    /// wrapped.
    pub parameters: Attributes,
    /// The names that the compiler marked as sensitive, with or without a value.
    pub(crate) sensitive: Vec<String>,
}

impl CatalogResource {
    /// ` (file: F, line: L)`, or nothing: what Puppet appends to messages.
    pub(crate) fn position(&self) -> String {
        manifest_position(self.position.as_ref())
    }
}

/// ` (file: F, line: L)`, or nothing: what Puppet appends to messages.
pub(crate) fn manifest_position(position: Option<&ManifestPosition>) -> String {
    Position(position).to_string()
}

/// As [`manifest_position`], without an allocation.
#[derive(Clone, Copy)]
pub(super) struct Position<'a>(pub(crate) Option<&'a ManifestPosition>);

impl fmt::Display for Position<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(position) => write!(f, " (file: {}, line: {})", position.file, position.line),
            None => Ok(()),
        }
    }
}

/// The kind of a resource according to the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceKind {
    /// A resource type of agents.
    Compilable,
    /// A class, which contains other resources.
    Class,
    /// A defined type, which contains other resources.
    Defined,
    /// Kind `unknown`, which servers often give to `Class[Settings]` and `Class[Main]`.
    Unknown,
    /// The catalog has no kind for the resource.
    Missing,
}
