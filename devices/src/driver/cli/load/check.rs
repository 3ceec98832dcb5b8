//! Checks that the rules use only names of the model, and implement all attributes of the model.

use std::ops::Range;

use crate::diagnostic::suggest;
use crate::document::Table;
use crate::driver::cli::CliType;
use crate::driver::cli::block_path::BlockPath;
use crate::driver::cli::order::FIRST;
use crate::driver::cli::rules::{CliAttributeRule, CliInstanceRule, InstanceKind, WriteOnly};
use crate::driver::cli::template::{LineTemplate, Vocabulary};
use crate::driver::read_rule::ParseRule;
use crate::model::{Role, TypeModel, ValueSpec};
use crate::value::Name;

/// Reports the location of a value that the read of the instances does not have.
pub(super) fn check_cell_key(
    instance: &CliInstanceRule,
    parse: Option<&ParseRule>,
    table: &Table<'_>,
) {
    let valid = match parse {
        Some(ParseRule::Columns { .. } | ParseRule::Csv(_)) => "column",
        Some(ParseRule::Stanzas { .. } | ParseRule::Json | ParseRule::Xml) => "field",
        Some(ParseRule::Indent(_)) => "line",
        Some(ParseRule::Text) | None => return,
    };
    for key in ["column", "field"] {
        if let Some(item) = table.get(key).filter(|_| key != valid) {
            let message = format!(
                "`{}` has no {key}s: use `{valid}` for values of its instances",
                instance.from
            );
            item.error("source", message);
        }
    }
}

/// Reports keys that have no effect in this combination.
pub(super) fn check_combinations(cli: &CliType, root: &Table<'_>) {
    check_namevars(cli, root);
    check_syntaxes(cli, root);
    check_rows(cli, root);
    let error = |rule: &CliAttributeRule, message: String| {
        root.findings.error("no-effect", rule.span.clone(), message);
    };
    for rule in cli.attributes.values().filter(|rule| rule.is_applied()) {
        let name = &rule.name;
        let kind = &cli.instance.kind;
        check_write_only(cli, rule, &error);
        if kind.is_line() && rule.is_in_block() && rule.inside.is_none() {
            error(
                rule,
                format!(
                    "`{name}` has lines of its own, but each instance is one line: it would never \
                     be read or sent; use `prefix` or `named` for instances of several lines"
                ),
            );
        }
        if let Some(lines) = kind.named() {
            let position = match lines.prefix {
                Some(_) => "stand behind `prefix`",
                None => "have lines with the names",
            };
            let is_elsewhere = rule.cell().is_some() || rule.member_block().is_some();
            if is_elsewhere || rule.body().is_some() || rule.is_inner_block() {
                let message = format!("`{name}` cannot {position}: use `line` or `set`");
                error(rule, message);
            }
            if let Some(no) = rule.own_no()
                && no.text.split_whitespace().any(|word| word == "default")
            {
                error(rule, format!("`{}` cannot {position}", no.text));
            }
        }
        if kind.blocks().is_some() && rule.is_in_instance() && !rule.skip.is_empty() {
            let message = format!("`skip` of `{name}` has no effect in the header of a block");
            error(rule, message);
        }
        if rule.many && rule.is_group() {
            root.findings.error_with_help(
                "no-effect",
                rule.span.clone(),
                format!("`many` of `{name}` has no effect with `with`"),
                "remove one of them; an element of several values is a tuple: `line = \"network {0} {1}\"`",
            );
        }
        let model = cli.model.attributes.get(name.as_str());
        let has_sets = model.is_some_and(|model| {
            let mut values = model.values.iter();
            values.any(|spec| matches!(spec, ValueSpec::Numbers { .. }))
        });
        if rule.many && has_sets && cli.added_set(rule).is_none() {
            root.findings.error_with_help(
                "numbers",
                rule.span.clone(),
                format!("`many` of `{name}` removes a set of numbers as one element, with numbers that remain"),
                "add a codec of the kind `range-set`, so that lines add and remove numbers",
            );
        }
        if rule.identity.is_some() && !rule.many {
            let message = format!("`identity` of `{name}` has no effect without `many`");
            error(rule, message);
        }
        check_sub(cli, rule, &error);
        check_order(cli, rule, &error);
    }
}

