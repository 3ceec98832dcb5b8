//! Loads `[attr.x]`: how an attribute is read and written.

use std::ops::Range;
use std::sync::Arc;

use super::attribute_keys::{AttributeKeys, Position};
use super::defaults::AttributeDefaults;
use super::needed_lines;
use super::text_body::text_body;
use super::toml::{SetLine, codec};
use crate::diagnostic::{Severity, suggest};
use crate::document::{At, Named, Table};
use crate::driver::cli::rules::{
    Cell, CliAttributeRule, CliLocation, Misleading, MoveRule, NoForm, REMOVED,
};
use crate::driver::codec::Codec;
use crate::driver::context::Context;
use crate::driver::explanation::NotApplied;
use crate::map::IndexMap;
use crate::model::load::value_spec::narrowed;
use crate::model::{AttributeModel, ValueSpec};
use crate::pattern::Pattern;
use crate::value::{Name, Value};

/// The placeholder for an element of the attribute in the header of its block.
const MEMBER: &str = "member";

/// What the rule of an attribute is made of.
pub(super) struct AttributeSource<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) model: &'a AttributeModel,
    pub(super) table: &'a Table<'a>,
    /// The position of the name.
    pub(super) span: Range<usize>,
}

/// The rule of an attribute. `None`: its error is reported.
pub(super) fn attribute(
    source: AttributeSource<'_>,
    codecs: &mut IndexMap<String, Arc<Codec>>,
) -> Option<CliAttributeRule> {
    let AttributeSource {
        context,
        model,
        table,
        ..
    } = source;
    let keys = AttributeKeys::of(table)?;
    if let Some(name) = &keys.codec
        && let Some(codec) = codec(context, table, name)
    {
        codecs.insert(model.name.to_string(), codec);
    }
    if let Some((name, _)) = keys.map.first() {
        if keys.codec.is_some() {
            let message = "`map` and `codec` exclude each other";
            table.findings.error("codec", name.span.clone(), message);
        }
        codecs.insert(model.name.to_string(), Arc::new(words(&keys.map, model)));
    }
    let codec = codecs.get(model.name.as_str()).map(Arc::as_ref);
    check_value_names(&keys, model, table);
    let [implied, absent] =
        [("implied", &keys.implied), ("absent", &keys.absent)].map(|(key, value)| {
            let value = value.as_ref()?;
            canonical(table, (key, value), model, codec)
        });
    if implied.is_some() && keys.inside.is_none() && !keys.many {
        let message = "`implied` is for attributes with `inside` or `many`";
        table.findings.error("implied", table.span.clone(), message);
    }
    let not_applied = not_applied(&keys);
    let unsupported_values = keys.unsupported.as_ref().and_then(|one| one.values());
    let unsupported_values = unsupported_values.cloned().unwrap_or_default();
    let location = location(&keys, not_applied.is_some(), model, table)?;
    let is_part = matches!(location, CliLocation::Part { .. });
    let misleading = keys.misleading.map(|keys| {
        Box::new(Misleading {
            when: values_by_attribute(context, table, keys.when),
            effect: keys.reason,
        })
    });
    let defaults = AttributeDefaults::load(keys.fallback, &source, codec);
    if let Some(item) = table.get("needs") {
        needed_lines::check(context, &keys.needs, &item);
    }
    let values = keys.values;
    let mut rule = CliAttributeRule {
        location,
        implied,
        not_applied,
        misleading,
        no: keys.no.unwrap_or(if keys.many {
            NoForm::Full
        } else {
            NoForm::Head
        }),
        lines: keys.line,
        set: by_value(keys.set, |SetLine(line)| line),
        more: keys.more,
        less: keys.less,
        many: keys.many,
        identity: keys.identity,
        replace_first: keys.replace.is_some(),
        write_only: keys.write_only,
        skip: keys.skip,
        prompts: keys.prompts,
        warn: keys.warn,
        clears: keys.clears.into_iter().map(Name::from).collect(),
        adds: by_value(keys.adds, |lines| lines),
        with: keys.with.into_iter().map(Name::from).collect(),
        sub: keys.sub.iter().map(|text| headers(text)).collect(),
        inside: keys.inside.filter(|_| !is_part),
        compatible: keys
            .compatible
            .into_iter()
            .map(|group| group.value)
            .collect(),
        no_effect: values_by_attribute(context, table, keys.no_effect),
        unsupported_values,
        is_always_printed: keys.printed.is_some(),
        narrowed: values.map(|values| Box::new(narrowed(model, values, table.findings))),
        first: keys.first,
        last: keys.last,
        at_most: keys.at_most,
        equivalents: by_value(keys.alike, |all| all),
        default_cell: defaults.cell,
        default_line: defaults.line,
        default_values: defaults.values,
        needs: keys.needs,
        ..CliAttributeRule::nowhere(&model.name, source.span)
    };
    if let Some(follows) = keys.follows {
        if follows.len() != rule.lines.len() {
            let message = "`follows` has as many lines as `line` has syntaxes";
            table.findings.error("follows", follows.span, message);
        }
        rule.follows = follows.value;
    }
    rule.absent = absent.or_else(|| default_absent(&rule, model));
    if keys.printed.is_some() && rule.absent.is_none() {
        let message = "`printed` needs `absent`, the value of a new instance";
        table.findings.error("printed", table.span.clone(), message);
    }
    if let Some(position) = Position::of(&rule).filter(|_| rule.is_applied()) {
        AttributeKeys::KEYS.check(position, table);
    }
    check_set_changes(&rule, codec, table);
    Some(rule)
}

