//! The reads of a platform and how their answers are parsed.

use std::sync::Arc;

use super::codec::character;
use crate::dialogue::netconf::{is_read, operation_name};
use crate::document::word;
use crate::document::{Item, Table};
use crate::pattern::Pattern;
use crate::read::answer_rule::{AnswerRule, Expectation};
use crate::read::csv::CsvRules;
use crate::read::field_path::FieldPath;
use crate::read::indent::{IndentRules, OpaqueRule, SectionRule, SplitRule};
use crate::read::xml::Namespaces;
use crate::read::{ReadRequest, State};
use crate::secret_text::SecretText;

/// A read of a platform.
#[derive(Clone, Debug)]
pub(crate) struct ReadRule {
    pub(crate) request: ReadRequest,
    pub(crate) parse: ParseRule,
    /// When an answer without text is valid.
    pub(crate) empty: Option<EmptyRule>,
}

/// An empty answer is valid unless a line of another read shows that there is something.
#[derive(Clone, Debug)]
pub(crate) struct EmptyRule {
    /// Name of the other read.
    pub(crate) read: String,
    pub(crate) unless: Pattern,
}

impl EmptyRule {
    /// The line that contradicts an empty answer, as the end of a message, with its secrets masked.
    pub(crate) fn contradiction(
        &self,
        read: &State,
        before: &State,
        secrets: &SecretText,
    ) -> Option<String> {
        let other = read.tree(&self.read).or_else(|| before.tree(&self.read));
        let mut lines = other.iter().flat_map(|tree| &tree.nodes);
        let line = lines.find(|node| self.unless.is_match(&node.text))?;
        Some(format!(
            "it is empty, but `{}` has `{}`",
            self.read,
            secrets.apply(&line.text)
        ))
    }
}

/// How an answer is parsed.
#[derive(Clone, Debug)]
pub(crate) enum ParseRule {
    Indent(IndentRules),
    Columns {
        first: Option<String>,
    },
    Stanzas {
        start: String,
    },
    Csv(CsvRules),
    Json,
    /// Becomes the same tree as JSON.
    Xml,
    Text,
}

