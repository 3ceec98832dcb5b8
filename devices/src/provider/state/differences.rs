//! Resources without their desired values after changes: those that were set, and others on which the changes have
//! an effect.

use std::sync::Arc;

use foldhash::{HashMap, HashSet};

use super::DeviceState;
use super::inspection::Inspection;
use super::preview::Previewed;
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

impl DeviceState {
    /// The reads of the resources that were set, as far as they show whether they were.
    pub(in crate::provider) fn verifying_reads(&mut self) -> Vec<ReadRequest> {
        let driver = &self.driver;
        let applied = &mut self.committed.applied;
        applied.retain(|desired| driver.is_verifiable(desired));
        let applied: Vec<&Desired> = applied.iter().map(Arc::as_ref).collect();
        driver.reads_for(&applied)
    }

    /// The differences in the answers to these reads, which are those of the resources that were set.
    pub(in crate::provider) fn differences_after(
        &mut self,
        read: State,
        repeated: &HashSet<String>,
    ) -> Result<Vec<Difference>, ProviderError> {
        let mut all = std::mem::replace(&mut self.now, read);
        for desired in &self.committed.applied {
            self.check_failed_reads(&desired.model)?;
        }
        let mut differences = Vec::new();
        for desired in &self.committed.applied {
            let inspection = self.inspect(desired)?;
            if !self.is_restored_absence(desired, &inspection) {
                let of_resource = inspection.differences(desired, DifferenceCause::NotApplied);
                differences.extend(of_resource);
            }
        }
        // Other answers are those from before the changes.
        all.extend(self.now.clone());
        differences.extend(self.side_effects(repeated, &all, DifferenceCause::SideEffect)?);
        Ok(differences)
    }

    /// The effects of the previewed changes on resources without a change.
    pub(in crate::provider) fn predicted_differences(
        &self,
    ) -> Result<Vec<Difference>, ProviderError> {
        let Some(Previewed { state, changes }) = &self.previewed else {
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
        let inspections = &self.inspections;
        let is_unchanged = |desired: &Desired| {
            let inspection = inspections.get(&desired.reference);
            inspection.is_some_and(|one| one.differs.is_empty() && one.masked.is_empty())
                && self.driver.is_verifiable(desired)
        };
        let mut types: HashMap<&str, bool> = HashMap::default();
        let announced = self.reads.announced.iter();
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

pub(in crate::provider) fn names_of(requests: &[ReadRequest]) -> HashSet<String> {
    let names = requests.iter().map(|request| request.name.clone());
    names.collect()
}
