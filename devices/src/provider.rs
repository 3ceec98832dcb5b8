//! The seam between the engine and a device.
//!
//! The transaction asks a [`Provider`] for current state and hands it changes; it knows nothing
//! else of devices. Implementations: driver-based, simulated, and [`ReadOnly`] around either.

pub mod driver_provider;

use std::sync::Arc;

use async_trait::async_trait;

use crate::change::{Change, Instance, Wanted};
use crate::model::TypeModel;
use crate::model::canonical::ValueError;
use crate::operation::{Action, Operation, OperationResult, Outcome};
use crate::value::{Attributes, Name, Value};

/// What the engine asks of a device.
///
/// Order of the calls in a run: [`expect`](Provider::expect) once; then per resource, in the order
/// of evaluation, [`prefetch`](Provider::prefetch) (once per type, before its first resource),
/// [`retrieve`](Provider::retrieve), [`commit`](Provider::commit) if something must change, and
/// [`refresh`](Provider::refresh).
///
/// # Cancellation
/// None of the futures may be dropped midway; each is bounded in time by the implementation.
#[async_trait]
pub trait Provider: Send {
    /// The name in messages: `Could not prefetch network_vlan provider 'cisco_ios'`.
    fn name(&self) -> &str;

    /// Announces the resources that the run will read, so that one read can serve them all. No
    /// I/O.
    fn expect(&mut self, resources: Vec<Arc<Wanted>>) {
        let _ = resources;
    }

    /// Whether resources of the type can be applied on this device now; the reason if not.
    fn supports(&self, model: &TypeModel) -> Result<(), String>;

    /// The platform's canonical form of attributes that the model has resolved already. Pure.
    ///
    /// # Errors
    /// A value that the platform does not take, with the attribute.
    fn canonicalize(
        &self,
        model: &TypeModel,
        attributes: Attributes,
    ) -> Result<Attributes, ValueError> {
        let _ = model;
        Ok(attributes)
    }

    /// Whether a property counts as it is wanted to be; `None` leaves it to plain comparison. Pure.
    fn in_sync(&self, wanted: &Wanted, property: &str, current: &Value) -> Option<bool> {
        let _ = (wanted, property, current);
        None
    }

    /// Whether the type wants [`prefetch`](Provider::prefetch).
    fn supports_prefetch(&self, model: &TypeModel) -> bool {
        let _ = model;
        true
    }

    /// Called once per type before its first resource is read, with all its resources.
    ///
    /// # Errors
    /// Every resource of the type fails with it.
    async fn prefetch(
        &mut self,
        model: &Arc<TypeModel>,
        resources: &[&Wanted],
    ) -> Result<(), ProviderError>;

    /// The current values of a resource's properties; all [`Value::Absent`] when the instance is
    /// not there. `properties` are those that the run needs, in definition order, `ensure` first
    /// if the type has it; others may be given too. `ensure` is told as the enumerated `present`
    /// or `absent`.
    ///
    /// # Errors
    /// The resource fails with it.
    async fn retrieve(
        &mut self,
        wanted: &Wanted,
        properties: &[&str],
    ) -> Result<Attributes, ProviderError>;

    /// All instances of the type on the device, for purging.
    ///
    /// # Errors
    /// They cannot be listed, or reading failed.
    async fn instances(&mut self, model: &Arc<TypeModel>) -> Result<Vec<Instance>, ProviderError>;

    /// What [`commit`](Provider::commit) would send. Pure: shown by `plan` and noop runs.
    ///
    /// # Errors
    /// The change cannot be told to this device.
    fn preview(&self, change: &Change) -> Result<Vec<Operation>, ProviderError>;

    /// Brings the device to the change's wanted state, one resource at a time.
    async fn commit(&mut self, change: &Change) -> CommitResult;

    /// Reacts to a refresh.
    ///
    /// # Errors
    /// The resource failed to restart, and what depends on it is skipped.
    async fn refresh(&mut self, wanted: &Wanted) -> Result<(), ProviderError>;
}

/// What became of a change.
#[derive(Clone, Debug, Default)]
pub struct CommitResult {
    /// Outcome per attribute of the change, in its order; for create and remove `ensure` alone.
    /// An attribute that is missing here counts as done.
    pub attributes: Vec<(Name, Result<(), ProviderError>)>,
    /// What was sent, for the report.
    pub operations: Vec<(Operation, OperationResult)>,
    /// Messages for people, in order.
    pub notes: Vec<Note>,
    /// The change as a whole failed after its attributes were told.
    pub failure: Option<ProviderError>,
}

