//! Implements [`Implementation`](crate::driver::Implementation) for REST types.

use std::borrow::Cow;
use std::sync::Arc;

use switchtender_outline::{NetconfInterface, RestInterface};

use super::canonical::{canonical, canonical_members};
use super::definition::{RestAttributeRule, RestDefinition, RestLocation};
use super::lookups::{Lookups, partition};
use super::members::with_unset_fields;
use super::objects::find;
use super::{edit, not_understood, predict, read, read_requests, write};
use crate::change::{Change, Desired, Instance};
use crate::diagnostic::{Diagnostic, Severity, Source};
use crate::driver::effect::{Effect, EffectSlot};
use crate::driver::explanation::Explanation;
use crate::driver::implementation::{
    ChangePlanner, InstanceReader, IsReadByOther, RenderError, TypeDescription,
};
use crate::driver::problem::{Problem, ProblemKind, narrowed_refusal, unsupported_refusal};
use crate::driver::secret_history::SecretHistory;
use crate::driver::surveyed_object::SurveyedObject;
use crate::model::TypeModel;
use crate::model::canonical::ValueError;
use crate::not_understood::NotUnderstood;
use crate::operation::{Action, Edit, Operation};
use crate::read::{ReadError, ReadRequest, State};
use crate::secret_text::SecretPositions;
use crate::value::{Attributes, Name, Value};

/// A type on a platform with a REST interface or NETCONF.
#[derive(Debug)]
pub(crate) struct RestType {
    pub(crate) definition: RestDefinition,
    pub(crate) model: Arc<TypeModel>,
    pub(crate) source: Arc<Source>,
    /// Names and values of the device.
    pub(crate) examples: Vec<String>,
}

impl RestType {
    fn key(&self) -> &str {
        self.definition.instance.key_attribute()
    }

    fn rules(&self) -> impl Iterator<Item = (&str, &RestAttributeRule)> {
        self.definition
            .attributes
            .iter()
            .map(|(name, rule)| (name.as_str(), rule))
    }

    /// The value of an attribute that the device does not return.
    fn silent_value(&self, name: &str) -> Option<Value> {
        let absent = match &self.definition.attributes.get(name)?.location {
            RestLocation::Entries(rule) => rule.absent.clone(),
            location => location.field_format()?.absent.clone(),
        }?;
        Some(canonical(
            &self.definition,
            &self.model,
            name,
            &absent,
            None,
        ))
    }

    /// Why a value has no place in the resource.
    fn misplaced(
        &self,
        location: &RestLocation,
        value: &Value,
        desired: &Desired,
    ) -> Option<String> {
        let RestLocation::Chosen(chosen) = location else {
            return None;
        };
        let decided = desired.attributes.get(&chosen.by)?.scalar_text()?;
        chosen.refusal(Some(&decided), value)
    }

    /// The resource with its values in the default route domain of its partition.
    fn in_partition<'w>(&self, desired: &'w Desired, state: &State) -> Cow<'w, Desired> {
        let name = desired.attributes.get(self.key());
        let Some(name) = name.and_then(Value::scalar_text) else {
            return Cow::Borrowed(desired);
        };
        let lookups = Lookups::of(&self.definition, &self.model, state);
        let domain = lookups.domain(&partition(&name));
        if domain.is_none() {
            return Cow::Borrowed(desired);
        }
        let in_domain = |(name, value): (&Name, &Value)| {
            let value = canonical(&self.definition, &self.model, name, value, domain);
            (name.clone(), value)
        };
        let mut attributes: Attributes = desired.attributes.iter().map(in_domain).collect();
        canonical_members(&self.definition, &self.model, &mut attributes, domain);
        if attributes == desired.attributes {
            return Cow::Borrowed(desired);
        }
        let mut resolved = desired.clone();
        resolved.attributes = attributes;
        Cow::Owned(resolved)
    }

    fn problem(
        &self,
        kind: ProblemKind,
        severity: Severity,
        attribute: &str,
        message: String,
    ) -> Problem {
        Problem {
            attribute: attribute.to_owned(),
            kind,
            severity,
            message,
            help: None,
        }
    }
}

impl InstanceReader for RestType {
    fn reads(&self, resources: Option<&[&Desired]>) -> Vec<ReadRequest> {
        read_requests::requests(&self.definition, &self.model, resources)
    }

    fn instances(&self, state: &State) -> Result<Vec<Instance>, ReadError> {
        read::instances(&self.definition, &self.model, state)
    }

    fn instance(&self, desired: &Desired, state: &State) -> Result<Option<Instance>, ReadError> {
        read::instance_of(&self.definition, &self.model, desired, state)
    }

    fn not_understood(&self, state: &State, _: &IsReadByOther<'_>) -> Vec<NotUnderstood> {
        not_understood::not_understood(&self.definition, &self.model, state)
    }

