//! The kinds of values of keys that have no meaning of their own: texts, numbers, lists, names.

use std::num::NonZeroU32;
use std::ops::{Deref, Range};

use super::shape::ValueKind;
use super::{Item, KeyValue, ValueShape};
use crate::pattern::Pattern;

/// A value with its place in the file, for errors that other keys decide.
#[derive(Clone, Debug)]
pub(crate) struct At<T> {
    pub(crate) value: T,
    pub(crate) span: Range<usize>,
}

impl<T> Deref for At<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: KeyValue> KeyValue for At<T> {
    fn declare(shape: &ValueShape) {
        T::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        let value = T::read(item)?;
        let span = item.span.clone();
        Some(Self { value, span })
    }
}

/// A table whose keys are names, in the order of the file.
#[derive(Clone, Debug)]
pub(crate) struct Named<T>(pub(crate) Vec<(At<String>, T)>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Named<T> {
    pub(crate) fn names(&self) -> impl Iterator<Item = &At<String>> {
        self.0.iter().map(|(name, _)| name)
    }
}

impl<T> Deref for Named<T> {
    type Target = [(At<String>, T)];

    fn deref(&self) -> &[(At<String>, T)] {
        &self.0
    }
}

impl<T> IntoIterator for Named<T> {
    type Item = (At<String>, T);
    type IntoIter = std::vec::IntoIter<(At<String>, T)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<T: KeyValue> KeyValue for Named<T> {
    fn declare(shape: &ValueShape) {
        shape.accepts(ValueKind::Table);
        T::declare(&shape.any_name());
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        let entries = item.table()?.entries();
        let entries = entries.into_iter().map(|(value, span, item)| {
            let read = T::read(&item);
            read.map(|read| (At { value, span }, read))
        });
        all(entries).map(Self)
    }

    fn absent() -> Option<Self> {
        Some(Self::default())
    }
}

/// A list, or a single value.
impl<T: KeyValue> KeyValue for Vec<T> {
    fn declare(shape: &ValueShape) {
        T::declare(shape);
        shape.accepts(ValueKind::List);
        T::declare(&shape.element());
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        all(item.clone().one_or_more().iter().map(T::read))
    }

    fn absent() -> Option<Self> {
        Some(Vec::new())
    }
}

impl<T: KeyValue> KeyValue for Option<T> {
    fn declare(shape: &ValueShape) {
        T::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        T::read(item).map(Some)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

/// A table with the keys of two declarations.
impl<A: KeyValue, B: KeyValue> KeyValue for (A, B) {
    fn declare(shape: &ValueShape) {
        A::declare(shape);
        B::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        A::read(item).zip(B::read(item))
    }
}

/// The value of a key, if the file has it and it is valid.
pub(crate) fn read<T: KeyValue>(item: Option<Item<'_>>) -> Option<T> {
    item.and_then(|item| T::read(&item))
}

/// All values, after all were read: each error is reported.
fn all<T>(values: impl Iterator<Item = Option<T>>) -> Option<Vec<T>> {
    let read: Vec<Option<T>> = values.collect();
    read.into_iter().collect()
}

impl KeyValue for bool {
    fn declare(shape: &ValueShape) {
        shape.accepts(ValueKind::Boolean);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        item.bool()
    }

    fn absent() -> Option<Self> {
        Some(false)
    }
}

impl KeyValue for String {
    fn declare(shape: &ValueShape) {
        shape.accepts(ValueKind::String);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        item.string()
    }
}

/// A text of one character.
impl KeyValue for char {
    fn declare(shape: &ValueShape) {
        shape.accepts(ValueKind::String);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        let text = item.string()?;
        let mut characters = text.chars();
        match (characters.next(), characters.next()) {
            (Some(character), None) => Some(character),
            _ => {
                item.error(
                    "wrong-kind",
                    format!("`{}` must be one character", item.path),
                );
                None
            }
        }
    }
}

/// A text whose placeholders the loader fills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template(pub(crate) String);

impl KeyValue for Template {
    fn declare(shape: &ValueShape) {
        String::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        item.template().map(Self)
    }
}

impl KeyValue for Pattern {
    fn declare(shape: &ValueShape) {
        shape.accepts(ValueKind::String);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        item.pattern()
    }
}

impl KeyValue for i64 {
    fn declare(shape: &ValueShape) {
        shape.accepts(ValueKind::Integer);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        item.integer()
    }
}

macro_rules! unsigned {
    ($($number:ty),+) => {$(
        impl KeyValue for $number {
            fn declare(shape: &ValueShape) {
                i64::declare(shape);
            }

            fn read(item: &Item<'_>) -> Option<Self> {
                let number = <$number>::try_from(item.integer()?).ok();
                if number.is_none() {
                    let most = <$number>::MAX;
                    item.error("bad-number", format!("`{}` must be between 0 and {most}", item.path));
                }
                number
            }
        }
    )+};
}
unsigned!(u16, u32, u64, usize);

/// A number that is at least 1.
impl KeyValue for NonZeroU32 {
    fn declare(shape: &ValueShape) {
        i64::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        let number = u32::try_from(item.integer()?).ok().and_then(Self::new);
        if number.is_none() {
            item.error("bad-number", format!("`{}` must be 1 or more", item.path));
        }
        number
    }
}
