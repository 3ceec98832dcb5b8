//! Drivers: how a platform reads and writes its resource types, loaded from data files.
//!
//! Data flow from files to operations. All functions are pure:
//!
//! ```text
//! definitions::{shipped, from_directory} ─► Registry ─► Platform ─► Driver (for one device's facts)
//! Driver::reads ─► (a session reads the device) ─► Platform::parse ─► State
//! desired: TypeModel::resolve ─► Driver::canonicalize ─► Driver::check      all offline
//! State ─► Driver::instance(s) ─► Driver::resolve ─► Driver::differs ─► Driver::render ─► operations
//! operations ─► Driver::predict ─► State ─► Driver::config_diff
//! ```
//!
//! The file format is described in `docs/definitions.md`. [`cli`] implements types with line
//! templates, [`rest`] with fields of JSON objects, [`command`] with commands of the catalog.
//! [`Implementation`] is the interface of all.

mod answer_fields;
mod backup;
mod backup_rules;
pub(crate) mod claim;
pub(crate) mod cli;
pub(crate) mod codec;
mod command;
pub(crate) mod configuration;
mod context;
mod coverage_rules;
mod defaults;
mod document_rule;
pub(crate) mod effect;
mod explanation;
pub(crate) mod facts;
pub(crate) mod implementation;
mod inactive;
mod json_body;
mod json_fields;
pub(crate) mod manager_rule;
mod negation;
mod new_block;
mod offline_rule;
mod owner;
mod parameter;
pub(crate) mod platform;
pub(crate) mod problem;
pub(crate) mod quoting;
mod read_rule;
pub(crate) mod registry;
pub(crate) mod rest;
mod saved_answers;
mod saved_configuration;
mod saved_rule;
pub(crate) mod secret_history;
mod self_test;
mod session_outline;
mod session_use;
pub(crate) mod side_effects;
mod standby;
mod survey;
pub(crate) mod surveyed_object;
mod template_error;
pub mod test_run;
#[cfg(test)]
mod tests;
pub(crate) mod type_driver;
mod undo;
mod unsupported;
mod unsupported_type;
#[cfg(test)]
mod work_count;

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use crate::map::IndexMap;

use crate::change::{Change, Desired, Instance};
use crate::diagnostic::Severity;
use crate::model::TypeModel;
use crate::model::canonical::ValueError;
use crate::not_understood::NotUnderstood;
use crate::operation::{Action, Operation};
use crate::read::indent::Node;
use crate::read::{ReadError, ReadRequest, State};
use crate::secret::Text;
use crate::value::{Attributes, Name, Value};

pub use crate::dialogue::Transport;
pub use backup_rules::Backup;
pub use claim::{Claim, ClaimKind};
pub use configuration::ConfigurationChange;
pub use effect::{Effect, EffectSlot};
pub use explanation::{AttributeExplanation, NotApplied};
pub use facts::Facts;
pub(crate) use implementation::{HiddenFromDiff, Implementation, RenderError};
pub use owner::SettingUser;
pub use parameter::{Parameter, ParameterValues};
pub use platform::outline::{CommandLineOutline, OutlineError, PlatformOutline};
pub use platform::rest_outline::RestOutline;
pub use platform::{MockKind, Platform};
pub use problem::{Problem, ProblemKind};
pub use registry::Registry;
pub use registry::key_reference::DefinitionKey;
pub use saved_answers::UnsavedRead;
pub use secret_history::{NoSecretHistory, SecretHistory};
pub use session_outline::SessionOutline;
pub use survey::SurveyedLine;
pub use test_run::TestResult;
pub use type_driver::TypeDriver;
pub use undo::{OldSecrets, Undo};
pub use unsupported_type::UnsupportedType;

/// A platform's types for one device: for each type, the variant that the device's facts select, on
/// first use.
#[derive(Clone, Debug)]
pub struct Driver {
    platform: Arc<Platform>,
    facts: Facts,
    /// For each type of the platform the index of its variant.
    variants: Vec<OnceLock<Option<usize>>>,
    /// The names of the reads whose answers are known, for a device that cannot be asked.
    saved: Option<Arc<[String]>>,
}

