//! Loads `[attr.x]`: how an attribute is read and written.

use std::ops::Range;
use std::sync::Arc;

use super::positions::check_positions;
use super::toml::{codec, remove_first, templates};
use crate::diagnostic::{Severity, suggest};
use crate::document::{Item, Table};
use crate::driver::cli::is_unset;
use crate::driver::cli::order::MoveRule;
use crate::driver::cli::rules::{
    Cell, CliAttributeRule, CliLocation, EquivalentValue, Fallback, Misleading, NoForm, WriteOnly,
};
use crate::driver::cli::template::LineTemplate;
use crate::driver::codec::Codec;
use crate::driver::context::Context;
use crate::driver::explanation::NotApplied;
use crate::map::IndexMap;
use crate::model::load::value_spec::narrowed;
use crate::model::load::{value_of, word};
use crate::model::{AttributeModel, ValueSpec};
use crate::pattern::Pattern;
use crate::value::{Name, Value};

pub(super) fn attribute(
    context: &Context<'_>,
    model: &AttributeModel,
    table: &Table<'_>,
    span: Range<usize>,
    codecs: &mut IndexMap<String, Arc<Codec>>,
) -> Option<CliAttributeRule> {
    let mut rule = CliAttributeRule::nowhere(&model.name, span);
    if let Some(item) = table.get("codec")
        && let Some(codec) = codec(context, &item)
    {
        codecs.insert(model.name.to_string(), codec);
    }
    for (key, severity) in [
        ("ignored", Severity::Note),
        ("unsupported", Severity::Warning),
        ("refused", Severity::Error),
    ] {
        // An empty reason removes the restriction of the variant's base.
        if let Some(reason) = table.string(key).filter(|reason| !reason.is_empty()) {
            rule.not_applied = Some(NotApplied { severity, reason });
        }
    }
    rule.misleading = table
        .get("misleading")
        .and_then(|item| misleading(context, &item));
    if let Some(item) = table.get("no_effect") {
        let table = item.table()?;
        rule.no_effect = values_by_attribute(context, &table);
    }
    let line = table.get("line");
    let syntaxes = line.map_or(0, |item| item.one_or_more().len());
    rule.lines = templates(table.get("line"));
    if rule.lines.len() < syntaxes {
        return None;
    }
    rule.follows = templates(table.get("follows"));
    if let Some(item) = table.get("follows")
        && rule.follows.len() != rule.lines.len()
    {
        let message = "`follows` has as many lines as `line` has syntaxes";
        item.error("follows", message);
    }
    for (value, span, item) in table.table("set").iter().flat_map(Table::entries) {
        check_value_name(table, model, &value, span);
        let line = match item.as_str() {
            Some("") => None,
            _ => match LineTemplate::load(&item) {
                Some(line) => Some(line),
                None => continue,
            },
        };
        rule.set.insert(value, line);
    }
    rule.more = table.get("more").and_then(|item| LineTemplate::load(&item));
    rule.less = table.get("less").and_then(|item| LineTemplate::load(&item));
    rule.many = table.bool("many").unwrap_or(false);
    rule.default_on = table
        .get("default")
        .and_then(|item| word(&item, &[("on", ())]))
        .is_some();
    rule.no = match table.get("no") {
        None if rule.many => NoForm::Full,
        None => NoForm::Head,
        Some(item) => match item.as_str() {
            Some("head") => NoForm::Head,
            Some("full") => NoForm::Full,
            _ => LineTemplate::load(&item).map_or(NoForm::Head, NoForm::Text),
        },
    };
    rule.identity = table.pattern("identity");
    rule.replace_first = remove_first(table);
    rule.write_only = table
        .get("write_only")
        .and_then(|item| match item.as_bool() {
            Some(hidden) => hidden.then_some(WriteOnly::Hidden),
            None => word(&item, &[("hashed", WriteOnly::Hashed)]),
        });
    rule.skip = table.strings("skip").unwrap_or_default();
    rule.prompts = table.bool("prompts").unwrap_or(false);
    rule.warn = table.get("warn").and_then(|item| LineTemplate::load(&item));
    let clears = table.strings("clears").unwrap_or_default();
    rule.clears = clears.into_iter().map(Name::from).collect();
    let with = table.strings("with").unwrap_or_default();
    rule.with = with.into_iter().map(Name::from).collect();
    let subs = table.get("sub").and_then(|item| item.strings());
    rule.sub = subs.iter().flatten().map(|text| headers(text)).collect();
    rule.inside = table.string("inside");
    let groups = table.get("compatible").and_then(|item| item.list());
    for group in groups.iter().flatten() {
        let names = group.strings().unwrap_or_default();
        for name in &names {
            check_value_name(table, model, name, group.span.clone());
        }
        rule.compatible.push(names);
    }
    if let Some(item) = table.get("unsupported_values") {
        rule.unsupported_values = unsupported_values(&item);
        for value in rule.unsupported_values.keys() {
            check_value_name(table, model, value, item.span.clone());
        }
    }
    rule.narrowed = table.get("values").map(|item| narrowed(model, &item));
    rule.first = table.strings("first").unwrap_or_default();
    for value in &rule.first {
        check_value_name(table, model, value, table.span.clone());
    }
    rule.last = table.strings("last").unwrap_or_default();
    for value in &rule.last {
        check_value_name(table, model, value, table.span.clone());
    }
    for (value, span, item) in table.table("adds").iter().flat_map(Table::entries) {
        check_value_name(table, model, &value, span);
        rule.adds.insert(value, templates(Some(item)));
    }
    rule.left = table.get("left").and_then(|item| LineTemplate::load(&item));
    rule.at_most = table
        .integer("at_most")
        .and_then(|number| usize::try_from(number).ok());
    for (value, span, item) in table.table("alike").iter().flat_map(Table::entries) {
        check_value_name(table, model, &value, span);
        let items = item.list().unwrap_or_default();
        rule.equivalents.insert(
            value,
            items.iter().filter_map(EquivalentValue::load).collect(),
        );
    }
    rule.fallback = table.get("else").and_then(|item| {
        let table = item.table()?;
        let fallback = match table.get("line") {
            Some(line) => Fallback::Line {
                line: LineTemplate::load(&line)?,
                only: patterns(&table),
            },
            None => {
                let read = table.required_string("from");
                let key = table.required_string("key");
                let name = table.required_string("column");
                Fallback::Cell {
                    read: read?,
                    key: key?,
                    cell: cell(&table, model, name?),
                }
            }
        };
        table.finish();
        Some(fallback)
    });
    let column = table.string("column").or(table.string("field"));
    let opaque = table.string("opaque");
    let delimiters = table.string("delimiters");
    let exists = table.get("exists").map(|item| templates(Some(item)));
    let elsewhere = table
        .get("elsewhere")
        .and_then(|item| LineTemplate::load(&item));
    let number_of = table.string("number_of");
    let order = table.table("order").and_then(|table| order(&table));
    rule.location = match (column, opaque, exists, elsewhere) {
        (None, None, None, None) if order.is_some() => {
            order.map_or(CliLocation::Nowhere, CliLocation::Order)
        }
        (None, None, None, None) if number_of.is_some() => {
            CliLocation::NumberOf(number_of.unwrap_or_default())
        }
        (Some(name), None, None, None) => CliLocation::Cell(cell(table, model, name)),
        (None, Some(words), None, None) => CliLocation::Opaque {
            words,
            delimiters: delimiters
                .unwrap_or_else(|| "%".to_owned())
                .chars()
                .collect(),
        },
        (None, None, Some(texts), None) => CliLocation::Exists(texts),
        (None, None, None, Some(block)) => CliLocation::Elsewhere(block),
        (None, None, None, None) if !rule.lines.is_empty() || !rule.set.is_empty() => {
            CliLocation::Lines
        }
        (None, None, None, None) if rule.not_applied.is_some() => CliLocation::Nowhere,
        (None, None, None, None) if !rule.sub.is_empty() => CliLocation::InnerBlock,
        (None, None, None, None) => CliLocation::Instance,
        _ => {
            table.findings.error(
                "source",
                table.span.clone(),
                format!("`{}` has more than one source", model.name),
            );
            return None;
        }
    };
    let codec = codecs.get(model.name.as_str()).map(Arc::as_ref);
    rule.initial = canonical_key(table, "initial", model, codec)?;
    rule.implied = canonical_key(table, "implied", model, codec)?;
    if rule.implied.is_some() && rule.inside.is_none() && !rule.many {
        let message = "`implied` is for attributes with `inside` or `many`";
        table.findings.error("implied", table.span.clone(), message);
    }
    rule.absent = match canonical_key(table, "absent", model, codec)? {
        Some(value) => Some(value),
        None if matches!(rule.location, CliLocation::InnerBlock) => Some(false.into()),
        None if !matches!(rule.location, CliLocation::Lines) => None,
        None if rule.default_on => Some(true.into()),
        None if !rule.lines.is_empty() && !rule.has_own_hole() && rule.takes_true(model) => {
            Some(false.into())
        }
        None => None,
    };
    check_positions(&rule, table);
    check_set_changes(&rule, codec, table);
    Some(rule)
}

