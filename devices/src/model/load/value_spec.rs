//! Loads valid values: literals and named kinds of `values`.

use std::ops::Range;

use super::value_of;
use crate::document::{At, Findings, Item, KeyValue, ValueKind, ValueShape, keys, word};
use crate::map::IndexMap;
use crate::model::notation::Notation;
use crate::model::{AttributeModel, Canon, StructField, ValueSpec};
use crate::pattern::Pattern;
use crate::value::Value;

/// The value of `values`.
#[derive(Clone, Debug)]
pub(crate) struct Values(Vec<ValueSpec>);

impl KeyValue for Values {
    fn declare(shape: &ValueShape) {
        shape.accepts(ValueKind::List);
        let value = shape.element();
        for kind in [ValueKind::String, ValueKind::Integer, ValueKind::Boolean] {
            value.accepts(kind);
        }
        NamedKindKeys::declare(&value);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        read_values(item).map(Self)
    }
}

/// Valid values of a model: a list, or a type in Puppet's notation.
#[derive(Clone, Debug)]
pub(crate) enum ModelValues {
    List(Vec<ValueSpec>),
    Notation(Notation),
}

impl KeyValue for ModelValues {
    fn declare(shape: &ValueShape) {
        Values::declare(shape);
        String::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        if item.is_list() {
            return read_values(item).map(Self::List);
        }
        match Notation::parse(&item.string()?) {
            Ok(notation) => Some(Self::Notation(notation)),
            Err(error) => {
                item.error("type-notation", format!("invalid type: {error}"));
                None
            }
        }
    }
}

/// A pattern of a whole text.
#[derive(Clone, Debug)]
pub(crate) struct CompletePattern(pub(super) Pattern);

impl KeyValue for CompletePattern {
    fn declare(shape: &ValueShape) {
        Pattern::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        let text = item.string()?;
        item.compile(&format!(r"\A(?:{text})\z")).map(Self)
    }
}

keys! {
    /// A named kind of values.
    pub(crate) struct NamedKindKeys {
        /// Name of the kind.
        name: String,
        /// Pattern of the whole text.
        pattern: Option<CompletePattern>,
        /// Integers, from the lowest to the highest.
        integer: Option<Limits>,
        /// Numbers in a text, from the lowest to the highest.
        numbers: Option<At<Limits>>,
        /// Fields of a hash; `?` at the end of a name: the field can be missing.
        fields as "struct": Option<StructFields>,
        /// Kinds of the elements of a list.
        items as "tuple": Option<TupleItems>,
        /// Normalization of the value, applied in order.
        canon: Option<At<Vec<Canon>>>,
        /// Description of the values.
        doc: Option<At<String>>,
    }
}

/// Two numbers, lowest and highest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits(i64, i64);

impl KeyValue for Limits {
    fn declare(shape: &ValueShape) {
        shape.accepts(ValueKind::List);
        i64::declare(&shape.element());
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        let numbers: Vec<i64> = item.list()?.iter().filter_map(Item::integer).collect();
        let [low, high] = numbers[..] else {
            let key = item.path.rsplit('.').next().unwrap_or_default();
            let message = format!("`{key}` requires two numbers, lowest and highest");
            item.error("wrong-kind", message);
            return None;
        };
        Some(Self(low, high))
    }
}

/// The fields of a hash. They have kinds of values themselves.
#[derive(Clone, Debug)]
pub(crate) struct StructFields(IndexMap<String, StructField>);

impl KeyValue for StructFields {
    fn declare(shape: &ValueShape) {
        shape.accepts(ValueKind::Table);
        shape.any_name().accepts_anything();
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        let fields = item.table()?.entries().into_iter().map(|(key, _, item)| {
            let optional = key.ends_with('?');
            let field = read_field(&item, optional)?;
            Some((key.trim_end_matches('?').to_owned(), field))
        });
        let fields: Vec<Option<_>> = fields.collect();
        fields.into_iter().collect::<Option<_>>().map(Self)
    }
}

/// The kinds of the elements of a list.
#[derive(Clone, Debug)]
pub(crate) struct TupleItems(Vec<Vec<ValueSpec>>);

impl KeyValue for TupleItems {
    fn declare(shape: &ValueShape) {
        shape.accepts(ValueKind::List);
        shape.element().accepts_anything();
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        let items = item.list()?;
        let items: Vec<Option<_>> = items.iter().map(kinds).collect();
        items.into_iter().collect::<Option<_>>().map(Self)
    }
}

keys! {
    /// A field of a hash.
    struct StructFieldKeys {
        /// Valid values.
        values: Option<FieldKinds>,
        /// Value without the field.
        default: Option<Value>,
    }
}

/// Valid values of a field.
#[derive(Clone, Debug)]
struct FieldKinds(Vec<ValueSpec>);

impl KeyValue for FieldKinds {
    fn declare(shape: &ValueShape) {
        shape.accepts_anything();
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        kinds(item).map(Self)
    }
}

fn read_values(item: &Item<'_>) -> Option<Vec<ValueSpec>> {
    let mut specs: Vec<ValueSpec> = Vec::new();
    for item in &item.list()? {
        let Some(spec) = read_value_spec(item) else {
            continue;
        };
        if specs.iter().any(|other| other.name() == spec.name()) {
            item.error(
                "duplicate-value",
                format!("two values have the name `{}`", spec.name()),
            );
        }
        specs.push(spec);
    }
    Some(specs)
}

