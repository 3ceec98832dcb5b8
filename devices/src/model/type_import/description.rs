//! The form in which a program of Puppet describes type files.

use serde::Deserialize;
use serde_json::Value as Json;

use crate::map::IndexMap;

/// The version of the form that this program reads.
pub(super) const VERSION: u32 = 1;

/// A type file: its type, or why it cannot be read.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum DescribedFile {
    Unreadable { file: String, error: String },
    Type(Box<DescribedType>),
}

/// The type of a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DescribedType {
    pub(super) file: String,
    pub(super) name: String,
    /// As in a model.
    pub(super) runs_on: String,
    pub(super) style: DescribedStyle,
    pub(super) doc: Option<String>,
    pub(super) attributes: Vec<DescribedAttribute>,
    /// A classic type has `ensure`.
    #[serde(default)]
    pub(super) is_ensurable: bool,
    /// The source of regular expressions.
    #[serde(default)]
    pub(super) title_patterns: Vec<String>,
    /// By kind and type: the names of objects, or `$attribute`.
    #[serde(default)]
    pub(super) relations: IndexMap<String, IndexMap<String, OneOrMany>>,
    pub(super) left_out: Vec<String>,
}

/// How a type is declared.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum DescribedStyle {
    /// `Puppet::Type.newtype`.
    Classic,
    /// `Puppet::ResourceApi.register_type`.
    ResourceApi,
}

/// An attribute of a type.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DescribedAttribute {
    pub(super) name: String,
    pub(super) doc: Option<String>,
    /// `property`, or a role of a model.
    pub(super) role: String,
    /// The type of its values in Puppet's notation.
    #[serde(rename = "type")]
    pub(super) notation: Option<String>,
    /// The words that are its values; empty: any value.
    #[serde(default)]
    pub(super) values: Vec<String>,
    #[serde(default)]
    pub(super) is_list: bool,
    #[serde(default)]
    pub(super) default: Json,
    #[serde(default)]
    pub(super) is_sensitive: bool,
    #[serde(default)]
    pub(super) left_out: Vec<String>,
}

/// One name or several.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl OneOrMany {
    pub(super) fn names(&self) -> &[String] {
        match self {
            OneOrMany::One(name) => std::slice::from_ref(name),
            OneOrMany::Many(names) => names,
        }
    }
}
