//! The interface between the engine and a device.
//!
//! The transaction reads the current state from a [`Provider`] and passes changes to it; it has no
//! other access to devices. Implementations: [`driver_provider`], the simulated one of the tests,
//! and [`ReadOnly`], which wraps either.
//!
//! Order of calls: `expect`, `prefetch`, `retrieve`, `in_sync`, then `preview` or `commit`, then `refresh`; `verify` after
//! the last resource. A plan changes nothing for three reasons: the decision per property, [`ReadOnly`], and a session
//! that sends only reads. Traits that are used as `dyn` have `async-trait`, the others native `async fn`.

mod difference;
pub mod driver_provider;
pub mod state;

pub use difference::{Difference, DifferenceCause};

use std::sync::Arc;

use crate::change::{Change, Desired, Instance};
use crate::driver::UnsupportedType;
use crate::model::TypeModel;
use crate::model::canonical::ValueError;
use crate::operation::{Action, Operation, OperationResult, Outcome};
use crate::value::{Attributes, Name, Value};
use async_trait::async_trait;

/// Reads and changes the resources of one device.
///
/// Order of the calls in a run: [`expect`](Provider::expect) once; then per resource, in the order
/// of evaluation, [`prefetch`](Provider::prefetch) (once per type, before its first resource),
/// [`retrieve`](Provider::retrieve), [`commit`](Provider::commit) if something must change (on some
/// devices [`stage`](Provider::stage), and later [`commit_staged`](Provider::commit_staged)), and
/// [`refresh`](Provider::refresh); at the end [`verify`](Provider::verify).
///
/// # Cancellation
/// None of the futures may be dropped midway; each is bounded in time by the implementation.
#[async_trait]
pub trait Provider: Send {
    /// The name in messages: `Could not prefetch network_vlan provider 'cisco_ios'`.
    fn name(&self) -> &str;

    /// Announces the resources of the run, so that one read serves them all. No I/O.
    fn expect(&mut self, resources: Vec<Arc<Desired>>) {
        let _ = resources;
    }

    /// Whether the device supports resources of the type.
    ///
    /// # Errors
    /// The reason why not.
    fn supports(&self, model: &TypeModel) -> Result<(), UnsupportedType>;

    /// The platform's canonical form of attributes that the model has resolved. Pure.
    ///
    /// # Errors
    /// A value that the platform does not accept, with the attribute.
    fn canonicalize(
        &self,
        model: &TypeModel,
        attributes: Attributes,
    ) -> Result<Attributes, ValueError> {
        let _ = model;
        Ok(attributes)
    }

    /// Whether a property is in sync; `None`: compare the values. Pure.
    fn in_sync(&self, desired: &Desired, property: &str, current: &Value) -> Option<bool> {
        let _ = (desired, property, current);
        None
    }

    /// The texts that the device shows for properties of a retrieved resource in another form, such as the hash of a
    /// password. They are secrets.
    fn rendered_forms(&self, desired: &Desired) -> Attributes {
        let _ = desired;
        Attributes::default()
    }

    /// Whether an instance has the value of a property that the last run stored, by the rules for desired values;
    /// `None`: compare the values. `stored`: the resource with that value. Pure.
    fn equals_stored(&self, stored: &Desired, current: &Instance, property: &str) -> Option<bool> {
        let _ = (stored, current, property);
        None
    }

    /// Whether the type has [`prefetch`](Provider::prefetch).
    fn supports_prefetch(&self, model: &TypeModel) -> bool {
        let _ = model;
        true
    }

    /// Called once per type before its first resource is read, with all its resources.
    ///
    /// # Errors
    /// All resources of the type fail with this error.
    async fn prefetch(
        &mut self,
        model: &Arc<TypeModel>,
        resources: &[&Desired],
    ) -> Result<(), ProviderError>;

    /// The current values of a resource's properties; all [`Value::Absent`] if the instance does
    /// not exist. `properties` are those that the run needs, in definition order, `ensure` first
    /// if the type has it; the result may have more. `ensure` is the symbol `present` or `absent`.
    ///
    /// # Errors
    /// The resource fails with this error.
    async fn retrieve(
        &mut self,
        desired: &Desired,
        properties: &[&str],
    ) -> Result<Attributes, ProviderError>;

    /// All instances of the type on the device, for purging.
    ///
    /// # Errors
    /// The type cannot be listed, or reading failed.
    async fn instances(&mut self, model: &Arc<TypeModel>) -> Result<Vec<Instance>, ProviderError>;

    /// Per instance the reason why purging must keep it; `None`: it may be removed.
    ///
    /// # Errors
    /// A read failed.
    async fn keep(
        &mut self,
        model: &Arc<TypeModel>,
        instances: &[Instance],
    ) -> Result<Vec<Option<String>>, ProviderError> {
        let _ = model;
        Ok(vec![None; instances.len()])
    }

    /// The names of the resources that stand for the instance with these names and for others. Pure.
    fn wider_names(&self, model: &TypeModel, names: &Attributes) -> Vec<Attributes> {
        let _ = (model, names);
        Vec::new()
    }

