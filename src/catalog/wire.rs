//! The JSON shape of a catalog, as a server sends it (`docs/transaction.md`, section 1).
//!
//! Unknown fields are left alone: servers and stores add their own. What the fields mean is
//! [`super::load`]'s business.

use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Deserialize)]
pub(super) struct WireCatalog {
    pub name: String,
    pub version: Option<WireVersion>,
    pub environment: Option<String>,
    pub code_id: Option<String>,
    pub catalog_uuid: Option<String>,
    #[serde(default)]
    pub catalog_format: u64,
    #[serde(default)]
    pub tags: Vec<String>,
    #[serde(default)]
    pub classes: Vec<String>,
    #[serde(default)]
    pub resources: Vec<WireResource>,
    #[serde(default)]
    pub edges: Vec<WireEdge>,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum WireVersion {
    Number(i64),
    Text(String),
}

#[derive(Deserialize)]
pub(super) struct WireResource {
    #[serde(rename = "type")]
    pub type_name: String,
    pub title: String,
    pub kind: Option<String>,
    #[serde(default)]
    pub tags: Vec<String>,
    pub file: Option<String>,
    pub line: Option<u64>,
    #[serde(default)]
    pub exported: bool,
    #[serde(default)]
    pub parameters: Map<String, Value>,
    #[serde(default)]
    pub sensitive_parameters: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct WireEdge {
    pub source: String,
    pub target: String,
}
