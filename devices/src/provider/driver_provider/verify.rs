//! The proof of a run: what was set is read once more.

use std::sync::Arc;

use super::{DriverProvider, Inspection};
use crate::change::Wanted;
use crate::provider::ProviderError;
use crate::value::{Attributes, Value};

/// An attribute that is not as it was set, found after the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    pub reference: Arc<str>,
    pub attribute: String,
    pub wanted: Value,
    pub found: Value,
}

impl Inspection {
    fn difference(&self, wanted: &Wanted, attribute: &str) -> Difference {
        let present = if self.current.is_some() {
            "present"
        } else {
            "absent"
        };
        let wanted = self.resolved.as_deref().unwrap_or(wanted);
        let of = |attributes: Option<&Attributes>| attributes?.get(attribute).cloned();
        let found = of(self.current.as_ref().map(|current| &current.attributes));
        Difference {
            reference: wanted.reference.clone(),
            attribute: attribute.to_owned(),
            wanted: of(Some(&wanted.attributes)).unwrap_or(Value::Undef),
            found: match attribute {
                "ensure" => Value::Symbol(present.to_owned()),
                _ => found.unwrap_or(Value::Absent),
            },
        }
    }
}

impl DriverProvider {
    /// Reads what was set in this run once more, and tells what is not as it was set.
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
        let set: Vec<&Wanted> = self.applied.iter().map(Arc::as_ref).collect();
        let requests = self.driver.reads_for(&set);
        self.state = self.read_state(requests).await?;
        let mut differences = Vec::new();
        for wanted in &self.applied {
            let looked = self.inspect(wanted)?;
            for attribute in &looked.differs {
                differences.push(looked.difference(wanted, attribute));
            }
        }
        Ok(differences)
    }
}
