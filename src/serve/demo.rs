//! `switchtender serve --demo`: mock devices with example state, and a change by hand every minute.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use switchtender_devices::names::DeviceName;
use tokio_util::sync::CancellationToken;

use super::fleet::ServeFleet;
use crate::desired_state::StateDirectory;
use crate::fleet::catalog_files::InventoryCatalogs;
use crate::fleet::connector::Connector;
use crate::fleet::device_run::Observer;
use crate::fleet::inventory_run::InventoryFleet;
use crate::fleet::run_request::RunRequest;
use crate::inventory::{Inventory, InventoryOptions, Secrets};
use crate::run_kind::RunKind;
use crate::store::Store;

const SWITCHES: [&str; 4] = ["sw1", "sw2", "sw3", "sw4"];
/// Interval between two changes by hand.
const DRIFT_INTERVAL: Duration = Duration::from_secs(60);

const SWITCH_STATE: &str = include_str!("../../examples/state/device/sw1.yaml");
const BALANCER_STATE: &str = include_str!("../../examples/state/device/lb1.yaml");
const ACCESS_STATE: &str = include_str!("../../examples/state/label/role/access.yaml");

/// Devices of plans only keep their drift. The pages need no login, and are for this host only. Any free
/// port, because another process can have the default one.
const SETTINGS: &str = r#"inventory = "inventory.toml"
listen = "127.0.0.1:0"
state_dir = "state-dir"

[defaults]
interval = "20s"
splay = "10s"
state = "state"

[device."sw[34]"]
mode = "plan"

[web]
anonymous = "apply"
"#;

/// The directory of a demonstration. It is removed when it is dropped.
pub(crate) struct DemoDirectory {
    directory: tempfile::TempDir,
}

impl DemoDirectory {
    /// Writes settings, inventory and state.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(crate) fn create() -> io::Result<Self> {
        let directory = tempfile::tempdir()?;
        let root = directory.path();
        for path in ["state/device", "state/label/role", "by-hand/device"] {
            std::fs::create_dir_all(root.join(path))?;
        }
        let mut inventory = String::new();
        for (number, name) in SWITCHES.iter().enumerate() {
            inventory.push_str(&format!(
                "[device.{name}]\nplatform = \"cisco_ios\"\naddress = \"192.0.2.{}\"\n\
                 site = \"hall {}\"\nlabels = {{ role = \"access\" }}\n",
                number + 1,
                number % 2 + 1
            ));
            std::fs::write(root.join(format!("state/device/{name}.yaml")), SWITCH_STATE)?;
        }
        inventory.push_str(
            "[device.lb1]\nplatform = \"f5_bigip\"\naddress = \"192.0.2.101\"\nsite = \"hall 1\"\n\
             labels = { role = \"load-balancer\" }\n",
        );
        std::fs::write(root.join("state/device/lb1.yaml"), BALANCER_STATE)?;
        std::fs::write(root.join("state/label/role/access.yaml"), ACCESS_STATE)?;
        std::fs::write(root.join("inventory.toml"), inventory)?;
        std::fs::write(root.join("serve.toml"), SETTINGS)?;
        Ok(Self { directory })
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn settings(&self) -> PathBuf {
        self.path().join("serve.toml")
    }

    /// Changes a device by hand every minute until the process stops.
    ///
    /// # Cancellation
    /// May be dropped between changes.
    pub(crate) async fn drift(&self, fleet: &ServeFleet, stop: &CancellationToken) {
        let Some(connector) = self.connector(fleet) else {
            return;
        };
        let mut number = 0_usize;
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(DRIFT_INTERVAL) => {}
            }
            let name = SWITCHES[number % SWITCHES.len()];
            number += 1;
            if let Err(error) = self
                .change(&connector, &fleet.request(RunKind::Apply), name, number)
                .await
            {
                tracing::warn!("cannot change {name} by hand: {error}");
            }
        }
    }

    /// Changes the description of an interface, as a colleague does: with a run that is not stored.
    async fn change(
        &self,
        connector: &Arc<Connector>,
        request: &RunRequest,
        name: &str,
        number: usize,
    ) -> io::Result<()> {
        let directory = self.path().join("by-hand");
        let text = format!(
            "network_interface:\n  GigabitEthernet1/0/1: {{description: changed by hand {number}}}\n"
        );
        std::fs::write(directory.join(format!("device/{name}.yaml")), text)?;
        let fleet = InventoryFleet {
            connector: Arc::clone(connector),
            catalogs: InventoryCatalogs::State(Arc::new(StateDirectory::new(
                &directory,
                &connector.inventory,
            ))),
            graphs: None,
        };
        let observer: Observer = Arc::new(|_: &DeviceName, _| {});
        let name = DeviceName::parse(name).map_err(|_| io::Error::other("invalid name"))?;
        let run = fleet.run(&name, request, None, &observer).await;
        match run.result {
            Ok(_) => Ok(()),
            Err(error) => Err(io::Error::other(crate::error_chain::chain(&error))),
        }
    }

    /// A second connector to the same mocks with locks of its own.
    fn connector(&self, fleet: &ServeFleet) -> Option<Arc<Connector>> {
        let (registry, mocks) = fleet.mocks()?;
        let options = InventoryOptions {
            registry: Some(&registry),
            is_offline: true,
            ..InventoryOptions::default()
        };
        let inventory = Inventory::load(&self.path().join("inventory.toml"), &options).ok()?;
        Some(Arc::new(Connector {
            secrets: Secrets::new(true),
            inventory,
            registry: Arc::clone(&registry),
            store: Store::at(self.path().join("by-hand-state")),
            mocks: Some(mocks),
            running: None,
            transcripts: None,
            recordings: None,
        }))
    }
}