/// `more` and `less` change a set of numbers, and each needs the other.
fn check_set_changes(rule: &CliAttributeRule, codec: Option<&Codec>, table: &Table<'_>) {
    let is_set = matches!(codec, Some(Codec::RangeSet(_))) && !rule.many;
    let message = match (&rule.more, &rule.less) {
        (None, None) => return,
        (Some(_), Some(_)) if is_set => return,
        (Some(_), Some(_)) => {
            "`more` and `less` are for one set of numbers: a codec of the kind `range-set`, without `many`"
        }
        (Some(_), None) => "`more` needs `less`, the line that removes numbers",
        (None, Some(_)) => "`less` needs `more`, the line that adds numbers",
    };
    table.findings.error("more", table.span.clone(), message);
}

/// The headers of an inner block.
fn headers(text: &str) -> Vec<String> {
    let headers = text.split(" / ").map(str::trim);
    headers
        .filter(|header| !header.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The lines that move an instance.
fn order(table: &Table<'_>) -> Option<MoveRule> {
    let line = |key| {
        table
            .required(key)
            .and_then(|item| LineTemplate::load(&item))
    };
    let (after, before) = (line("after"), line("before"));
    table.finish();
    Some(MoveRule {
        after: after?,
        before: before?,
    })
}

fn cell(table: &Table<'_>, model: &AttributeModel, name: String) -> Cell {
    let mut when = IndexMap::default();
    for (value, span, item) in table.table("when").iter().flat_map(Table::entries) {
        check_value_name(table, model, &value, span);
        if let Some(pattern) = item.pattern() {
            when.insert(value, pattern);
        }
    }
    Cell {
        name,
        when,
        pattern: table.pattern("pattern"),
    }
}

/// `only`: patterns by attribute.
fn patterns(table: &Table<'_>) -> Vec<(String, Pattern)> {
    let only = table.table("only");
    let entries = only.iter().flat_map(Table::entries);
    entries
        .filter_map(|(name, _, item)| Some((name, item.pattern()?)))
        .collect()
}

fn check_value_name(table: &Table<'_>, model: &AttributeModel, value: &str, span: Range<usize>) {
    let names: Vec<_> = model.values.iter().map(ValueSpec::name).collect();
    if names.iter().any(|name| name == value) {
        return;
    }
    let all = format!("values in the model: {}", names.join(", "));
    let help = suggest(value, names.iter().map(AsRef::as_ref), all);
    table.findings.error_with_help(
        "unknown-value",
        span,
        format!("the model has no value `{value}` of `{}`", model.name),
        help,
    );
}

fn misleading(context: &Context<'_>, item: &Item<'_>) -> Option<Misleading> {
    let table = item.table()?;
    let when = table.table("when");
    let when = when.map(|when| values_by_attribute(context, &when));
    let when = when.unwrap_or_default();
    let effect = table.required_string("effect");
    table.finish();
    Some(Misleading {
        when,
        effect: effect?,
    })
}

/// Names of values by attribute: `mode = ["access"]`.
fn values_by_attribute(context: &Context<'_>, table: &Table<'_>) -> Vec<(String, Vec<String>)> {
    let mut all = Vec::new();
    for (name, span, item) in table.entries() {
        let values = item.strings().unwrap_or_default();
        match context.model.attributes.get(name.as_str()) {
            Some(model) => values
                .iter()
                .for_each(|value| check_value_name(table, model, value, span.clone())),
            None => table.findings.error(
                "unknown-attribute",
                span,
                format!("the type has no attribute `{name}`"),
            ),
        }
        all.push((name, values));
    }
    all
}

/// The value of a key in the form of the model and the codec; `Some(None)` if it is missing or
/// invalid.
fn canonical_key(
    table: &Table<'_>,
    key: &'static str,
    model: &AttributeModel,
    codec: Option<&Codec>,
) -> Option<Option<Value>> {
    let Some(item) = table.get(key) else {
        return Some(None);
    };
    let value = value_of(&item)?;
    let canonical = model.canonicalize(&value).map_err(|error| error.message);
    let canonical = canonical.and_then(|value| match codec {
        Some(codec) if !is_unset(&value) => codec
            .canonicalize(&value)
            .map_err(|error| error.to_string()),
        _ => Ok(value),
    });
    match canonical {
        Ok(value) => Some(Some(value)),
        Err(message) => {
            item.error(key, format!("`{key}` is invalid for the model: {message}"));
            Some(None)
        }
    }
}

/// Names of values, or a table of names and reasons.
fn unsupported_values(item: &Item<'_>) -> IndexMap<String, String> {
    if !item.is_table() {
        let names = item.strings().unwrap_or_default();
        return names
            .into_iter()
            .map(|name| (name, String::new()))
            .collect();
    }
    let entries = item
        .table()
        .map(|table| table.entries())
        .unwrap_or_default();
    let pairs = entries.into_iter();
    pairs
        .filter_map(|(name, _, item)| Some((name, item.string()?)))
        .collect()
}

impl EquivalentValue {
    /// A literal, or a pattern between slashes.
    fn load(item: &Item<'_>) -> Option<Self> {
        let value = value_of(item)?;
        let text = value
            .as_str()
            .and_then(|text| text.strip_prefix('/')?.strip_suffix('/'));
        match text {
            Some(text) => item.compile(text).map(EquivalentValue::Pattern),
            None => Some(EquivalentValue::Value(value)),
        }
    }
}
