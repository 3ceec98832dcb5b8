//! Verification after a run: the resources that were set are read once more. Resources that needed no change and
//! are in the same answers are compared again: a change can have an effect on others.

use std::sync::Arc;

use foldhash::{HashMap, HashSet};

use super::{DriverProvider, Inspection};
use crate::change::Desired;
use crate::provider::{Difference, ProviderError};
use crate::value::{Attributes, Name, Value};

impl Inspection {
    fn differences(&self, desired: &Desired, is_changed: bool) -> Vec<Difference> {
        let differs = self.differs.iter();
        let differences = differs.map(|attribute| self.difference(desired, attribute, is_changed));
        differences.collect()
    }

    fn difference(&self, desired: &Desired, attribute: &Name, is_changed: bool) -> Difference {
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
            Some(match is_secret {
                true => Value::Sensitive(Box::new(value.unwrap_sensitive().clone())),
                false => value,
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
            is_changed,
        }
    }
}

impl DriverProvider {
    pub(super) async fn read_differences(&mut self) -> Result<Vec<Difference>, ProviderError> {
        if self.applied.is_empty() {
            return Ok(Vec::new());
        }
        let driver = &self.driver;
        self.applied.retain(|desired| driver.is_verifiable(desired));
        let applied: Vec<&Desired> = self.applied.iter().map(Arc::as_ref).collect();
        let requests = self.driver.reads_for(&applied);
        let repeated = requests.iter().map(|request| request.name.clone());
        let repeated: HashSet<String> = repeated.collect();
        let read = self.read_state(requests).await?;
        let before = std::mem::replace(&mut self.state, read);
        for desired in &self.applied {
            self.check_failed_reads(&desired.model)?;
        }
        let mut differences = Vec::new();
        for desired in &self.applied {
            let inspection = self.inspect(desired)?;
            differences.extend(inspection.differences(desired, true));
        }
        // Other answers are those from before the changes.
        let mut all = before;
        all.extend(self.state.clone());
        let read = std::mem::replace(&mut self.state, all);
        let unchanged = self.differences_of_unchanged(&repeated);
        self.state = read;
        differences.extend(unchanged?);
        Ok(differences)
    }

    fn differences_of_unchanged(
        &self,
        repeated: &HashSet<String>,
    ) -> Result<Vec<Difference>, ProviderError> {
        let mut differences = Vec::new();
        for desired in self.unchanged_in(repeated) {
            let inspection = self.inspect(desired)?;
            differences.extend(inspection.differences(desired, false));
        }
        Ok(differences)
    }

    /// The resources that had their desired state, and that have something in one of these reads.
    fn unchanged_in(&self, repeated: &HashSet<String>) -> Vec<&Arc<Desired>> {
        let inspections = self.inspections();
        let is_unchanged = |desired: &Desired| {
            let inspection = inspections.get(&desired.reference);
            inspection.is_some_and(|one| one.differs.is_empty() && one.masked.is_empty())
                && self.driver.is_verifiable(desired)
        };
        let mut is_repeated: HashMap<&str, bool> = HashMap::default();
        let announced = self.announced.iter();
        let unchanged = announced.filter(|desired| {
            let model = &desired.model;
            let is_in_reads = is_repeated.entry(model.name.as_str()).or_insert_with(|| {
                let requests = self.driver.reads(&[model]);
                requests.iter().any(|one| repeated.contains(&one.name))
            });
            *is_in_reads && is_unchanged(desired)
        });
        unchanged.collect()
    }
}
