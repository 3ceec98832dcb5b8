//! The reads of a platform and how their answers are parsed.

use crate::document::{Item, Table};
use crate::model::load::{pattern, word};
use crate::pattern::{Pattern, Patterns};
use crate::read::ReadRequest;
use crate::read::indent::{IndentRules, OpaqueRule, SectionRule};

/// A read of a platform.
#[derive(Clone, Debug)]
pub(crate) struct ReadRule {
    pub(crate) request: ReadRequest,
    pub(crate) parse: ParseRule,
}

/// How an answer is parsed.
#[derive(Clone, Debug)]
pub(crate) enum ParseRule {
    Indent(IndentRules),
    Columns { first: Option<String> },
    Stanzas { start: String },
    Json,
    Text,
}

impl ReadRule {
    /// Reads `[read.NAME]`.
    pub(super) fn load(name: &str, item: &Item<'_>) -> Option<Self> {
        #[derive(Clone, Copy)]
        enum ParseKind {
            Indent,
            Columns,
            Stanzas,
            Json,
            Text,
        }
        let table = item.table()?;
        let command = table.required_string("command");
        let optional = table.bool("optional").unwrap_or(false);
        let kind = match table.get("parse") {
            Some(item) => word(
                &item,
                &[
                    ("indent", ParseKind::Indent),
                    ("columns", ParseKind::Columns),
                    ("stanzas", ParseKind::Stanzas),
                    ("json", ParseKind::Json),
                    ("text", ParseKind::Text),
                ],
            ),
            None => {
                table.missing("parse");
                None
            }
        };
        let parse = match kind? {
            ParseKind::Indent => ParseRule::Indent(IndentRules {
                ignore: table
                    .get("ignore")
                    .map(|item| patterns(&item))
                    .unwrap_or_default(),
                opaque: start_end(&table, "opaque")
                    .map(|(start, end)| OpaqueRule { start, end })
                    .collect(),
                sections: start_end(&table, "sections")
                    .map(|(start, end)| SectionRule { start, end })
                    .collect(),
                replace: table
                    .get("replace")
                    .map(|item| replacements(&item))
                    .unwrap_or_default(),
            }),
            ParseKind::Columns => {
                if let Some(item) = table.get("wrapped") {
                    word(&item, &[("skip", ())]);
                }
                ParseRule::Columns {
                    first: table.string("first"),
                }
            }
            ParseKind::Stanzas => ParseRule::Stanzas {
                start: table.required_string("start")?,
            },
            ParseKind::Json => ParseRule::Json,
            ParseKind::Text => ParseRule::Text,
        };
        table.finish();
        Some(Self {
            request: ReadRequest {
                name: name.to_owned(),
                command: command?,
                optional,
            },
            parse,
        })
    }
}

fn patterns(item: &Item<'_>) -> Patterns {
    let items = item.list().unwrap_or_default();
    items
        .iter()
        .filter_map(|item| pattern(item, &item.string()?))
        .collect()
}

fn replacements(item: &Item<'_>) -> Vec<(Pattern, String)> {
    let items = item.list().unwrap_or_default();
    items
        .iter()
        .filter_map(|item| {
            let table = item.table()?;
            let found = table.get("pattern");
            let with = table.required_string("with");
            table.finish();
            let item = found?;
            Some((pattern(&item, &item.string()?)?, with?))
        })
        .collect()
}

/// Pairs of patterns `start` and `end`.
fn start_end(table: &Table<'_>, key: &'static str) -> std::vec::IntoIter<(Pattern, Pattern)> {
    let items = table.get(key).and_then(|item| item.list());
    let items = items.unwrap_or_default();
    let pairs: Vec<(Pattern, Pattern)> = items
        .iter()
        .filter_map(|item| {
            let table = item.table()?;
            let pattern_of = |key: &str| {
                let item = table.get(key)?;
                pattern(&item, &item.string()?)
            };
            let pair = (pattern_of("start")?, pattern_of("end")?);
            table.finish();
            Some(pair)
        })
        .collect();
    pairs.into_iter()
}
