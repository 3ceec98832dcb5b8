//! Reading of the sections about command lines: `[instance]` and `[attr.x]`.
//!
//! Keys are strict; what a key means is in `definitions/README.md`.

use std::ops::Range;
use std::sync::Arc;

use crate::map::IndexMap;

use super::CliType;
use super::own_default;
use super::rewrite::Rewrite;
use super::rules::{
    Alike, AttributeRule, CONFIG, Cell, Fallback, InstanceRule, Kind, LeftOut, Misleading, NoForm,
    Place, Reserved,
};
use super::template::Template;
use crate::diagnostic::{Severity, nearest};
use crate::document::{Item, Table};
use crate::driver::codec::Codec;
use crate::driver::platform::ParseRule;
use crate::driver::type_driver::Context;
use crate::model::load::{pattern, value_of, word};
use crate::model::{AttributeModel, Role, TypeModel, ValueSpec};
use crate::pattern::Pattern;
use crate::value::{Attributes, Name, Value};

/// Reads the part of a type's file that is about command lines.
pub fn load(context: &Context<'_>, root: &Table<'_>) -> Option<CliType> {
    let Some(table) = root.table("instance") else {
        root.missing("instance");
        return None;
    };
    let model = context.model;
    let mut codecs = IndexMap::default();
    let instance = instance(context, &table, &mut codecs);
    let mut requests = Vec::new();
    let need_read = |item: &Item<'_>, name: &str| {
        let found = context.platform.reads.get(name);
        if found.is_none() {
            let known = context.platform.reads.keys().map(String::as_str);
            let help = match nearest(name, known) {
                Some(name) => format!("did you mean `{name}`?"),
                None => "reads are declared in platform.toml as [read.NAME]".to_owned(),
            };
            let message = format!("the platform has no read `{name}`");
            item.findings
                .error_with_help("unknown-read", item.span.clone(), message, help);
        }
        found.map(|rule| rule.request.clone())
    };
    if let Some(item) = table.get("from") {
        requests.extend(need_read(&item, &item.string().unwrap_or_default()));
    }
    table.finish();
    let instance = instance?;

    let mut attributes = IndexMap::default();
    for (name, span, item) in root.table("attr").iter().flat_map(Table::entries) {
        let Some(table) = item.table() else { continue };
        let Some(known) = model.attributes.get(name.as_str()) else {
            let help = match nearest(&name, model.attributes.keys().map(|name| name.as_str())) {
                Some(name) => format!("did you mean `{name}`?"),
                None => "attributes come from the model".to_owned(),
            };
            let message = format!("{} has no attribute `{name}`", model.name);
            root.findings
                .error_with_help("unknown-attribute", span, message, help);
            continue;
        };
        let rule = attribute(context, known, &table, span, &mut codecs);
        if let Some(Fallback::Cell { read, .. }) =
            rule.as_ref().and_then(|rule| rule.fallback.as_ref())
        {
            requests.extend(need_read(&item, read));
        }
        table.finish();
        if let Some(rule) = rule {
            attributes.insert(rule.name.clone(), rule);
        }
    }
    for name in root.strings("unsupported").unwrap_or_default() {
        let Some(item) = root.get("unsupported") else {
            continue;
        };
        if !model.attributes.contains_key(name.as_str()) {
            item.error(
                "unknown-attribute",
                format!("{} has no attribute `{name}`", model.name),
            );
        }
        let rule = attributes
            .entry(name.clone().into())
            .or_insert_with(|| AttributeRule::nowhere(&name, item.span.clone()));
        rule.left_out = Some(LeftOut {
            severity: Severity::Warning,
            reason: "this device does not have it".to_owned(),
        });
        rule.place = Place::Nowhere;
        rule.inside = None;
        rule.fallback = None;
    }
    let needs_config = attributes
        .values()
        .any(|rule| matches!(rule.place, Place::Elsewhere(_)));
    if needs_config && !requests.iter().any(|request| request.name == CONFIG) {
        requests.extend(
            context
                .platform
                .reads
                .get(CONFIG)
                .map(|rule| rule.request.clone()),
        );
    }
    requests.dedup();
    let in_lines = matches!(
        context
            .platform
            .reads
            .get(&instance.from)
            .map(|rule| &rule.parse),
        Some(ParseRule::Indent(_))
    );
    if in_lines == matches!(instance.kind, Kind::Row { .. }) {
        let message = if in_lines {
            "instances of a configuration have `block`, `line` or `singleton`, not `key`"
        } else {
            "instances of a table have `key`"
        };
        root.findings
            .error("instance", instance.span.clone(), message);
    }
    let rewrites = root.get("rewrite").and_then(|item| item.list());
    let rewrites = rewrites.iter().flatten();
    let cli = CliType {
        model: Arc::clone(model),
        platform: context.platform.name.clone(),
        line_limit: context.platform.line_limit,
        refused_characters: context.platform.refused_characters.clone(),
        source: Arc::clone(context.source),
        requests,
        instance,
        attributes,
        codecs,
        rewrites: rewrites
            .filter_map(|item| Rewrite::load(item, model))
            .collect(),
    };
    check_names(&cli, root);
    own_default::check(&cli, root);
    Some(cli)
}