    /// The instances of other resources that a change removes, because the device refuses both.
    /// Call it after [`retrieve`](Provider::retrieve). Pure.
    fn displaced(&self, change: &Change) -> Vec<Instance> {
        let _ = change;
        Vec::new()
    }

    /// The operations that [`commit`](Provider::commit) would send, for `plan` and noop. Earlier
    /// previews count as committed. Nothing is sent.
    ///
    /// # Errors
    /// The device does not support the change.
    fn preview(&mut self, change: &Change) -> Result<Vec<Operation>, ProviderError>;

    /// Applies a change of one resource.
    async fn commit(&mut self, change: &Change) -> CommitResult;

    /// Adds a change to those that [`commit_staged`](Provider::commit_staged) applies together. Later
    /// resources are compared with its effect. Returns false if the device applies it alone, by
    /// [`commit`](Provider::commit).
    ///
    /// # Errors
    /// The device does not support the change.
    fn stage(&mut self, change: &Change) -> Result<bool, ProviderError> {
        let _ = change;
        Ok(false)
    }

    /// Applies the staged changes together, and returns their results in the order of staging.
    async fn commit_staged(&mut self) -> Vec<CommitResult> {
        Vec::new()
    }

    /// Refreshes a resource. `None`: a refresh of the type does nothing on the device. After a
    /// failure, dependents of the resource are skipped.
    async fn refresh(&mut self, desired: &Desired) -> Option<CommitResult>;

    /// Reads all resources that the run set without a failure, and returns the attributes with
    /// another value. Called once, after all changes.
    ///
    /// # Errors
    /// The device could not be read.
    async fn verify(&mut self) -> Result<Vec<Difference>, ProviderError> {
        Ok(Vec::new())
    }

    /// The reason why nothing more is sent in this run, if the connection broke.
    fn disconnected(&self) -> Option<&str> {
        None
    }
}

/// The result of a change.
#[derive(Clone, Debug, Default)]
pub struct CommitResult {
    /// The outcome per attribute of the change, in its order; for create and remove only `ensure`.
    /// A missing attribute counts as done.
    pub attributes: Vec<(Name, Result<(), ProviderError>)>,
    /// The operations, for the report.
    pub operations: Vec<(Operation, OperationResult)>,
    /// Messages for the user, in order.
    pub notes: Vec<Note>,
    /// A failure of the complete change, after those of its attributes.
    pub failure: Option<ProviderError>,
}

impl CommitResult {
    /// Derives the outcome of each attribute from its operations: done if all are done, else the
    /// first that is not.
    pub(crate) fn from_operations(
        change: &Change,
        operations: Vec<(Operation, OperationResult)>,
    ) -> CommitResult {
        // If the mode of the lines was refused, none of the lines was.
        let mode_error = operations.iter().find_map(|(_, result)| {
            let error = ProviderError::from_result(result)?;
            (result.failed_mode_line.is_some() && error.kind == ProviderErrorKind::NotSent)
                .then_some(error)
        });
        let attributes = change
            .reported_attributes()
            .map(|name| {
                let first_error = operations
                    .iter()
                    .filter(|(operation, _)| {
                        // Creating and removing need all operations.
                        change.is_create_or_remove() || operation.attributes.contains(&name)
                    })
                    .find_map(|(_, result)| ProviderError::from_result(result));
                let first_error = first_error.map(|error| match &mode_error {
                    Some(mode_error) if error.kind == ProviderErrorKind::NotSent => {
                        mode_error.clone()
                    }
                    _ => error,
                });
                (name, first_error.map_or(Ok(()), Err))
            })
            .collect();
        CommitResult {
            attributes,
            operations: operations
                .into_iter()
                .flat_map(with_failed_mode_line)
                .collect(),
            ..CommitResult::default()
        }
    }
}

/// The entries of the report for an operation. If its mode could not be entered: the failed mode
/// line with its outcome, then the operation, which was not sent.
fn with_failed_mode_line(
    (operation, mut result): (Operation, OperationResult),
) -> Vec<(Operation, OperationResult)> {
    let Some(line) = result.failed_mode_line.take() else {
        return vec![(operation, result)];
    };
    let mode_operation = Operation {
        attributes: operation.attributes.clone(),
        action: Action::Line(line),
    };
    vec![
        (mode_operation, result),
        (operation, OperationResult::not_sent()),
    ]
}

/// A message for the user about a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Its log level.
    pub level: NoteLevel,
    /// Its text.
    pub message: String,
    /// Logged for the resource, or (as Puppet's Resource API does) for the run.
    pub about_resource: bool,
}

impl Note {
    /// A warning about the resource.
    pub(crate) fn warning(message: impl Into<String>) -> Self {
        Self {
            level: NoteLevel::Warning,
            message: message.into(),
            about_resource: true,
        }
    }
}

/// The log level of a note, as Puppet names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteLevel {
    /// `notice`
    Notice,
    /// `warning`
    Warning,
    /// `err`
    Error,
}

/// A failure of a provider. Its message has no secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    /// The state of the device after it.
    pub kind: ProviderErrorKind,
    /// What failed.
    pub message: String,
}

