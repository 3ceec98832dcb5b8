//! Loads `[command]` and the attributes without effect.

use std::sync::Arc;

use super::condition::{CommandCondition, CommandRead, DoneRule, UnlessRule};
use super::{CURRENT, CommandAction, CommandType};
use crate::diagnostic::suggest;
use crate::document::Table;
use crate::driver::cli::line_text::LineRules;
use crate::driver::context::Context;
use crate::driver::implementation::Implementation;
use crate::driver::read_rule::ParseRule;
use crate::driver::rest::load::location::field_and_each;
use crate::driver::rest::template::{BodyField, TextTemplate};
use crate::driver::rest::toml::{body, required_template};
use crate::driver::transport::Transport;
use crate::map::IndexMap;
use crate::model::{Role, TypeModel};
use crate::read::field_path::FieldPath;
use crate::value::Name;

/// Reads `[command]` and `[attr.x]` from a type's file.
pub(in crate::driver) fn load(
    context: &Context<'_>,
    root: &Table<'_>,
) -> Option<Arc<dyn Implementation>> {
    let table = root.required_table("command")?;
    let attribute = attribute_name(context.model, &table, "attribute");
    if attribute.is_none() && table.get("attribute").is_none() {
        table.missing("attribute");
    }
    let mut sent: Vec<Name> = Vec::new();
    let action = match context.transport {
        Transport::Rest => {
            let path = table.required_string("path");
            let body = body(&table, "body");
            check_body(context.model, &table, &body, attribute.as_ref());
            sent = holes(&body).map(Name::from).collect();
            path.map(|path| CommandAction::Request { path, body })
        }
        _ => Some(CommandAction::Lines {
            rules: LineRules::of(context),
            negation: context.negation.clone(),
        }),
    };
    let condition = condition(context, &table);
    table.finish();
    let ignored = ignored(context, root);
    let attribute = attribute?;
    for property in context.model.properties() {
        let name = &property.name;
        let has_effect = *name == "ensure" || *name == attribute || sent.contains(name);
        if !has_effect && !ignored.contains_key(name) {
            let message = format!(
                "the attribute `{name}` of the model has no section [attr.{name}]; add it with `ignored = \"REASON\"`"
            );
            root.findings
                .error("incomplete", root.span.start..root.span.start, message);
        }
    }
    Some(Arc::new(CommandType {
        model: Arc::clone(context.model),
        attribute,
        action: action?,
        condition: condition?,
        ignored,
        secrets: context.secrets.clone(),
    }))
}

/// The name of an attribute of the model in a key.
fn attribute_name(model: &TypeModel, table: &Table<'_>, key: &str) -> Option<Name> {
    let item = table.get(key)?;
    let name = item.string()?;
    if model.attributes.contains_key(name.as_str()) {
        return Some(name.into());
    }
    let names = model.attributes.keys().map(Name::as_str);
    let help = suggest(&name, names, "declare it in the model first");
    let message = format!("`{}` has no attribute `{name}`", model.name);
    item.findings
        .error_with_help("unknown-attribute", item.span.clone(), message, help);
    None
}

/// The placeholders of a body.
fn holes(body: &[(FieldPath, BodyField)]) -> impl Iterator<Item = &str> {
    let templates = body.iter().filter_map(|(_, field)| match field {
        BodyField::Text(template) => Some(template),
        BodyField::Constant(_) => None,
    });
    templates.flat_map(TextTemplate::holes)
}

/// The body must contain the command. Other placeholders are attributes, and the current value of
/// the condition.
fn check_body(
    model: &TypeModel,
    table: &Table<'_>,
    body: &[(FieldPath, BodyField)],
    attribute: Option<&Name>,
) {
    let error = |message: String| {
        let span = table.span.clone();
        table.findings.error("template", span, message);
    };
    if let Some(name) = attribute
        && !holes(body).any(|hole| hole == name.as_str())
    {
        error(format!("`body` requires the placeholder `{{{name}}}`"));
    }
    for hole in holes(body) {
        let is_current = hole == CURRENT && table.get("done").is_some();
        if !is_current && !model.attributes.contains_key(hole) {
            let name = &model.name;
            error(format!(
                "`body` uses `{hole}`, which is not an attribute of {name}"
            ));
        }
    }
}