fn template(item: &Item<'_>) -> Option<Template> {
    let text = item.string()?;
    match Template::parse(&text) {
        Ok(template) => Some(template),
        Err(message) => {
            item.error("template", message);
            None
        }
    }
}

fn templates(item: Option<Item<'_>>) -> Vec<Template> {
    let Some(item) = item else { return Vec::new() };
    if item.is_list() {
        item.list().iter().flatten().filter_map(template).collect()
    } else {
        template(&item).into_iter().collect()
    }
}

fn instance(
    context: &Context<'_>,
    table: &Table<'_>,
    codecs: &mut IndexMap<String, Arc<Codec>>,
) -> Option<InstanceRule> {
    let from = table.required_string("from");
    let singleton = table.string("singleton");
    let key = table.table("key").map(|key| {
        let entries = key.entries();
        let pairs = entries
            .iter()
            .filter_map(|(name, _, item)| Some((name.clone(), item.string()?)));
        pairs.collect::<Vec<_>>()
    });
    let enter = table.get("enter").and_then(|item| template(&item));
    let block = templates(table.get("block"));
    let spellings = templates(table.get("line"));
    let kind = match (singleton, key, !block.is_empty(), !spellings.is_empty()) {
        (Some(label), None, false, false) => Kind::Singleton(label),
        (None, Some(key), false, false) => Kind::Row {
            key,
            enter: enter.clone(),
        },
        (None, None, true, false) => Kind::Block(block),
        (None, None, _, true) => Kind::Line { block, spellings },
        _ => {
            table.findings.error_with_help(
                "instance",
                table.span.clone(),
                "how instances are recognised is not clear",
                "one of `singleton`, `key`, `block`, `line`, or `block` with `line`",
            );
            return None;
        }
    };
    for (name, _, item) in table.table("codec").iter().flat_map(Table::entries) {
        if !context.model.attributes.contains_key(name.as_str()) {
            item.error(
                "unknown-attribute",
                format!("{} has no attribute `{name}`", context.model.name),
            );
        }
        if let Some(codec) = codec(context, &item) {
            codecs.insert(name, codec);
        }
    }
    let reserved = table.table("reserved").and_then(|table| {
        let attribute = table.required_string("attr");
        let item = table.get("ranges");
        table.finish();
        let item = item?;
        let text = item.string()?;
        let ranges: Option<Vec<(i64, i64)>> = text
            .split(',')
            .map(|part| {
                let (from, to) = part.split_once('-').unwrap_or((part, part));
                Some((from.trim().parse().ok()?, to.trim().parse().ok()?))
            })
            .collect();
        if ranges.is_none() {
            item.error("reserved", "`ranges` is a list such as 1,1002-1005");
        }
        Some(Reserved {
            attribute: attribute?,
            text: text.clone(),
            ranges: ranges?,
        })
    });
    let mut assume = Attributes::default();
    for (name, _, item) in table.table("assume").iter().flat_map(Table::entries) {
        let Some(value) = value_of(&item) else {
            continue;
        };
        match context.model.canonicalize(&name, &value) {
            Ok(value) => {
                assume.insert(name, value);
            }
            Err(error) => item.error("assume", error.to_string()),
        }
    }
    Some(InstanceRule {
        assume,
        always: table.bool("always").unwrap_or(false),
        span: table.span.clone(),
        from: from?,
        kind,
        mode: table.get("mode").and_then(|item| template(&item)),
        remove: templates(table.get("remove")),
        remove_empty: table.get("remove_empty").and_then(|item| template(&item)),
        replace_first: remove_first(table),
        keep_unmanaged: table.bool("keep_unmanaged").unwrap_or(true),
        reserved,
        prompts: table.bool("prompts").unwrap_or(false),
    })
}

