//! The JSON shape of a catalog, as a server sends it (`docs/transaction.md`, section 1).
//!
//! Unknown fields are left alone: servers and stores add their own. What the fields mean is
//! [`super::load`]'s business.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};

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
    pub edges: Vec<WireEdge<'a>>,
}

/// Reads a catalog. Its resources are handed over one by one as they are read, so that a large
/// catalog is never there in two forms.
///
/// # Errors
/// When the text is no catalog; what was handed over before is void then.
pub(super) fn read<'a>(
    text: &'a str,
    take: impl FnMut(WireResource<'a>),
) -> serde_json::Result<WireCatalog<'a>> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let catalog = deserializer.deserialize_map(Whole { take })?;
    deserializer.end()?;
    Ok(catalog)
}

/// Visits a catalog, and hands over its resources.
struct Whole<F> {
    take: F,
}

impl<'a, F: FnMut(WireResource<'a>)> Visitor<'a> for Whole<F> {
    type Value = WireCatalog<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a catalog")
    }

    fn visit_map<A: MapAccess<'a>>(self, map: A) -> Result<Self::Value, A::Error> {
        WireCatalog::deserialize(MapAccessDeserializer::new(OtherFields {
            map,
            take: self.take,
            taken: false,
        }))
    }
}

/// The fields of a catalog but for its resources, which are handed over on the way.
struct OtherFields<A, F> {
    map: A,
    take: F,
    taken: bool,
}

impl<'a, A: MapAccess<'a>, F: FnMut(WireResource<'a>)> MapAccess<'a> for OtherFields<A, F> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'a>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        while let Some(Text(name)) = self.map.next_key()? {
            if name != "resources" {
                return seed.deserialize(name.into_deserializer()).map(Some);
            }
            if std::mem::replace(&mut self.taken, true) {
                return Err(A::Error::duplicate_field("resources"));
            }
            self.map.next_value_seed(Each(&mut self.take))?;
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'a>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

/// Visits a list of resources, and hands them over.
struct Each<'f, F>(&'f mut F);

impl<'a, F: FnMut(WireResource<'a>)> DeserializeSeed<'a> for Each<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'a, F: FnMut(WireResource<'a>)> Visitor<'a> for Each<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut resources: A) -> Result<(), A::Error> {
        while let Some(resource) = resources.next_element()? {
            (self.0)(resource);
        }
        Ok(())
    }
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
