//! Loads `[instance]`: how instances are recognized, created and removed.

use std::sync::Arc;

use super::instance_keys::{TABLE, check_instance_keys};
use super::named_lines::prefix;
use super::toml::{block_path, codec, remove_first, templates};
use crate::document::Table;
use crate::driver::cli::block_path::BlockPath;
use crate::driver::cli::named_lines::NamedLines;
use crate::driver::cli::rows::RowRule;
use crate::driver::cli::rules::{CliInstanceRule, InstanceKind, Reserved};
use crate::driver::cli::template::LineTemplate;
use crate::driver::codec::Codec;
use crate::driver::context::Context;
use crate::map::IndexMap;
use crate::model::load::value_of;
use crate::pattern::Pattern;
use crate::value::Attributes;

pub(super) fn instance(
    context: &Context<'_>,
    table: &Table<'_>,
    codecs: &mut IndexMap<String, Arc<Codec>>,
) -> Option<CliInstanceRule> {
    let from = table.required_string("from");
    let singleton = table.string("singleton");
    let key = table.table("key").map(|key| {
        let entries = key.entries();
        let pairs = entries
            .iter()
            .filter_map(|(name, _, item)| Some((name.clone(), item.template()?)));
        pairs.collect::<Vec<_>>()
    });
    let enter = table
        .get("enter")
        .and_then(|item| LineTemplate::load(&item));
    let blocks = table.get("block").map(|item| item.one_or_more());
    let block: Vec<BlockPath> = blocks
        .into_iter()
        .flatten()
        .filter_map(block_path)
        .collect();
    let spellings = templates(table.get("line"));
    let prefix = table.get("prefix").and_then(|item| prefix(&item));
    let is_named = table.bool("named").unwrap_or(false);
    let named = prefix.or(is_named.then(NamedLines::default));
    let has_block = !block.is_empty();
    let kind = match (singleton, key, named, has_block, !spellings.is_empty()) {
        (Some(label), None, None, false, false) => InstanceKind::Singleton(label),
        (None, Some(key), None, false, false) => InstanceKind::Row {
            key,
            rows: RowRule::default(),
            enter: enter.clone(),
        },
        (None, None, None, true, false) => InstanceKind::Block(block),
        (None, None, None, _, true) => InstanceKind::Line { block, spellings },
        (None, None, Some(lines), _, false) => InstanceKind::Named { block, lines },
        _ => {
            // The form can be one of the unknown keys.
            for (key, _) in TABLE.keys {
                table.get(key);
            }
            if !table.finish() {
                return None;
            }
            table.findings.error_with_help(
                "instance",
                table.span.clone(),
                "[instance] does not declare how instances are recognized",
                "use one of `singleton`, `key`, `block`, `line`, `prefix`, `named`, or `block` with one of the last three",
            );
            return None;
        }
    };
    if let InstanceKind::Block(paths) = &kind
        && let Some(path) = paths.iter().find(|path| path.ends_optional())
    {
        let message = format!("the last block of `{}` cannot be optional", path.text);
        let (outer, last) = path.text.rsplit_once(" / ").unwrap_or(("", &path.text));
        let last = last.trim_matches(['[', ']']);
        let required = [outer, last].join(if outer.is_empty() { "" } else { " / " });
        let help = format!("write one syntax for each place: `block = [{outer:?}, {required:?}]`");
        table
            .findings
            .error_with_help("instance", table.span.clone(), message, help);
    }
    if let InstanceKind::Line { block, spellings } = &kind
        && kind.has_forms()
    {
        let error = |message: &str| {
            let span = table.span.clone();
            table.findings.error("instance", span, message);
        };
        if block.len() != spellings.len() {
            error(
                "with the top level as one of several blocks, `line` has one syntax for each block",
            );
        }
        let removals = templates(table.get("remove")).len();
        if removals > 0 && removals != block.len() {
            error(
                "with the top level as one of several blocks, `remove` has one line for each block",
            );
        }
        for key in ["mode", "distinct"] {
            if table.get(key).is_some() {
                error(&format!(
                    "`{key}` has no effect with the top level as one of several blocks"
                ));
            }
        }
    }
    check_instance_keys(&kind, table);
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
            item.error("reserved", "`ranges` must be a list such as 1,1002-1005");
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
    let remove = table.get("remove");
    let is_permanent = remove
        .as_ref()
        .is_some_and(|item| item.as_bool() == Some(false));
    let only = patterns(context, table, "only");
    let permanent = patterns(context, table, "permanent");
    Some(CliInstanceRule {
        assume,
        only,
        is_permanent,
        permanent,
        always: table.bool("always").unwrap_or(false),
        span: table.span.clone(),
        from: from?,
        kind,
        mode: table.get("mode").and_then(block_path),
        create: templates(table.get("create")),
        remove: templates(remove.filter(|_| !is_permanent)),
        remove_empty: table
            .get("remove_empty")
            .and_then(|item| LineTemplate::load(&item)),
        replace_first: remove_first(table),
        keep_unmanaged: table.bool("keep_unmanaged").unwrap_or(true),
        reserved,
        prompts: table.bool("prompts").unwrap_or(false),
        warn_removal: table
            .get("warn_removal")
            .and_then(|item| LineTemplate::load(&item)),
        distinct: table.bool("distinct").unwrap_or(false),
        other_lines: templates(table.get("other_lines")),
    })
}

/// `only`, `permanent`: patterns of complete names by namevar.
fn patterns(context: &Context<'_>, table: &Table<'_>, key: &str) -> Vec<(String, Pattern)> {
    let names = table.table(key);
    let entries = names.iter().flat_map(Table::entries);
    let patterns = entries.filter_map(|(name, _, item)| {
        if !context.model.namevars().any(|namevar| namevar == name) {
            let message = format!("`{name}` is no namevar of {}", context.model.name);
            item.error("unknown-attribute", message);
        }
        Some((name, item.compile(&format!("^(?:{})$", item.string()?))?))
    });
    patterns.collect()
}
