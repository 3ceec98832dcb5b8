//! Loads `[instance]`: how instances are recognized, created and removed.

use std::sync::Arc;

use super::instance_keys::{CompleteName, InstanceKeys, ReservedKeys, check_instance_keys};
use super::named_lines::named_prefix;
use super::needed_lines;
use super::toml::codec;
use crate::document::{Named, Table, Template};
use crate::driver::cli::row_rule::RowRule;
use crate::driver::cli::rules::{CliInstanceRule, InstanceKind, NamedLines, Reserved};
use crate::driver::codec::Codec;
use crate::driver::context::Context;
use crate::map::IndexMap;
use crate::pattern::Pattern;
use crate::value::Attributes;

/// The rule of the instances. `None`: its error is reported.
pub(super) fn instance(
    context: &Context<'_>,
    table: &Table<'_>,
    keys: InstanceKeys,
    codecs: &mut IndexMap<String, Arc<Codec>>,
) -> Option<CliInstanceRule> {
    let key = keys.key.map(|key| {
        let key = key
            .into_iter()
            .map(|(name, Template(cell))| (name.value, cell));
        key.collect::<Vec<_>>()
    });
    let prefix = keys.prefix.and_then(|prefix| named_prefix(prefix, table));
    let named = prefix.or(keys.named.then(NamedLines::default));
    let (block, spellings) = (keys.block, keys.line);
    let has_block = !block.is_empty();
    let kind = match (keys.singleton, key, named, has_block, !spellings.is_empty()) {
        (Some(label), None, None, false, false) => InstanceKind::Singleton(label),
        (None, Some(key), None, false, false) => InstanceKind::Row {
            key,
            rows: RowRule::default(),
            enter: keys.enter,
        },
        (None, None, None, true, false) => InstanceKind::Block(block),
        (None, None, None, _, true) => InstanceKind::Line { block, spellings },
        (None, None, Some(lines), _, false) => InstanceKind::Named { block, lines },
        _ => {
            // The form can be one of the unknown keys.
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
    check_forms(&kind, keys.remove.lines.len(), table);
    check_instance_keys(&kind, table);
    for (name, codec_name) in keys.codec {
        if !context.model.attributes.contains_key(name.as_str()) {
            let message = format!("{} has no attribute `{}`", context.model.name, name.value);
            table
                .findings
                .error("unknown-attribute", codec_name.span.clone(), message);
        }
        if let Some(codec) = codec(context, table, &codec_name) {
            codecs.insert(name.value, codec);
        }
    }
    if let Some(item) = table.get("needs") {
        needed_lines::check(context, &keys.needs, &item);
    }
    let mut assume = Attributes::default();
    for (name, value) in keys.assume {
        match context.model.canonicalize(&name, &value) {
            Ok(value) => {
                assume.insert(name.value, value);
            }
            Err(error) => table
                .findings
                .error("assume", value.span, error.to_string()),
        }
    }
    Some(CliInstanceRule {
        assume,
        only: patterns(context, table, keys.only),
        is_permanent: keys.remove.is_permanent,
        permanent: patterns(context, table, keys.permanent),
        always: keys.always,
        span: table.span.clone(),
        from: keys.from.value,
        kind,
        mode: keys.mode,
        create: keys.create,
        remove: keys.remove.lines,
        needs: keys.needs,
        remove_empty: keys.remove_empty,
        replace: keys.replace,
        keep_unmanaged: keys.keep_unmanaged,
        reserved: keys.reserved.and_then(|keys| reserved(keys, table)),
        prompts: keys.prompts,
        warn: keys.warn,
        other_lines: keys.other_lines,
        row_blocks: None,
    })
}

/// Checks blocks and syntaxes that depend on one another.
fn check_forms(kind: &InstanceKind, removals: usize, table: &Table<'_>) {
    if let InstanceKind::Block(paths) = kind
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
    if let InstanceKind::Line { block, spellings } = kind
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
        if removals > 0 && removals != block.len() {
            error(
                "with the top level as one of several blocks, `remove` has one line for each block",
            );
        }
        if table.get("mode").is_some() {
            error("`mode` has no effect with the top level as one of several blocks");
        }
    }
}

/// The reserved numbers. `None`: they are invalid, which is reported.
fn reserved(keys: ReservedKeys, table: &Table<'_>) -> Option<Reserved> {
    let parts = keys.ranges.split(',').map(|part| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        Some((from.trim().parse().ok()?, to.trim().parse().ok()?))
    });
    let ranges: Option<Vec<(i64, i64)>> = parts.collect();
    if ranges.is_none() {
        let message = "`ranges` must be a list such as 1,1002-1005";
        table
            .findings
            .error("reserved", keys.ranges.span.clone(), message);
    }
    Some(Reserved {
        attribute: keys.attr,
        text: keys.ranges.value,
        ranges: ranges?,
    })
}

/// `only`, `permanent`: patterns of complete names by namevar.
fn patterns(
    context: &Context<'_>,
    table: &Table<'_>,
    names: Named<CompleteName>,
) -> Vec<(String, Pattern)> {
    let patterns = names.into_iter().map(|(name, CompleteName(pattern))| {
        let mut namevars = context.model.namevars();
        if !namevars.any(|namevar| namevar == name.as_str()) {
            let message = format!("`{}` is no namevar of {}", name.value, context.model.name);
            table
                .findings
                .error("unknown-attribute", pattern.span, message);
        }
        (name.value, pattern.value)
    });
    patterns.collect()
}