fn remove_first(table: &Table<'_>) -> bool {
    table
        .get("replace")
        .and_then(|item| word(&item, &[("remove-first", ())]))
        .is_some()
}

/// A codec by the name that the platform or this program gives it.
fn codec(context: &Context<'_>, item: &Item<'_>) -> Option<Arc<Codec>> {
    let name = item.string()?;
    if let Some(codec) = context.codec(&name) {
        return Some(Arc::clone(codec));
    }
    let built_in = Codec::built_in(&name).map(Arc::new);
    if built_in.is_none() {
        let known = context.platform.codecs.keys().map(String::as_str);
        let help = match nearest(&name, known) {
            Some(name) => format!("did you mean `{name}`?"),
            None => "codecs are declared in platform.toml as [codec.NAME]".to_owned(),
        };
        let message = format!("the platform has no codec `{name}`");
        item.findings
            .error_with_help("unknown-codec", item.span.clone(), message, help);
    }
    built_in
}

fn cell(table: &Table<'_>, known: &AttributeModel, name: String) -> Cell {
    let mut when = IndexMap::default();
    for (value, span, item) in table.table("when").iter().flat_map(Table::entries) {
        known_value(table, known, &value, span);
        if let Some(pattern) = item.string().and_then(|text| pattern(&item, &text)) {
            when.insert(value, pattern);
        }
    }
    let text = table.get("pattern");
    Cell {
        name,
        when,
        pattern: text.and_then(|item| pattern(&item, &item.string()?)),
    }
}

/// `only`: patterns by attribute.
fn patterns(table: &Table<'_>) -> Vec<(String, Pattern)> {
    let only = table.table("only");
    let entries = only.iter().flat_map(Table::entries);
    entries
        .filter_map(|(name, _, item)| Some((name, pattern(&item, &item.string()?)?)))
        .collect()
}

fn known_value(table: &Table<'_>, known: &AttributeModel, value: &str, span: Range<usize>) {
    let names: Vec<_> = known.values.iter().map(ValueSpec::name).collect();
    if names.iter().any(|name| name == value) {
        return;
    }
    let help = match nearest(value, names.iter().map(AsRef::as_ref)) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("the model names {}", names.join(", ")),
    };
    table.findings.error_with_help(
        "unknown-value",
        span,
        format!("the model has no value `{value}` of `{}`", known.name),
        help,
    );
}