impl Driver {
    /// The types of the platform for a device with these facts.
    pub fn new(platform: &Arc<Platform>, facts: &Facts) -> Self {
        Self {
            platform: Arc::clone(platform),
            facts: facts.clone(),
            variants: vec![OnceLock::new(); platform.types.len()],
            saved: None,
        }
    }

    /// The platform of the device.
    pub fn platform(&self) -> &Arc<Platform> {
        &self.platform
    }

    /// Whether resources of the type can be applied on this device.
    ///
    /// # Errors
    /// The platform lacks the type, or the device's variant excludes it.
    pub fn supports(&self, model: &TypeModel) -> Result<(), UnsupportedType> {
        self.implementation(model).map(|_| ())
    }

    /// Whether the device has exactly one instance of the type, independent of the title.
    pub fn is_singleton(&self, model: &TypeModel) -> bool {
        self.supported(model).is_some_and(|of| of.is_singleton())
    }

    /// Whether instances of the type can be removed.
    pub(crate) fn is_removable(&self, model: &TypeModel) -> bool {
        self.supported(model).is_some_and(|of| of.is_removable())
    }

    /// The reads for resources of these types, each once. Unsupported types need none.
    pub fn reads(&self, models: &[&Arc<TypeModel>]) -> Vec<ReadRequest> {
        let supported = models.iter().filter_map(|model| self.supported(model));
        once(supported.flat_map(|of| of.reads(None)))
    }

    /// The reads for these resources only. Some types have collections per kind and need only those
    /// of the desired kinds.
    pub fn reads_for(&self, resources: &[&Desired]) -> Vec<ReadRequest> {
        let mut by_type: IndexMap<&str, Vec<&Desired>> = IndexMap::default();
        for resource in resources {
            let name = resource.model.name.as_str();
            by_type.entry(name).or_default().push(resource);
        }
        once(by_type.values().flat_map(|resources| {
            let supported = self.supported(&resources[0].model).into_iter();
            supported.flat_map(|of| of.reads(Some(resources)))
        }))
    }

    /// Converts attributes from the model's canonical form to the platform's.
    ///
    /// # Errors
    /// The values that the platform cannot represent. Attributes of an unsupported type are
    /// unchanged.
    pub fn canonicalize(
        &self,
        model: &TypeModel,
        attributes: Attributes,
    ) -> Result<Attributes, Vec<ValueError>> {
        match self.supported(model) {
            Some(of) => of.canonicalize(attributes),
            None => Ok(attributes),
        }
    }

    /// Problems of a resource that are found without the device. Call [`Driver::supports`] first.
    pub fn check(&self, desired: &Desired) -> Vec<Problem> {
        let supported = self.supported(&desired.model);
        supported.map(|of| of.check(desired)).unwrap_or_default()
    }

    /// What of a resource this device lacks, and other devices of the platform have.
    pub(crate) fn left_out(&self, desired: &Desired) -> Vec<Problem> {
        let name = desired.model.name.as_str();
        let (Some(definition), Ok(implementation)) = (
            self.platform.type_driver(name),
            self.implementation(&desired.model),
        ) else {
            return Vec::new();
        };
        let base = &definition.base;
        if Arc::ptr_eq(base, implementation) {
            return Vec::new();
        }
        let general: Vec<String> = base
            .check(desired)
            .into_iter()
            .map(|one| one.message)
            .collect();
        let own = implementation.check(desired).into_iter();
        own.filter(|problem| {
            problem.kind == ProblemKind::Unsupported
                && problem.severity == Severity::Warning
                && !general.contains(&problem.message)
        })
        .collect()
    }

    /// Why the device does not let anybody change the instance that a resource is about.
    pub fn reserved(&self, desired: &Desired) -> Option<Problem> {
        let mut problems = self.check(desired).into_iter();
        problems.find(|problem| problem.kind == ProblemKind::Reserved)
    }

