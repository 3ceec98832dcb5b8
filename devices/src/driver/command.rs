//! Types whose commands are values of the catalog: `[command]` instead of `[instance]`.
//!
//! The device has no instances of such a type. A condition decides whether the command is sent: a
//! pattern that the answer to a read contains, or lines that the configuration has. Without a
//! condition the command is sent in every run.

mod condition;
mod lines;
pub(super) mod load;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde_json::Value as Json;

use self::condition::CommandCondition;
use self::lines::CommandLines;
pub(super) use self::load::load;
use super::cli::line_text::LineRules;
use super::effect::{Effect, EffectSlot};
use super::explanation::{AttributeExplanation, Explanation, NotApplied};
use super::implementation::{
    ChangePlanner, HiddenFromDiff, InstanceReader, IsReadByOther, RenderError, TypeDescription,
};
use super::json_body::Body;
use super::negation::Negation;
use super::problem::{Problem, ProblemKind};
use super::rest::template::{BodyField, UnfilledHole};
use super::secret_history::SecretHistory;
use crate::change::{Change, Desired, Instance};
use crate::diagnostic::{Diagnostic, Severity};
use crate::map::IndexMap;
use crate::model::TypeModel;
use crate::model::canonical::ValueError;
use crate::not_understood::NotUnderstood;
use crate::operation::{Action, Method, Operation, Precondition, Request};
use crate::read::field_path::FieldPath;
use crate::read::{ReadError, ReadRequest, State};
use crate::secret::Text;
use crate::secret_text::SecretText;
use crate::value::{Attributes, Name, Value};

/// A type whose commands are values of the catalog.
#[derive(Debug)]
pub(crate) struct CommandType {
    model: Arc<TypeModel>,
    /// The attribute with the command.
    attribute: Name,
    action: CommandAction,
    condition: CommandCondition,
    /// Attributes without effect, with the reason.
    ignored: IndexMap<Name, String>,
    /// Where secrets stand in text of the platform.
    secrets: SecretText,
}

/// What is sent.
#[derive(Debug)]
enum CommandAction {
    /// The lines of the value; indented lines are lines of the block above them.
    Lines {
        rules: LineRules,
        negation: Negation,
    },
    /// A `POST` of a body with the value.
    Request {
        path: String,
        body: Vec<(FieldPath, BodyField)>,
    },
}

/// The placeholder of the value in the answer to the condition's read.
const CURRENT: &str = "current";
const NO_CONDITION: &str = "the command has no condition: it is sent in every run";

fn line_text(line: &Value) -> Option<String> {
    line.unwrap_sensitive().scalar_text()
}

impl CommandType {
    /// The command of a resource. The lines of a list are one text.
    fn command(&self, desired: &Desired) -> Option<Text> {
        let value = desired.attributes.get(self.attribute.as_str())?;
        let is_secret = value.contains_secret() || self.model.attributes[&self.attribute].sensitive;
        let text = match value.unwrap_sensitive() {
            Value::List(lines) => {
                let lines: Option<Vec<String>> = lines.iter().map(line_text).collect();
                lines?.join("\n")
            }
            one => one.scalar_text()?,
        };
        Some(if is_secret {
            Text::secret(text)
        } else {
            Text::plain(text)
        })
    }

    /// The operations of a resource, without those that the condition makes needless.
    fn operations(&self, desired: &Desired, state: &State) -> Result<Vec<Operation>, RenderError> {
        let Some(command) = self.command(desired) else {
            return Ok(Vec::new());
        };
        let is_repeated = !self.has_condition(desired);
        let warning = is_repeated.then(|| NO_CONDITION.to_owned());
        let actions = match &self.action {
            CommandAction::Lines { negation, .. } => {
                let lines = CommandLines::parse(&command);
                let has = |path: &[String]| self.condition.has_line(state, path, negation);
                lines.actions(has, warning)
            }
            CommandAction::Request { path, body } => {
                vec![Action::Request(self.request(
                    path,
                    body,
                    (desired, state),
                )?)]
            }
        };
        let operations = actions.into_iter().map(|action| Operation {
            attributes: vec![self.attribute.clone()],
            action,
        });
        Ok(operations.collect())
    }