fn attribute(
    context: &Context<'_>,
    known: &AttributeModel,
    table: &Table<'_>,
    span: Range<usize>,
    codecs: &mut IndexMap<String, Arc<Codec>>,
) -> Option<AttributeRule> {
    let mut rule = AttributeRule::nowhere(&known.name, span);
    if let Some(item) = table.get("codec")
        && let Some(codec) = codec(context, &item)
    {
        codecs.insert(known.name.to_string(), codec);
    }
    for (key, severity) in [
        ("ignored", Severity::Note),
        ("unsupported", Severity::Warning),
        ("refused", Severity::Error),
    ] {
        // An empty reason lifts what the base of a variant says.
        if let Some(reason) = table.string(key).filter(|reason| !reason.is_empty()) {
            rule.left_out = Some(LeftOut { severity, reason });
        }
    }
    rule.misleading = table
        .get("misleading")
        .and_then(|item| misleading(context, &item));
    rule.lines = templates(table.get("line"));
    for (value, span, item) in table.table("set").iter().flat_map(Table::entries) {
        known_value(table, known, &value, span);
        let nothing = item.value.as_str() == Some("");
        let line = if nothing {
            None
        } else {
            Some(template(&item)?)
        };
        rule.set.insert(value, line);
    }
    rule.more = table.get("more").and_then(|item| template(&item));
    rule.many = table.bool("many").unwrap_or(false);
    rule.default_on = table
        .get("default")
        .and_then(|item| word(&item, &[("on", ())]))
        .is_some();
    rule.no = match table.get("no") {
        None if rule.many => NoForm::Full,
        None => NoForm::Head,
        Some(item) => match item.value.as_str() {
            Some("head") => NoForm::Head,
            Some("full") => NoForm::Full,
            _ => NoForm::Text(template(&item)?),
        },
    };
    rule.replace_first = remove_first(table);
    rule.skip = table.strings("skip").unwrap_or_default();
    rule.prompts = table.bool("prompts").unwrap_or(false);
    rule.warn = table.get("warn").and_then(|item| template(&item));
    let with = table.strings("with").unwrap_or_default();
    rule.with = with.into_iter().map(Name::from).collect();
    rule.sub = table.strings("sub").unwrap_or_default();
    rule.inside = table.string("inside");
    if let Some(item) = table.get("unsupported_values") {
        rule.unsupported_values = unsupported_values(&item);
        for value in rule.unsupported_values.keys() {
            known_value(table, known, value, item.span.clone());
        }
    }
    rule.first = table.strings("first").unwrap_or_default();
    for value in &rule.first {
        known_value(table, known, value, table.span.clone());
    }
    rule.at_most = table
        .integer("at_most")
        .and_then(|number| usize::try_from(number).ok());
    for (value, span, item) in table.table("alike").iter().flat_map(Table::entries) {
        known_value(table, known, &value, span);
        let items = item.list().unwrap_or_default();
        rule.alike
            .insert(value, items.iter().filter_map(Alike::load).collect());
    }
    rule.fallback = table.get("else").and_then(|item| {
        let table = item.table()?;
        let fallback = match table.get("line") {
            Some(line) => Fallback::Line {
                line: template(&line)?,
                only: patterns(&table),
            },
            None => {
                let read = table.required_string("from");
                let key = table.required_string("key");
                let name = table.required_string("column");
                Fallback::Cell {
                    read: read?,
                    key: key?,
                    cell: cell(&table, known, name?),
                }
            }
        };
        table.finish();
        Some(fallback)
    });
    let column = table.string("column").or(table.string("field"));
    let opaque = table.string("opaque");
    let delimiters = table.string("delimiters");
    let exists = table.strings("exists");
    let elsewhere = table.get("elsewhere").and_then(|item| template(&item));
    let number_of = table.string("number_of");
    rule.place = match (column, opaque, exists, elsewhere) {
        (None, None, None, None) if number_of.is_some() => {
            Place::NumberOf(number_of.unwrap_or_default())
        }
        (Some(name), None, None, None) => Place::Cell(cell(table, known, name)),
        (None, Some(words), None, None) => Place::Opaque {
            words,
            delimiters: delimiters
                .unwrap_or_else(|| "%".to_owned())
                .chars()
                .collect(),
        },
        (None, None, Some(texts), None) => Place::Exists(texts),
        (None, None, None, Some(block)) => Place::Elsewhere(block),
        (None, None, None, None) if !rule.lines.is_empty() || !rule.set.is_empty() => Place::Lines,
        (None, None, None, None) if rule.left_out.is_some() => Place::Nowhere,
        (None, None, None, None) => Place::Instance,
        _ => {
            table.findings.error(
                "place",
                table.span.clone(),
                format!("`{}` is read in more than one place", known.name),
            );
            return None;
        }
    };
    rule.initial = known_as(table, "initial", known)?;
    rule.absent = match known_as(table, "absent", known)? {
        Some(value) => Some(value),
        None if !matches!(rule.place, Place::Lines) => None,
        None if rule.default_on => Some(true.into()),
        None if !rule.lines.is_empty() && !rule.has_own_hole() && rule.takes_true(known) => {
            Some(false.into())
        }
        None => None,
    };
    Some(rule)
}