/// The words of the device, each with the value that it means.
fn words(map: &Named<Vec<String>>, model: &AttributeModel) -> Codec {
    let words = map.iter().flat_map(|(name, words)| {
        let text = Value::from(name.as_str());
        let value = model.canonicalize_element(&text).unwrap_or(text);
        words.iter().map(move |word| (word.clone(), value.clone()))
    });
    Codec::Words {
        table: words.collect(),
        write_value: false,
    }
}

/// Why the attribute is not applied. An empty reason removes the restriction of the variant's base.
fn not_applied(keys: &AttributeKeys) -> Option<NotApplied> {
    let unsupported = keys.unsupported.as_ref();
    let unsupported = unsupported.and_then(|one| one.attribute()).cloned();
    let reasons = [
        (&keys.refused, Severity::Error),
        (&unsupported, Severity::Warning),
        (&keys.ignored, Severity::Note),
    ];
    let mut reasons = reasons.into_iter().filter_map(|(reason, severity)| {
        let reason = reason.clone().filter(|reason| !reason.is_empty())?;
        Some(NotApplied { severity, reason })
    });
    reasons.next()
}

/// The value without a line, if the form of the lines decides it.
fn default_absent(rule: &CliAttributeRule, model: &AttributeModel) -> Option<Value> {
    match rule.location {
        CliLocation::InnerBlock => Some(false.into()),
        CliLocation::Lines => {
            let is_flag = !rule.lines.is_empty() && !rule.has_own_hole() && rule.takes_true(model);
            is_flag.then(|| false.into())
        }
        _ => None,
    }
}

