//! Cache of values computed from a device's answers, valid until the answers change.
//!
//! Thousands of resources use the same values of one configuration, so each value is computed once.
//! A change of an answer drops the values computed from it.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::map::{Equivalent, IndexMap};

/// Cached values by Rust type and owner.
#[derive(Default)]
pub(super) struct Derived {
    made: Mutex<IndexMap<Key, DerivedValue>>,
}

/// What a value was computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum DerivedFrom<'a> {
    /// The complete answer to a read.
    Answer(&'a str),
    /// The lines of the top level of a configuration, without those below them.
    TopLevel(&'a str),
    /// Several answers.
    All,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    kind: TypeId,
    owner: (String, String),
    /// The read that it was computed from; `None`: from several.
    from: Option<String>,
    of_top_level: bool,
}

/// A borrowed [`Key`] for lookups.
#[derive(Hash)]
struct KeyRef<'a> {
    kind: TypeId,
    owner: (&'a str, &'a str),
    from: Option<&'a str>,
    of_top_level: bool,
}

impl Equivalent<Key> for KeyRef<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        let (kind, what) = &key.owner;
        self.kind == key.kind
            && self.owner == (kind, what)
            && self.from == key.from.as_deref()
            && self.of_top_level == key.of_top_level
    }
}

type DerivedValue = Arc<dyn Any + Send + Sync>;

impl<'a> DerivedFrom<'a> {
    fn read(self) -> Option<&'a str> {
        match self {
            DerivedFrom::Answer(read) | DerivedFrom::TopLevel(read) => Some(read),
            DerivedFrom::All => None,
        }
    }

    fn is_top_level(self) -> bool {
        matches!(self, DerivedFrom::TopLevel(_))
    }
}

impl Derived {
    /// The cached value for this owner and source; computed if missing.
    pub(super) fn get<T: Any + Send + Sync>(
        &self,
        owner: (&str, &str),
        source: DerivedFrom<'_>,
        make: impl FnOnce() -> T,
    ) -> Arc<T> {
        let key = KeyRef {
            kind: TypeId::of::<T>(),
            owner,
            from: source.read(),
            of_top_level: source.is_top_level(),
        };
        let stored = self.made().get(&key).cloned();
        if let Some(stored) = stored.and_then(|value| value.downcast().ok()) {
            return stored;
        }
        // Not under the lock: computing one value may need another.
        let value = Arc::new(make());
        self.put(owner, source, Arc::clone(&value));
        value
    }

    /// Stores a value for this owner and source.
    pub(super) fn put<T: Any + Send + Sync>(
        &self,
        owner: (&str, &str),
        source: DerivedFrom<'_>,
        value: Arc<T>,
    ) {
        let key = Key {
            kind: TypeId::of::<T>(),
            owner: (owner.0.to_owned(), owner.1.to_owned()),
            from: source.read().map(str::to_owned),
            of_top_level: source.is_top_level(),
        };
        self.made().insert(key, value as DerivedValue);
    }

    /// Drops the values computed from a read that is about to change.
    pub(crate) fn forget(&mut self, read: &str) {
        let of_another = |from: &String| from != read;
        self.made()
            .retain(|key, _| key.from.as_ref().is_some_and(of_another));
    }

    /// Drops the values computed from a read whose blocks are about to change, except those computed
    /// from the lines of its top level.
    pub(crate) fn forget_blocks(&mut self, read: &str) {
        self.made().retain(|key, _| {
            let from = key.from.as_ref();
            from.is_some_and(|from| from != read || key.of_top_level)
        });
    }

    fn made(&self) -> MutexGuard<'_, IndexMap<Key, DerivedValue>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clone for Derived {
    fn clone(&self) -> Self {
        Self {
            made: Mutex::new(self.made().clone()),
        }
    }
}

/// The values depend on the answers only, which are compared themselves.
impl PartialEq for Derived {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for Derived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Derived({})", self.made().len())
    }
}

#[cfg(test)]
mod tests {
    use crate::read::{Parsed, State};

    /// The length of the answer to a read, computed once per change.
    fn length(state: &State, read: &str, counted: &mut usize) -> usize {
        let length = state.derived(("test", ""), read, || {
            *counted += 1;
            match state.get(read) {
                Some(Parsed::Text(text)) => text.len(),
                _ => 0,
            }
        });
        *length
    }

    #[test]
    fn derived_values_are_cached_until_the_answer_changes() {
        let text = |text: &str| Parsed::Text(text.to_owned());
        let mut state = State::default();
        let mut counted = 0;
        state.insert("a", text("one"));
        assert_eq!(length(&state, "a", &mut counted), 3);
        state.insert("b", text("more"));
        let copy = state.clone();
        assert_eq!(length(&state, "a", &mut counted), 3);
        assert_eq!(counted, 1, "another answer does not affect it");

        if let Some(Parsed::Text(text)) = state.get_mut("a") {
            text.push_str(" two");
        }
        assert_eq!(length(&state, "a", &mut counted), 7);
        assert_eq!(
            length(&copy, "a", &mut counted),
            3,
            "the copy has not changed"
        );
        assert_eq!(counted, 2);

        let mut other = State::default();
        other.insert("a", text(""));
        state.extend(other);
        assert_eq!(length(&state, "a", &mut counted), 0);

        let answers = |state: &State| *state.derived_from_all("test", || state.iter().count());
        assert_eq!(answers(&state), 2);
        state.insert("c", text(""));
        assert_eq!(answers(&state), 3);
    }
}
