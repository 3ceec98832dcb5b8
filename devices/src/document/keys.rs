//! Keys of a section, each declared once: name, kind of value, default, meaning and forms.
//!
//! `keys!` makes a struct with one field for each key, and [`SectionKeys`], from which the JSON Schema,
//! the reference and the errors about keys without an effect are generated. A struct can be the
//! value of a key of another one. The meaning is the doc comment: its first paragraph is the
//! description in the schema, the whole is in the reference.

use super::shape::ValueKind;
use super::{Item, Table, ValueShape};
use crate::diagnostic::suggest;

/// A kind of value that a key can have.
pub(crate) trait KeyValue: Sized {
    /// Records the valid values in the schema.
    fn declare(shape: &ValueShape);

    /// The value. An error is reported and gives `None`.
    fn read(item: &Item<'_>) -> Option<Self>;

    /// The value if the key is missing. `None`: the key is required.
    fn absent() -> Option<Self> {
        None
    }
}

/// What a section can describe. Some keys have an effect in some of these forms only.
pub(crate) trait SectionForm: Copy + PartialEq + 'static {
    /// All forms, each with the keys that select it.
    const FORMS: &'static [(Self, &'static str)];
}

/// A section in which every key always has an effect.
impl SectionForm for () {
    const FORMS: &'static [(Self, &'static str)] = &[];
}

/// A declared key.
#[derive(Debug)]
pub(crate) struct SectionKey<F: 'static> {
    pub(crate) name: &'static str,
    /// The meaning, one line for each line of the comment.
    pub(crate) doc: &'static str,
    /// The forms in which the key has an effect. Empty: all.
    pub(crate) forms: &'static [F],
    pub(crate) declare: fn(&ValueShape),
    /// Whether the key has no default.
    pub(crate) is_required: fn() -> bool,
}

/// The keys of a section.
#[derive(Debug)]
pub(crate) struct SectionKeys<F: 'static> {
    pub(crate) keys: &'static [SectionKey<F>],
}

impl<F: SectionForm> SectionKeys<F> {
    /// Records the keys in the schema.
    pub(crate) fn declare(&self, shape: &ValueShape) {
        shape.accepts(ValueKind::Table);
        for key in self.keys {
            let value = shape.key(key.name);
            value.describe(first_paragraph(key.doc));
            (key.declare)(&value);
            if (key.is_required)() {
                shape.requires(key.name);
            }
        }
    }

    /// Reports keys of a section of this form that have no effect.
    pub(crate) fn check(&self, form: F, table: &Table<'_>) {
        let names = |forms: &[F]| -> Vec<&str> {
            let named = F::FORMS.iter().filter(|(one, _)| forms.contains(one));
            named.map(|(_, name)| *name).collect()
        };
        for key in self.keys {
            if key.forms.is_empty() || key.forms.contains(&form) {
                continue;
            }
            if let Some(item) = table.get(key.name) {
                let own = names(&[form]).concat();
                let message = format!("`{}` has no effect with {own}", key.name);
                let help = format!("remove it; it belongs to {}", names(key.forms).join("; "));
                table
                    .findings
                    .error_with_help("no-effect", item.span.clone(), message, help);
            }
        }
    }

    /// The keys in Markdown, with the forms in which each has an effect.
    pub(crate) fn markdown(&self) -> String {
        let header = F::FORMS.iter().map(|(_, name)| format!(" {name} |"));
        let header: String = header.collect();
        let mut text = format!("| key |{header}\n|---|{}\n", "---|".repeat(F::FORMS.len()));
        for key in self.keys {
            let has_effect = |form| key.forms.is_empty() || key.forms.contains(form);
            let cells = F::FORMS.iter();
            let cells = cells.map(|(form, _)| if has_effect(form) { " yes |" } else { "  |" });
            text.push_str(&format!(
                "| `{}` |{}\n",
                key.name,
                cells.collect::<String>()
            ));
        }
        text
    }
}

/// One of several words. The error for another word has a suggestion.
pub(crate) fn word<T: Copy>(item: &Item<'_>, words: &[(&str, T)]) -> Option<T> {
    let text = item.string()?;
    if let Some((_, meaning)) = words.iter().find(|(word, _)| *word == text) {
        return Some(*meaning);
    }
    let valid: Vec<_> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
    let message = format!("`{}` cannot be `{text}`", item.path);
    let names = words.iter().map(|(word, _)| *word);
    let help = suggest(&text, names, format!("use one of {}", valid.join(", ")));
    item.findings
        .error_with_help("unknown-word", item.span.clone(), message, help);
    None
}

/// The first paragraph of a comment as one line.
fn first_paragraph(doc: &str) -> String {
    let lines = doc.lines().map(str::trim);
    let lines: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    lines.join(" ")
}

