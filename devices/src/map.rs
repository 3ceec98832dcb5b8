//! Maps in insertion order: attributes, models, rules, sections.
//!
//! Keys are short names, for which the standard hasher would dominate the time of a lookup.

pub use indexmap::Equivalent;

/// An ordered map; created with `default()`, `collect()` or [`with_room`].
pub type IndexMap<K, V> = indexmap::IndexMap<K, V, foldhash::fast::RandomState>;

/// An empty map with this capacity.
pub fn with_room<K, V>(entries: usize) -> IndexMap<K, V> {
    IndexMap::with_capacity_and_hasher(entries, foldhash::fast::RandomState::default())
}