/// Where the value is. `None`: in several places, which is reported.
fn location(
    keys: &AttributeKeys,
    is_restricted: bool,
    model: &AttributeModel,
    table: &Table<'_>,
) -> Option<CliLocation> {
    let cell = keys.column.as_ref().or(keys.field.as_ref());
    let cell = cell.map(|name| {
        CliLocation::Cell(Cell {
            name: name.value.clone(),
            when: patterns_by_value(keys.when.clone(), model, table),
            pattern: keys.pattern.clone(),
        })
    });
    let body = match keys.body.clone() {
        Some(body) => Some(CliLocation::Body(text_body(body, table)?)),
        None => None,
    };
    let exists = keys.exists.clone().map(CliLocation::Exists);
    let elsewhere = keys.elsewhere.clone().map(|mut block| {
        block.rename(MEMBER, &model.name);
        CliLocation::Elsewhere(block)
    });
    let mut named = [cell, body, exists, elsewhere].into_iter().flatten();
    if let Some(location) = named.next() {
        if named.next().is_some() {
            let message = format!("`{}` has more than one source", model.name);
            table.findings.error("source", table.span.clone(), message);
            return None;
        }
        return Some(location);
    }
    Some(if let Some(order) = keys.order.clone() {
        CliLocation::Order(Box::new(MoveRule {
            after: order.after,
            before: order.before,
        }))
    } else if let (Some(of), Some(pattern)) = (&keys.inside, &keys.pattern) {
        CliLocation::Part {
            of: of.clone(),
            pattern: pattern.clone(),
        }
    } else if !keys.line.is_empty() || !keys.set.is_empty() {
        CliLocation::Lines
    } else if is_restricted {
        CliLocation::Nowhere
    } else if !keys.sub.is_empty() {
        CliLocation::InnerBlock
    } else {
        CliLocation::Instance
    })
}

/// Reports names of values that the model does not have.
fn check_value_names(keys: &AttributeKeys, model: &AttributeModel, table: &Table<'_>) {
    let check = |value: &str, span: &Range<usize>| {
        check_value_name(table, model, value, span.clone());
    };
    keys.map.names().for_each(|name| check(name, &name.span));
    keys.set.names().for_each(|name| check(name, &name.span));
    keys.alike.names().for_each(|name| check(name, &name.span));
    let added = keys.adds.names();
    let added = added.filter(|name| keys.elsewhere.is_none() || name.as_str() != REMOVED);
    added.for_each(|name| check(name, &name.span));
    for value in keys.first.iter().chain(&keys.last) {
        check(value, &table.span);
    }
    for group in &keys.compatible {
        group.iter().for_each(|value| check(value, &group.span));
    }
    if let Some(unsupported) = &keys.unsupported
        && let Some(reasons) = unsupported.values()
    {
        let values = reasons.keys();
        values.for_each(|value| check(value, &unsupported.span));
    }
}

/// Entries by the name of a value.
fn by_value<T, V>(entries: Named<T>, value: impl Fn(T) -> V) -> IndexMap<String, V> {
    let entries = entries.into_iter();
    entries
        .map(|(name, entry)| (name.value, value(entry)))
        .collect()
}

pub(super) fn patterns_by_value(
    patterns: Named<Pattern>,
    model: &AttributeModel,
    table: &Table<'_>,
) -> IndexMap<String, Pattern> {
    for name in patterns.names() {
        check_value_name(table, model, name, name.span.clone());
    }
    by_value(patterns, |pattern| pattern)
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

/// Names of values by attribute: `mode = ["access"]`.
fn values_by_attribute(
    context: &Context<'_>,
    table: &Table<'_>,
    entries: Named<Vec<String>>,
) -> Vec<(String, Vec<String>)> {
    let entries = entries.into_iter().map(|(name, values)| {
        match context.model.attributes.get(name.as_str()) {
            Some(model) => values
                .iter()
                .for_each(|value| check_value_name(table, model, value, name.span.clone())),
            None => table.findings.error(
                "unknown-attribute",
                name.span,
                format!("the type has no attribute `{}`", name.value),
            ),
        }
        (name.value, values)
    });
    entries.collect()
}

/// The value of a key in the form of the model and the codec. `None`: it is invalid, which is
/// reported.
pub(super) fn canonical(
    table: &Table<'_>,
    (key, value): (&'static str, &At<Value>),
    model: &AttributeModel,
    codec: Option<&Codec>,
) -> Option<Value> {
    let canonical = model.canonicalize(value).map_err(|error| error.message);
    let canonical = canonical.and_then(|value| match codec {
        Some(codec) if !model.is_unset(&value) => codec
            .canonicalize(&value)
            .map_err(|error| error.to_string()),
        _ => Ok(value),
    });
    if let Err(message) = &canonical {
        let message = format!("`{key}` is invalid for the model: {message}");
        table.findings.error(key, value.span.clone(), message);
    }
    canonical.ok()
}