/// Only secrets are remembered, and only lines of the configuration show a value in another form.
fn check_write_only(
    cli: &CliType,
    rule: &CliAttributeRule,
    error: &dyn Fn(&CliAttributeRule, String),
) {
    let Some(write_only) = rule.write_only else {
        return;
    };
    let name = &rule.name;
    if !cli.is_secret(name) {
        let message =
            "`write_only` requires `sensitive = true` in the model: only secrets are remembered";
        error(rule, format!("{message} (`{name}`)"));
    }
    if write_only == WriteOnly::Hashed && cli.instance.kind.is_row() {
        let message = format!("rows do not show `{name}`: use `write_only = true`");
        error(rule, message);
    }
}

/// Lines that move have the names of both instances.
fn check_order(cli: &CliType, rule: &CliAttributeRule, error: &dyn Fn(&CliAttributeRule, String)) {
    let Some(order) = rule.order() else {
        return;
    };
    let kind = &cli.instance.kind;
    if kind.blocks().is_none() && kind.named().is_none() {
        let message = format!(
            "`order` of `{}` requires `block`, `prefix` or `named`",
            rule.name
        );
        error(rule, message);
    }
    let own = cli.model.namevars().last().unwrap_or_default();
    for (line, other) in [(&order.after, rule.name.as_str()), (&order.before, FIRST)] {
        for name in [own, other] {
            if !line.has_attribute(name) {
                error(rule, format!("`{}` lacks {{{name}}}", line.text));
            }
        }
    }
}

/// Inner blocks stand in blocks, and have fixed headers.
fn check_sub(cli: &CliType, rule: &CliAttributeRule, error: &dyn Fn(&CliAttributeRule, String)) {
    let kind = &cli.instance.kind;
    let spellings = kind.paths().len().max(1);
    let name = &rule.name;
    if !rule.sub.is_empty() && kind.is_row() {
        error(
            rule,
            format!("`sub` of `{name}` has no effect: instances are table rows"),
        );
    }
    if rule.sub.len() > 1 && rule.sub.len() != spellings {
        let message =
            format!("`sub` of `{name}` has one text, or one for each of {spellings} blocks");
        error(rule, message);
    }
    if rule
        .sub
        .iter()
        .flatten()
        .any(|header| header.contains(['{', '[']))
    {
        let message = format!("`sub` of `{name}` has fixed words: move the placeholder to `block`");
        error(rule, message);
    }
}

/// Every name of an instance must be read from its place.
fn check_namevars(cli: &CliType, root: &Table<'_>) {
    let kind = &cli.instance.kind;
    let own: Vec<&str> = kind
        .templates()
        .iter()
        .flat_map(|line| line.attributes())
        .collect();
    // The error about an unknown name is reported.
    if own
        .iter()
        .any(|name| !cli.model.attributes.contains_key(*name))
    {
        return;
    }
    let is_bound = |name: &str| match kind {
        InstanceKind::Singleton(_) => true,
        InstanceKind::Row { key, .. } => {
            key.iter().any(|(attribute, _)| attribute == name) || cli.absent_name(name).is_some()
        }
        _ => own.contains(&name),
    };
    for name in cli.model.namevars().filter(|name| !is_bound(name)) {
        root.findings.error_with_help(
            "unbound-name",
            cli.instance.span.clone(),
            format!("[instance] has no placeholder for the namevar `{name}`"),
            format!(
                "add `{{{name}}}` to `block`, `prefix` or `line`, or to all lines with `named`"
            ),
        );
    }
}

