//! Placeholders for parts of a value, `{0} {1}` and `{track.object}`: a value of the model must have
//! exactly these parts.

use crate::document::Table;
use crate::driver::cli::CliType;
use crate::driver::cli::rules::CliAttributeRule;
use crate::driver::cli::template::LineTemplate;
use crate::driver::cli::template::value_parts::split;
use crate::map::IndexMap;
use crate::model::{ArrayKind, AttributeModel, ValueSpec};
use crate::value::Name;

/// Makes the elements in the lines of an attribute those of its value.
pub(super) fn assign(attributes: &mut IndexMap<Name, CliAttributeRule>) {
    for rule in attributes.values_mut() {
        let name = rule.name.clone();
        let lines = rule.lines_mut();
        lines.for_each(|line| line.assign_elements(&name));
    }
}

/// Reports parts that no value has, and parts of the value of another attribute.
pub(super) fn check(cli: &CliType, root: &Table<'_>) {
    let error = |span: &std::ops::Range<usize>, message: String, help: &str| {
        root.findings
            .error_with_help("parts", span.clone(), message, help);
    };
    let instance = &cli.instance;
    let of_instance = instance.kind.templates().into_iter();
    let of_instance = of_instance.chain(&instance.create).chain(&instance.remove);
    for line in of_instance.filter(|line| line.has_parts()) {
        error(
            &instance.span,
            format!("`{}` has a part of a value", line.text),
            "write it as a line of an attribute: `line` in [attr.x]",
        );
    }
    for rule in cli.attributes.values().filter(|rule| rule.is_applied()) {
        let Some(model) = cli.model.attributes.get(&rule.name) else {
            continue;
        };
        for line in rule.value_lines().filter(|line| line.has_parts()) {
            if let Err((message, help)) = parts(rule, model, line) {
                error(&rule.span, message, help);
            }
        }
        if let Some(no) = rule.own_no() {
            let known = rule.lines.iter().flat_map(LineTemplate::placeholders);
            let known: Vec<&str> = known.collect();
            let mut own = no.placeholders().into_iter();
            let is_part = |name: &&str| split(name).is_some() || name.parse::<usize>().is_ok();
            if let Some(name) = own.find(|name| is_part(name) && !known.contains(name)) {
                let message = format!("no line of `{}` has `{{{name}}}`", rule.name);
                error(&rule.span, message, "use parts of `line` in `no`");
            }
        }
        let others = rule.follows.iter().chain(rule.set_changes());
        let others = others.chain(&rule.warn);
        let others = others.chain(rule.adds.values().flatten());
        if let Some(line) = others.into_iter().find(|line| line.has_parts()) {
            let message = format!("`{}` cannot have a part of a value", line.text);
            error(&rule.span, message, "use placeholders of attributes");
        }
        if rule.many && rule.set.values().any(Option::is_none) {
            let message = format!("an element of `{}` has an empty line in `set`", rule.name);
            let help = "write its line, or refuse the element with `unsupported`";
            error(&rule.span, message, help);
        }
    }
}

/// The reason why no value of the attribute has the parts in a line, and what to do.
fn parts(
    rule: &CliAttributeRule,
    model: &AttributeModel,
    line: &LineTemplate,
) -> Result<(), (String, &'static str)> {
    let name = &rule.name;
    let mut parts = Vec::new();
    for placeholder in line.placeholders() {
        match split(placeholder) {
            Some((own, part)) if own == &**name => parts.push(part),
            None if placeholder != &**name => {}
            _ => {
                let message = format!(
                    "`{{{placeholder}}}` in `{}` is no part of `{name}`",
                    line.text
                );
                return Err((
                    message,
                    "a line has the parts of one attribute, or its value",
                ));
            }
        }
    }
    if !rule.is_set_by_lines() || rule.is_group() {
        let message = format!("`{}` has parts of a value", line.text);
        return Err((
            message,
            "use a line of its own, without `with` and `elsewhere`",
        ));
    }
    let is_complete_list = model.array.is_some() && !rule.many;
    let mut fitting = model.values.iter().filter(|spec| has_parts(spec, &parts));
    let message = || format!("no value of `{name}` has the parts in `{}`", line.text);
    match fitting.next() {
        Some(_) if is_complete_list => {
            Err((message(), "add `many = true`: each element has a line"))
        }
        Some(ValueSpec::Struct { fields, .. }) => {
            let flags = line.flags();
            let is_open = |(field, spec): (&String, &crate::model::StructField)| {
                let is_flag = flags
                    .iter()
                    .any(|flag| split(flag).map(|(_, part)| part) == Some(field));
                is_flag && spec.optional && spec.default.is_none()
            };
            if fields.iter().any(is_open) {
                let help = "give the field a default in the model: `{ values = \"boolean\", default = false }`";
                let message = format!("a flag in `{}` is an optional field", line.text);
                return Err((message, help));
            }
            Ok(())
        }
        Some(_) => Ok(()),
        None if is_list(&parts) && model.values.is_empty() => Ok(()),
        None if is_list(&parts) && is_complete_list && model.array == Some(ArrayKind::Set) => {
            Err((
                format!("the elements of `{name}` have no order in `{}`", line.text),
                "write `array = \"list\"` in the model",
            ))
        }
        None if is_list(&parts) && is_complete_list && model.values.iter().any(is_one_word) => {
            Ok(())
        }
        None => Err((
            message(),
            "declare a `tuple` with as many elements, or a `struct` with these fields, in the model",
        )),
    }
}

/// Whether parts are the first elements of a list.
fn is_list(parts: &[&str]) -> bool {
    (0..parts.len()).all(|position| parts.contains(&position.to_string().as_str()))
}

fn is_one_word(spec: &ValueSpec) -> bool {
    !matches!(spec, ValueSpec::Tuple { .. } | ValueSpec::Struct { .. })
}

/// Whether values of a kind have these parts, and no other part is required.
fn has_parts(spec: &ValueSpec, parts: &[&str]) -> bool {
    match spec {
        ValueSpec::Tuple { items, .. } => items.len() == parts.len() && is_list(parts),
        ValueSpec::Struct { fields, .. } => {
            parts.iter().all(|part| fields.contains_key(*part))
                && fields
                    .iter()
                    .all(|(name, field)| field.optional || parts.contains(&name.as_str()))
        }
        _ => false,
    }
}