    /// All instances of a type; none if the type is not supported.
    ///
    /// # Errors
    /// An answer is invalid.
    pub fn instances(&self, model: &TypeModel, state: &State) -> Result<Vec<Instance>, ReadError> {
        let Some(implementation) = self.supported(model) else {
            return Ok(Vec::new());
        };
        let instances = implementation.instances(state)?.into_iter();
        let marked = instances.map(|instance| self.marked(implementation, instance));
        Ok(marked.collect())
    }

    /// A text of the device with its secrets masked.
    pub fn masked_text(&self, text: &str) -> String {
        self.platform.protocol().secrets().apply(text)
    }

    /// The instance with the values marked that contain a secret.
    fn marked(&self, implementation: &Arc<dyn Implementation>, mut instance: Instance) -> Instance {
        if implementation.marks_secrets() {
            return instance;
        }
        let secrets = self.platform.protocol.secrets();
        for (_, value) in instance.attributes.iter_mut() {
            *value = secrets.marked(std::mem::replace(value, Value::Undef));
        }
        instance
    }

    /// The lines, rows and objects that types recognize and do not understand, with secrets masked.
    pub fn not_understood(&self, models: &[&Arc<TypeModel>], state: &State) -> Vec<NotUnderstood> {
        let mut found = Vec::new();
        for model in models {
            let Ok(implementation) = self.implementation(model) else {
                continue;
            };
            let is_read_by_other = |read: &str, path: &[&Node]| {
                let mut others = self.implementations();
                others.any(|other| {
                    !Arc::ptr_eq(other, implementation) && other.reads_line(read, path)
                })
            };
            found.extend(implementation.not_understood(state, &is_read_by_other));
        }
        let secrets = self.platform.protocol().secrets();
        for one in &mut found {
            one.text = secrets.apply_below(one.path.iter().map(String::as_str), &one.text);
            one.path = one.path.iter().map(|line| secrets.apply(line)).collect();
        }
        found
    }

    /// The instance of a resource; `None` if the device has none.
    ///
    /// # Errors
    /// An answer is invalid.
    pub fn instance(
        &self,
        desired: &Desired,
        state: &State,
    ) -> Result<Option<Instance>, ReadError> {
        let Some(implementation) = self.supported(&desired.model) else {
            return Ok(None);
        };
        let instance = implementation.instance(desired, state)?;
        Ok(instance.map(|instance| self.marked(implementation, instance)))
    }

