//! Loads valid values: literals and named kinds of `values`.

use super::value_of;
use crate::document::{At, Findings, Item, KeyValue, ValueShape, word};
use crate::model::{AttributeModel, Canon, StructField, ValueSpec};
use crate::pattern::Pattern;
use crate::value::Value;

pub(crate) fn read_values(item: &Item<'_>) -> Vec<ValueSpec> {
    let mut specs: Vec<ValueSpec> = Vec::new();
    for item in item.list().iter().flatten() {
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
    specs
}

/// The normalizations of `canon`: one word or several.
pub(super) fn read_canon(item: &Item<'_>) -> Vec<Canon> {
    if item.is_list() {
        let items = item.list().unwrap_or_default();
        let canons = items.iter().map(|item| word(item, &Canon::ALL));
        return canons.flatten().collect();
    }
    word(item, &Canon::ALL).into_iter().collect()
}

/// The value of `values`.
#[derive(Clone, Debug)]
pub(crate) struct Values(Vec<ValueSpec>);

impl KeyValue for Values {
    fn declare(shape: &ValueShape) {
        shape.accepts_anything();
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        Some(Self(read_values(item)))
    }
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
    let table = item.table()?;
    let name = table.required_string("name");
    let text = table.get("pattern");
    let bounds = table.get("integer");
    let fields = table.get("struct");
    let items = table.get("tuple");
    let numbers = table.get("numbers");
    let canon = table.get("canon").map(|item| {
        if text.is_none() && items.is_none() {
            item.error(
                "wrong-kind",
                "only a `pattern` and a `tuple` have a `canon`",
            );
        }
        read_canon(&item)
    });
    let canon = canon.unwrap_or_default();
    let doc = table.get("doc").filter(|item| {
        if text.is_none() {
            item.error("wrong-kind", "only a `pattern` has a `doc`");
        }
        text.is_some()
    });
    let are_known = table.finish();
    let name = name?;
    match (text, bounds, numbers, fields, items) {
        // The kind can be one of the unknown keys.
        (None, None, None, None, None) if !are_known => None,
        (Some(item), None, None, None, None) => Some(ValueSpec::Pattern {
            name,
            pattern: complete_pattern(&item)?,
            doc: doc.and_then(|item| item.string()).unwrap_or_default(),
            canon,
        }),
        (None, Some(item), None, None, None) => {
            let (low, high) = limits(&item, "integer")?;
            Some(ValueSpec::Integer { name, low, high })
        }
        (None, None, Some(item), None, None) => {
            let (low, high) = limits(&item, "numbers")?;
            let (Ok(low), Ok(high)) = (low.try_into(), high.try_into()) else {
                item.error("wrong-kind", "`numbers` requires positive numbers");
                return None;
            };
            Some(ValueSpec::Numbers { name, low, high })
        }
        (None, None, None, Some(item), None) => {
            let fields = item.table()?.entries();
            let fields = fields
                .iter()
                .filter_map(|(key, _, item)| {
                    let optional = key.ends_with('?');
                    let key = key.trim_end_matches('?').to_owned();
                    Some((key, read_field(item, optional)?))
                })
                .collect();
            Some(ValueSpec::Struct { name, fields })
        }
        (None, None, None, None, Some(item)) => {
            let items = item.list()?;
            let items = items.iter().map(|item| kinds(item).unwrap_or_default());
            Some(ValueSpec::Tuple {
                name,
                items: items.collect(),
                canon,
            })
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

/// Two numbers, lowest and highest.
fn limits(item: &Item<'_>, key: &str) -> Option<(i64, i64)> {
    let numbers: Vec<i64> = item.list()?.iter().filter_map(Item::integer).collect();
    let [low, high] = numbers[..] else {
        let message = format!("`{key}` requires two numbers, lowest and highest");
        item.error("wrong-kind", message);
        return None;
    };
    Some((low, high))
}

fn read_field(item: &Item<'_>, optional: bool) -> Option<StructField> {
    if !item.is_table() {
        return Some(StructField {
            values: kinds(item)?,
            optional,
            default: None,
        });
    }
    let table = item.table()?;
    let values = table.get("values").and_then(|item| kinds(&item));
    let default = table.get("default").and_then(|item| value_of(&item));
    table.finish();
    Some(StructField {
        values: values.unwrap_or_default(),
        optional: optional || default.is_some(),
        default,
    })
}

/// Valid values of a field or element: a list as in `values`, or the name of a common kind.
fn kinds(item: &Item<'_>) -> Option<Vec<ValueSpec>> {
    if item.is_list() {
        return Some(read_values(item));
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

pub(crate) fn complete_pattern(item: &Item<'_>) -> Option<Pattern> {
    let text = item.string()?;
    item.compile(&format!(r"\A(?:{text})\z"))
}
