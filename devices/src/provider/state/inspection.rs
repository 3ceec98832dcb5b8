//! The comparison of resources with the state, from their retrieval to their commit.

use std::borrow::Cow;
use std::sync::Arc;

use super::DeviceState;
use crate::change::{Change, Desired, Instance};
use crate::driver::{Problem, ProblemKind};
use crate::model::TypeModel;
use crate::provider::{ProviderError, ProviderErrorKind};
use crate::read::State;
use crate::secret_mask::contains_mask;
use crate::value::{Attributes, Name, Value};

/// The comparison of a resource with the state.
#[derive(Clone)]
pub(in crate::provider) struct Inspection {
    /// The resource with device-dependent values resolved, if it has any.
    pub(in crate::provider) resolved: Option<Arc<Desired>>,
    pub(in crate::provider) current: Option<Arc<Instance>>,
    pub(in crate::provider) differs: Vec<Name>,
    /// Attributes that are masked in the answers, and not compared.
    pub(in crate::provider) masked: Vec<Name>,
}

impl Inspection {
    /// The current values of properties.
    pub(in crate::provider) fn values(&self, properties: &[&str]) -> Attributes {
        let value = |property: &str| match (property, &self.current) {
            (name, Some(current)) if current.is_inactive(name) => {
                Value::Symbol("inactive".to_owned())
            }
            ("ensure", Some(_)) => Value::Symbol("present".to_owned()),
            ("ensure", None) => Value::Symbol("absent".to_owned()),
            (name, Some(current)) => {
                let value = current.attributes.get(name).cloned();
                value.unwrap_or(Value::Absent)
            }
            (_, None) => Value::Absent,
        };
        let values = properties
            .iter()
            .map(|name| (Name::from(*name), value(name)));
        values.collect()
    }
}

impl DeviceState {
    /// Compares a resource with the state.
    pub(in crate::provider) fn inspect(
        &self,
        desired: &Desired,
    ) -> Result<Inspection, ProviderError> {
        self.inspect_in(desired, &self.now)
    }

    /// Compares a resource with this state.
    pub(in crate::provider) fn inspect_in(
        &self,
        desired: &Desired,
        state: &State,
    ) -> Result<Inspection, ProviderError> {
        let current = self
            .driver
            .instance(desired, state)
            .map_err(|error| ProviderError::failed(error.to_string()))?;
        let current = current.or_else(|| self.displaced.get(desired).cloned());
        let desired = self.driver.resolve(desired, current.as_ref(), state);
        let differs = self
            .driver
            .differs(&desired, current.as_ref(), self.memory.as_ref());
        let (masked, differs) = self.without_masked(&desired, current.as_ref(), differs)?;
        let resolved = match desired {
            Cow::Borrowed(_) => None,
            Cow::Owned(resolved) => Some(Arc::new(resolved)),
        };
        Ok(Inspection {
            resolved,
            current: current.map(Arc::new),
            differs,
            masked,
        })
    }

    /// The attributes that differ, divided: those that the answers have masked, and the others. Saved answers can be
    /// without secrets. An instance whose name is a secret may be one with a masked name. A device never masks a value.
    fn without_masked(
        &self,
        desired: &Desired,
        current: Option<&Instance>,
        differs: Vec<Name>,
    ) -> Result<(Vec<Name>, Vec<Name>), ProviderError> {
        if !self.has_saved_answers {
            return Ok((Vec::new(), differs));
        }
        let Some(current) = current else {
            let is_hidden = self.has_masked_names(&desired.model)?;
            return Ok(if is_hidden {
                (differs, Vec::new())
            } else {
                (Vec::new(), differs)
            });
        };
        let is_masked = |name: &Name| current.attributes.get(name).is_some_and(contains_mask);
        Ok(differs.into_iter().partition(is_masked))
    }

    /// Whether the answers have an instance of the type with a masked name.
    fn has_masked_names(&self, model: &TypeModel) -> Result<bool, ProviderError> {
        let mut namevars = model.namevars();
        if !namevars.any(|name| model.attributes[name].sensitive) {
            return Ok(false);
        }
        let instances = self.driver.instances(model, &self.now);
        let instances = instances.map_err(|error| ProviderError::failed(error.to_string()))?;
        Ok(instances.iter().any(|one| self.has_masked_name(model, one)))
    }

    /// Whether saved answers have the name of an instance masked.
    pub(in crate::provider) fn has_masked_name(
        &self,
        model: &TypeModel,
        instance: &Instance,
    ) -> bool {
        let is_masked = |name| instance.attributes.get(name).is_some_and(contains_mask);
        self.has_saved_answers && model.namevars().any(is_masked)
    }

    /// A warning about an instance that resources cannot create, such as a port, and that the device does
    /// not have.
    pub(in crate::provider) fn missing(&self, desired: &Desired, state: &State) -> Option<String> {
        let model = &desired.model;
        let name = desired
            .attributes
            .get(model.namevars().next()?)?
            .ruby_to_s();
        let built_in = model.built_in.as_ref();
        let is_permanent = !model.is_ensurable() || built_in.is_some_and(|all| all.is_match(&name));
        let is_missing = is_permanent && self.driver.instance(desired, state).ok()?.is_none();
        is_missing.then(|| format!("the device does not show `{name}`"))
    }

    /// Refuses a change of a resource that the platform reserves, or of a value that it has no command for. In sync
    /// it needs none.
    pub(in crate::provider) fn check_writable(
        &self,
        desired: &Desired,
        inspection: &Inspection,
    ) -> Result<(), ProviderError> {
        if inspection.differs.is_empty() {
            return Ok(());
        }
        if let Some(reserved) = self.driver.reserved(desired) {
            return Err(ProviderError::new(
                ProviderErrorKind::Refused,
                format!("cannot change it: {}", reserved.message),
            ));
        }
        let is_sent = |problem: &Problem| {
            let mut names = inspection.differs.iter().map(Name::as_str);
            names.any(|name| name == "ensure" || name == problem.attribute)
                || desired
                    .model
                    .namevars()
                    .any(|name| name == problem.attribute)
        };
        let problems = self.driver.check(desired).into_iter();
        let mut problems = problems.filter(|problem| problem.kind == ProblemKind::Unchangeable);
        match problems.find(is_sent) {
            Some(problem) => Err(ProviderError::new(
                ProviderErrorKind::Refused,
                format!("cannot change {}: {}", problem.attribute, problem.message),
            )),
            None => Ok(()),
        }
    }

    /// The change with device-dependent values resolved.
    pub(in crate::provider) fn resolved(&self, change: &Change) -> Change {
        match self.inspections.get(&change.desired.reference) {
            Some(inspection) => Change {
                desired: Arc::clone(inspection.resolved.as_ref().unwrap_or(&change.desired)),
                current: inspection.current.as_deref().cloned(),
                attributes: change.attributes.clone(),
                kind: change.kind,
            },
            None => change.clone(),
        }
    }
}
