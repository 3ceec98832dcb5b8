//! Checks that the rules use only names of the model, and implement all attributes of the model.

use std::ops::Range;

use crate::diagnostic::suggest;
use crate::document::Table;
use crate::driver::cli::CliType;
use crate::driver::cli::rules::{CliAttributeRule, CliLocation, InstanceKind, NoForm};
use crate::driver::cli::template::LineTemplate;
use crate::model::{Role, TypeModel};
use crate::value::Name;

/// Reports keys that have no effect in this combination.
pub(super) fn check_combinations(cli: &CliType, root: &Table<'_>) {
    let error = |rule: &CliAttributeRule, message: String| {
        root.findings.error("no-effect", rule.span.clone(), message);
    };
    for rule in cli.attributes.values().filter(|rule| rule.is_applied()) {
        let name = &rule.name;
        let is_in_line = matches!(cli.instance.kind, InstanceKind::Line { .. });
        if is_in_line && matches!(rule.location, CliLocation::Lines) && rule.inside.is_none() {
            error(
                rule,
                format!(
                    "`{name}` has lines of its own, but each instance is one line: it would never \
                     be read or sent"
                ),
            );
        }
        if matches!(cli.instance.kind, InstanceKind::Row { .. }) && rule.replace_first {
            error(
                rule,
                format!("`replace` of `{name}` has no effect: instances are table rows"),
            );
        }
        if matches!(rule.location, CliLocation::Elsewhere(_)) && matches!(rule.no, NoForm::Text(_))
        {
            error(
                rule,
                format!("`no` of `{name}` has no effect with `elsewhere`"),
            );
        }
    }
}

/// Every attribute in a template or rule must be in the model.
pub(super) fn check_names(cli: &CliType, root: &Table<'_>) {
    let model: &TypeModel = &cli.model;
    let check = |template: &LineTemplate, span: &Range<usize>, also: &[&str]| {
        for name in template.attributes() {
            if model.attributes.contains_key(name) || also.contains(&name) {
                continue;
            }
            let help = suggest(
                name,
                model.attributes.keys().map(Name::as_str),
                "declare it in the model first",
            );
            root.findings.error_with_help(
                "unknown-attribute",
                span.clone(),
                format!(
                    "`{}` uses `{name}`, which is not an attribute of {}",
                    template.text, model.name
                ),
                help,
            );
        }
    };
    let instance = &cli.instance;
    let (blocks, lines): (&[LineTemplate], &[LineTemplate]) = match &instance.kind {
        InstanceKind::Block(block) => (block, &[]),
        InstanceKind::Line { block, spellings } => (block, spellings),
        InstanceKind::Singleton(_) | InstanceKind::Row { .. } => (&[], &[]),
    };
    let own = blocks.iter().chain(lines).chain(&instance.remove);
    let other = instance.mode.iter().chain(&instance.remove_empty);
    let other = other.chain(&instance.warn_removal);
    for template in own.chain(other).chain(&instance.other_lines) {
        check(template, &instance.span, &[]);
    }
    if let Some(refresh) = &cli.refresh {
        for template in refresh.templates() {
            check(template, &refresh.span, &[]);
        }
    }
    for rule in cli.attributes.values() {
        let set = rule.set.values().flatten();
        for template in rule
            .lines
            .iter()
            .chain(set)
            .chain(&rule.follows)
            .chain(&rule.more)
            .chain(&rule.warn)
        {
            check(template, &rule.span, &[]);
        }
        if let CliLocation::Elsewhere(block) = &rule.location {
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
                        "`{}` refers to [attr.{name}], which does not exist",
                        rule.name
                    ),
                );
            }
        }
    }
    for attribute in model.attributes.values() {
        let named = cli.attributes.contains_key(&attribute.name)
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
                    "add [attr.{0}], or `unsupported = \"reason\"` in it",
                    attribute.name
                ),
            );
        }
    }
}