    /// Whether the command is not sent in every run.
    fn has_condition(&self, desired: &Desired) -> bool {
        self.condition.is_remembered || self.condition.is_declared(desired)
    }

    /// The request of a command.
    fn request(
        &self,
        path: &str,
        fields: &[(FieldPath, BodyField)],
        (desired, state): (&Desired, &State),
    ) -> Result<Request, RenderError> {
        let attribute = |name: &str| match name {
            CURRENT => self.condition.current(state).into_iter().next(),
            _ => desired.attributes.get(name)?.scalar_text(),
        };
        let is_secret = |name: &str| {
            let model = self.model.attributes.get(name);
            let value = desired.attributes.get(name);
            model.is_some_and(|one| one.sensitive) || value.is_some_and(Value::contains_secret)
        };
        let mut body = Body::object();
        for (field, value) in fields {
            let value = match value {
                BodyField::Constant(json) => json.clone().into(),
                BodyField::Text(template) => {
                    let text = template.fill(attribute);
                    let text =
                        text.map_err(|UnfilledHole(name)| RenderError::new(name, "has no value"))?;
                    if template.holes().any(is_secret) {
                        Body::Secret(text.into())
                    } else {
                        Json::from(text).into()
                    }
                }
            };
            body.put(field, value);
        }
        Ok(Request {
            method: Method::Post,
            path: path.to_owned(),
            body: Some(body.to_text()),
            abridged: None,
            is_file: false,
            idempotent: false,
            precondition: Precondition::None,
        })
    }

    /// Whether the resource requires nothing.
    fn is_satisfied(&self, desired: &Desired, state: &State) -> Result<bool, ReadError> {
        if self.command(desired).is_none() || self.condition.is_met(desired, state)? {
            return Ok(true);
        }
        let operations = self.operations(desired, state).unwrap_or_default();
        let is_sent =
            |operation: &Operation| state.is_sent(&self.model.name, &sent_text(&operation.action));
        Ok(operations.iter().all(is_sent))
    }

    fn problem(&self, attribute: &str, message: String, help: Option<&str>) -> Problem {
        Problem {
            attribute: attribute.to_owned(),
            kind: ProblemKind::Unwritable,
            severity: Severity::Error,
            message,
            help: help.map(str::to_owned),
        }
    }
}

/// An operation as it is sent, for comparison.
fn sent_text(action: &Action) -> String {
    match action {
        Action::Line(line) => {
            let lines: Vec<String> = line
                .mode
                .iter()
                .chain(&line.text)
                .map(Text::reveal)
                .collect();
            lines.join("\n")
        }
        Action::Request(request) => {
            let body = request.body.as_ref().map(Text::reveal).unwrap_or_default();
            format!("{} {body}", request.path)
        }
        Action::Edit(edit) => edit.config.reveal(),
    }
}

impl InstanceReader for CommandType {
    fn reads(&self, resources: Option<&[&Desired]>) -> Vec<ReadRequest> {
        self.condition.reads(resources.unwrap_or_default())
    }

    fn instances(&self, _: &State) -> Result<Vec<Instance>, ReadError> {
        Ok(Vec::new())
    }

    /// A command is present: without its value if it must be sent.
    fn instance(&self, desired: &Desired, state: &State) -> Result<Option<Instance>, ReadError> {
        let mut attributes = Attributes::default();
        for name in self.model.namevars() {
            attributes.extend(
                desired
                    .attributes
                    .get(name)
                    .map(|value| (name.to_owned(), value.clone())),
            );
        }
        if self.is_satisfied(desired, state)?
            && let Some(value) = desired.attributes.get(self.attribute.as_str())
        {
            attributes.insert(self.attribute.to_string(), value.clone());
        }
        Ok(Some(Instance {
            attributes,
            ..Instance::default()
        }))
    }

    fn not_understood(&self, _: &State, _: &IsReadByOther<'_>) -> Vec<NotUnderstood> {
        Vec::new()
    }
}

impl ChangePlanner for CommandType {
    fn canonicalize(&self, attributes: Attributes) -> Result<Attributes, Vec<ValueError>> {
        Ok(attributes)
    }

