//! One YAML file with the positions of its values.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Value as Json, json};
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::{
    Budget, DuplicateKeyPolicy, Location, NonFiniteFloatPolicy, Spanned, UserMessageFormatter,
};
use switchtender_devices::diagnostic::{Diagnostic, Source};
use switchtender_devices::secret::MASK;
use switchtender_devices::value::Value;

/// A YAML value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum YamlValue {
    Null,
    Plain(PlainScalar),
    Text(String),
    List(Vec<YamlNode>),
    /// In the order of the file.
    Map(Vec<(YamlKey, YamlNode)>),
}

/// A number or boolean of YAML. The type of its attribute decides whether it is one, or text.
#[derive(Clone, Debug)]
pub(crate) struct PlainScalar {
    /// The text in the file: `0x1F`, `1_000`.
    pub(crate) written: String,
    /// What YAML makes of it.
    pub(crate) value: Value,
    /// The bytes of the text, those of its anchor for an alias.
    definition: Range<usize>,
}

impl PlainScalar {
    /// The value where no attribute decides: numbers and booleans in their usual notation, and the
    /// text as written otherwise.
    pub(crate) fn as_variable(&self) -> Json {
        let json = match &self.value {
            Value::Bool(truth) => json!(truth),
            Value::Integer(number) => json!(number),
            Value::Float(number) => json!(number),
            _ => Json::Null,
        };
        let usual = json.to_string();
        if usual == self.written {
            json
        } else {
            json!(self.written)
        }
    }
}

/// A value with the bytes where it starts.
#[derive(Clone, Debug)]
pub(crate) struct YamlNode {
    pub(crate) value: YamlValue,
    pub(crate) span: Range<usize>,
}

/// A key of a map.
#[derive(Clone, Debug)]
pub(crate) struct YamlKey {
    pub(crate) name: String,
    pub(crate) span: Range<usize>,
}

/// Values are equal wherever they are written.
impl PartialEq for PlainScalar {
    fn eq(&self, other: &Self) -> bool {
        self.written == other.written && self.value == other.value
    }
}

