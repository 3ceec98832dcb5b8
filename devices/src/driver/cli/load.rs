//! Loads the sections about command lines: `[instance]` and `[attr.x]`.
//!
//! Unknown keys are errors; `docs/definitions.md` describes all keys. [`check`] compares the
//! names in the result with the type's model.

mod attribute;
pub(in crate::driver) mod attribute_keys;
mod check;
mod check_creation;
pub(in crate::driver) mod defaults;
mod instance;
pub(in crate::driver) mod instance_keys;
mod named_lines;
mod needed_lines;
mod secrets;
pub(in crate::driver) mod sections;
mod text_body;
mod toml;
mod value_parts;

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use crate::map::IndexMap;

use self::attribute::{AttributeSource, attribute};
use self::check::{check_cell_key, check_combinations, check_names};
use self::check_creation::check_creation;
use self::instance::instance;
use self::instance_keys::InstanceKeys;
use self::secrets::check_secrets;
use self::sections::CliTypeSections;
use self::text_body::check_text_bodies;
use super::CliType;
use super::global_default;
use super::line_text::LineRules;
use super::refresh::RefreshRule;
use super::rewrite::Rewrite;
use super::row_rule::{RowKeys, RowRule};
use super::rules::{CONFIG, CliAttributeRule, CliLocation, InstanceKind};
use crate::diagnostic::{Severity, suggest};
use crate::document::Table;
use crate::driver::context::Context;
use crate::driver::explanation::NotApplied;
use crate::driver::read_rule::ParseRule;
use crate::pattern::Patterns;
use crate::read::ReadRequest;
use crate::value::Name;

