//! Kinds of values that the sections about requests have: templates, bodies, methods.

use toml::de::DeValue;

use crate::document::{Item, KeyValue, ValueKind, ValueShape, keys, word_values};
use crate::driver::json_fields::{fields_of, json_of};
use crate::driver::rest::codec::ValueCodec;
use crate::driver::rest::definition::{OwnRequest, RequestTarget, UnsetRule};
use crate::driver::rest::template::{BodyField, TextTemplate};
use crate::operation::Method;
use crate::read::field_path::FieldPath;

impl KeyValue for TextTemplate {
    fn declare(shape: &ValueShape) {
        String::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        let template = TextTemplate::parse(&item.template()?);
        if let Err(error) = &template {
            item.error("template", error.to_string());
        }
        template.ok()
    }
}

/// Fields with templates.
#[derive(Clone, Debug, Default)]
pub(in crate::driver) struct TemplateFields(pub(in crate::driver) Vec<(FieldPath, TextTemplate)>);

impl KeyValue for TemplateFields {
    fn declare(shape: &ValueShape) {
        shape.accepts(ValueKind::Table);
        String::declare(&shape.any_name());
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        fields_of(&item.table()?, TextTemplate::read).map(Self)
    }

    fn absent() -> Option<Self> {
        Some(Self::default())
    }
}

/// The fields of a body: a text is a template, also in an object, and anything else a constant.
#[derive(Clone, Debug, Default)]
pub(in crate::driver) struct BodyFields(pub(in crate::driver) Vec<(FieldPath, BodyField)>);

impl KeyValue for BodyFields {
    fn declare(shape: &ValueShape) {
        shape.accepts(ValueKind::Table);
        shape.any_name().accepts_anything();
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        let fields = fields_of(&item.table()?, |item| Some(body_fields(item)))?;
        let fields = fields.into_iter().flat_map(|(path, inner)| {
            let inner = inner.into_iter();
            inner.map(move |(own, field)| (path.join(&own), field))
        });
        Some(Self(fields.collect()))
    }

    fn absent() -> Option<Self> {
        Some(Self::default())
    }
}

/// The fields in a value.
fn body_fields(item: &Item<'_>) -> Vec<(FieldPath, BodyField)> {
    let field = match item.value() {
        DeValue::Table(fields) if !fields.is_empty() => {
            let entries = item.table().map(|table| table.entries());
            let entries = entries.into_iter().flatten();
            let fields = entries.flat_map(|(name, _, item)| {
                let inner = body_fields(&item).into_iter();
                inner.map(move |(path, field)| (FieldPath::of(&name).join(&path), field))
            });
            return fields.collect();
        }
        DeValue::String(_) => TextTemplate::read(item).map(BodyField::Text),
        _ => json_of(item).map(BodyField::Constant),
    };
    let fields = field.map(|field| (FieldPath::default(), field));
    fields.into_iter().collect()
}

/// The method of a request that creates.
#[derive(Clone, Copy, Debug)]
pub(in crate::driver) struct CreateVerb(pub(in crate::driver) Method);

word_values!(CreateVerb {
    "POST" => CreateVerb(Method::Post),
    "PUT" => CreateVerb(Method::Put),
});

/// The method of a request that changes or moves.
#[derive(Clone, Copy, Debug)]
pub(in crate::driver) struct ChangeVerb(pub(in crate::driver) Method);

word_values!(ChangeVerb {
    "PATCH" => ChangeVerb(Method::Patch),
    "PUT" => ChangeVerb(Method::Put),
    "POST" => ChangeVerb(Method::Post),
});

/// The method of any request that writes.
#[derive(Clone, Copy, Debug)]
pub(in crate::driver) struct RequestVerb(pub(in crate::driver) Method);

word_values!(RequestVerb {
    "POST" => RequestVerb(Method::Post),
    "PUT" => RequestVerb(Method::Put),
    "PATCH" => RequestVerb(Method::Patch),
    "DELETE" => RequestVerb(Method::Delete),
});

/// The operation of NETCONF that creates an element.
#[derive(Clone, Copy, Debug)]
pub(in crate::driver) struct ElementCreation(pub(in crate::driver) Method);

word_values!(ElementCreation {
    "create" => ElementCreation(Method::Post),
    "merge" => ElementCreation(Method::Patch),
    "replace" => ElementCreation(Method::Put),
});

/// The operation of NETCONF that changes an element.
#[derive(Clone, Copy, Debug)]
pub(in crate::driver) struct ElementChange(pub(in crate::driver) Method);

word_values!(ElementChange {
    "merge" => ElementChange(Method::Patch),
    "replace" => ElementChange(Method::Put),
});

word_values!(UnsetRule {
    "delete" => UnsetRule::Delete,
    "null" => UnsetRule::Null,
    "omit" => UnsetRule::Omit,
});

/// What the body of a change has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::driver) enum ChangeBody {
    Changed,
    Complete,
}

word_values!(ChangeBody {
    "changed" => ChangeBody::Changed,
    "whole" => ChangeBody::Complete,
});

impl KeyValue for ValueCodec {
    fn declare(shape: &ValueShape) {
        shape.accepts_words(ValueCodec::ALL.iter().map(|(word, _)| *word));
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        crate::document::word(item, &ValueCodec::ALL)
    }
}

impl KeyValue for RequestTarget {
    fn declare(shape: &ValueShape) {
        String::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        match item.string()?.as_str() {
            "collection" => Some(RequestTarget::Collection),
            "object" => Some(RequestTarget::Object),
            path if path.starts_with('/') => TextTemplate::read(item).map(RequestTarget::Path),
            _ => {
                let message = format!("`{}` must be `collection`, `object` or a path", item.path);
                item.error("target", message);
                None
            }
        }
    }
}

keys! {
    /// A request of its own.
    pub(in crate::driver) struct OwnRequestKeys {
        /// Method of the request.
        verb: RequestVerb,
        /// Path of the request.
        path: TextTemplate,
        /// Body of the request.
        body: BodyFields,
    }
}

impl From<OwnRequestKeys> for OwnRequest {
    fn from(keys: OwnRequestKeys) -> Self {
        Self {
            method: keys.verb.0,
            path: keys.path,
            body: keys.body.0,
        }
    }
}
