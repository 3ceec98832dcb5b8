//! Changes that are not sent, and their effect.

use std::sync::Arc;

use super::DeviceState;
use crate::change::{Change, Instance};
use crate::model::TypeModel;
use crate::operation::{Action, Operation};
use crate::provider::ProviderError;
use crate::read::State;
use crate::value::Attributes;

/// The effect of operations on a configuration.
#[derive(Clone, Debug, Default)]
pub struct PredictedDiff {
    /// A unified diff; empty without a difference.
    pub diff: String,
    /// Messages about types whose changes the diff does not show.
    pub without_diff: Vec<String>,
}

/// A resource whose change was previewed, as it was read.
#[derive(Clone, Debug)]
pub struct PreviewedInstance {
    /// The resource.
    pub reference: Arc<str>,
    /// All attributes that were read. Values of sensitive ones are marked as such.
    pub attributes: Attributes,
}

/// The changes that were previewed, and their effect. Later previews depend on earlier ones as
/// commits do.
pub(in crate::provider) struct Previewed {
    pub(in crate::provider) state: State,
    /// The changes, each with the instances of other resources that it removes.
    pub(in crate::provider) changes: Vec<(Change, Vec<Instance>)>,
}

impl DeviceState {
    /// The operations of a change after the earlier previews.
    pub(in crate::provider) fn preview(
        &mut self,
        change: &Change,
    ) -> Result<Vec<Operation>, ProviderError> {
        let change = self.resolved(change);
        let mut previewed = self.previewed.take().unwrap_or_else(|| Previewed {
            state: self.now.clone(),
            changes: Vec::new(),
        });
        let operations = self.preview_after(&mut previewed, change);
        self.previewed = Some(previewed);
        operations
    }

    fn preview_after(
        &self,
        previewed: &mut Previewed,
        change: Change,
    ) -> Result<Vec<Operation>, ProviderError> {
        let state = &mut previewed.state;
        let mut operations = self.render(&change, state)?;
        if let Some(Action::Line(line)) = operations.first_mut().map(|first| &mut first.action)
            && line.warning.is_none()
        {
            line.warning = self.missing(&change.desired, state);
        }
        let displaced = self.driver.displaced(&change, state);
        self.driver
            .predict(&change.desired.model, state, &operations);
        previewed.changes.push((change, displaced));
        Ok(operations)
    }

    /// The resources of all previewed changes as they were before.
    pub fn previewed_instances(&self) -> Vec<PreviewedInstance> {
        let changes = self
            .previewed
            .iter()
            .flat_map(|previewed| &previewed.changes);
        let instances = changes.filter_map(|(change, _)| {
            Some(PreviewedInstance {
                reference: Arc::clone(&change.desired.reference),
                attributes: change
                    .current
                    .as_ref()?
                    .with_secrets_marked(&change.desired.model),
            })
        });
        instances.collect()
    }

    /// The configuration diff that these operations would cause, with secrets masked, and the types
    /// whose changes it does not show, with reasons. Pure.
    pub fn predicted_diff<'a>(
        &self,
        operations: impl IntoIterator<Item = (&'a TypeModel, &'a [Operation])>,
    ) -> PredictedDiff {
        let mut after = self.before.clone();
        let mut without_diff = Vec::new();
        for (model, operations) in operations {
            self.driver.predict(model, &mut after, operations);
            if let Err(reason) = self.driver.supports_diff(model, &self.before)
                && !operations.is_empty()
            {
                let message = format!("no difference shown for {}: {reason}", model.name);
                if !without_diff.contains(&message) {
                    without_diff.push(message);
                }
            }
        }
        PredictedDiff {
            diff: self.driver.config_diff(&self.before, &after),
            without_diff,
        }
    }

    /// The difference between the configuration before the run and the last one that was read, as a unified
    /// diff. Reads that the run did not repeat are left out.
    pub fn applied_diff(&self) -> String {
        let before = self.before.shared_with(&self.now);
        self.driver.config_diff(&before, &self.now)
    }
}