/// Loads the sections about command lines from a type's file.
pub(crate) fn load(context: &Context<'_>, root: &Table<'_>) -> Option<CliType> {
    let table = CliTypeSections::instance(root)?.table()?;
    let attributes_table = CliTypeSections::attr(root).and_then(|item| item.table());
    let unsupported = CliTypeSections::unsupported(root);
    let refresh = CliTypeSections::refresh(root);
    let rewrites = CliTypeSections::rewrite(root);
    let model = context.model;
    let mut codecs = IndexMap::default();
    let keys = InstanceKeys::of(&table);
    let mut requests = Vec::new();
    let need_read = |span: Range<usize>, name: &str| {
        let found = context.reads.get(name);
        if found.is_none() {
            let names = context.reads.keys().map(String::as_str);
            let help = suggest(name, names, "declare it in platform.toml as [read.NAME]");
            let message = format!("the platform has no read `{name}`");
            root.findings
                .error_with_help("unknown-read", span, message, help);
        }
        // Whether an empty answer is valid is decided with another read.
        let other = found.and_then(|rule| context.reads.get(&rule.empty.as_ref()?.read));
        found
            .into_iter()
            .chain(other)
            .map(|rule| rule.request.clone())
    };
    let keys = keys.inspect(|keys| requests.extend(need_read(keys.from.span.clone(), &keys.from)));
    let row_keys = keys.as_ref().map(|keys| RowKeys {
        rows: keys.rows.clone(),
        headings: keys.headings.clone(),
    });
    let instance = keys.and_then(|keys| instance(context, &table, keys, &mut codecs));
    let (Some(mut instance), Some(row_keys)) = (instance, row_keys) else {
        table.finish();
        // The errors of other sections would follow from that of the instance.
        return None;
    };
    let parse = context.reads.get(&instance.from).map(|rule| &rule.parse);

    let mut attributes = IndexMap::default();
    for (name, span, item) in attributes_table.iter().flat_map(Table::entries) {
        let Some(attribute_table) = item.table() else {
            continue;
        };
        let Some(model_attribute) = model.attributes.get(name.as_str()) else {
            let help = suggest(
                &name,
                model.attributes.keys().map(Name::as_str),
                "declare it in the model first",
            );
            let message = format!("{} has no attribute `{name}`", model.name);
            root.findings
                .error_with_help("unknown-attribute", span, message, help);
            continue;
        };
        let source = AttributeSource {
            context,
            model: model_attribute,
            table: &attribute_table,
            span,
        };
        let rule = attribute(source, &mut codecs);
        check_cell_key(&instance, parse, &attribute_table);
        let other = rule.as_ref().and_then(|rule| rule.default_cell.as_ref());
        requests.extend(
            other
                .map(|other| need_read(item.span.clone(), &other.read))
                .into_iter()
                .flatten(),
        );
        match rule {
            Some(rule) => {
                attribute_table.finish();
                attributes.insert(rule.name.clone(), rule);
            }
            // Its error is reported; others would follow from it.
            None => {
                let rule = CliAttributeRule::nowhere(&name, item.span.clone());
                attributes.insert(rule.name.clone(), rule);
            }
        }
    }
    named_lines::complete(context, &mut instance, &mut attributes, root);
    value_parts::assign(&mut attributes);
    for name in context.lacking {
        let mut rule = CliAttributeRule::nowhere(name, instance.span.clone());
        rule.not_applied = Some(NotApplied {
            severity: Severity::Warning,
            reason: context.lacks(),
        });
        attributes.insert(name.clone(), rule);
    }
    let lacking = unsupported
        .iter()
        .filter_map(|item| Some((item, item.strings()?)));
    let lacking = lacking.flat_map(|(item, names)| names.into_iter().map(move |name| (item, name)));
    for (item, name) in lacking {
        if !model.attributes.contains_key(name.as_str()) {
            item.error(
                "unknown-attribute",
                format!("{} has no attribute `{name}`", model.name),
            );
        }
        let rule = attributes
            .entry(name.clone().into())
            .or_insert_with(|| CliAttributeRule::nowhere(&name, item.span.clone()));
        rule.not_applied = Some(NotApplied {
            severity: Severity::Warning,
            reason: "this device does not support it".to_owned(),
        });
        rule.location = CliLocation::Nowhere;
        rule.inside = None;
        rule.default_cell = None;
        rule.default_line = None;
        rule.default_values.clear();
    }
    let needs_config = attributes
        .values()
        .any(|rule| rule.member_block().is_some());
    let config = context.reads.get(CONFIG).map(|rule| &rule.parse);
    if let Some(item) = table.get("needs")
        && !matches!(config, Some(ParseRule::Indent(_)))
    {
        let message =
            "`needs` requires a read `config` of lines, which shows whether the device has them";
        item.error("no-effect", message);
    }
    let needed = attributes.values().flat_map(|rule| &rule.needs);
    if needs_config || instance.needs.iter().chain(needed).next().is_some() {
        requests.extend(context.reads.get(CONFIG).map(|rule| rule.request.clone()));
    }
    let mut names = HashSet::new();
    requests.retain(|request: &ReadRequest| names.insert(request.name.clone()));
    if let InstanceKind::Row { key, rows, .. } = &mut instance.kind {
        let cells = CliType::cell_names(key, attributes.values());
        *rows = RowRule::load(row_keys, &table, parse, &cells).unwrap_or_default();
    }
    table.finish();
    let lines = match parse {
        Some(ParseRule::Indent(rules)) => Some(rules),
        _ => None,
    };
    let in_lines = lines.is_some();
    let opaque = lines.map_or(&[][..], |rules| rules.opaque.as_slice());
    if matches!(parse, Some(ParseRule::Text)) {
        let message = format!("the read `{}` has no instances: it is text", instance.from);
        root.findings
            .error("instance", instance.span.clone(), message);
    } else if parse.is_some() && in_lines == instance.kind.is_row() {
        let message = if in_lines {
            "instances of a configuration require `block`, `line`, `prefix`, `named` or `singleton`, not `key`"
        } else {
            "instances of a table, stanzas or JSON require `key`"
        };
        root.findings
            .error("instance", instance.span.clone(), message);
    }
    let refresh = refresh.and_then(|item| RefreshRule::load(&item));
    let rewrites = rewrites.and_then(|item| item.list());
    let rewrites = rewrites.iter().flatten();
    let mut cli = CliType {
        model: Arc::clone(model),
        platform: context.platform.clone(),
        lines: LineRules::of(context),
        secrets: context.secrets.clone(),
        negation: context.negation.clone(),
        quoting: context.quoting.cloned(),
        foreign: lines.map_or_else(Patterns::default, |rules| rules.foreign.clone()),
        inactive: lines.and_then(|rules| rules.inactive.clone()),
        opaque_ends: opaque.iter().map(|rule| rule.end.clone()).collect(),
        split: lines.map_or_else(Vec::new, |rules| rules.split.clone()),
        source: Arc::clone(context.source),
        requests,
        instance,
        attributes,
        places: Vec::new(),
        codecs,
        rewrites: rewrites
            .filter_map(|item| Rewrite::load(item, model))
            .collect(),
        refresh,
        in_config: None,
    };
    cli.find_value_heads();
    cli.find_places();
    check_names(&cli, root);
    check_combinations(&cli, root);
    check_creation(&cli, root);
    check_text_bodies(&cli, opaque, root);
    value_parts::check(&cli, root);
    check_secrets(context, &cli, root);
    global_default::check(&cli, root);
    cli.in_config = cli.in_config(context);
    Some(cli)
}
