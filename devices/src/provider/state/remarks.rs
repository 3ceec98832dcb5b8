//! Messages for the user about what was not compared or has no effect.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::DeviceState;
use super::inspection::Inspection;
use crate::change::Desired;

/// What the run has found out about attributes.
#[derive(Default)]
pub(in crate::provider) struct Remarks {
    /// Messages about attributes that this device lacks.
    left_out: Vec<String>,
    /// Messages about attributes without an effect beside what the device has.
    ineffective: Vec<String>,
    /// Resources with values that are masked in saved answers.
    masked: BTreeSet<Arc<str>>,
}

impl DeviceState {
    /// Messages about attributes that are left out because this device lacks them.
    pub fn left_out(&self) -> &[String] {
        &self.remarks.left_out
    }

    /// Messages about declared attributes that have no effect beside what the device has.
    pub fn ineffective(&self) -> &[String] {
        &self.remarks.ineffective
    }

    /// A message about values that were not compared, because saved answers have them masked.
    pub fn not_compared(&self) -> Option<String> {
        let names: Vec<&str> = self.remarks.masked.iter().map(AsRef::as_ref).collect();
        let message = format!(
            "secrets are masked in the saved answers and were not compared: {}",
            names.join(", ")
        );
        (!names.is_empty()).then_some(message)
    }

    /// Records the attributes of a resource that this device lacks.
    pub(in crate::provider) fn note_left_out(&mut self, desired: &Desired) {
        for problem in self.driver.left_out(desired) {
            let (attribute, message) = (problem.attribute, problem.message);
            let message = format!("{}: {attribute} {message}", desired.reference);
            self.remarks.left_out.push(message);
        }
    }

    /// Records the declared attributes that have no effect with what the device has, and those that were not
    /// compared.
    pub(in crate::provider) fn note_inspection(
        &mut self,
        desired: &Desired,
        inspection: &Inspection,
    ) {
        if !inspection.masked.is_empty() {
            let reference = Arc::clone(&desired.reference);
            self.remarks.masked.insert(reference);
        }
        let Some(current) = inspection.current.as_deref() else {
            return;
        };
        for (attribute, message) in self.driver.ineffective(desired, &current.attributes) {
            let message = format!("{}: {attribute} {message}", desired.reference);
            if !self.remarks.ineffective.contains(&message) {
                self.remarks.ineffective.push(message);
            }
        }
    }
}
