//! Completes the lines of instances that have the names in each line.

use crate::document::{At, Table};
use crate::driver::cli::rules::{CliAttributeRule, CliInstanceRule, InstanceKind, NamedLines};
use crate::driver::cli::template::LineTemplate;
use crate::driver::context::Context;
use crate::map::IndexMap;
use crate::value::Name;

/// The common beginning of lines. It has a fixed number of words.
pub(super) fn named_prefix(prefix: At<LineTemplate>, table: &Table<'_>) -> Option<NamedLines> {
    let At {
        value: prefix,
        span,
    } = prefix;
    let names = prefix.attributes();
    if let Some(name) = names.iter().find(|name| prefix.takes_rest(name)) {
        let message = format!("`{{{name}}}` of `prefix` takes the rest of the line: use one word");
        table.findings.error("prefix", span, message);
        return None;
    }
    let names = names.into_iter().map(str::to_owned).collect();
    let mut lines = NamedLines {
        names,
        ..NamedLines::default()
    };
    lines.add_opening(&prefix);
    lines.prefix = Some(prefix);
    Some(lines)
}

/// Makes the lines of attributes complete, and finds the beginnings of all lines.
pub(super) fn complete(
    context: &Context<'_>,
    instance: &mut CliInstanceRule,
    attributes: &mut IndexMap<Name, CliAttributeRule>,
    root: &Table<'_>,
) {
    let InstanceKind::Named { block, lines } = &mut instance.kind else {
        return;
    };
    let error = |rule: &CliAttributeRule, message: String| {
        root.findings.error("prefix", rule.span.clone(), message);
    };
    if let Some(prefix) = lines.prefix.clone() {
        for rule in attributes.values_mut() {
            for line in rule.sent_lines().chain(rule.beginnings()) {
                let negation = context.negation;
                if negation.is_doubled(&line.text) {
                    let message =
                        format!("the line `{}` has `{}` twice", line.text, negation.word());
                    error(rule, message);
                }
                let mut names = lines.names.iter();
                if let Some(name) = names.find(|name| line.has_attribute(name)) {
                    let message = format!(
                        "`{}` has {{{name}}} of `prefix`: write the words after `prefix`",
                        line.text
                    );
                    error(rule, message);
                    break;
                }
            }
            for line in rule.lines_mut() {
                let text = context.negation.behind(&prefix.text, &line.text);
                if let Ok(complete) = LineTemplate::parse(&text) {
                    *line = complete;
                }
            }
        }
        return;
    }
    let in_block: Vec<&str> = block
        .iter()
        .flat_map(|path| path.templates())
        .flat_map(LineTemplate::attributes)
        .collect();
    let names = context.model.namevars();
    let names = names.filter(|name| !in_block.contains(name));
    lines.names = names.map(str::to_owned).collect();
    let of_instance = instance.create.iter().chain(&instance.remove);
    for line in of_instance {
        if let Some(name) = missing(lines, line) {
            let message = format!(
                "`{}` lacks {{{name}}}: each line names its instance",
                line.text
            );
            root.findings.error("named", instance.span.clone(), message);
        }
    }
    instance
        .create
        .iter()
        .for_each(|line| lines.add_opening(line));
    for rule in attributes.values() {
        for line in rule.sent_lines().chain(rule.beginnings()) {
            match missing(lines, line) {
                Some(name) => root.findings.error(
                    "named",
                    rule.span.clone(),
                    format!(
                        "`{}` lacks {{{name}}}: each line names its instance",
                        line.text
                    ),
                ),
                None => lines.add_opening(line),
            }
        }
    }
    if context.model.is_ensurable() && !attributes.contains_key("ensure") {
        for (key, is_supplied) in [
            ("create", !instance.create.is_empty()),
            (
                "remove",
                !instance.remove.is_empty() || instance.is_permanent,
            ),
        ] {
            if !is_supplied {
                let message = format!("instances with `named` need `{key}`");
                root.findings.error("named", instance.span.clone(), message);
            }
        }
    }
}

/// A name that a line does not have.
fn missing<'n>(lines: &'n NamedLines, line: &LineTemplate) -> Option<&'n String> {
    let attributes = line.attributes();
    let mut names = lines.names.iter();
    names.find(|name| !attributes.contains(&name.as_str()))
}
