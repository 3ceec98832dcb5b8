//! How a run uses plans in files: it makes one, or does only what one has.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::names::DeviceName;

use super::{PlannedDevice, StoredPlan};

/// How a run uses plans in files.
#[derive(Clone, Debug, Default)]
pub(crate) enum PlanUse {
    #[default]
    None,
    /// What the run would change is collected.
    Save(Arc<PlannedDevices>),
    /// The run is refused unless it would do what was planned.
    Check {
        plan: Arc<StoredPlan>,
        /// Digest of the plan.
        digest: String,
        /// Digest of models and drivers.
        definitions: String,
    },
}

/// The devices of a new plan.
#[derive(Debug)]
pub(crate) struct PlannedDevices {
    /// The name of the plan.
    pub(crate) id: String,
    /// Digest of models and drivers.
    pub(crate) definitions: String,
    pub(crate) devices: Mutex<BTreeMap<String, PlannedDevice>>,
}

impl PlanUse {
    /// The digest of the plan that is applied.
    pub(crate) fn applied(&self) -> Option<&str> {
        match self {
            PlanUse::Check { digest, .. } => Some(digest),
            PlanUse::None | PlanUse::Save(_) => None,
        }
    }

    /// The name of the plan.
    pub(crate) fn id(&self) -> Option<&str> {
        match self {
            PlanUse::None => None,
            PlanUse::Save(planned) => Some(&planned.id),
            PlanUse::Check { plan, .. } => Some(&plan.id),
        }
    }

    /// Uses what a run would change on a device. `is_complete`: no resource failed, and
    /// a run would not refuse the device.
    ///
    /// # Errors
    /// The run would not do what was planned.
    pub(crate) fn check(
        &self,
        device: &DeviceName,
        is_complete: bool,
        now: impl FnOnce(&str) -> PlannedDevice,
    ) -> Result<(), Vec<Diagnostic>> {
        let of_device = |mut finding: Diagnostic| {
            finding.message = format!("{device}: {}", finding.message);
            finding
        };
        match self {
            PlanUse::None => Ok(()),
            PlanUse::Save(all) => {
                if is_complete {
                    let mut planned = now(&all.definitions);
                    planned.key = planned.key.filter(|_| planned.has_secrets);
                    let mut devices = all.devices.lock().unwrap_or_else(PoisonError::into_inner);
                    devices.insert(device.to_string(), planned);
                }
                Ok(())
            }
            PlanUse::Check {
                plan, definitions, ..
            } => {
                let findings = match plan.devices.get(device.as_str()) {
                    Some(planned) => planned.differences(&now(definitions)),
                    None => vec![Diagnostic::error(
                        "plan-changed",
                        "the plan does not have the device",
                    )],
                };
                if findings.is_empty() {
                    Ok(())
                } else {
                    Err(findings.into_iter().map(of_device).collect())
                }
            }
        }
    }

    /// Adds the difference to the configuration of a device to a new plan.
    pub(crate) fn set_difference(&self, device: &DeviceName, difference: &str) {
        if let PlanUse::Save(all) = self {
            let mut devices = all.devices.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(planned) = devices.get_mut(device.as_str()) {
                difference.clone_into(&mut planned.difference);
            }
        }
    }
}
