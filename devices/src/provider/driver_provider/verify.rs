//! Verification after a run: the attributes that were set are read once more.

use std::sync::Arc;

use super::{DriverProvider, Inspection};
use crate::change::Desired;
use crate::provider::ProviderError;
use crate::value::{Attributes, Value};

/// An attribute that does not have the value that the run set.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The resource, such as `Network_vlan[100]`.
    pub reference: Arc<str>,
    /// The attribute.
    pub attribute: String,
    /// The value that the run set.
    pub desired: Value,
    /// The value that the device has.
    pub found: Value,
}

impl Inspection {
    fn difference(&self, desired: &Desired, attribute: &str) -> Difference {
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
            attribute: attribute.to_owned(),
            desired: value(Some(&desired.attributes)).unwrap_or(Value::Undef),
            found: match attribute {
                "ensure" => Value::Symbol(ensure.to_owned()),
                _ => found.unwrap_or(Value::Absent),
            },
        }
    }
}

impl DriverProvider {
    /// Reads all resources that this run set, and returns the attributes with another value.
    ///
    /// # Errors
    /// The device could not be read.
    ///
    /// # Cancellation
    /// Must not be dropped midway.
    pub async fn verify(&mut self) -> Result<Vec<Difference>, ProviderError> {
        if self.applied.is_empty() {
            return Ok(Vec::new());
        }
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
