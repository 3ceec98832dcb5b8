//! What a plan would change, against answers that were read before: with the checks, the session, the provider and
//! the transaction of a run, and without its files.

use switchtender_devices::diagnostic::{Diagnostic, Severity};
use switchtender_devices::driver::Driver;
use switchtender_devices::provider::ReadOnly;
use switchtender_devices::provider::driver_provider::DriverProvider;
use switchtender_devices::secret_mask::SecretMask;
use switchtender_devices::value::Value;

use super::catalog_check::{PreparedCatalog, check_catalog};
use super::catalog_source::CatalogText;
use super::connector::{DeviceConnector, OpenDevice};
use super::device_run::DeviceRunError;
use super::run_request::RunRequest;
use super::state_files::{self, DeviceState};
use crate::catalog::types::Types;
use crate::clock;
use crate::store::identity::{OwnedState, Owner};
use crate::store::{DeviceStore, StoreError};
use crate::transaction::{self, EventStatus, Memory, ResourceStatus, RunEvent, Skip};

/// A resource that a plan would change or refuse.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlanDifference {
    /// In lower case.
    pub(crate) type_name: String,
    pub(crate) title: String,
    /// The attributes that differ; none if the resource fails.
    pub(crate) attributes: Vec<AttributeDifference>,
    pub(crate) reason: String,
}

/// An attribute whose desired value is another one than that of the device.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AttributeDifference {
    pub(crate) name: String,
    pub(crate) current: Option<Value>,
    pub(crate) desired: Option<Value>,
}

/// The result of a plan.
#[derive(Debug)]
pub(crate) struct OfflinePlan {
    pub(crate) differences: Vec<PlanDifference>,
    /// The state of the device before, and as the plan leaves it.
    pub(crate) before: Memory,
    pub(crate) after: Memory,
    pub(crate) owned: OwnedState,
}

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OfflinePlanError {
    /// The catalog is refused; the labels of the findings are positions in its text.
    #[error("the catalog is refused")]
    Refused(Vec<Diagnostic>),
    #[error(transparent)]
    Run(#[from] DeviceRunError),
}

/// The differences between a catalog and a device, whose answers the connector has.
///
/// # Cancellation
/// May be dropped at any time; nothing is sent.
pub(crate) async fn plan(
    connector: DeviceConnector,
    text: CatalogText,
    store: &DeviceStore,
    inventory: &str,
) -> Result<OfflinePlan, OfflinePlanError> {
    let mask = &SecretMask::default();
    let request = RunRequest::default();
    let catalog = match check_catalog(text, &request, None, mask) {
        Ok(catalog) => catalog,
        Err(DeviceRunError::Refused { mut findings, .. }) => {
            findings.retain(|found| found.severity == Severity::Error);
            return Err(OfflinePlanError::Refused(findings));
        }
        Err(error) => return Err(error.into()),
    };
    let OpenDevice {
        session,
        facts,
        identity,
    } = connector.open().await.map_err(DeviceRunError::from)?;
    let owner = Owner {
        identity,
        address: connector.address().unwrap_or_default(),
        inventory: inventory.to_owned(),
    };
    let owned = store.owned_by(owner).map_err(DeviceRunError::from)?;
    let state = DeviceState::load(&owned.store).map_err(DeviceRunError::from)?;
    let before = state.memory.clone();
    let mut after = state.memory;
    let driver = Driver::new(&catalog.platform, &facts).with_saved(session.saved_answers());
    let PreparedCatalog {
        registry,
        resources,
        ..
    } = catalog;
    // Nothing is sent, so that the session is not at risk.
    let mut provider = DriverProvider::new(driver, session, Box::new(connector), state.remembered)
        .allow_own_path(true);
    let types = Types::new(|name: &str| registry.model(name).cloned());
    let mut events: Vec<RunEvent> = Vec::new();
    let input = transaction::Input {
        resources,
        types: &types,
        noop: true,
        settings: &request.settings,
        clock: &clock::timestamp,
        zone: clock::zone(),
        memory: &mut after,
        provider: &mut ReadOnly::new(&mut provider),
        sink: &mut events,
        stop: &|| false,
    };
    // An error of the transaction is in its last event.
    let _ = transaction::run(input).await;
    provider.close().await;
    let differences = events.iter().filter_map(|event| match event {
        RunEvent::Resource(status) => difference(status, mask),
        RunEvent::Amended { status, .. } => difference(status, mask),
        _ => None,
    });
    Ok(OfflinePlan {
        differences: differences.collect(),
        before,
        after,
        owned,
    })
}

impl OfflinePlan {
    /// Stores the state of the device as that of its last run: a later import compares with it.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(crate) fn remember(&self) -> Result<(), StoreError> {
        self.owned.save_owner()?;
        let mut memory = self.after.clone();
        // A resource that only the device has was removed from the files, and remains known.
        memory.carry_over(&self.before);
        state_files::save_memory(&self.owned.store, &memory)
    }
}

fn difference(status: &ResourceStatus, mask: &SecretMask) -> Option<PlanDifference> {
    if status.is_default {
        return None;
    }
    let events = status.events.iter();
    let events = events.filter(|event| {
        matches!(
            event.status,
            EventStatus::Noop | EventStatus::Failure | EventStatus::Success
        )
    });
    let mut attributes = Vec::new();
    let mut reasons = Vec::new();
    for event in events {
        attributes.extend(event.property.as_ref().map(|name| AttributeDifference {
            name: name.to_string(),
            current: event.previous_value.clone(),
            desired: event.desired_value.clone(),
        }));
        reasons.extend(event.message.as_deref().map(|message| mask.apply(message)));
    }
    if let Some(skipped) = &status.skipped
        && !matches!(skipped, Skip::FailedDependencies)
    {
        reasons.extend(status.skip_reason());
    }
    if reasons.is_empty() && !status.has_failed() {
        return None;
    }
    if status.has_failed() {
        attributes.clear();
    }
    Some(PlanDifference {
        type_name: status.reference.model_name(),
        title: status.reference.title().to_owned(),
        attributes,
        reason: if reasons.is_empty() {
            "it fails".to_owned()
        } else {
            reasons.join("; ")
        },
    })
}