impl ReadRule {
    /// Reads `[read.NAME]`.
    pub(super) fn load(
        name: &str,
        item: &Item<'_>,
        namespaces: Option<&Arc<Namespaces>>,
    ) -> Option<Self> {
        #[derive(Clone, Copy)]
        enum ParseKind {
            Indent,
            Columns,
            Stanzas,
            Csv,
            Json,
            Xml,
            Text,
        }
        let table = item.table()?;
        let command = table.required_string("command");
        let body = table.get("body").and_then(|item| json_text(&item));
        let (optional, known_with) = optional(&table);
        let kind = word(
            &table.required("parse")?,
            &[
                ("indent", ParseKind::Indent),
                ("columns", ParseKind::Columns),
                ("stanzas", ParseKind::Stanzas),
                ("csv", ParseKind::Csv),
                ("json", ParseKind::Json),
                ("xml", ParseKind::Xml),
                ("text", ParseKind::Text),
            ],
        );
        let parse = match kind? {
            ParseKind::Indent => ParseRule::Indent(IndentRules {
                ignore: table.patterns("ignore").into_iter().collect(),
                opaque: start_end(&table, "opaque")
                    .map(|(start, end)| OpaqueRule { start, end })
                    .collect(),
                sections: start_end(&table, "sections")
                    .map(|(start, end)| SectionRule { start, end })
                    .collect(),
                foreign: table.patterns("foreign").into_iter().collect(),
                inactive: None,
                split: table
                    .get("split")
                    .map(|item| splits(&item))
                    .unwrap_or_default(),
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
            ParseKind::Csv => ParseRule::Csv(CsvRules {
                first: table.required_string("first")?,
                separator: match table.get("separator") {
                    Some(item) => character(&item)?,
                    None => ',',
                },
                comment: table.string("comment"),
            }),
            ParseKind::Json => ParseRule::Json,
            ParseKind::Xml => ParseRule::Xml,
            ParseKind::Text => ParseRule::Text,
        };
        let empty = table.table("empty").and_then(|table| {
            let read = table.required_string("read");
            let unless = table.required_pattern("unless");
            table.finish();
            Some(EmptyRule {
                read: read?,
                unless: unless?,
            })
        });
        let answer = AnswerRule {
            expectations: expectations(&table, &parse),
            may_be_empty: empty.is_some(),
            known_with,
            namespaces: namespaces.cloned(),
        };
        if let (Some(command), Some(_)) = (&command, namespaces)
            && !operation_name(command).is_some_and(|name| is_read(&name))
        {
            table.findings.error_with_help(
                "command",
                table.span.clone(),
                format!(
                    "`command` of [{}] is not one NETCONF operation that reads",
                    table.path
                ),
                "write `<get>`, `<get-config>` or another operation that begins with `get-`",
            );
        }
        if matches!(parse, ParseRule::Xml) && namespaces.is_none() {
            let message = "`parse = \"xml\"` requires `transport = \"netconf\"`";
            table
                .findings
                .error("wrong-kind", table.span.clone(), message);
        }
        let is_declared = |key: &&str| table.get(key).is_some();
        let has_declaration = ["expect", "last", "answer"].iter().any(is_declared);
        // NETCONF distinguishes data from errors itself.
        if answer.expectations.is_empty() && !has_declaration && namespaces.is_none() {
            let help = match parse {
                ParseRule::Json => {
                    "add `answer`: fields of a valid answer, `answer = { kind = \"…\" }`, or \"list\""
                }
                _ => "add `expect`, a pattern that a line of each valid answer matches",
            };
            report_no_expectation(&table, help);
        }
        table.finish();
        Some(Self {
            request: ReadRequest {
                name: name.to_owned(),
                command: command?,
                body,
                optional,
                answer,
                parents: None,
            },
            parse,
            empty,
        })
    }
}

/// `optional = true`, or `optional = { unless = PATTERN }`.
fn optional(table: &Table<'_>) -> (bool, Option<Pattern>) {
    let Some(item) = table.get("optional") else {
        return (false, None);
    };
    if !item.is_table() {
        return (item.bool().unwrap_or(false), None);
    }
    let known_with = item.table().and_then(|table| {
        let pattern = table.required_pattern("unless");
        table.finish();
        pattern
    });
    (known_with.is_none(), known_with)
}

/// `body`: the JSON of a `POST` that reads.
fn json_text(item: &Item<'_>) -> Option<String> {
    let text = item.string()?;
    match serde_json::from_str::<serde_json::Value>(&text) {
        Ok(json) => Some(json.to_string()),
        Err(error) => {
            item.error("json", format!("`body` is not JSON: {error}"));
            None
        }
    }
}

/// What a valid answer contains: as declared, and as the parser needs it.
fn expectations(table: &Table<'_>, parse: &ParseRule) -> Vec<Expectation> {
    let lines = table.patterns("expect").into_iter();
    let mut all: Vec<Expectation> = lines.map(Expectation::Line).collect();
    all.extend(table.pattern("last").map(Expectation::LastLine));
    all.extend(answer_fields(table, &[]));
    match parse {
        ParseRule::Columns { first } => all.extend(first.clone().map(Expectation::Header)),
        ParseRule::Stanzas { start } => all.push(Expectation::Key(start.clone())),
        ParseRule::Csv(rules) => all.push(Expectation::CsvHeader(rules.clone())),
        ParseRule::Indent(_) | ParseRule::Json | ParseRule::Xml | ParseRule::Text => {}
    }
    all
}

/// `answer`: the fields of a valid JSON answer, each with its value, or `true` for any value; or
/// `"list"`. The values may have these placeholders.
pub(super) fn answer_fields(table: &Table<'_>, placeholders: &[&str]) -> Vec<Expectation> {
    let Some(item) = table.get("answer") else {
        return Vec::new();
    };
    if !item.is_table() {
        let list = word(&item, &[("list", ())]);
        return list.map(|()| Expectation::List).into_iter().collect();
    }
    let Some(fields) = item.table() else {
        return Vec::new();
    };
    let entries = fields.entries().into_iter();
    let fields = entries.filter_map(|(name, span, item)| {
        let value = match item.as_bool() {
            Some(true) => None,
            _ => Some(item.string_with(placeholders)?),
        };
        let path = FieldPath::read_key(&fields, &name, &span)?;
        Some(Expectation::Field { path, value })
    });
    fields.collect()
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

/// `[{ pattern, with }]`: parts of lines and what replaces them.
pub(super) fn replacements(item: &Item<'_>) -> Vec<(Pattern, String)> {
    let items = item.list().unwrap_or_default();
    items
        .iter()
        .filter_map(|item| {
            let table = item.table()?;
            let found = table.pattern("pattern");
            let with = table.required_string("with");
            table.finish();
            Some((found?, with?))
        })
        .collect()
}

/// `split`: lines with lists of names, which are the groups of the pattern.
fn splits(item: &Item<'_>) -> Vec<SplitRule> {
    let items = item.list().unwrap_or_default();
    let rules = items.iter().filter_map(|item| {
        let table = item.table()?;
        let pattern = table.required_pattern("pattern");
        let has_numbers = table.bool("numbers").unwrap_or(false);
        table.finish();
        let pattern = pattern?;
        if pattern.group_count() == 0 {
            item.error("split", "`pattern` requires a group, the list of names");
        }
        Some(SplitRule {
            pattern,
            has_numbers,
        })
    });
    rules.collect()
}

/// Pairs of patterns `start` and `end`.
fn start_end(table: &Table<'_>, key: &'static str) -> std::vec::IntoIter<(Pattern, Pattern)> {
    let items = table.get(key).and_then(|item| item.list());
    let items = items.unwrap_or_default();
    let pairs: Vec<(Pattern, Pattern)> = items
        .iter()
        .filter_map(|item| {
            let table = item.table()?;
            let pair = (table.pattern("start")?, table.pattern("end")?);
            table.finish();
            Some(pair)
        })
        .collect();
    pairs.into_iter()
}
