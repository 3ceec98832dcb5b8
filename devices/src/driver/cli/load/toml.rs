//! Kinds of values that the sections about command lines have: lines, blocks, codecs.

use std::sync::Arc;

use crate::diagnostic::suggest;
use crate::document::{At, Item, KeyValue, Table, ValueShape, word, word_values};
use crate::driver::cli::block_path::BlockPath;
use crate::driver::cli::rules::{EquivalentValue, NoForm, Replacement, WriteOnly};
use crate::driver::cli::template::LineTemplate;
use crate::driver::codec::Codec;
use crate::driver::context::Context;
use crate::model::load::value_of;

impl KeyValue for LineTemplate {
    fn declare(shape: &ValueShape) {
        String::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        LineTemplate::load(item)
    }
}

impl KeyValue for BlockPath {
    fn declare(shape: &ValueShape) {
        String::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        let path = BlockPath::parse(&item.template()?);
        if let Err(error) = &path {
            item.error("template", error.to_string());
        }
        path.ok()
    }
}

/// The line for a value. `None`, an empty text: no line is sent.
#[derive(Clone, Debug)]
pub(in crate::driver) struct SetLine(pub(super) Option<LineTemplate>);

impl KeyValue for SetLine {
    fn declare(shape: &ValueShape) {
        String::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        if item.as_str() == Some("") {
            return Some(Self(None));
        }
        LineTemplate::load(item).map(|line| Self(Some(line)))
    }
}

impl KeyValue for NoForm {
    fn declare(shape: &ValueShape) {
        String::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        match item.as_str() {
            Some("head") => Some(NoForm::Head),
            Some("full") => Some(NoForm::Full),
            _ => LineTemplate::load(item).map(NoForm::Text),
        }
    }
}

impl KeyValue for WriteOnly {
    fn declare(shape: &ValueShape) {
        bool::declare(shape);
        shape.accepts_words(["hashed"].into_iter());
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        match item.as_bool() {
            Some(true) => Some(WriteOnly::Hidden),
            Some(false) => {
                item.error("write-only", "`write_only` is `true` or `\"hashed\"`");
                None
            }
            None => word(item, &[("hashed", WriteOnly::Hashed)]),
        }
    }
}

/// The old line is removed before the new one is sent.
#[derive(Clone, Copy, Debug)]
pub(in crate::driver) struct ReplaceFirst;

word_values!(ReplaceFirst { "remove-first" => ReplaceFirst });

word_values!(Replacement {
    "remove-first" => Replacement::OldLine,
    "remove-equal" => Replacement::EqualLines,
});

/// A literal, or a pattern between slashes.
impl KeyValue for EquivalentValue {
    fn declare(shape: &ValueShape) {
        shape.accepts_anything();
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        let value = value_of(item)?;
        let text = value
            .as_str()
            .and_then(|text| text.strip_prefix('/')?.strip_suffix('/'));
        match text {
            Some(text) => item.compile(text).map(EquivalentValue::Pattern),
            None => Some(EquivalentValue::Value(value)),
        }
    }
}

/// A codec by its name, from the platform or built in.
pub(super) fn codec(
    context: &Context<'_>,
    table: &Table<'_>,
    name: &At<String>,
) -> Option<Arc<Codec>> {
    if let Some(codec) = context.codecs.get(&name.value) {
        return Some(Arc::clone(codec));
    }
    let built_in = Codec::built_in(name).map(Arc::new);
    if built_in.is_none() {
        let names = context.codecs.keys().map(String::as_str);
        let help = suggest(name, names, "declare it in platform.toml as [codec.NAME]");
        let message = format!("the platform has no codec `{}`", name.value);
        table
            .findings
            .error_with_help("unknown-codec", name.span.clone(), message, help);
    }
    built_in
}
