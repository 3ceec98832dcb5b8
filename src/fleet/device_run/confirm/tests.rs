//! The age of what a plan was made of, with a clock that the tests set.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use switchtender_devices::driver::Registry;
use switchtender_devices::names::DeviceName;

use super::*;
use crate::fleet::catalog_files::{CatalogFiles, InventoryCatalogs};
use crate::fleet::connector::Connector;
use crate::fleet::device_run::{DeviceRun, Observer};
use crate::fleet::inventory_run::InventoryFleet;
use crate::fleet::mock_fleet::MockFleet;
use crate::fleet::plan_confirmation::{ConfirmationStep, PlanConfirmation};
use crate::fleet::rollout::Batch;
use crate::fleet::run_request::RunRequest;
use crate::inventory::{Inventory, InventoryOptions, Secrets};
use crate::run_kind::RunKind;
use crate::store::Store;

const INVENTORY: &str =
    "[device.sw1]\nplatform = \"cisco_ios\"\naddress = \"192.0.2.1\"\nuser = \"x\"\n";

fn name() -> DeviceName {
    DeviceName::parse("sw1").unwrap()
}

/// A mock switch, and people who change it with state directories of their own.
struct SharedSwitch {
    dir: tempfile::TempDir,
    registry: Arc<Registry>,
    mocks: Arc<MockFleet>,
}

impl SharedSwitch {
    async fn start() -> Self {
        drop(rustls::crypto::ring::default_provider().install_default());
        let registry = Arc::new(Registry::shipped());
        let inventory = inventory(&registry);
        let devices: Vec<_> = inventory.devices.values().collect();
        let mocks = MockFleet::start(&devices, &registry, None).await.unwrap();
        Self {
            dir: tempfile::tempdir().unwrap(),
            registry,
            mocks: Arc::new(mocks),
        }
    }

    /// A run of a person who wants this name of a VLAN.
    async fn run(&self, person: &str, vlan: &str, request: &RunRequest) -> DeviceRun {
        let catalog = self.dir.path().join(format!("{person}-{vlan}.json"));
        let text = format!(
            r#"{{"name": "sw1", "resources": [{{"type": "Network_vlan", "title": "40",
                "parameters": {{"vlan_name": "{vlan}"}}}}]}}"#
        );
        std::fs::write(&catalog, text).unwrap();
        let fleet = InventoryFleet {
            connector: Arc::new(self.connector(&self.dir.path().join(person))),
            catalogs: InventoryCatalogs::Files(CatalogFiles { path: catalog }),
            graphs: None,
        };
        let nobody: Observer = Arc::new(|_: &DeviceName, _| {});
        // As in a real run: the state of a run is large.
        Box::pin(fleet.run(&name(), request, None, &nobody)).await
    }

    fn connector(&self, state: &Path) -> Connector {
        Connector {
            inventory: inventory(&self.registry),
            registry: Arc::clone(&self.registry),
            secrets: Secrets::new(true),
            store: Store::at(state),
            mocks: Some(Arc::clone(&self.mocks)),
            running: None,
            transcripts: None,
            recordings: None,
        }
    }
}

fn inventory(registry: &Registry) -> Inventory {
    let options = InventoryOptions {
        registry: Some(registry),
        is_offline: true,
        ..InventoryOptions::default()
    };
    Inventory::parse("inventory.toml", INVENTORY, Path::new(""), None, &options).unwrap()
}

fn request(confirmation: Option<Arc<PlanConfirmation>>) -> RunRequest {
    RunRequest {
        kind: RunKind::Apply,
        confirmation,
        ..RunRequest::default()
    }
}

/// A run whose user agrees after this time. Meanwhile, somebody may rename the VLAN.
async fn confirmed_after(wait: Duration, renamed: Option<&str>) -> Result<(), DeviceRunError> {
    let switch = SharedSwitch::start().await;
    let confirmation = Arc::new(PlanConfirmation::default());
    let batch = Batch {
        number: 1,
        count: 1,
        devices: vec![name()],
    };
    confirmation.start(&batch, [].into(), true);
    let request_of_user = request(Some(Arc::clone(&confirmation)));
    let run = switch.run("user", "users", &request_of_user);
    let answer = async {
        while let ConfirmationStep::Show(_) = confirmation.next().await {}
        if let Some(vlan) = renamed {
            let run = switch.run("colleague", vlan, &request(None)).await;
            run.result.unwrap();
        }
        tokio::time::pause();
        tokio::time::advance(wait).await;
        tokio::time::resume();
        confirmation.answer(true);
    };
    tokio::join!(run, answer).0.result
}

#[tokio::test]
async fn plan_that_is_a_minute_old_is_made_again() {
    let (early, late) = (Duration::from_secs(30), Duration::from_secs(61));
    // Within a minute, nothing is read again: the change was not seen.
    confirmed_after(early, Some("guests")).await.unwrap();
    confirmed_after(late, None).await.unwrap();
    let error = confirmed_after(late, Some("guests")).await.unwrap_err();
    let DeviceRunError::Plan { findings } = &error else {
        panic!("{error:?}");
    };
    let help = findings[0].help.as_deref();
    assert_eq!(
        help,
        Some("the device changed while the plan was shown: apply again")
    );
}

/// The change of the colleague is the one that was planned: nothing is left to do, and that differs from the plan.
#[tokio::test]
async fn plan_that_somebody_else_has_applied_is_refused() {
    let late = Duration::from_secs(61);
    let error = confirmed_after(late, Some("users")).await.unwrap_err();
    assert!(matches!(error, DeviceRunError::Plan { .. }), "{error:?}");
}
