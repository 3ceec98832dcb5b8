//! Self-tests in definitions: device text → resources, desired resource → commands or requests.

pub(crate) mod platform_test;
pub(super) mod test_source;

use std::fmt;
use std::sync::Arc;

use super::facts::Facts;
use crate::definitions::FILE_SUFFIX;
use crate::diagnostic::Source;
use crate::document::{Item, Table};
use crate::model::load::value_of;
use crate::read::Reads;
use crate::value::{Attributes, Value};

/// The answers in `given`, as texts or from files.
fn supplied_answers(table: &Table<'_>) -> Reads {
    let answers = table.table("given");
    let entries = answers.iter().flat_map(Table::entries);
    let answers = entries.filter_map(|(name, _, item)| {
        let text = item.string()?;
        let Some(read) = name.strip_suffix(FILE_SUFFIX) else {
            return Some((name, text));
        };
        match item.findings.source.input(&text) {
            Ok(content) => Some((read.to_owned(), content.to_owned())),
            Err(reason) => {
                item.error("test", format!("cannot read `{text}`: {reason}"));
                None
            }
        }
    });
    answers.collect()
}

fn texts(table: &Table<'_>, key: &str) -> Vec<(String, String)> {
    let table = table.table(key);
    let entries = table.iter().flat_map(Table::entries);
    entries
        .filter_map(|(name, _, item)| Some((name, item.string()?)))
        .collect()
}

/// What a test covers; a shipped definition needs all that apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Coverage {
    Read,
    Create,
    Change,
    Remove,
    SecondRun,
    Refusal,
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Coverage::Read => "read",
            Coverage::Create => "create",
            Coverage::Change => "change",
            Coverage::Remove => "remove",
            Coverage::SecondRun => "no difference (`commands = []`)",
            Coverage::Refusal => "refusal",
        })
    }
}

/// A test of a definition.
#[derive(Clone, Debug)]
pub(crate) struct SelfTest {
    pub(crate) name: String,
    /// Its file: the definition, or the file that the definition extends.
    pub(super) source: Arc<Source>,
    pub(super) supplied: Reads,
    pub(super) facts: Facts,
    pub(super) want: Option<Attributes>,
    pub(super) expect: Option<Vec<Attributes>>,
    /// `expect` has only some attributes of the instances.
    pub(super) is_subset: bool,
    /// All texts that are not understood.
    pub(super) not_understood: Option<Vec<String>>,
    pub(super) operations: Option<Vec<String>>,
    pub(super) error: Option<String>,
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
        let test = Self {
            source: Arc::clone(&item.findings.source),
            supplied: supplied_answers(&table),
            facts: texts(&table, "facts").into_iter().collect(),
            want: table.get("want").and_then(|item| attributes(&item)),
            expect: table
                .get("expect")
                .and_then(|item| item.list())
                .map(|items| items.iter().filter_map(attributes).collect()),
            is_subset: table.bool("subset").unwrap_or(false),
            not_understood: table.strings("not_understood"),
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
            None => test.expect.is_some() || test.not_understood.is_some(),
        };
        if test.is_subset && test.expect.is_none() {
            item.error("test", "`subset` has no effect without `expect`");
        }
        if !complete {
            item.findings.error_with_help(
                "test",
                item.span.clone(),
                format!("the test `{}` has no expectation", test.name),
                "add `expect`, `not_understood`, or `want` with `commands`, `requests` or `error`",
            );
        }
        Some(test)
    }

    /// What the test may cover, as far as its keys show it.
    pub(super) fn may_cover(&self) -> Vec<Coverage> {
        let mut covered = Vec::new();
        if self.expect.is_some() {
            covered.push(Coverage::Read);
        }
        let Some(want) = &self.want else {
            return covered;
        };
        let is_removed = want.get("ensure").and_then(Value::as_str) == Some("absent");
        covered.extend(match &self.operations {
            None => vec![Coverage::Refusal],
            Some(sent) if sent.is_empty() => vec![Coverage::SecondRun],
            Some(_) if is_removed => vec![Coverage::Remove],
            Some(_) => vec![Coverage::Create, Coverage::Change],
        });
        covered
    }

    /// The resource that the test applies to any device of the platform, without an error or removal.
    pub(super) fn applied_resource(&self) -> Option<&Attributes> {
        let is_general = self.error.is_none() && self.facts == Facts::default();
        let want = self.want.as_ref().filter(|_| is_general)?;
        let is_removed = want.get("ensure").and_then(Value::as_str) == Some("absent");
        (!is_removed).then_some(want)
    }
}
