//! The reads of a platform and how their answers are parsed.

use std::sync::Arc;

use super::answer_fields::{AnswerFields, report_no_expectation};
use super::offline_rule::OfflineRule;
use crate::dialogue::netconf::{is_read, operation_name};
use crate::document::{At, Item, KeyValue, SectionForm, Table, ValueShape, keys, word_values};
use crate::pattern::Pattern;
use crate::read::answer_rule::{AnswerRule, Expectation};
use crate::read::csv::CsvRules;
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
    /// What a saved configuration shows of the answer.
    pub(crate) offline: Option<OfflineRule>,
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

/// How an answer is parsed, as a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParseForm {
    Indent,
    Columns,
    Stanzas,
    Csv,
    Json,
    Xml,
    Text,
}

use ParseForm::{Columns, Csv, Indent, Json, Stanzas, Xml};

impl SectionForm for ParseForm {
    const FORMS: &'static [(Self, &'static str)] = &[
        (Indent, "`parse = \"indent\"`"),
        (Columns, "`parse = \"columns\"`"),
        (Stanzas, "`parse = \"stanzas\"`"),
        (Csv, "`parse = \"csv\"`"),
        (Json, "`parse = \"json\"`"),
        (Xml, "`parse = \"xml\"`"),
        (ParseForm::Text, "`parse = \"text\"`"),
    ];
}

word_values!(ParseForm {
    "indent" => Indent,
    "columns" => Columns,
    "stanzas" => Stanzas,
    "csv" => Csv,
    "json" => Json,
    "xml" => Xml,
    "text" => ParseForm::Text,
});

keys! {
    /// A read of a platform, and how its answer is parsed.
    pub(crate) struct ReadKeys at ParseForm {
        /// The command line, the path, or the operation of NETCONF.
        command: String,
        /// JSON of a `POST` that reads.
        body: Option<JsonText>,
        /// How the answer becomes a tree, rows or a document.
        parse: ParseForm,
        /// A rejected command counts as an empty answer.
        optional: OptionalRead = OptionalRead::Never,
        /// Patterns of lines of every valid answer.
        expect: Vec<Pattern>,
        /// Pattern of the last line of every complete answer.
        last: Option<Pattern>,
        /// Fields of every valid answer, or `list`.
        answer: Option<AnswerFields>,
        /// An answer without text is valid.
        empty: Option<EmptyKeys>,
        /// What a saved configuration shows of the answer.
        offline: Option<OfflineRule>,
        /// Patterns of lines to skip.
        ignore: Vec<Pattern> where [Indent],
        /// Texts of several lines, such as banners.
        opaque: Vec<StartEndKeys> where [Indent],
        /// Blocks that a line ends.
        sections: Vec<StartEndKeys> where [Indent],
        /// Patterns of blocks that only begin like those of types, and are not listed.
        foreign: Vec<Pattern> where [Indent],
        /// Lines of several instances.
        split: Vec<SplitKeys> where [Indent],
        /// Replacements in every line.
        replace: Vec<ReplacementKeys> where [Indent],
        /// Name of the first column.
        first: Option<String> where [Columns, Csv],
        /// Key that begins a stanza.
        start: Option<String> where [Stanzas],
        /// Character between the fields of a record.
        separator: Option<char> where [Csv],
        /// Sign before the header.
        comment: Option<String> where [Csv],
    }
}

keys! {
    /// When an answer without text is valid.
    pub(crate) struct EmptyKeys {
        /// Another read that can contradict it.
        read: String,
        /// Pattern of a line of that read, with which it is not.
        unless: Pattern,
    }
}

keys! {
    /// A block from one line to another.
    pub(crate) struct StartEndKeys {
        /// Pattern of the first line.
        start: Pattern,
        /// Pattern of the end.
        end: Pattern,
    }
}

keys! {
    /// Lines with lists of names, which are the groups of the pattern.
    pub(crate) struct SplitKeys {
        /// Pattern; its first group has the words.
        pattern: At<Pattern>,
        /// The words are numbers such as `10,20-29`.
        numbers: bool,
        /// Only lines outside of blocks.
        top_level: bool,
    }
}

keys! {
    /// A part of lines and what replaces it.
    pub(crate) struct ReplacementKeys {
        /// The pattern.
        pattern: Pattern,
        /// The text in its place.
        with: String,
    }
}

keys! {
    /// When a device may refuse a command.
    pub(crate) struct OptionalKeys {
        /// Pattern of a top-level line of the configuration of a device that has the command.
        unless: Pattern,
    }
}

/// Whether a device may refuse a command.
#[derive(Clone, Debug)]
pub(crate) enum OptionalRead {
    Never,
    Always,
    Unless(Pattern),
}

impl KeyValue for OptionalRead {
    fn declare(shape: &ValueShape) {
        bool::declare(shape);
        OptionalKeys::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        if item.is_table() {
            return OptionalKeys::read(item).map(|keys| Self::Unless(keys.unless));
        }
        Some(if item.bool()? {
            Self::Always
        } else {
            Self::Never
        })
    }
}

/// A text that is JSON.
#[derive(Clone, Debug)]
pub(crate) struct JsonText(String);

impl KeyValue for JsonText {
    fn declare(shape: &ValueShape) {
        String::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        match serde_json::from_str::<serde_json::Value>(&item.string()?) {
            Ok(json) => Some(Self(json.to_string())),
            Err(error) => {
                item.error("json", format!("`{}` is not JSON: {error}", item.path));
                None
            }
        }
    }
}

