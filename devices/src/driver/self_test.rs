//! Self-tests in definitions: device text → resources, desired resource → commands or requests.

pub mod run;

use std::sync::Arc;

use super::facts::Facts;
use crate::diagnostic::Source;
use crate::document::{Item, Table};
use crate::model::load::value_of;
use crate::read::Reads;
use crate::value::{Attributes, Value};

/// A test of a definition.
#[derive(Clone, Debug)]
pub(crate) struct SelfTest {
    pub(crate) name: String,
    /// Its file: the definition, or the file that the definition extends.
    source: Arc<Source>,
    supplied: Reads,
    facts: Facts,
    want: Option<Attributes>,
    expect: Option<Vec<Attributes>>,
    operations: Option<Vec<String>>,
    error: Option<String>,
}

impl SelfTest {
    pub(super) fn load(item: &Item<'_>) -> Option<Self> {
        let table = item.table()?;
        let name = table.required_string("name");
        let attributes = |item: &Item<'_>| -> Option<Attributes> {
            let entries = item.table()?.entries();
            let entries = entries.iter();
            Some(
                entries
                    .filter_map(|(name, _, item)| Some((name.clone(), value_of(item)?)))
                    .collect(),
            )
        };
        let strings = |key: &str| -> Vec<(String, String)> {
            let entries = table
                .table(key)
                .iter()
                .flat_map(Table::entries)
                .collect::<Vec<_>>();
            entries
                .into_iter()
                .filter_map(|(name, _, item)| Some((name, item.string()?)))
                .collect()
        };
        let test = Self {
            source: Arc::clone(&item.findings.source),
            supplied: strings("given").into_iter().collect(),
            facts: strings("facts").into_iter().collect(),
            want: table.get("want").and_then(|item| attributes(&item)),
            expect: table
                .get("expect")
                .and_then(|item| item.list())
                .map(|items| items.iter().filter_map(attributes).collect()),
            operations: match (table.strings("commands"), table.strings("requests")) {
                (Some(_), Some(_)) => {
                    item.error("test", "a test has either `commands` or `requests`");
                    None
                }
                (commands, requests) => commands.or(requests),
            },
            error: table.string("error"),
            name: name?,
        };
        table.finish();
        let complete = match &test.want {
            Some(_) => test.operations.is_some() || test.error.is_some(),
            None => test.expect.is_some(),
        };
        if !complete {
            item.findings.error_with_help(
                "test",
                item.span.clone(),
                format!("the test `{}` has no expectation", test.name),
                "add `expect`, or `want` with `commands`, `requests` or `error`",
            );
        }
        Some(test)
    }

    /// The resource that the test applies to any device of the platform, without an error or removal.
    pub(super) fn applied_resource(&self) -> Option<&Attributes> {
        let is_general = self.error.is_none() && self.facts == Facts::default();
        let want = self.want.as_ref().filter(|_| is_general)?;
        let is_removed = want.get("ensure").and_then(Value::as_str) == Some("absent");
        (!is_removed).then_some(want)
    }
}