    fn check(&self, desired: &Desired) -> Vec<Problem> {
        let mut problems = Vec::new();
        if desired.is_absent() {
            let message = "a command cannot be removed".to_owned();
            problems.push(self.problem("ensure", message, Some("remove the resource")));
        }
        for (attribute, message) in self.condition.errors(desired) {
            problems.push(self.problem(&attribute, message, None));
        }
        for (name, reason) in &self.ignored {
            if desired.attributes.contains_key(name.as_str()) {
                problems.push(Problem {
                    kind: ProblemKind::Unsupported,
                    severity: Severity::Warning,
                    help: Some(reason.clone()),
                    ..self.problem(name, "is ignored".to_owned(), None)
                });
            }
        }
        let Some(command) = self.command(desired) else {
            return problems;
        };
        if let CommandAction::Lines { rules, .. } = &self.action {
            let lines = CommandLines::parse(&command);
            let errors = lines.texts().filter_map(|line| rules.check(line).err());
            let errors = errors.map(|error| self.problem(&self.attribute, error.to_string(), None));
            problems.extend(errors);
            if lines.is_empty() {
                problems.push(self.problem(&self.attribute, "has no lines".to_owned(), None));
            }
        }
        let mut warn = |message: &str, help: String| {
            problems.push(Problem {
                kind: ProblemKind::Misleading,
                severity: Severity::Warning,
                help: Some(help),
                ..self.problem(&self.attribute, message.to_owned(), None)
            });
        };
        if !self.has_condition(desired) {
            warn(NO_CONDITION, self.condition.hint());
        }
        let clear: Vec<&str> = command.plain_texts().collect();
        if clear.iter().any(|text| self.secrets.finds(text)) {
            let message = "the command contains a secret, which events and reports show";
            warn(message, "wrap it in `Sensitive`".to_owned());
        }
        problems
    }

    fn differs(
        &self,
        desired: &Desired,
        current: Option<&Instance>,
        history: &dyn SecretHistory,
    ) -> Vec<Name> {
        let name = self.attribute.as_str();
        let is_sent = current.is_some_and(|current| current.attributes.contains_key(name));
        let Some(value) = desired.attributes.get(name) else {
            return Vec::new();
        };
        if desired.is_absent() || is_sent {
            return Vec::new();
        }
        if !self.condition.is_declared(desired) {
            // The device does not show whether it was applied.
            let is_last = history.matches_last_set(&desired.reference, name, value) == Some(true);
            if is_last && self.condition.is_remembered {
                return Vec::new();
            }
        }
        vec![self.attribute.clone()]
    }

    fn render(&self, change: &Change, state: &State) -> Result<Vec<Operation>, RenderError> {
        self.operations(&change.desired, state)
    }

    fn is_verifiable(&self, desired: &Desired) -> bool {
        self.condition.is_declared(desired)
    }

    fn predict(&self, state: &mut State, operations: &[Operation]) {
        for operation in operations {
            state.remember_sent(&self.model.name, sent_text(&operation.action));
        }
    }

    fn supports_diff(&self, _: &State) -> Result<(), HiddenFromDiff> {
        Err(HiddenFromDiff::Unpredictable)
    }

    fn effect_slots(&self) -> Vec<EffectSlot> {
        Vec::new()
    }

    fn effects(&self, _: &Desired, _: &[&str]) -> Vec<Effect> {
        Vec::new()
    }
}

impl TypeDescription for CommandType {
    fn is_ensurable(&self) -> bool {
        false
    }

    fn is_singleton(&self) -> bool {
        false
    }

    fn explain(&self) -> Explanation {
        let sent = match &self.action {
            CommandAction::Lines { .. } => format!("the lines of `{}`", self.attribute),
            CommandAction::Request { path, .. } => format!("POST {path} with `{}`", self.attribute),
        };
        let ignored = self.ignored.iter();
        let attributes = ignored.map(|(name, reason)| AttributeExplanation {
            name: name.to_string(),
            not_applied: Some(NotApplied {
                severity: Severity::Warning,
                reason: reason.clone(),
            }),
            ..AttributeExplanation::default()
        });
        Explanation {
            reads: self.condition.reads(&[]),
            instance: vec![
                ("send".to_owned(), sent),
                ("unless".to_owned(), self.condition.describe()),
            ],
            attributes: attributes.collect(),
        }
    }

    fn audit(&self) -> Vec<Diagnostic> {
        Vec::new()
    }
}
