//! The JSON format of a catalog from a server (`docs/reference/transaction.md`, section 1).
//!
//! Unknown fields are ignored: servers and stores add their own. [`mod@super::load`] interprets the
//! fields.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};

use super::rich_data::Parsed;

#[derive(Deserialize)]
pub(super) struct WireCatalog {
    pub(crate) name: String,
    pub(crate) version: Option<WireVersion>,
    pub(crate) environment: Option<String>,
    pub(crate) code_id: Option<String>,
    pub(crate) catalog_uuid: Option<String>,
    #[serde(default)]
    pub(crate) catalog_format: u64,
    #[serde(default)]
    pub(crate) classes: Vec<String>,
}

/// A resource or an edge.
pub(super) enum WireItem<'a> {
    Resource(WireResource<'a>),
    Edge(WireEdge<'a>),
}

impl<'a> From<WireResource<'a>> for WireItem<'a> {
    fn from(resource: WireResource<'a>) -> Self {
        WireItem::Resource(resource)
    }
}

impl<'a> From<WireEdge<'a>> for WireItem<'a> {
    fn from(edge: WireEdge<'a>) -> Self {
        WireItem::Edge(edge)
    }
}

/// Reads a catalog. It passes resources and edges to `take` one by one, so that a large catalog is
/// not in memory in two forms.
///
/// # Errors
/// The text is not a catalog. Discard the items that were passed before.
pub(super) fn read<'a>(
    text: &'a str,
    take: impl FnMut(WireItem<'a>),
) -> serde_json::Result<WireCatalog> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let catalog = deserializer.deserialize_map(Complete { take })?;
    deserializer.end()?;
    Ok(catalog)
}

/// Visits a catalog, and passes on its resources and edges.
struct Complete<F> {
    take: F,
}

impl<'a, F: FnMut(WireItem<'a>)> Visitor<'a> for Complete<F> {
    type Value = WireCatalog;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a catalog")
    }

    fn visit_map<A: MapAccess<'a>>(self, map: A) -> Result<Self::Value, A::Error> {
        WireCatalog::deserialize(MapAccessDeserializer::new(OtherFields {
            map,
            take: self.take,
            resources: false,
            edges: false,
        }))
    }
}

/// The other fields of a catalog. Resources and edges are passed on.
struct OtherFields<A, F> {
    map: A,
    take: F,
    /// Whether the field was present.
    resources: bool,
    edges: bool,
}

impl<'a, A: MapAccess<'a>, F: FnMut(WireItem<'a>)> MapAccess<'a> for OtherFields<A, F> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'a>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        while let Some(Text(name)) = self.map.next_key()? {
            let (field, is_there) = match &*name {
                "resources" => ("resources", &mut self.resources),
                "edges" => ("edges", &mut self.edges),
                other => return seed.deserialize(other.into_deserializer()).map(Some),
            };
            if std::mem::replace(is_there, true) {
                return Err(A::Error::duplicate_field(field));
            }
            match field {
                "resources" => self.map.next_value_seed(resources(&mut self.take))?,
                _ => self.map.next_value_seed(edges(&mut self.take))?,
            }
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'a>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

/// Visits a list, and passes on its items.
struct Each<'f, T, F> {
    take: &'f mut F,
    of: PhantomData<T>,
}

fn resources<'a, F>(take: &mut F) -> Each<'_, WireResource<'a>, F> {
    let of = PhantomData;
    Each { take, of }
}

fn edges<'a, F>(take: &mut F) -> Each<'_, WireEdge<'a>, F> {
    let of = PhantomData;
    Each { take, of }
}

impl<'a, T, F> DeserializeSeed<'a> for Each<'_, T, F>
where
    T: Deserialize<'a> + Into<WireItem<'a>>,
    F: FnMut(WireItem<'a>),
{
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'a, T, F> Visitor<'a> for Each<'_, T, F>
where
    T: Deserialize<'a> + Into<WireItem<'a>>,
    F: FnMut(WireItem<'a>),
{
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element::<T>()? {
            (self.take)(item.into());
        }
        Ok(())
    }
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "`version` must be a number or a text")]
pub(super) enum WireVersion {
    Number(i64),
    Text(String),
}

#[derive(Deserialize)]
pub(super) struct WireResource<'a> {
    #[serde(rename = "type", borrow)]
    pub(crate) type_name: Text<'a>,
    #[serde(borrow)]
    pub(crate) title: Text<'a>,
    #[serde(borrow)]
    pub(crate) kind: Option<Text<'a>>,
    #[serde(default, borrow)]
    pub(crate) tags: Vec<Text<'a>>,
    #[serde(borrow)]
    pub(crate) file: Option<Text<'a>>,
    pub(crate) line: Option<u64>,
    #[serde(default, rename = "virtual")]
    pub(crate) is_virtual: bool,
    #[serde(default, borrow)]
    pub(crate) parameters: Parameters<'a>,
    #[serde(default)]
    pub(crate) sensitive_parameters: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct WireEdge<'a> {
    #[serde(borrow)]
    pub(crate) source: Text<'a>,
    #[serde(borrow)]
    pub(crate) target: Text<'a>,
}

/// A string borrowed from the catalog, or a copy if it has escapes.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Text<'a>(#[serde(borrow)] pub Cow<'a, str>);

/// Names and values, in order.
#[derive(Default)]
pub(super) struct Parameters<'a>(pub(crate) Vec<(Text<'a>, Parsed)>);

impl<'de: 'a, 'a> Deserialize<'de> for Parameters<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<'a>(PhantomData<&'a ()>);

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

        deserializer.deserialize_map(Entries(PhantomData))
    }
}