/// `done`: the field in the answer to the read, and its value if a command is needless.
fn done_rule(context: &Context<'_>, table: &Table<'_>) -> Option<DoneRule> {
    let done = table.table("done")?;
    let field = done.required("field");
    let field = field.and_then(|item| field_and_each(&item));
    let value = required_template(&done, "value");
    done.finish();
    let value = value?;
    let attributes = &context.model.attributes;
    if let Some(hole) = value.holes().find(|hole| !attributes.contains_key(*hole)) {
        let message = format!(
            "`{value}` uses `{hole}`, which is not an attribute of {}",
            context.model.name
        );
        done.findings.error("template", done.span.clone(), message);
    }
    let (field, each) = field?;
    Some(DoneRule { field, each, value })
}

fn condition(context: &Context<'_>, table: &Table<'_>) -> Option<CommandCondition> {
    let compares_lines = table.bool("compare").unwrap_or(false);
    let is_remembered = table.bool("remembered").unwrap_or(false);
    let done = done_rule(context, table);
    let unless = table.table("unless");
    let mut path = None;
    let rule = unless.as_ref().map(|unless| {
        let pattern = attribute_name(context.model, unless, "pattern");
        if pattern.is_none() && unless.get("pattern").is_none() {
            unless.missing("pattern");
        }
        let options = attribute_name(context.model, unless, "options");
        let negate = attribute_name(context.model, unless, "negate");
        path = attribute_name(context.model, unless, "path");
        unless.finish();
        Some(UnlessRule {
            pattern: pattern?,
            options,
            negate,
        })
    });
    let read = match table.get("from") {
        Some(item) => {
            let name = item.string()?;
            let Some(rule) = context.reads.get(&name) else {
                let names = context.reads.keys().map(String::as_str);
                let help = suggest(&name, names, "declare it in platform.toml as [read.NAME]");
                let message = format!("the platform has no read `{name}`");
                item.findings
                    .error_with_help("unknown-read", item.span.clone(), message, help);
                return None;
            };
            let is_tree = matches!(rule.parse, ParseRule::Indent(_));
            let is_json = matches!(rule.parse, ParseRule::Json);
            let is_text = is_json || matches!(rule.parse, ParseRule::Text);
            if done.is_some() && !is_json {
                item.error("wrong-read", format!("the read `{name}` is not JSON"));
            } else if !is_tree && (compares_lines || !is_text) {
                let message = format!("the read `{name}` is a table: a condition requires text");
                item.error("wrong-read", message);
            }
            Some(CommandRead::Platform(Box::new(rule.request.clone())))
        }
        None => path.map(CommandRead::Path),
    };
    if read.is_none() && (compares_lines || unless.is_some() || done.is_some()) {
        let span = table.span.clone();
        let message = "a condition requires `from`, the read with its text, or `path` in `unless`";
        table.findings.error("missing-key", span, message);
    }
    Some(CommandCondition {
        read,
        compares_lines,
        done,
        is_remembered,
        unless: match rule {
            Some(rule) => Some(rule?),
            None => None,
        },
    })
}

/// `[attr.x]` with `ignored`: attributes without effect.
fn ignored(context: &Context<'_>, root: &Table<'_>) -> IndexMap<Name, String> {
    let mut ignored = IndexMap::default();
    for (name, _, item) in root.table("attr").iter().flat_map(Table::entries) {
        let Some(table) = item.table() else { continue };
        let reason = table.required_string("ignored");
        table.finish();
        let role = context
            .model
            .attributes
            .get(name.as_str())
            .map(|one| one.role);
        match role {
            None => {
                let message = format!("`{}` has no attribute `{name}`", context.model.name);
                item.error("unknown-attribute", message);
            }
            Some(Role::Namevar) => item.error("attribute", format!("`{name}` is the namevar")),
            Some(_) => ignored.extend(reason.map(|reason| (Name::from(name), reason))),
        }
    }
    for name in context.lacking {
        ignored.insert(name.clone(), context.lacks());
    }
    ignored
}
