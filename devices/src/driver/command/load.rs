//! Loads `[command]` and the attributes without effect.

use std::sync::Arc;

use super::condition::{CommandCondition, CommandRead, DoneRule, UnlessRule};
use super::{CURRENT, CommandAction, CommandType};
use crate::diagnostic::suggest;
use crate::dialogue::Transport;
use crate::document::{At, KeyValue, Named, SectionForm, Table, keys, sections};
use crate::driver::cli::line_text::LineRules;
use crate::driver::context::Context;
use crate::driver::implementation::Implementation;
use crate::driver::read_rule::ParseRule;
use crate::driver::rest::load::attribute_keys::FieldPosition;
use crate::driver::rest::template::{BodyField, TextTemplate};
use crate::driver::rest::toml::BodyFields;
use crate::map::IndexMap;
use crate::model::Role;
use crate::read::field_path::FieldPath;
use crate::value::Name;

/// Reads `[command]` and `[attr.x]` from a type's file.
pub(in crate::driver) fn load(
    context: &Context<'_>,
    root: &Table<'_>,
) -> Option<Arc<dyn Implementation>> {
    let table = CommandSections::command(root)?.table()?;
    let keys = CommandKeys::of(&table);
    let form = match context.transport {
        Transport::Rest => CommandForm::Request,
        _ => CommandForm::Lines,
    };
    CommandKeys::KEYS.check(form, &table);
    if !table.finish() {
        return None;
    }
    let keys = keys?;
    let source = CommandSource {
        context,
        table: &table,
    };
    let attribute = source.attribute(&keys.attribute);
    let mut sent: Vec<Name> = Vec::new();
    let action = match (form, &keys.path) {
        (CommandForm::Lines, _) => CommandAction::Lines {
            rules: LineRules::of(context),
            negation: context.negation.clone(),
        },
        (CommandForm::Request, Some(path)) => {
            let body = keys.body.0.clone();
            source.check_body(&body, attribute.as_ref(), keys.done.is_some());
            sent = holes(&body).map(Name::from).collect();
            let path = path.clone();
            CommandAction::Request { path, body }
        }
        (CommandForm::Request, None) => {
            table.missing("path");
            return None;
        }
    };
    let condition = source.condition(keys);
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
        action,
        condition: condition?,
        ignored,
        secrets: context.secrets.clone(),
    }))
}

/// How a command is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::driver) enum CommandForm {
    Lines,
    Request,
}

impl SectionForm for CommandForm {
    const FORMS: &'static [(Self, &'static str)] = &[
        (CommandForm::Lines, "a command line"),
        (CommandForm::Request, "a REST interface"),
    ];
}

sections! {
    /// The sections of a type whose commands are values of the catalog.
    pub(in crate::driver) struct CommandSections {
        /// The commands are values of the catalog.
        command (expected): CommandKeys,
        /// How attributes are read and written.
        attr: Named<IgnoredKeys>,
    }
}

keys! {
    /// An attribute without effect.
    pub(in crate::driver) struct IgnoredKeys {
        /// Reason why the attribute has no effect; noted.
        ignored: String,
    }
}

keys! {
    /// The commands are values of the catalog.
    pub(in crate::driver) struct CommandKeys at CommandForm {
        /// Attribute with the command.
        attribute: At<String>,
        /// Path of the `POST` of a command.
        path: Option<String> where [CommandForm::Request],
        /// Its body.
        body: BodyFields where [CommandForm::Request],
        /// The read with the condition.
        from: Option<At<String>>,
        /// Lines that the configuration has are not sent.
        compare: bool,
        /// The command is not sent if it is the one that was sent last.
        remembered: bool,
        /// Field whose value shows that the command has been applied.
        done: Option<DoneKeys>,
        /// Condition by a pattern in the catalog.
        unless: Option<UnlessKeys>,
    }
}

keys! {
    /// The field whose value shows that a command has been applied.
    pub(in crate::driver) struct DoneKeys {
        /// Path of the field.
        field: FieldPosition,
        /// Its value.
        value: At<TextTemplate>,
    }
}

keys! {
    /// A condition by a pattern in the catalog.
    pub(in crate::driver) struct UnlessKeys {
        /// Attribute with the pattern.
        pattern: At<String>,
        /// Attribute with options of the pattern.
        options: Option<At<String>>,
        /// Attribute that inverts the condition.
        negate: Option<At<String>>,
        /// Attribute with the path of the text.
        path: Option<At<String>>,
    }
}

/// The placeholders of a body.
fn holes(body: &[(FieldPath, BodyField)]) -> impl Iterator<Item = &str> {
    let templates = body.iter().filter_map(|(_, field)| match field {
        BodyField::Text(template) => Some(template),
        BodyField::Constant(_) => None,
    });
    templates.flat_map(TextTemplate::holes)
}

/// What the rules of a command are made of.
struct CommandSource<'a, 'd> {
    context: &'a Context<'a>,
    table: &'a Table<'d>,
}