/// The state of the device after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderErrorKind {
    /// The device refused it; nothing changed.
    Refused,
    /// It was not sent, because of an earlier failure.
    NotSent,
    /// It was sent, and whether it was applied is not known.
    Unknown,
    /// It could not be rendered for the device or read from it.
    Failed,
    /// It could not be rendered without an object that an earlier change of the run may create.
    LacksObject,
    /// A defect of the implementation.
    Internal,
}

impl ProviderError {
    /// An error of this kind.
    pub fn new(kind: ProviderErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    /// An error of the kind [`ProviderErrorKind::Failed`].
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::new(ProviderErrorKind::Failed, message)
    }

    /// An error of the kind [`ProviderErrorKind::Unknown`].
    pub(crate) fn unknown(reason: &str) -> Self {
        let message = format!("it is unknown whether it was applied: {reason}");
        Self::new(ProviderErrorKind::Unknown, message)
    }

    /// The failure of an operation; `None` for done. It has the first line of the device's message
    /// with a word in it, which skips the mark under an invalid word.
    pub(crate) fn from_result(result: &OperationResult) -> Option<Self> {
        match &result.outcome {
            Outcome::Done { .. } => None,
            Outcome::Refused { message } => {
                let worded = |line: &&str| line.contains(char::is_alphanumeric);
                let message = message.lines().find(worded).unwrap_or(message).trim();
                Some(match &result.failed_mode_line {
                    Some(line) => Self::new(
                        ProviderErrorKind::NotSent,
                        format!("it was not sent: the device refused `{line}`: {message}"),
                    ),
                    None => Self::new(
                        ProviderErrorKind::Refused,
                        format!("the device refused it: {message}"),
                    ),
                })
            }
            Outcome::NotSent => Some(Self::new(ProviderErrorKind::NotSent, "it was not sent")),
            Outcome::Unknown { reason, .. } => Some(Self::unknown(reason)),
        }
    }
}

/// A provider that cannot write, for `plan` and noop runs.
pub struct ReadOnly<'a> {
    inner: &'a mut dyn Provider,
}

impl<'a> ReadOnly<'a> {
    /// A read-only view of a provider.
    pub fn new(inner: &'a mut dyn Provider) -> Self {
        Self { inner }
    }

    fn refusal() -> ProviderError {
        ProviderError::new(ProviderErrorKind::NotSent, "the run is read-only")
    }
}

#[async_trait]
impl Provider for ReadOnly<'_> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn expect(&mut self, resources: Vec<Arc<Desired>>) {
        self.inner.expect(resources);
    }

    fn supports(&self, model: &TypeModel) -> Result<(), UnsupportedType> {
        self.inner.supports(model)
    }

    fn canonicalize(
        &self,
        model: &TypeModel,
        attributes: Attributes,
    ) -> Result<Attributes, ValueError> {
        self.inner.canonicalize(model, attributes)
    }

    fn in_sync(&self, desired: &Desired, property: &str, current: &Value) -> Option<bool> {
        self.inner.in_sync(desired, property, current)
    }

    fn rendered_forms(&self, desired: &Desired) -> Attributes {
        self.inner.rendered_forms(desired)
    }

    fn equals_stored(&self, stored: &Desired, current: &Instance, property: &str) -> Option<bool> {
        self.inner.equals_stored(stored, current, property)
    }

    fn supports_prefetch(&self, model: &TypeModel) -> bool {
        self.inner.supports_prefetch(model)
    }

    async fn prefetch(
        &mut self,
        model: &Arc<TypeModel>,
        resources: &[&Desired],
    ) -> Result<(), ProviderError> {
        self.inner.prefetch(model, resources).await
    }

    async fn retrieve(
        &mut self,
        desired: &Desired,
        properties: &[&str],
    ) -> Result<Attributes, ProviderError> {
        self.inner.retrieve(desired, properties).await
    }

    async fn instances(&mut self, model: &Arc<TypeModel>) -> Result<Vec<Instance>, ProviderError> {
        self.inner.instances(model).await
    }

    async fn keep(
        &mut self,
        model: &Arc<TypeModel>,
        instances: &[Instance],
    ) -> Result<Vec<Option<String>>, ProviderError> {
        self.inner.keep(model, instances).await
    }

    fn displaced(&self, change: &Change) -> Vec<Instance> {
        self.inner.displaced(change)
    }

    fn preview(&mut self, change: &Change) -> Result<Vec<Operation>, ProviderError> {
        self.inner.preview(change)
    }

    async fn commit(&mut self, change: &Change) -> CommitResult {
        CommitResult {
            attributes: change
                .reported_attributes()
                .map(|name| (name, Err(Self::refusal())))
                .collect(),
            ..CommitResult::default()
        }
    }

    async fn refresh(&mut self, _: &Desired) -> Option<CommitResult> {
        Some(CommitResult {
            failure: Some(Self::refusal()),
            ..CommitResult::default()
        })
    }

    async fn verify(&mut self) -> Result<Vec<Difference>, ProviderError> {
        self.inner.verify().await
    }

    fn disconnected(&self) -> Option<&str> {
        self.inner.disconnected()
    }
}