    fn surveyed_objects(&self, state: &State) -> Vec<SurveyedObject> {
        self.definition.surveyed(&self.model, state)
    }

    fn shows(&self, attribute: &str) -> bool {
        let rule = self.definition.attributes.get(attribute);
        rule.is_none_or(|rule| !rule.write_only)
    }

    fn default_value(&self, attribute: &str) -> Option<Value> {
        match &self.definition.attributes.get(attribute)?.location {
            RestLocation::Choice(choice) => choice.absent.clone(),
            _ => self.silent_value(attribute),
        }
    }
}

impl ChangePlanner for RestType {
    fn canonicalize(&self, attributes: Attributes) -> Result<Attributes, Vec<ValueError>> {
        let attributes = attributes.into_iter().map(|(name, value)| {
            let value = canonical(&self.definition, &self.model, &name, &value, None);
            (name, value)
        });
        let mut attributes: Attributes = attributes.collect();
        canonical_members(&self.definition, &self.model, &mut attributes, None);
        let own = self.definition.instance.name.as_ref();
        if let Some(name) = own.and_then(|rule| rule.name(&attributes)) {
            attributes.insert(self.key().to_owned(), name.into());
        }
        Ok(attributes)
    }

    fn resolve<'w>(
        &self,
        desired: &'w Desired,
        current: Option<&Instance>,
        state: &State,
    ) -> Cow<'w, Desired> {
        let mut resolved = self.in_partition(desired, state);
        for (name, rule) in self.rules() {
            if let RestLocation::Members(members) = &rule.location
                && !members.fields.is_empty()
                && let Some(value) = resolved.attributes.get(name)
                && let Some(current) = current.and_then(|current| current.attributes.get(name))
            {
                let value = with_unset_fields(members, value, current);
                resolved.to_mut().attributes.insert(name, value);
            }
        }
        resolved
    }

    fn check(&self, desired: &Desired) -> Vec<Problem> {
        let mut problems = Vec::new();
        let rule = &self.definition.instance;
        let name = desired
            .attributes
            .get(self.key())
            .and_then(Value::scalar_text);
        if let (Some(reserved), Some(name)) = (&rule.reserved, &name)
            && reserved.is_match(name)
        {
            let message = format!("{name} is reserved and is never changed");
            problems.push(self.problem(
                ProblemKind::Reserved,
                Severity::Warning,
                self.key(),
                message,
            ));
        }
        if desired.is_absent() && rule.remove.is_none() {
            let message = match rule.singleton {
                Some(_) => "the device has exactly one, which is always present",
                None => "such objects cannot be removed",
            };
            let message = message.to_owned();
            problems.push(self.problem(
                ProblemKind::Unwritable,
                Severity::Error,
                "ensure",
                message,
            ));
        }
        let kind = self
            .definition
            .kind_of(&desired.attributes)
            .map(|(name, _)| name);
        for (name, rule) in self.rules() {
            let Some(value) = desired.attributes.get(name) else {
                continue;
            };
            let attribute = self.model.attributes.get(name);
            let lacking = attribute.and_then(|attribute| {
                unsupported_refusal(&rule.unsupported_values, attribute, value)
            });
            let narrowed = narrowed_refusal(rule.narrowed.as_ref(), value);
            if let Some(message) = lacking.or(narrowed) {
                let severity = Severity::Error;
                problems.push(self.problem(ProblemKind::Unsupported, severity, name, message));
            }
            if let RestLocation::Unsupported(reason) = &rule.location {
                let mut problem = self.problem(
                    ProblemKind::Unsupported,
                    Severity::Error,
                    name,
                    "is not supported on this platform".to_owned(),
                );
                problem.help = Some(reason.clone());
                problems.push(problem);
            } else if !self.definition.has(name, kind) {
                let message = format!(
                    "ignored: kind `{}` has no such attribute",
                    kind.unwrap_or_default()
                );
                problems.push(self.problem(
                    ProblemKind::Unsupported,
                    Severity::Warning,
                    name,
                    message,
                ));
            } else if let Some(message) = self.misplaced(&rule.location, value, desired) {
                let severity = Severity::Error;
                problems.push(self.problem(ProblemKind::Unwritable, severity, name, message));
            } else if let Some(field) = rule.location.field_format() {
                if let Some(message) = field.codec.and_then(|codec| codec.check(value)) {
                    let severity = Severity::Error;
                    problems.push(self.problem(ProblemKind::Unwritable, severity, name, message));
                }
            } else if let RestLocation::Group { codec, with, .. } = &rule.location {
                let values: Vec<Option<&Value>> = std::iter::once(Some(value))
                    .chain(with.iter().map(|name| desired.attributes.get(name)))
                    .collect();
                if let Some(message) = codec.check(&values) {
                    problems.push(self.problem(
                        ProblemKind::Unwritable,
                        Severity::Error,
                        name,
                        message,
                    ));
                }
            }
        }
        problems
    }

    fn differs(
        &self,
        desired: &Desired,
        current: Option<&Instance>,
        secrets: &dyn SecretHistory,
    ) -> Vec<Name> {
        let is_present = !desired.is_absent();
        let is_inactive = |name: &str| current.is_some_and(|current| current.is_inactive(name));
        let differs_in_ensure = desired.attributes.contains_key("ensure")
            && (is_present != current.is_some() || is_inactive("ensure"));
        if differs_in_ensure && !is_present {
            return vec!["ensure".into()];
        }
        if !is_present || (current.is_none() && !differs_in_ensure) {
            return Vec::new();
        }
        let mut differing: Vec<Name> = Vec::new();
        if differs_in_ensure {
            differing.push("ensure".into());
        }
        let kind = self
            .definition
            .kind_of(&desired.attributes)
            .map(|(name, _)| name);
        let chooser = self
            .definition
            .kinds
            .as_ref()
            .map(|kinds| kinds.attribute.as_str());
        for attribute in self.model.properties() {
            let name = attribute.name.as_str();
            let Some(value) = desired.attributes.get(name) else {
                continue;
            };
            if name == "ensure" || !(chooser == Some(name) || self.definition.has(name, kind)) {
                continue;
            }
            let Some(current) = current else {
                differing.push(attribute.name.clone());
                continue;
            };
            let write_only = self
                .definition
                .attributes
                .get(name)
                .is_some_and(|rule| rule.write_only);
            let same = if write_only {
                secrets.matches_last_set(&desired.reference, name, value) == Some(true)
            } else {
                let actual = current.attributes.get(name).cloned();
                let actual = actual.or_else(|| self.silent_value(name));
                actual.is_some_and(|actual| actual.unwrap_sensitive() == value.unwrap_sensitive())
            };
            if !same || is_inactive(name) {
                differing.push(attribute.name.clone());
            }
        }
        differing
    }

    fn render(&self, change: &Change, state: &State) -> Result<Vec<Operation>, RenderError> {
        let mut operations = write::operations(&self.definition, change, state)?;
        let Some(namespaces) = &self.definition.namespaces else {
            return Ok(operations);
        };
        let desired = &change.desired.attributes;
        let found = find(&self.definition, &self.model, desired, state).ok();
        let edited = edit::EditedObject {
            definition: &self.definition,
            model: &self.model,
            found: found.flatten(),
            written: &change.attributes,
        };
        for operation in &mut operations {
            if let Action::Request(request) = &operation.action {
                let edit = edited.edit(request.clone(), namespaces)?;
                operation.action = Action::Edit(edit);
            }
        }
        Ok(operations)
    }

    fn has_refresh(&self) -> bool {
        self.definition.refresh.is_some()
    }

    fn refresh(
        &self,
        desired: &Desired,
        current: Option<&Instance>,
    ) -> Result<Vec<Operation>, RenderError> {
        let Some(refresh) = &self.definition.refresh else {
            return Ok(Vec::new());
        };
        let attributes = desired.over(current);
        refresh.operations(&self.definition, &attributes)
    }

    fn predict(&self, state: &mut State, operations: &[Operation]) {
        let requests = operations
            .iter()
            .filter_map(|operation| match &operation.action {
                Action::Request(request) | Action::Edit(Edit { request, .. }) => Some(request),
                Action::Line(_) => None,
            });
        predict::apply((&self.definition, &self.model), requests, state);
    }

    fn effect_slots(&self) -> Vec<EffectSlot> {
        super::effects::touches(&self.definition, &self.model)
    }

    fn effects(&self, desired: &Desired, attributes: &[&str]) -> Vec<Effect> {
        super::effects::settings(&self.definition, desired, attributes)
    }
}

impl TypeDescription for RestType {
    fn is_ensurable(&self) -> bool {
        self.definition.instance.create.is_some()
    }

    fn is_removable(&self) -> bool {
        self.definition.instance.remove.is_some()
    }

    fn is_singleton(&self) -> bool {
        self.definition.instance.singleton.is_some()
    }

    fn explain(&self) -> Explanation {
        super::explain::explain(&self.definition, &self.model)
    }

    fn secret_positions(&self) -> SecretPositions {
        SecretPositions {
            fields: read::secret_fields(&self.definition, &self.model).collect(),
            ..SecretPositions::default()
        }
    }

    fn audit(&self) -> Vec<Diagnostic> {
        self.findings()
    }

    fn add_objects(&self, interface: &mut RestInterface) {
        self.definition.add_objects(interface);
    }

    fn add_elements(&self, interface: &mut NetconfInterface) {
        self.definition.add_elements(&self.model, interface);
    }
}
