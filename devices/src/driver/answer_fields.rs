//! `answer`: the fields of a valid JSON answer, each with its value, or `true` for any value; or `"list"`.

use crate::document::{Item, KeyValue, Table, ValueKind, ValueShape, word};
use crate::read::answer_rule::Expectation;
use crate::read::field_path::FieldPath;

/// What a valid answer contains.
#[derive(Clone, Debug, Default)]
pub(crate) struct AnswerFields(pub(crate) Vec<Expectation>);

/// The same with the placeholder `{kind}` in values.
#[derive(Clone, Debug, Default)]
pub(crate) struct KindAnswerFields(pub(crate) Vec<Expectation>);

impl KeyValue for AnswerFields {
    fn declare(shape: &ValueShape) {
        declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        read(item, &[]).map(Self)
    }

    fn absent() -> Option<Self> {
        Some(Self::default())
    }
}

impl KeyValue for KindAnswerFields {
    fn declare(shape: &ValueShape) {
        declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        read(item, &["kind"]).map(Self)
    }

    fn absent() -> Option<Self> {
        Some(Self::default())
    }
}

fn declare(shape: &ValueShape) {
    shape.accepts_words([LIST].into_iter());
    shape.accepts(ValueKind::Table);
    let value = shape.any_name();
    bool::declare(&value);
    String::declare(&value);
}

/// The word for an answer that is a list.
const LIST: &str = "list";

/// The values may have these placeholders.
fn read(item: &Item<'_>, placeholders: &[&str]) -> Option<Vec<Expectation>> {
    if !item.is_table() {
        let list = word(item, &[(LIST, ())]);
        return list.map(|()| vec![Expectation::List]);
    }
    let table = item.table()?;
    let fields = table.entries().into_iter().map(|(name, span, item)| {
        let value = match item.as_bool() {
            Some(true) => None,
            _ => Some(item.string_with(placeholders)?),
        };
        let path = FieldPath::read_key(&table, &name, &span)?;
        Some(Expectation::Field { path, value })
    });
    let fields: Vec<Option<_>> = fields.collect();
    fields.into_iter().collect()
}

/// Reports a read without a rule for its answer.
pub(super) fn report_no_expectation(table: &Table<'_>, help: impl Into<String>) {
    table.findings.error_with_help(
        "missing-expectation",
        table.span.clone(),
        format!(
            "[{}] does not declare what a valid answer contains",
            table.path
        ),
        help,
    );
}