impl CommandSource<'_, '_> {
    /// The name of an attribute of the model in a key.
    fn attribute(&self, name: &At<String>) -> Option<Name> {
        let model = self.context.model;
        if model.attributes.contains_key(name.as_str()) {
            return Some(name.as_str().into());
        }
        let names = model.attributes.keys().map(Name::as_str);
        let help = suggest(name, names, "declare it in the model first");
        let message = format!("`{}` has no attribute `{}`", model.name, name.value);
        let findings = self.table.findings;
        findings.error_with_help("unknown-attribute", name.span.clone(), message, help);
        None
    }

    /// The body must contain the command. Other placeholders are attributes, and the current value of
    /// the condition.
    fn check_body(
        &self,
        body: &[(FieldPath, BodyField)],
        attribute: Option<&Name>,
        has_current: bool,
    ) {
        let error = |message: String| {
            let span = self.table.span.clone();
            self.table.findings.error("template", span, message);
        };
        if let Some(name) = attribute
            && !holes(body).any(|hole| hole == name.as_str())
        {
            error(format!("`body` requires the placeholder `{{{name}}}`"));
        }
        let model = self.context.model;
        for hole in holes(body) {
            let is_current = hole == CURRENT && has_current;
            if !is_current && !model.attributes.contains_key(hole) {
                let name = &model.name;
                error(format!(
                    "`body` uses `{hole}`, which is not an attribute of {name}"
                ));
            }
        }
    }

    /// `done`: the field in the answer to the read, and its value if a command is needless.
    fn done_rule(&self, keys: DoneKeys) -> DoneRule {
        let value = keys.value.value;
        let model = self.context.model;
        let unknown = |hole: &&str| !model.attributes.contains_key(*hole);
        if let Some(hole) = value.holes().find(unknown) {
            let name = &model.name;
            let message = format!("`{value}` uses `{hole}`, which is not an attribute of {name}");
            let findings = self.table.findings;
            findings.error("template", keys.value.span, message);
        }
        let FieldPosition { path: field, each } = keys.field;
        DoneRule { field, each, value }
    }

    fn condition(&self, keys: CommandKeys) -> Option<CommandCondition> {
        let compares_lines = keys.compare;
        let done = keys.done.map(|done| self.done_rule(done));
        let mut path = None;
        let unless = match keys.unless {
            None => None,
            Some(unless) => {
                let name = |name: Option<At<String>>| name.and_then(|name| self.attribute(&name));
                path = name(unless.path);
                Some(UnlessRule {
                    pattern: self.attribute(&unless.pattern)?,
                    options: name(unless.options),
                    negate: name(unless.negate),
                })
            }
        };
        let read = match &keys.from {
            Some(name) => Some(self.read(name, (compares_lines, done.is_some()))?),
            None => path.map(CommandRead::Path),
        };
        if read.is_none() && (compares_lines || unless.is_some() || done.is_some()) {
            let span = self.table.span.clone();
            let message =
                "a condition requires `from`, the read with its text, or `path` in `unless`";
            self.table.findings.error("missing-key", span, message);
        }
        Some(CommandCondition {
            read,
            compares_lines,
            done,
            is_remembered: keys.remembered,
            unless,
        })
    }

    /// The read with the text of a condition.
    fn read(
        &self,
        name: &At<String>,
        (compares_lines, has_done): (bool, bool),
    ) -> Option<CommandRead> {
        let findings = self.table.findings;
        let reads = self.context.reads;
        let Some(rule) = reads.get(name.as_str()) else {
            let names = reads.keys().map(String::as_str);
            let help = suggest(name, names, "declare it in platform.toml as [read.NAME]");
            let message = format!("the platform has no read `{}`", name.value);
            findings.error_with_help("unknown-read", name.span.clone(), message, help);
            return None;
        };
        let is_tree = matches!(rule.parse, ParseRule::Indent(_));
        let is_json = matches!(rule.parse, ParseRule::Json);
        let is_text = is_json || matches!(rule.parse, ParseRule::Text);
        let At { value: name, span } = name;
        let message = if has_done && !is_json {
            Some(format!("the read `{name}` is not JSON"))
        } else if !is_tree && (compares_lines || !is_text) {
            Some(format!(
                "the read `{name}` is a table: a condition requires text"
            ))
        } else {
            None
        };
        if let Some(message) = message {
            findings.error("wrong-read", span.clone(), message);
        }
        Some(CommandRead::Platform(Box::new(rule.request.clone())))
    }
}

/// `[attr.x]` with `ignored`: attributes without effect.
fn ignored(context: &Context<'_>, root: &Table<'_>) -> IndexMap<Name, String> {
    let mut ignored = IndexMap::default();
    let table = CommandSections::attr(root).and_then(|item| item.table());
    for (name, _, item) in table.iter().flat_map(Table::entries) {
        let Some(keys) = IgnoredKeys::read(&item) else {
            continue;
        };
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
            Some(_) => {
                ignored.insert(Name::from(name), keys.ignored);
            }
        }
    }
    for name in context.lacking {
        ignored.insert(name.clone(), context.lacks());
    }
    ignored
}