/// Declares the keys of a section. `where` names the forms in which a key has an effect, `=` the
/// value without the key, `as` the name of a key that is no identifier.
macro_rules! keys {
    (
        $(#[doc = $about:literal])+
        $vis:vis struct $name:ident $(at $form:ty)? {
            $(
                $(#[doc = $doc:literal])+
                $field:ident $(as $key:literal)? : $type:ty
                    $(where $forms:tt)? $(= $default:expr)?
            ),+ $(,)?
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug)]
        $vis struct $name {
            $($(#[doc = $doc])+ pub(crate) $field: $type,)+
        }

        impl $name {
            pub(crate) const KEYS: $crate::document::SectionKeys<$crate::document::keys!(@form $($form)?)> =
                $crate::document::SectionKeys {
                    keys: &[$($crate::document::SectionKey {
                        name: $crate::document::keys!(@name $field $($key)?),
                        doc: concat!($($doc, "\n"),+),
                        forms: $crate::document::keys!(@forms $($forms)?),
                        declare: <$type as $crate::document::KeyValue>::declare,
                        is_required: || {
                            let absent: fn() -> Option<$type> =
                                $crate::document::keys!(@absent $type $(, $default)?);
                            absent().is_none()
                        },
                    }),+],
                };

            /// Reads all keys of a table. `None`: some are wrong or missing, which is reported.
            pub(crate) fn of(table: &$crate::document::Table<'_>) -> Option<Self> {
                $(let $field = table.declared::<$type>(
                    $crate::document::keys!(@name $field $($key)?),
                    $crate::document::keys!(@absent $type $(, $default)?),
                );)+
                Some(Self { $($field: $field?,)+ })
            }
        }

        impl $crate::document::KeyValue for $name {
            fn declare(shape: &$crate::document::ValueShape) {
                Self::KEYS.declare(shape);
            }

            fn read(item: &$crate::document::Item<'_>) -> Option<Self> {
                let table = item.table()?;
                let keys = Self::of(&table);
                let are_known = table.finish();
                keys.filter(|_| are_known)
            }
        }
    };
    (@form) => { () };
    (@form $form:ty) => { $form };
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $key:literal) => { $key };
    (@forms) => { &[] };
    (@forms $forms:tt) => { &$forms };
    (@absent $type:ty) => { <$type as $crate::document::KeyValue>::absent };
    (@absent $type:ty, $default:expr) => { || Some($default) };
}
pub(crate) use keys;

/// Declares the words that are the values of an enumeration.
macro_rules! word_values {
    ($name:ty { $($word:literal => $value:expr),+ $(,)? }) => {
        impl $crate::document::KeyValue for $name {
            fn declare(shape: &$crate::document::ValueShape) {
                shape.accepts_words([$($word),+].into_iter());
            }

            fn read(item: &$crate::document::Item<'_>) -> Option<Self> {
                $crate::document::word(item, &[$(($word, $value)),+])
            }
        }
    };
}
pub(crate) use word_values;

/// Declares the keys at the top of a file whose values their own loaders read: each key becomes a
/// function that finds it. Several kinds of values are separated by `|`. It is an error if a key that
/// is `required` or `expected` is missing; the latter can be in the file that the table extends.
macro_rules! sections {
    (
        $(#[doc = $about:literal])+
        $vis:vis struct $name:ident {
            $(
                $(#[doc = $doc:literal])+
                $field:ident $(as $key:literal)? $(($required:ident))? : $($type:ty)|+
            ),+ $(,)?
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug)]
        $vis struct $name;

        impl $name {
            pub(crate) const KEYS: $crate::document::SectionKeys<()> = $crate::document::SectionKeys {
                keys: &[$($crate::document::SectionKey {
                    name: $crate::document::keys!(@name $field $($key)?),
                    doc: concat!($($doc, "\n"),+),
                    forms: &[],
                    declare: |shape| { $(<$type as $crate::document::KeyValue>::declare(shape);)+ },
                    is_required: || $crate::document::sections!(@required $($required)?),
                }),+],
            };

            $(
                $(#[doc = $doc])+
                pub(crate) fn $field<'a>(
                    table: &$crate::document::Table<'a>,
                ) -> Option<$crate::document::Item<'a>> {
                    $crate::document::sections!(
                        @find table, $crate::document::keys!(@name $field $($key)?) $(, $required)?
                    )
                }
            )+
        }

        impl $crate::document::KeyValue for $name {
            fn declare(shape: &$crate::document::ValueShape) {
                Self::KEYS.declare(shape);
            }

            /// The loaders read the keys.
            fn read(item: &$crate::document::Item<'_>) -> Option<Self> {
                item.table().map(|_| Self)
            }
        }
    };
    (@required) => { false };
    (@required required) => { true };
    (@required expected) => { false };
    (@find $table:ident, $key:expr) => { $table.get($key) };
    (@find $table:ident, $key:expr, $required:ident) => { $table.required($key) };
}
pub(crate) use sections;

/// Declares a text with these placeholders and no others.
macro_rules! text_with {
    ($(#[doc = $doc:literal])+ $vis:vis struct $name:ident($($placeholder:literal),+);) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug)]
        $vis struct $name(pub(crate) String);

        impl $crate::document::KeyValue for $name {
            fn declare(shape: &$crate::document::ValueShape) {
                String::declare(shape);
            }

            fn read(item: &$crate::document::Item<'_>) -> Option<Self> {
                item.string_with(&[$($placeholder),+]).map(Self)
            }
        }
    };
}
pub(crate) use text_with;