    /// Resolves values that depend on the current state and on other answers. Call it before
    /// [`Driver::differs`] and use the result for the change.
    pub fn resolve<'w>(
        &self,
        desired: &'w Desired,
        current: Option<&Instance>,
        state: &State,
    ) -> Cow<'w, Desired> {
        match self.supported(&desired.model) {
            Some(of) => of.resolve(desired, current, state),
            None => Cow::Borrowed(desired),
        }
    }

    /// The properties that are out of sync, `ensure` first. Attributes that the platform ignores
    /// are always in sync.
    pub fn differs(
        &self,
        desired: &Desired,
        current: Option<&Instance>,
        secrets: &dyn SecretHistory,
    ) -> Vec<Name> {
        let supported = self.supported(&desired.model);
        supported
            .map(|of| of.differs(desired, current, secrets))
            .unwrap_or_default()
    }

    /// The settings that attributes of a type can change, for all values.
    pub fn effect_slots(&self, model: &TypeModel) -> Vec<EffectSlot> {
        let supported = self.supported(model);
        supported.map(|of| of.effect_slots()).unwrap_or_default()
    }

    /// The constant words of the mode and of the line, if each instance of a type is a line.
    pub fn instance_words(&self, model: &TypeModel) -> Option<(String, String)> {
        self.supported(model)?.instance_words()
    }

    /// The settings that these attributes of a resource change on the device.
    pub fn effects(&self, desired: &Desired, attributes: &[&str]) -> Vec<Effect> {
        let supported = self.supported(&desired.model);
        supported
            .map(|of| of.effects(desired, attributes))
            .unwrap_or_default()
    }

    /// The operations of a change, in order.
    ///
    /// # Errors
    /// A value cannot be written, or the type is not supported.
    pub fn render(&self, change: &Change, state: &State) -> Result<Vec<Operation>, RenderError> {
        let operations = self
            .implementation(&change.desired.model)
            .map_err(|error| RenderError::new("ensure", error.to_string()))?
            .render(change, state)?;
        new_block::NewBlockRule::check_all(&self.platform.new_blocks, &operations, state)?;
        Ok(operations.into_iter().map(|one| self.masked(one)).collect())
    }

    /// The operation with all its secrets marked: the body of a complete object has fields that no
    /// attribute reads, and a command of the catalog has any text.
    fn masked(&self, mut operation: Operation) -> Operation {
        let secrets = self.platform.protocol().secrets();
        let mask = |text: Text| text.mask_parts(|text| secrets.ranges(text));
        match &mut operation.action {
            Action::Request(request) => request.body = request.body.take().map(mask),
            Action::Edit(edit) => edit.config = mask(std::mem::take(&mut edit.config)),
            Action::Line(line) => {
                let blocks: Vec<String> = line.mode.iter().map(Text::reveal).collect();
                let find =
                    |text: &str| secrets.ranges_below(blocks.iter().map(String::as_str), text);
                line.text = line.text.take().map(|text| text.mask_parts(find));
                line.mode = std::mem::take(&mut line.mode)
                    .into_iter()
                    .map(mask)
                    .collect();
                line.body = std::mem::take(&mut line.body)
                    .into_iter()
                    .map(mask)
                    .collect();
            }
        }
        operation
    }

    /// Whether a read after the change shows if it was applied.
    pub(crate) fn is_verifiable(&self, desired: &Desired) -> bool {
        let supported = self.supported(&desired.model);
        supported.is_some_and(|of| of.is_verifiable(desired))
    }

    /// The value of an attribute without a line, if the definition has it.
    pub(crate) fn default_value(&self, model: &TypeModel, attribute: &str) -> Option<Value> {
        self.supported(model)?.default_value(attribute)
    }

    /// Whether the device shows an attribute of a resource, and the platform applies it.
    pub(crate) fn compares(&self, desired: &Desired, attribute: &str) -> bool {
        let supported = self.supported(&desired.model);
        supported.is_some_and(|of| of.shows(attribute) && of.applies(attribute))
    }

    /// The attributes of a resource that a plan refuses to compare, because text of its instance was not understood.
    pub fn unread_attributes(
        &self,
        desired: &Desired,
        current: &Instance,
        texts: &[NotUnderstood],
    ) -> Vec<Name> {
        let default = |name: &str| self.default_value(&desired.model, name);
        let mut rest = desired.clone();
        let mut unread = Vec::new();
        for text in texts {
            while let Some(name) = text.hides(&rest, Some(current), &default) {
                let name: Name = name.into();
                rest.attributes.remove(&name);
                if self.compares(desired, &name) {
                    unread.push(name);
                }
            }
        }
        unread
    }

    /// Declared attributes that have no effect with these values of the device, with messages.
    pub(crate) fn ineffective(
        &self,
        desired: &Desired,
        current: &Attributes,
    ) -> Vec<(Name, String)> {
        let supported = self.supported(&desired.model);
        supported
            .map(|of| of.ineffective(desired, current))
            .unwrap_or_default()
    }

    /// The names of the resources that stand for the instance with these names and for others.
    pub(crate) fn wider_names(&self, model: &TypeModel, names: &Attributes) -> Vec<Attributes> {
        let supported = self.supported(model);
        supported
            .map(|of| of.wider_names(names))
            .unwrap_or_default()
    }

    /// The instances of other resources that a change removes.
    pub fn displaced(&self, change: &Change, state: &State) -> Vec<Instance> {
        let Some(implementation) = self.supported(&change.desired.model) else {
            return Vec::new();
        };
        let displaced = implementation.displaced(change, state).into_iter();
        let marked = displaced.map(|instance| self.marked(implementation, instance));
        marked.collect()
    }

    /// Whether a refresh of the type sends something.
    pub fn has_refresh(&self, model: &TypeModel) -> bool {
        self.supported(model).is_some_and(|of| of.has_refresh())
    }

    /// The operations of a refresh; none if the type has no action.
    ///
    /// # Errors
    /// A value is missing or cannot be written.
    pub fn refresh(
        &self,
        desired: &Desired,
        current: Option<&Instance>,
    ) -> Result<Vec<Operation>, RenderError> {
        let supported = self.supported(&desired.model);
        supported.map_or(Ok(Vec::new()), |of| of.refresh(desired, current))
    }

    /// Applies operations on resources of one type to the state, as the device would.
    pub fn predict(&self, model: &TypeModel, state: &mut State, operations: &[Operation]) {
        if let Some(of) = self.supported(model) {
            of.predict(state, operations);
        }
        for operation in operations {
            state.remember_secrets(operation.action.secrets());
        }
    }

    /// Position of a type in the order of changes to a device. Removals run in reverse order.
    pub fn rank(&self, model: &TypeModel) -> i64 {
        self.platform
            .type_driver(&model.name)
            .map_or(i64::MAX, |definition| definition.rank)
    }

    /// The implementations of all types of the platform. Loads their definitions.
    fn implementations(&self) -> impl Iterator<Item = &Arc<dyn Implementation>> {
        let types = self.variants.len();
        (0..types).filter_map(|index| self.chosen(index).ok())
    }

    /// The implementations of types that this driver has used: only they can have answers in a state that
    /// was read for this device.
    fn used_implementations(&self) -> impl Iterator<Item = &Arc<dyn Implementation>> {
        let types = self.variants.iter().enumerate();
        let used = types.filter(|(_, variant)| variant.get().is_some());
        used.filter_map(|(index, _)| self.chosen(index).ok())
    }

    /// The implementation of the type with this index: that for the configuration alone if the read that lists
    /// the instances is not saved.
    fn chosen(&self, index: usize) -> Result<&Arc<dyn Implementation>, &UnsupportedType> {
        let implementation = self.chosen_variant(index)?;
        Ok(self.saved_form(implementation))
    }

    fn chosen_variant(&self, index: usize) -> Result<&Arc<dyn Implementation>, &UnsupportedType> {
        let definition = self.platform.types[index].definition(&self.platform);
        let variant = self.variants[index].get_or_init(|| definition.matching_variant(&self.facts));
        definition.implementation(*variant)
    }

    /// The implementation of a type that this device supports.
    fn supported(&self, model: &TypeModel) -> Option<&Arc<dyn Implementation>> {
        let index = self.platform.types.get_index_of(&model.name)?;
        self.chosen(index).ok()
    }

    pub(crate) fn implementation(
        &self,
        model: &TypeModel,
    ) -> Result<&Arc<dyn Implementation>, UnsupportedType> {
        if let Some(index) = self.platform.types.get_index_of(&model.name) {
            return self.chosen(index).map_err(Clone::clone);
        }
        let others = self.platform.platforms_by_type.get(&model.name);
        Err(UnsupportedType::OnPlatform {
            name: model.name.clone(),
            platform: self.platform.name.clone(),
            others: others.cloned().unwrap_or_default(),
        })
    }
}

/// Requests without repetitions, in their order. A request of several types has the expectations of
/// all of them.
fn once(requests: impl Iterator<Item = ReadRequest>) -> Vec<ReadRequest> {
    let mut unique: Vec<ReadRequest> = Vec::new();
    for request in requests {
        match unique.iter_mut().find(|other| other.is_same(&request)) {
            Some(other) => other.require(request),
            None => unique.push(request),
        }
    }
    unique
}