impl CommitResult {
    /// Attributes told by their operations: done if all that carry it are done, else as the first
    /// that is not.
    pub fn from_operations(
        change: &Change,
        operations: Vec<(Operation, OperationResult)>,
    ) -> CommitResult {
        // Where the way to the lines is barred, none of them has been refused itself.
        let barred = operations.iter().find_map(|(_, result)| {
            let error = ProviderError::from_result(result)?;
            (result.failed_mode_line.is_some() && error.kind == ProviderErrorKind::NotSent)
                .then_some(error)
        });
        let attributes = change
            .told_attributes()
            .map(|name| {
                let first_bad = operations
                    .iter()
                    .filter(|(operation, _)| {
                        // Creating and removing is done when everything is.
                        change.is_whole() || operation.attributes.contains(&name)
                    })
                    .find_map(|(_, result)| ProviderError::from_result(result));
                let first_bad = first_bad.map(|error| match &barred {
                    Some(barred) if error.kind == ProviderErrorKind::NotSent => barred.clone(),
                    _ => error,
                });
                (name, first_bad.map_or(Ok(()), Err))
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

/// What was sent for an operation, as it is reported: where it ended on the way to the operation's
/// mode, that line with its outcome before the operation, which was not sent.
fn with_failed_mode_line(
    (operation, mut result): (Operation, OperationResult),
) -> Vec<(Operation, OperationResult)> {
    let Some(line) = result.failed_mode_line.take() else {
        return vec![(operation, result)];
    };
    let on_the_way = Operation {
        attributes: operation.attributes.clone(),
        action: Action::Line(line),
    };
    vec![
        (on_the_way, result),
        (operation, OperationResult::not_sent()),
    ]
}

/// Something worth telling people about a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub level: NoteLevel,
    pub message: String,
    /// Told about the resource, or (as Puppet's Resource API does) about the run.
    pub about_resource: bool,
}

impl Note {
    pub fn warning(message: impl Into<String>) -> Self {
        Self {
            level: NoteLevel::Warning,
            message: message.into(),
            about_resource: true,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteLevel {
    Notice,
    Warning,
    Error,
}

/// A failure on the device side, in words for people and without secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    pub kind: ProviderErrorKind,
    pub message: String,
}

/// What a failure says about the device's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderErrorKind {
    /// The device refused; nothing changed by what it refused.
    Refused,
    /// It was not sent, because of what happened before it.
    NotSent,
    /// It was sent and the answer never came.
    Unknown,
    /// It could not be told to the device or read from it.
    Failed,
    /// The implementation broke in a way it did not expect itself.
    Internal,
}

impl ProviderError {
    pub fn new(kind: ProviderErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(ProviderErrorKind::Failed, message)
    }

    /// The failure that an operation came to; `None` for done. Of what the device said it has
    /// the first line with a word in it: the mark under a bad word has none.
    pub fn from_result(result: &OperationResult) -> Option<Self> {
        match &result.outcome {
            Outcome::Done { .. } => None,
            Outcome::Refused { message: said } => {
                let worded = |line: &&str| line.contains(char::is_alphanumeric);
                let said = said.lines().find(worded).unwrap_or(said).trim();
                Some(match &result.failed_mode_line {
                    Some(line) => Self::new(
                        ProviderErrorKind::NotSent,
                        format!("it was not sent: the device refused `{line}`: {said}"),
                    ),
                    None => Self::new(
                        ProviderErrorKind::Refused,
                        format!("the device refused it: {said}"),
                    ),
                })
            }
            Outcome::NotSent => Some(Self::new(ProviderErrorKind::NotSent, "it was not sent")),
            Outcome::Unknown { reason: why } => Some(Self::new(
                ProviderErrorKind::Unknown,
                format!("whether it was applied is unknown: {why}"),
            )),
        }
    }
}

/// A provider that cannot write: `plan` and noop runs go through it, whatever the engine does.
pub struct ReadOnly<'a> {
    inner: &'a mut dyn Provider,
}

impl<'a> ReadOnly<'a> {
    pub fn new(inner: &'a mut dyn Provider) -> Self {
        Self { inner }
    }

    fn refusal() -> ProviderError {
        ProviderError::new(
            ProviderErrorKind::NotSent,
            "this run may not write to the device",
        )
    }
}

#[async_trait]
impl Provider for ReadOnly<'_> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn expect(&mut self, resources: Vec<Arc<Wanted>>) {
        self.inner.expect(resources);
    }

    fn supports(&self, model: &TypeModel) -> Result<(), String> {
        self.inner.supports(model)
    }

    fn canonicalize(
        &self,
        model: &TypeModel,
        attributes: Attributes,
    ) -> Result<Attributes, ValueError> {
        self.inner.canonicalize(model, attributes)
    }

    fn in_sync(&self, wanted: &Wanted, property: &str, current: &Value) -> Option<bool> {
        self.inner.in_sync(wanted, property, current)
    }

    fn supports_prefetch(&self, model: &TypeModel) -> bool {
        self.inner.supports_prefetch(model)
    }

    async fn prefetch(
        &mut self,
        model: &Arc<TypeModel>,
        resources: &[&Wanted],
    ) -> Result<(), ProviderError> {
        self.inner.prefetch(model, resources).await
    }

    async fn retrieve(
        &mut self,
        wanted: &Wanted,
        properties: &[&str],
    ) -> Result<Attributes, ProviderError> {
        self.inner.retrieve(wanted, properties).await
    }

    async fn instances(&mut self, model: &Arc<TypeModel>) -> Result<Vec<Instance>, ProviderError> {
        self.inner.instances(model).await
    }

    fn preview(&self, change: &Change) -> Result<Vec<Operation>, ProviderError> {
        self.inner.preview(change)
    }

    async fn commit(&mut self, change: &Change) -> CommitResult {
        CommitResult {
            attributes: change
                .told_attributes()
                .map(|name| (name, Err(Self::refusal())))
                .collect(),
            ..CommitResult::default()
        }
    }

    async fn refresh(&mut self, _: &Wanted) -> Result<(), ProviderError> {
        Err(Self::refusal())
    }
}
