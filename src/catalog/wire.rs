//! The JSON shape of a catalog, as a server sends it (`docs/transaction.md`, section 1).
//!
//! Unknown fields are left alone: servers and stores add their own. What the fields mean is
//! [`super::load`]'s business.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

use super::rich_data::Parsed;

#[derive(Deserialize)]
pub(super) struct WireCatalog<'a> {
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
    #[serde(default, borrow)]
    pub resources: Vec<WireResource<'a>>,
    #[serde(default, borrow)]
    pub edges: Vec<WireEdge<'a>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum WireVersion {
    Number(i64),
    Text(String),
}

#[derive(Deserialize)]
pub(super) struct WireResource<'a> {
    #[serde(rename = "type", borrow)]
    pub type_name: Text<'a>,
    #[serde(borrow)]
    pub title: Text<'a>,
    #[serde(borrow)]
    pub kind: Option<Text<'a>>,
    #[serde(default, borrow)]
    pub tags: Vec<Text<'a>>,
    #[serde(borrow)]
    pub file: Option<Text<'a>>,
    pub line: Option<u64>,
    #[serde(default)]
    pub exported: bool,
    #[serde(default, borrow)]
    pub parameters: Parameters<'a>,
    #[serde(default)]
    pub sensitive_parameters: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct WireEdge<'a> {
    #[serde(borrow)]
    pub source: Text<'a>,
    #[serde(borrow)]
    pub target: Text<'a>,
}

/// A text where it stands in the catalog; a copy only if it has escapes.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Text<'a>(#[serde(borrow)] pub Cow<'a, str>);

/// Names and values, in order.
#[derive(Default)]
pub(super) struct Parameters<'a>(pub Vec<(Text<'a>, Parsed)>);

impl<'de: 'a, 'a> Deserialize<'de> for Parameters<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<'a>(std::marker::PhantomData<&'a ()>);

        impl<'de: 'a, 'a> Visitor<'de> for Entries<'a> {
            type Value = Parameters<'a>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Parameters(entries))
            }
        }

        deserializer.deserialize_map(Entries(std::marker::PhantomData))
    }
}