fn misleading(context: &Context<'_>, item: &Item<'_>) -> Option<Misleading> {
    let table = item.table()?;
    let mut when = Vec::new();
    for (name, span, item) in table.table("when").iter().flat_map(Table::entries) {
        let values = item.strings().unwrap_or_default();
        match context.model.attributes.get(name.as_str()) {
            Some(known) => values
                .iter()
                .for_each(|value| known_value(&table, known, value, span.clone())),
            None => table.findings.error(
                "unknown-attribute",
                span,
                format!("the type has no attribute `{name}`"),
            ),
        }
        when.push((name, values));
    }
    let says = table.required_string("says");
    table.finish();
    Some(Misleading { when, says: says? })
}

/// The value of a key in the model's form; `Some(None)` without one or when the model refuses it.
fn known_as(table: &Table<'_>, key: &'static str, known: &AttributeModel) -> Option<Option<Value>> {
    let Some(item) = table.get(key) else {
        return Some(None);
    };
    let value = value_of(&item)?;
    match known.canonicalize(&value) {
        Ok(value) => Some(Some(value)),
        Err(error) => {
            let text = format!("`{key}` is refused by the model: {}", error.message);
            item.error(key, text);
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

/// Every attribute that a template or a rule names must be the model's.
fn check_names(cli: &CliType, root: &Table<'_>) {
    let model: &TypeModel = &cli.model;
    let check = |template: &Template, span: &Range<usize>, also: &[&str]| {
        for name in template.attributes() {
            if model.attributes.contains_key(name) || also.contains(&name) {
                continue;
            }
            let help = match nearest(name, model.attributes.keys().map(|name| name.as_str())) {
                Some(known) => format!("did you mean `{known}`?"),
                None => "attributes come from the model".to_owned(),
            };
            root.findings.error_with_help(
                "unknown-attribute",
                span.clone(),
                format!(
                    "`{}` names `{name}`, which {} does not have",
                    template.text, model.name
                ),
                help,
            );
        }
    };
    let instance = &cli.instance;
    let (blocks, lines): (&[Template], &[Template]) = match &instance.kind {
        Kind::Block(block) => (block, &[]),
        Kind::Line { block, spellings } => (block, spellings),
        Kind::Singleton(_) | Kind::Row { .. } => (&[], &[]),
    };
    let own = blocks.iter().chain(lines).chain(&instance.remove);
    for template in own.chain(&instance.mode).chain(&instance.remove_empty) {
        check(template, &instance.span, &[]);
    }
    for rule in cli.attributes.values() {
        let set = rule.set.values().flatten();
        for template in rule
            .lines
            .iter()
            .chain(set)
            .chain(&rule.more)
            .chain(&rule.warn)
        {
            check(template, &rule.span, &[]);
        }
        if let Place::Elsewhere(block) = &rule.place {
            check(block, &rule.span, &["member"]);
        }
        for name in rule
            .with
            .iter()
            .map(Name::as_str)
            .chain(rule.inside.as_deref())
        {
            if !cli.attributes.contains_key(name) {
                root.findings.error(
                    "unknown-attribute",
                    rule.span.clone(),
                    format!(
                        "`{}` refers to [attr.{name}], which is not there",
                        rule.name
                    ),
                );
            }
        }
    }
    for attribute in model.attributes.values() {
        let named = cli.attributes.contains_key(attribute.name.as_str())
            || attribute.name == "ensure"
            || matches!(attribute.role, Role::Namevar | Role::Parameter)
            || lines
                .iter()
                .any(|line| line.attributes().contains(&attribute.name.as_str()));
        if !named {
            root.findings.error_with_help(
                "missing-attribute",
                instance.span.clone(),
                format!("`{}` of {} is not implemented", attribute.name, model.name),
                format!(
                    "add [attr.{0}], or `unsupported = \"why\"` in it",
                    attribute.name
                ),
            );
        }
    }
}

impl Alike {
    /// A literal, or a pattern between slashes.
    fn load(item: &Item<'_>) -> Option<Self> {
        let value = value_of(item)?;
        let text = value
            .as_str()
            .and_then(|text| text.strip_prefix('/')?.strip_suffix('/'));
        match text {
            Some(text) => pattern(item, text).map(Alike::Pattern),
            None => Some(Alike::Value(value)),
        }
    }
}
