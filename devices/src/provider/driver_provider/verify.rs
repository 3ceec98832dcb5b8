//! Verification after a run: the resources that were set are read once more. Resources that needed no change and
//! are in the same answers are compared again: a change can have an effect on others. A plan predicts this.

use std::sync::{Arc, PoisonError};

use foldhash::{HashMap, HashSet};

use super::{DriverProvider, Inspection, Previewed};
use crate::change::Desired;
use crate::provider::{Difference, DifferenceCause, ProviderError};
use crate::read::{ReadRequest, State};
use crate::value::{Attributes, Name, Value};

impl Inspection {
    fn differences(&self, desired: &Desired, cause: DifferenceCause) -> Vec<Difference> {
        let differs = self.differs.iter();
        let differences = differs.map(|attribute| self.difference(desired, attribute, cause));
        differences.collect()
    }

    fn difference(
        &self,
        desired: &Desired,
        attribute: &Name,
        cause: DifferenceCause,
    ) -> Difference {
        let ensure = if self.current.is_some() {
            "present"
        } else {
            "absent"
        };
        let desired = self.resolved.as_deref().unwrap_or(desired);
        let declared = desired.model.attributes.get(attribute);
        let is_secret = declared.is_some_and(|declared| declared.sensitive)
            || matches!(desired.attributes.get(attribute), Some(Value::Sensitive(_)));
        let value = |attributes: Option<&Attributes>| {
            let value = attributes?.get(attribute)?.clone();
            Some(if is_secret {
                value.into_sensitive()
            } else {
                value
            })
        };
        let found = value(self.current.as_ref().map(|current| &current.attributes));
        Difference {
            reference: desired.reference.clone(),
            attribute: attribute.clone(),
            desired: value(Some(&desired.attributes)).unwrap_or(Value::Undef),
            found: match attribute.as_str() {
                "ensure" => Value::Symbol(ensure.to_owned()),
                _ => found.unwrap_or(Value::Absent),
            },
            cause,
        }
    }
}

impl DriverProvider {
    pub(super) async fn read_differences(&mut self) -> Result<Vec<Difference>, ProviderError> {
        if self.applied.is_empty() {
            return self.predicted_differences();
        }
        let driver = &self.driver;
        self.applied.retain(|desired| driver.is_verifiable(desired));
        let applied: Vec<&Desired> = self.applied.iter().map(Arc::as_ref).collect();
        let requests = self.driver.reads_for(&applied);
        let repeated = names_of(&requests);
        let read = self.read_state(requests).await?;
        let mut all = std::mem::replace(&mut self.state, read);
        for desired in &self.applied {
            self.check_failed_reads(&desired.model)?;
        }
        let mut differences = Vec::new();
        for desired in &self.applied {
            let inspection = self.inspect(desired)?;
            if !self.is_restored_absence(desired, &inspection) {
                let of_resource = inspection.differences(desired, DifferenceCause::NotApplied);
                differences.extend(of_resource);
            }
        }
        // Other answers are those from before the changes.
        all.extend(self.state.clone());
        differences.extend(self.side_effects(&repeated, &all, DifferenceCause::SideEffect)?);
        Ok(differences)
    }

    /// The effects of the previewed changes on resources without a change.
    fn predicted_differences(&self) -> Result<Vec<Difference>, ProviderError> {
        let previewed = self.previewed.lock();
        let previewed = previewed.unwrap_or_else(PoisonError::into_inner);
        let Some(Previewed { state, changes }) = previewed.as_ref() else {
            return Ok(Vec::new());
        };
        let changed = changes.iter().map(|(change, _)| change.desired.as_ref());
        let changed: Vec<&Desired> = changed.collect();
        let reads = names_of(&self.driver.reads_for(&changed));
        self.side_effects(&reads, state, DifferenceCause::PredictedSideEffect)
    }

    /// The differences of the resources that had their desired state, and that have something in one of
    /// these reads.
    fn side_effects(
        &self,
        reads: &HashSet<String>,
        state: &State,
        cause: DifferenceCause,
    ) -> Result<Vec<Difference>, ProviderError> {
        let mut differences = Vec::new();
        for desired in self.unchanged_in(reads) {
            let inspection = self.inspect_in(desired, state)?;
            differences.extend(inspection.differences(desired, cause));
        }
        Ok(differences)
    }

    fn unchanged_in(&self, reads: &HashSet<String>) -> Vec<&Arc<Desired>> {
        let inspections = self.inspections();
        let is_unchanged = |desired: &Desired| {
            let inspection = inspections.get(&desired.reference);
            inspection.is_some_and(|one| one.differs.is_empty() && one.masked.is_empty())
                && self.driver.is_verifiable(desired)
        };
        let mut types: HashMap<&str, bool> = HashMap::default();
        let announced = self.announced.iter();
        let unchanged = announced.filter(|desired| {
            let model = &desired.model;
            let has_read = types.entry(model.name.as_str()).or_insert_with(|| {
                let requests = self.driver.reads(&[model]);
                requests.iter().any(|one| reads.contains(&one.name))
            });
            *has_read && is_unchanged(desired)
        });
        unchanged.collect()
    }
}

fn names_of(requests: &[ReadRequest]) -> HashSet<String> {
    let names = requests.iter().map(|request| request.name.clone());
    names.collect()
}