impl PartialEq for YamlNode {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl PartialEq for YamlKey {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// The content of a file.
#[derive(Debug, PartialEq)]
pub(super) struct YamlDocument {
    pub(super) entries: Vec<(YamlKey, YamlNode)>,
    /// Errors about keys that a map has twice; the last one is in the map.
    pub(super) repeated: Vec<Diagnostic>,
}

/// Parses a file. An empty file is an empty map.
///
/// # Errors
/// The text is not YAML, or not a map.
pub(super) fn parse(source: &Arc<Source>) -> Result<YamlDocument, Diagnostic> {
    let read = |policy| {
        let options = serde_saphyr::options! {
            strict_booleans: true,
            duplicate_keys: policy,
            budget: budget(source.text.len()),
            non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
        };
        serde_saphyr::from_str_with_options::<YamlValue>(&source.text, options)
    };
    let mut repeated = Vec::new();
    let value = match read(DuplicateKeyPolicy::Error) {
        Ok(value) => value,
        Err(error) => {
            let Some(first) = repeated_key(source, &error) else {
                return Err(syntax_error(source, &error));
            };
            // The other errors of the file are of interest, too.
            repeated.push(first);
            let value = read(DuplicateKeyPolicy::LastWins);
            value.map_err(|error| syntax_error(source, &error))?
        }
    };
    match value {
        YamlValue::Map(mut entries) => {
            for (_, node) in &mut entries {
                node.value.insert_written(&source.text);
            }
            let position = |found: &Diagnostic| found.labels[0].span.start;
            let first = repeated.first().map(position);
            let others = repeated_keys(source, &entries).into_iter();
            repeated.extend(others.filter(|found| Some(position(found)) != first));
            Ok(YamlDocument { entries, repeated })
        }
        YamlValue::Null => Ok(YamlDocument {
            entries: Vec::new(),
            repeated,
        }),
        _ => Err(Diagnostic::error(
            "state-syntax",
            "the file must be a map of types to resources",
        )
        .at(source, 0..0, "")
        .help("write `TYPE:`, below it `TITLE:`, below it `ATTRIBUTE: VALUE`")),
    }
}

/// The limits of a file of this size in bytes. Files that are written have a node in eight bytes; those
/// with more have aliases, or are made to fill the memory.
fn budget(size: usize) -> Option<Budget> {
    let own = Budget::default();
    let nodes = (size / 4).max(own.max_nodes);
    serde_saphyr::budget! {
        max_nodes: nodes,
        // Deeper values do not fit on the stack of every thread.
        max_depth: 32,
        // Each list and each map has an event for its end.
        max_events: (2 * nodes).max(own.max_events),
    }
}

/// The error about a key that a map has twice, if it is one.
fn repeated_key(source: &Arc<Source>, error: &serde_saphyr::Error) -> Option<Diagnostic> {
    let serde_saphyr::Error::DuplicateMappingKey { key, location } = error.without_snippet() else {
        return None;
    };
    let name = key.as_deref().unwrap_or_default();
    let message = format!("`{name}` is declared twice");
    let found = Diagnostic::error("state-syntax", message);
    let found = found.at(source, bytes(source, location), "");
    Some(found.help("keep one of them"))
}

/// The keys that a map has twice. Numbers are not among them: of those, the parser returns the last one.
fn repeated_keys(source: &Arc<Source>, entries: &[(YamlKey, YamlNode)]) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    let mut before: HashMap<&str, &YamlKey> = HashMap::with_capacity(entries.len());
    for (key, node) in entries {
        if let Some(first) = before.get(key.name.as_str()) {
            let message = format!("`{}` is declared twice", key.name);
            findings.push(
                Diagnostic::error("state-syntax", message)
                    .at(source, key.span.clone(), "")
                    .at(source, first.span.clone(), "the first declaration")
                    .help("keep one of them"),
            );
        }
        before.entry(&key.name).or_insert(key);
        if let YamlValue::Map(inner) = &node.value {
            findings.extend(repeated_keys(source, inner));
        }
    }
    findings
}

fn syntax_error(source: &Arc<Source>, error: &serde_saphyr::Error) -> Diagnostic {
    let span = error
        .location()
        .map_or(0..0, |location| bytes(source, &location));
    if let Some((reason, help)) = exceeded_limit(source, error) {
        let found = Diagnostic::error("state-syntax", format!("cannot read the file: {reason}"));
        return found.at(source, span, "").help(help);
    }
    let error = error.without_snippet();
    if let serde_saphyr::Error::NullIntoString { .. } = error {
        let found = Diagnostic::error("state-syntax", "cannot read the file: a key is empty");
        return found
            .at(source, span, "")
            .help("write a name before the `:`, and quote the names `null` and `~`");
    }
    let reason = error.render_with_formatter(&UserMessageFormatter);
    // The position is in the label.
    let reason = match reason.rfind(" at line ") {
        Some(at) => reason[..at].to_owned(),
        None => reason,
    };
    let reason = without_quotations(&reason);
    Diagnostic::error("state-syntax", format!("cannot read the file: {reason}"))
        .at(source, span, "")
        .help(SYNTAX_HELP)
}

/// A message of the parser without text of the file, which can be a secret: the excerpt masks it.
fn without_quotations(message: &str) -> String {
    let parts = message.split('`').enumerate();
    let parts = parts.map(|(index, part)| match index % 2 {
        0 => part.to_owned(),
        _ => format!("`{MASK}`"),
    });
    parts.collect()
}

/// The limit that a file exceeds, and what to do.
fn exceeded_limit(source: &Source, error: &serde_saphyr::Error) -> Option<(String, &'static str)> {
    const ALIASES: &str = "write the values in place of anchors and aliases";
    let mut cause = error.without_snippet();
    while let serde_saphyr::Error::AliasError { error, .. } = cause {
        cause = error.without_snippet();
    }
    let serde_saphyr::Error::Budget { breach, .. } = cause else {
        return None;
    };
    let limits = budget(source.text.len())?;
    Some(match breach {
        BudgetBreach::Nodes { .. } | BudgetBreach::Events { .. } => {
            let text = format!("it has more than {} values", limits.max_nodes);
            (text, ALIASES)
        }
        BudgetBreach::Depth { .. } => {
            let text = format!("its values nest deeper than {} levels", limits.max_depth);
            (text, "write the values at fewer levels")
        }
        BudgetBreach::Aliases { .. } => {
            let text = format!("it has more than {} aliases", limits.max_aliases);
            (text, ALIASES)
        }
        BudgetBreach::Anchors { .. } => {
            let text = format!("it has more than {} anchors", limits.max_anchors);
            (text, ALIASES)
        }
        _ => (
            "it has too many anchors, aliases or texts".to_owned(),
            ALIASES,
        ),
    })
}

/// The usual mistakes.
const SYNTAX_HELP: &str = "close brackets and quotation marks, align keys with blanks, and quote texts with `: `, `#` or a leading `@`, `*`, `{`";

/// The bytes of a location, or its start if the parser has only line and column.
fn bytes(source: &Source, location: &Location) -> Range<usize> {
    let span = location.span();
    if let (Some(start), Some(length)) = (span.byte_offset(), span.byte_len()) {
        let clamp = |at: u64| {
            usize::try_from(at)
                .unwrap_or(usize::MAX)
                .min(source.text.len())
        };
        return clamp(start)..clamp(start + length);
    }
    let number = |number: u64| usize::try_from(number).unwrap_or(1).max(1);
    let mut lines = source.text.split_inclusive('\n');
    let before = lines.by_ref().take(number(location.line()) - 1);
    let start: usize = before.map(str::len).sum();
    let line = lines.next().unwrap_or_default().trim_end();
    let characters = line.chars().take(number(location.column()) - 1);
    let at = start + characters.map(char::len_utf8).sum::<usize>();
    at..at
}

impl YamlValue {
    /// The text of a scalar as it is written.
    pub(super) fn written(&self) -> Option<&str> {
        match self {
            YamlValue::Text(text) => Some(text),
            YamlValue::Plain(plain) => Some(&plain.written),
            YamlValue::Null | YamlValue::List(_) | YamlValue::Map(_) => None,
        }
    }

