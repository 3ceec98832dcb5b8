//! Loads `[instance]`: how instances are recognized, created and removed.

use std::sync::Arc;

use super::toml::{codec, remove_first, template, templates};
use crate::document::Table;
use crate::driver::cli::rules::{CliInstanceRule, InstanceKind, Reserved};
use crate::driver::codec::Codec;
use crate::driver::context::Context;
use crate::map::IndexMap;
use crate::model::load::value_of;
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
            .filter_map(|(name, _, item)| Some((name.clone(), item.string()?)));
        pairs.collect::<Vec<_>>()
    });
    let enter = table.get("enter").and_then(|item| template(&item));
    let block = templates(table.get("block"));
    let spellings = templates(table.get("line"));
    let kind = match (singleton, key, !block.is_empty(), !spellings.is_empty()) {
        (Some(label), None, false, false) => InstanceKind::Singleton(label),
        (None, Some(key), false, false) => InstanceKind::Row {
            key,
            enter: enter.clone(),
        },
        (None, None, true, false) => InstanceKind::Block(block),
        (None, None, _, true) => InstanceKind::Line { block, spellings },
        _ => {
            table.findings.error_with_help(
                "instance",
                table.span.clone(),
                "[instance] does not declare how instances are recognized",
                "use one of `singleton`, `key`, `block`, `line`, or `block` with `line`",
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
    Some(CliInstanceRule {
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
        warn_removal: table.get("warn_removal").and_then(|item| template(&item)),
        distinct: table.bool("distinct").unwrap_or(false),
        other_lines: templates(table.get("other_lines")),
    })
}