/// A new instance needs a syntax with all of its names. Names may have values that the device does
/// not print.
fn check_syntaxes(cli: &CliType, root: &Table<'_>) {
    let kind = &cli.instance.kind;
    let is_printed = |name: &&str| cli.absent_name(name).is_none();
    let required: Vec<&str> = cli.model.namevars().filter(is_printed).collect();
    let spellings = || 0..kind.paths().len();
    let has_position = |name: &str| {
        let lacks = |spelling, name: &str| {
            let mut all = spellings();
            all.any(|other| kind.has_attribute(other, name)) && !kind.has_attribute(spelling, name)
        };
        spellings().any(|spelling| {
            let mut names = required.iter().chain([&name]);
            !names.any(|name| lacks(spelling, name))
        })
    };
    for name in cli.model.namevars() {
        if kind.paths().len() < 2 || has_position(name) {
            continue;
        }
        let places: Vec<String> = kind.paths().iter().map(BlockPath::quoted).collect();
        root.findings.error_with_help(
            "no-place",
            cli.instance.span.clone(),
            format!("no syntax of `block` has `{name}` and all other namevars"),
            format!(
                "a new instance needs one of {} with all namevars",
                places.join(", ")
            ),
        );
    }
}

/// Reports how rows cannot be created, changed or removed.
fn check_rows(cli: &CliType, root: &Table<'_>) {
    let instance = &cli.instance;
    let error = |span: &Range<usize>, message: String| {
        root.findings.error("rows", span.clone(), message);
    };
    if !instance.kind.is_row() {
        return;
    }
    let enter = instance.kind.enter();
    if !instance.create.is_empty() && enter.is_some() {
        let message = "`enter` creates the instance, too: use `mode` with `create`";
        error(&instance.span, message.to_owned());
    }
    if !instance.create.is_empty() && !cli.model.is_ensurable() {
        let message = format!("{} has no `ensure`: nothing uses `create`", cli.model.name);
        error(&instance.span, message);
    }
    if enter.is_some() || instance.mode.is_some() {
        return;
    }
    // Nothing but the line tells which instance it is about.
    let without_name = |template: &LineTemplate| {
        let attributes = template.attributes();
        let mut names = cli.model.namevars();
        let missing =
            names.find(|name| !attributes.contains(name) && cli.absent_name(name).is_none());
        missing.map(str::to_owned)
    };
    let rules = cli.attributes.values();
    let of_attributes = rules.flat_map(|rule| rule.sent_lines().map(|line| (line, &rule.span)));
    let of_instance = instance.create.iter().chain(&instance.remove);
    let of_instance = of_instance.map(|line| (line, &instance.span));
    for (template, span) in of_instance.chain(of_attributes) {
        if let Some(name) = without_name(template) {
            let message = format!(
                "`{}` lacks {{{name}}}: without `mode`, each line names its instance",
                template.text
            );
            error(span, message);
        }
    }
}

/// Every attribute in a template or rule must be in the model.
pub(super) fn check_names(cli: &CliType, root: &Table<'_>) {
    let model: &TypeModel = &cli.model;
    let check = |template: &LineTemplate, span: &Range<usize>, also: &[&str]| {
        for name in template.attributes() {
            if cli.quoting.is_none() && template.is_quoted(name) {
                root.findings.error(
                    "quote",
                    span.clone(),
                    format!(
                        "`{}` has `:quoted`: add [quote] to platform.toml",
                        template.text
                    ),
                );
            }
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
    let lines = instance.kind.templates();
    let own = lines.iter().copied().chain(&instance.remove);
    let own = own.chain(&instance.create);
    let mode = instance.mode.iter().flat_map(BlockPath::templates);
    let other = mode.chain(&instance.remove_empty);
    let other = other.chain(&instance.warn);
    for template in own.chain(other).chain(&instance.other_lines) {
        check(template, &instance.span, &[]);
    }
    if let Some(refresh) = &cli.refresh {
        for template in refresh.templates() {
            check(template, &refresh.span, &[]);
        }
    }
    for rule in cli.attributes.values() {
        let others = rule.follows.iter().chain(&rule.warn);
        let others = others.chain(rule.adds.values().flatten());
        for template in rule.sent_lines().chain(others) {
            check(template, &rule.span, &[]);
        }
        if let Some(block) = rule.member_block() {
            check(block, &rule.span, &[]);
        }
        if let Some(order) = rule.order() {
            check(&order.after, &rule.span, &[]);
            check(&order.before, &rule.span, &[FIRST]);
        }
        for name in rule
            .with
            .iter()
            .chain(&rule.clears)
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
            || lines.iter().any(|line| line.has_attribute(&attribute.name));
        if !named {
            root.findings.error_with_help(
                "incomplete",
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