    /// A value of the program as YAML.
    pub(super) fn of_value(value: &Value) -> Self {
        let node = |value: &Value| YamlNode {
            value: Self::of_value(value),
            span: 0..0,
        };
        match value {
            Value::Bool(_) | Value::Integer(_) | Value::Float(_) => Self::Plain(PlainScalar {
                written: value.ruby_to_s(),
                value: value.clone(),
                definition: 0..0,
            }),
            Value::List(items) => Self::List(items.iter().map(node).collect()),
            Value::Hash(entries) => {
                let entries = entries.iter().map(|(name, value)| {
                    let key = YamlKey {
                        name: name.ruby_to_s(),
                        span: 0..0,
                    };
                    (key, node(value))
                });
                Self::Map(entries.collect())
            }
            other => Self::Text(other.ruby_to_s()),
        }
    }

    /// The value as the program has it, without templates and secrets.
    pub(super) fn plain_value(&self) -> Value {
        match self {
            Self::Null => Value::Undef,
            Self::Plain(plain) => plain.value.clone(),
            Self::Text(text) => text.as_str().into(),
            Self::List(items) => {
                Value::List(items.iter().map(|item| item.value.plain_value()).collect())
            }
            Self::Map(entries) => {
                let entries = entries.iter();
                let entries =
                    entries.map(|(key, node)| (key.name.as_str().into(), node.value.plain_value()));
                Value::Hash(entries.collect())
            }
        }
    }

    /// Bytes of the value.
    pub(super) fn size(&self) -> usize {
        const NODE: usize = 8;
        NODE + match self {
            YamlValue::Null => 0,
            YamlValue::Text(text) => text.len(),
            YamlValue::Plain(plain) => plain.written.len(),
            YamlValue::List(items) => items.iter().map(|item| item.value.size()).sum(),
            YamlValue::Map(entries) => entries
                .iter()
                .map(|(key, node)| key.name.len() + node.value.size())
                .sum(),
        }
    }

    /// A plain scalar; its text is inserted after parsing.
    fn plain(value: Value) -> Self {
        Self::Plain(PlainScalar {
            written: String::new(),
            value,
            definition: 0..0,
        })
    }

    /// Inserts the texts of plain scalars.
    fn insert_written(&mut self, text: &str) {
        match self {
            Self::Null | Self::Text(_) => {}
            Self::Plain(plain) => {
                let written = text.get(plain.definition.clone()).unwrap_or_default();
                // `!!int "5"` is in quotation marks.
                written
                    .trim_matches(['"', '\''])
                    .clone_into(&mut plain.written);
            }
            Self::List(items) => items
                .iter_mut()
                .for_each(|item| item.value.insert_written(text)),
            Self::Map(entries) => entries
                .iter_mut()
                .for_each(|(_, node)| node.value.insert_written(text)),
        }
    }
}

impl<'de> Deserialize<'de> for YamlValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(YamlVisitor)
    }
}

struct YamlVisitor;

impl<'de> Visitor<'de> for YamlVisitor {
    type Value = YamlValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<YamlValue, E> {
        Ok(YamlValue::Null)
    }

