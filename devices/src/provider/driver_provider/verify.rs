//! Verification after a run: the attributes that were set are read once more.

use std::sync::Arc;

use super::{DriverProvider, Inspection};
use crate::change::Desired;
use crate::provider::{Difference, ProviderError};
use crate::value::{Attributes, Name, Value};

impl Inspection {
    fn difference(&self, desired: &Desired, attribute: &Name) -> Difference {
        let ensure = if self.current.is_some() {
            "present"
        } else {
            "absent"
        };
        let desired = self.resolved.as_deref().unwrap_or(desired);
        let value = |attributes: Option<&Attributes>| attributes?.get(attribute).cloned();
        let found = value(self.current.as_ref().map(|current| &current.attributes));
        Difference {
            reference: desired.reference.clone(),
            attribute: attribute.clone(),
            desired: value(Some(&desired.attributes)).unwrap_or(Value::Undef),
            found: match attribute.as_str() {
                "ensure" => Value::Symbol(ensure.to_owned()),
                _ => found.unwrap_or(Value::Absent),
            },
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
        self.state = self.read_state(requests).await?;
        for desired in &self.applied {
            self.check_failed_reads(&desired.model)?;
        }
        let mut differences = Vec::new();
        for desired in &self.applied {
            let inspection = self.inspect(desired)?;
            for attribute in &inspection.differs {
                differences.push(inspection.difference(desired, attribute));
            }
        }
        Ok(differences)
    }
}