/// The attribute with the values of the platform, each of which the model must have.
pub(crate) fn narrowed(
    model: &AttributeModel,
    values: At<Values>,
    findings: &Findings,
) -> AttributeModel {
    let At {
        value: Values(values),
        span,
    } = values;
    for spec in &values {
        let is_valid = match spec {
            ValueSpec::Literal(value) => model.canonicalize(value).is_ok(),
            ValueSpec::Integer { low, high, .. } => [low, high]
                .iter()
                .all(|limit| model.canonicalize(&(**limit).into()).is_ok()),
            ValueSpec::Numbers { low, high, .. } => [low, high]
                .iter()
                .all(|limit| model.canonicalize(&i64::from(**limit).into()).is_ok()),
            ValueSpec::Pattern { .. } | ValueSpec::Struct { .. } | ValueSpec::Tuple { .. } => true,
        };
        if !is_valid {
            let message = format!(
                "the model does not have all of {}: `values` of a platform are a part of {}",
                spec.describe(),
                model.describe_values()
            );
            findings.error("values", span.clone(), message);
        }
    }
    AttributeModel {
        values,
        ..model.clone()
    }
}

fn read_value_spec(item: &Item<'_>) -> Option<ValueSpec> {
    if !item.is_table() {
        return match value_of(item)? {
            literal @ (Value::String(_) | Value::Bool(_) | Value::Integer(_)) => {
                Some(ValueSpec::Literal(literal))
            }
            _ => {
                item.error(
                    "wrong-kind",
                    "a value is a literal or a table with a name and a kind",
                );
                None
            }
        };
    }
    let keys = NamedKindKeys::read(item)?;
    let error = |span: Range<usize>, message: &str| {
        item.findings.error("wrong-kind", span, message);
    };
    if let Some(canon) = &keys.canon
        && keys.pattern.is_none()
        && keys.items.is_none()
    {
        let message = "only a `pattern` and a `tuple` have a `canon`";
        error(canon.span.clone(), message);
    }
    if let Some(doc) = &keys.doc
        && keys.pattern.is_none()
    {
        error(doc.span.clone(), "only a `pattern` has a `doc`");
    }
    let name = keys.name;
    let canon = keys.canon.map(|canon| canon.value).unwrap_or_default();
    match (
        keys.pattern,
        keys.integer,
        keys.numbers,
        keys.fields,
        keys.items,
    ) {
        (Some(CompletePattern(pattern)), None, None, None, None) => Some(ValueSpec::Pattern {
            name,
            pattern,
            doc: keys.doc.map(|doc| doc.value).unwrap_or_default(),
            canon,
        }),
        (None, Some(Limits(low, high)), None, None, None) => {
            Some(ValueSpec::Integer { name, low, high })
        }
        (None, None, Some(numbers), None, None) => {
            let At {
                value: Limits(low, high),
                span,
            } = numbers;
            let (Ok(low), Ok(high)) = (low.try_into(), high.try_into()) else {
                error(span, "`numbers` requires positive numbers");
                return None;
            };
            Some(ValueSpec::Numbers { name, low, high })
        }
        (None, None, None, Some(StructFields(fields)), None) => {
            Some(ValueSpec::Struct { name, fields })
        }
        (None, None, None, None, Some(TupleItems(items))) => {
            Some(ValueSpec::Tuple { name, items, canon })
        }
        _ => {
            item.error(
                "wrong-kind",
                "a named value requires one of `pattern`, `integer`, `numbers`, `struct` and `tuple`",
            );
            None
        }
    }
}

fn read_field(item: &Item<'_>, optional: bool) -> Option<StructField> {
    if !item.is_table() {
        return Some(StructField {
            values: kinds(item)?,
            optional,
            default: None,
        });
    }
    let keys = StructFieldKeys::read(item)?;
    Some(StructField {
        values: keys.values.map(|kinds| kinds.0).unwrap_or_default(),
        optional: optional || keys.default.is_some(),
        default: keys.default,
    })
}

/// Valid values of a field or element: a list as in `values`, or the name of a common kind.
fn kinds(item: &Item<'_>) -> Option<Vec<ValueSpec>> {
    if item.is_list() {
        return read_values(item);
    }
    let matching = |text: &str| {
        let name = item.as_str().unwrap_or_default().to_owned();
        let pattern = Pattern::new(&format!(r"\A(?:{text})\z")).expect("written here");
        let doc = format!("a {name}");
        let canon = Vec::new();
        vec![ValueSpec::Pattern {
            name,
            pattern,
            doc,
            canon,
        }]
    };
    let kind = word(
        item,
        &[
            ("text", ".*"),
            ("word", r"\S+"),
            ("path", r"(?:/[\w.:%-]+)+"),
            ("port", r"\d{1,5}|[a-z*][\w-]*"),
            ("integer", "integer"),
            ("boolean", "boolean"),
        ],
    )?;
    Some(match kind {
        "integer" => vec![ValueSpec::Integer {
            name: "integer".to_owned(),
            low: i64::MIN,
            high: i64::MAX,
        }],
        "boolean" => vec![
            ValueSpec::Literal(true.into()),
            ValueSpec::Literal(false.into()),
        ],
        text => matching(text),
    })
}