    fn visit_none<E>(self) -> Result<YamlValue, E> {
        Ok(YamlValue::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<YamlValue, E> {
        Ok(YamlValue::plain(Value::Bool(truth)))
    }

    fn visit_i64<E>(self, number: i64) -> Result<YamlValue, E> {
        Ok(YamlValue::plain(Value::Integer(number)))
    }

    fn visit_u64<E>(self, number: u64) -> Result<YamlValue, E> {
        // A larger number is a text only.
        let number = i64::try_from(number).map_or(Value::Float(f64::INFINITY), Value::Integer);
        Ok(YamlValue::plain(number))
    }

    fn visit_f64<E>(self, number: f64) -> Result<YamlValue, E> {
        Ok(YamlValue::plain(Value::Float(number)))
    }

    fn visit_str<E>(self, text: &str) -> Result<YamlValue, E> {
        Ok(YamlValue::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<YamlValue, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element::<Spanned<YamlValue>>()? {
            list.push(node(item));
        }
        Ok(YamlValue::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<YamlValue, A::Error> {
        let mut entries = Vec::new();
        while let Some((key, value)) = map.next_entry::<Spanned<String>, Spanned<YamlValue>>()? {
            let key = YamlKey {
                span: span(&key.referenced),
                name: key.value,
            };
            entries.push((key, node(value)));
        }
        Ok(YamlValue::Map(entries))
    }
}

fn node(item: Spanned<YamlValue>) -> YamlNode {
    let mut value = item.value;
    if let YamlValue::Plain(plain) = &mut value {
        plain.definition = span(&item.defined);
    }
    YamlNode {
        span: span(&item.referenced),
        value,
    }
}

fn span(location: &Location) -> Range<usize> {
    let span = location.span();
    let start = span.byte_offset().unwrap_or(0);
    let end = start + span.byte_len().unwrap_or(0);
    usize::try_from(start).unwrap_or(0)..usize::try_from(end).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The excerpt masks secrets; the message has none.
    #[test]
    fn syntax_errors_quote_no_values() {
        let source = Source::new("sw1.yaml", "tacacs_server:\n  t1: {key: 13061E010803}\n");
        let message = parse(&source).err().map(|error| error.message.clone());
        assert!(message.is_none_or(|message| !message.contains("13061E010803")));
        assert_eq!(
            without_quotations("float `1E9` rejected"),
            "float `••••` rejected"
        );
    }

    /// The words are those of YAML, not those of the library that reads it.
    #[test]
    fn syntax_errors_have_no_words_of_the_parser() {
        for (text, expected) in [
            ("network_vlan:\n  : {vlan_name: a}\n", "a key is empty"),
            ("network_vlan:\n  ~: {vlan_name: a}\n", "a key is empty"),
            ("network_vlan: {10: {vlan_name: a}\n", ""),
            ("network_vlan:\n  10: *users\n", ""),
            ("network_vlan:\n  10: !!binary x\n", ""),
            ("a: b: c\n", ""),
            ("a: [1\nb: 2\n", ""),
            ("a: 1\n---\nb: 2\n", ""),
            ("? [a, b]\n: 1\n", ""),
        ] {
            let source = Source::new("sw1.yaml", text);
            let message = parse(&source).expect_err(text).message;
            assert!(message.contains(expected), "{text:?}: {message}");
            for word in ["deserialize", "Option", "Policy", "serde", "struct", "_"] {
                assert!(!message.contains(word), "{text:?}: {message}");
            }
        }
    }

    #[test]
    fn parse_keeps_positions_and_order() {
        let text = "network_vlan:\n  10: {vlan_name: users}\n  9:\n    vlan_name: \"guests\"\n    shutdown: no\n    tags: [a, 1, ~]\n";
        let source = Source::new("common.yaml", text);
        let types = parse(&source).unwrap().entries;
        let YamlValue::Map(vlans) = &types[0].1.value else {
            panic!("{types:?}");
        };
        let titles: Vec<&str> = vlans.iter().map(|(key, _)| key.name.as_str()).collect();
        assert_eq!(titles, ["10", "9"]);
        assert_eq!(&text[vlans[1].0.span.clone()], "9");
        let YamlValue::Map(attributes) = &vlans[1].1.value else {
            panic!("{vlans:?}");
        };
        assert_eq!(&text[attributes[0].0.span.clone()], "vlan_name");
        assert_eq!(&text[attributes[0].1.span.clone()], "\"guests\"");
        assert_eq!(attributes[1].1.value, YamlValue::Text("no".to_owned()));
        let YamlValue::List(tags) = &attributes[2].1.value else {
            panic!("{attributes:?}");
        };
        let tags: Vec<&YamlValue> = tags.iter().map(|tag| &tag.value).collect();
        assert_eq!(tags[0], &YamlValue::Text("a".to_owned()));
        assert!(matches!(tags[1], YamlValue::Plain(plain) if plain.value == Value::Integer(1)));
        assert_eq!(tags[2], &YamlValue::Null);
    }

    #[test]
    fn parse_keeps_plain_scalars_as_written() {
        let cases = [
            "0x1F",
            "0o17",
            "1_000",
            "+5",
            "0123",
            "1e3",
            "13061E010803",
            "-.inf",
            ".nan",
            "18446744073709551615",
            "99999999999999999999999",
            "1.10",
            "True",
        ];
        for written in cases {
            let text = format!("t: &a {written}\nu: [*a, {written} ]\nv: {{w: {written}}}\n");
            let entries = parse(&Source::new("common.yaml", text)).unwrap().entries;
            let mut found = Vec::new();
            fn collect<'a>(value: &'a YamlValue, found: &mut Vec<&'a str>) {
                match value {
                    YamlValue::Plain(plain) => found.push(&plain.written),
                    YamlValue::List(items) => {
                        items.iter().for_each(|item| collect(&item.value, found));
                    }
                    YamlValue::Map(entries) => entries
                        .iter()
                        .for_each(|(_, node)| collect(&node.value, found)),
                    YamlValue::Null | YamlValue::Text(_) => panic!("a plain scalar: {value:?}"),
                }
            }
            for (_, node) in &entries {
                collect(&node.value, &mut found);
            }
            assert_eq!(found, [written; 4]);
        }
    }

    #[test]
    fn parse_errors_have_a_position() {
        let cases = [
            ("a:\n  b: [\n", (2, 6)),
            ("a:\n  ü: x\n  b: @c\n", (3, 6)),
            ("- a\n", (1, 1)),
        ];
        for (text, position) in cases {
            let source = Source::new("common.yaml", text);
            let error = parse(&source).unwrap_err();
            let label = &error.labels[0];
            assert_eq!(
                source.position(label.span.start),
                position,
                "{text}: {error:?}"
            );
            assert!(error.help.is_some(), "{error:?}");
        }
        let empty = parse(&Source::new("common.yaml", "")).unwrap();
        assert_eq!((empty.entries, empty.repeated), (Vec::new(), Vec::new()));
    }

    /// The export of a large device can be read; only aliases and levels are limited.
    #[test]
    fn limits_of_nodes_grow_with_the_file_and_aliases_are_named() {
        let mut large = "prefix_list_entry:\n".to_owned();
        for number in 0..60_000 {
            large += &format!("  p {number}: {{action: permit, prefix: \"10.0.0.0/8\", ge: 9}}\n");
        }
        let source = Source::new("common.yaml", large);
        assert_eq!(parse(&source).unwrap().entries.len(), 1);
        let dense = format!("a: [{}0]\n", "123, ".repeat(400_000));
        let source = Source::new("common.yaml", dense);
        assert!(parse(&source).is_ok());

        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for number in 1..9 {
            let before = number - 1;
            let list = vec![format!("*a{before}"); 9].join(", ");
            bomb += &format!("a{number}: &a{number} [{list}]\n");
        }
        let nested = format!("a: {}{}\n", "[".repeat(100), "]".repeat(100));
        for (text, message) in [
            (bomb, "it has more than 250000 values"),
            (nested, "its values nest deeper than 32 levels"),
        ] {
            let source = Source::new("common.yaml", text);
            let error = parse(&source).unwrap_err();
            assert!(error.message.contains(message), "{error:?}");
            assert!(!error.message.contains("Budget"), "{error:?}");
            assert!(error.help.is_some(), "{error:?}");
        }
    }

    #[test]
    fn repeated_keys_are_errors_at_the_second_one() {
        let text =
            "network_vlan:\n  10: {}\n  10: {vlan_name: a, vlan_name: b}\nnetwork_vlan: {}\n";
        let source = Source::new("common.yaml", text);
        let found = parse(&source).unwrap().repeated;
        let found: Vec<(&str, usize)> = found
            .iter()
            .map(|error| {
                let line = source.position(error.labels[0].span.start).0;
                (error.message.as_str(), line)
            })
            .collect();
        let expected = [
            ("`10` is declared twice", 3),
            ("`vlan_name` is declared twice", 3),
            ("`network_vlan` is declared twice", 4),
        ];
        assert_eq!(found, expected);
    }
}
