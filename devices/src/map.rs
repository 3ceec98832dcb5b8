//! Maps that keep the order in which they were filled: attributes, models, rules, sections.
//!
//! Their keys are short names, which the standard hasher would take most of the time of a look-up
//! for.

pub use indexmap::Equivalent;

/// An ordered map; made with `default()`, `collect()` or [`with_room`].
pub type IndexMap<K, V> = indexmap::IndexMap<K, V, foldhash::fast::RandomState>;

/// An empty map with room for so many entries.
pub fn with_room<K, V>(entries: usize) -> IndexMap<K, V> {
    IndexMap::with_capacity_and_hasher(entries, foldhash::fast::RandomState::default())
}