impl ReadRule {
    /// Reads `[read.NAME]`.
    pub(super) fn load(
        name: &str,
        item: &Item<'_>,
        namespaces: Option<&Arc<Namespaces>>,
    ) -> Option<Self> {
        let table = item.table()?;
        let Some(keys) = ReadKeys::of(&table) else {
            table.finish();
            return None;
        };
        ReadKeys::KEYS.check(keys.parse, &table);
        table.finish();
        let required = |key: &str, text: Option<String>| {
            if text.is_none() {
                table.missing(key);
            }
            text
        };
        let parse = match keys.parse {
            Indent => ParseRule::Indent(IndentRules {
                ignore: keys.ignore.into_iter().collect(),
                opaque: keys.opaque.into_iter().map(OpaqueRule::from).collect(),
                sections: keys.sections.into_iter().map(SectionRule::from).collect(),
                foreign: keys.foreign.into_iter().collect(),
                inactive: None,
                split: splits(keys.split, &table),
                replace: replacements(keys.replace),
            }),
            Columns => ParseRule::Columns { first: keys.first },
            Stanzas => ParseRule::Stanzas {
                start: required("start", keys.start)?,
            },
            Csv => ParseRule::Csv(CsvRules {
                first: required("first", keys.first)?,
                separator: keys.separator.unwrap_or(','),
                comment: keys.comment,
            }),
            Json => ParseRule::Json,
            Xml => ParseRule::Xml,
            ParseForm::Text => ParseRule::Text,
        };
        check_command(&keys.command, &parse, (&table, namespaces.is_some()));
        let has_declaration =
            !keys.expect.is_empty() || keys.last.is_some() || keys.answer.is_some();
        let lines = keys.expect.into_iter().map(Expectation::Line);
        let last = keys.last.map(Expectation::LastLine);
        let answer = keys.answer.into_iter().flat_map(|answer| answer.0);
        let own = parse.expectation();
        let expectations: Vec<_> = lines.chain(last).chain(answer).chain(own).collect();
        // NETCONF distinguishes data from errors itself.
        if expectations.is_empty() && !has_declaration && namespaces.is_none() {
            let help = match parse {
                ParseRule::Json => {
                    "add `answer`: fields of a valid answer, `answer = { kind = \"…\" }`, or \"list\""
                }
                _ => "add `expect`, a pattern that a line of each valid answer matches",
            };
            report_no_expectation(&table, help);
        }
        let (optional, known_with) = match keys.optional {
            OptionalRead::Never => (false, None),
            OptionalRead::Always => (true, None),
            OptionalRead::Unless(pattern) => (false, Some(pattern)),
        };
        Some(Self {
            request: ReadRequest {
                name: name.to_owned(),
                command: keys.command,
                body: keys.body.map(|body| body.0),
                optional,
                answer: AnswerRule {
                    expectations,
                    may_be_empty: keys.empty.is_some(),
                    known_with,
                    namespaces: namespaces.cloned(),
                },
                parents: None,
            },
            parse,
            empty: keys.empty.map(|empty| EmptyRule {
                read: empty.read,
                unless: empty.unless,
            }),
            offline: keys.offline,
        })
    }
}

/// Checks that a command of NETCONF reads, and that only NETCONF has XML.
fn check_command(command: &str, parse: &ParseRule, (table, is_netconf): (&Table<'_>, bool)) {
    if is_netconf && !operation_name(command).is_some_and(|name| is_read(&name)) {
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
    if matches!(parse, ParseRule::Xml) && !is_netconf {
        let message = "`parse = \"xml\"` requires `transport = \"netconf\"`";
        table
            .findings
            .error("wrong-kind", table.span.clone(), message);
    }
}

impl ParseRule {
    /// What the parser needs in each answer.
    fn expectation(&self) -> Option<Expectation> {
        match self {
            ParseRule::Columns { first } => first.clone().map(Expectation::Header),
            ParseRule::Stanzas { start } => Some(Expectation::Key(start.clone())),
            ParseRule::Csv(rules) => Some(Expectation::CsvHeader(rules.clone())),
            ParseRule::Indent(_) | ParseRule::Json | ParseRule::Xml | ParseRule::Text => None,
        }
    }
}

impl From<StartEndKeys> for OpaqueRule {
    fn from(StartEndKeys { start, end }: StartEndKeys) -> Self {
        Self { start, end }
    }
}

impl From<StartEndKeys> for SectionRule {
    fn from(StartEndKeys { start, end }: StartEndKeys) -> Self {
        Self { start, end }
    }
}

/// Parts of lines and what replaces them.
pub(super) fn replacements(keys: Vec<ReplacementKeys>) -> Vec<(Pattern, String)> {
    let pairs = keys.into_iter().map(|keys| (keys.pattern, keys.with));
    pairs.collect()
}

fn splits(keys: Vec<SplitKeys>, table: &Table<'_>) -> Vec<SplitRule> {
    let rules = keys.into_iter().map(|keys| {
        let At { value, span } = keys.pattern;
        if value.group_count() == 0 {
            let message = "`pattern` requires a group, the list of names";
            table.findings.error("split", span, message);
        }
        SplitRule {
            pattern: value,
            has_numbers: keys.numbers,
            is_top_level: keys.top_level,
        }
    });
    rules.collect()
}
