//! The devices of the inventory, with catalogs from files.

use std::sync::Arc;

use switchtender_devices::driver::Registry;

use super::load::{FleetLoad, LoadContext, LoadFleetError, SECRET_LIFETIME};
use super::states::States;
use super::{ServedCatalog, ServedDevice};
use crate::diagnostic::{Diagnostic, Severity};
use crate::error_chain::chain;
use crate::fleet::connector::Connector;
use crate::fleet::known_device::known_device;
use crate::fleet::limits::Membership;
use crate::fleet::mock_fleet::MockFleet;
use crate::history::device_state::KnownDevice;
use crate::inventory::{Device, Inventory, InventoryOptions, NO_VAULT_HELP, Secrets};
use crate::serve::access::OidcSettings;
use crate::serve::settings::{CatalogPath, RuleSubject};
impl FleetLoad<'_> {
    pub(super) async fn add_inventory(&mut self) -> Result<(), LoadFleetError> {
        let registry = Arc::clone(&self.registry);
        let settings = Arc::clone(&self.fleet.settings);
        let options = InventoryOptions {
            registry: Some(&registry),
            is_offline: self.context.uses_mocks,
            ..InventoryOptions::default()
        };
        let inventory = Inventory::load(&settings.inventory, &options)?;
        let warnings = inventory.command_warnings().cloned();
        self.fleet.warnings.extend(warnings);
        let mut findings = Vec::new();
        let provider = settings.web.oidc.as_ref();
        if provider.is_some_and(OidcSettings::needs_vault) && inventory.vault.is_none() {
            let text = format!(
                "`client_secret` of [oidc] is in Vault, and {} has no [vault]",
                settings.inventory.display()
            );
            findings.push(Diagnostic::error("missing-key", text).help(NO_VAULT_HELP));
        }
        let mut states = States::default();
        for device in inventory.devices.values() {
            let merged = self.settings_of(RuleSubject::Inventory(device));
            let Some(catalog) = merged.catalog() else {
                let text = format!("device `{}` has no catalog", device.name);
                let mut finding = Diagnostic::error("no-catalog", text);
                finding.help = Some(format!(
                    "set `catalog` or `state` in [defaults] of {}",
                    settings.source.name
                ));
                findings.push(finding);
                continue;
            };
            if let CatalogPath::State(path) = catalog
                && !states.manages(path, device, &inventory, self.files)
            {
                continue;
            }
            let platform = device.platform_of(&registry);
            let guarantee = platform.map(|platform| device.guarantee(&platform).class);
            let known = KnownDevice {
                guarantee: guarantee.map(|class| class.word().to_owned()),
                ..known_device(device)
            };
            self.add(ServedDevice {
                name: device.name.clone(),
                scheduled: self.scheduled(&known, merged.schedule(), Membership::of(device)),
                known,
                source: ServedCatalog::Path(catalog.clone()),
            });
        }
        if self.fleet.devices.is_empty() && settings.puppet_server.is_none() {
            findings.extend(states.findings(Severity::Error));
        } else {
            let warnings = states.findings(Severity::Warning);
            self.fleet.warnings.extend(warnings);
        }
        if !findings.is_empty() {
            return Err(findings.into());
        }
        let mocks = start_mocks(self.context, &inventory, &registry).await?;
        self.fleet.connector = Some(Arc::new(Connector {
            secrets: Secrets::of_inventory(&inventory)
                .with_state_commands(settings.state_commands)
                .with_lifetime(SECRET_LIFETIME),
            inventory,
            registry,
            store: self.context.store.clone(),
            mocks: mocks.map(Arc::new),
            running: None,
            transcripts: None,
            recordings: None,
        }));
        Ok(())
    }
}

async fn start_mocks(
    context: &LoadContext,
    inventory: &Inventory,
    registry: &Registry,
) -> Result<Option<MockFleet>, LoadFleetError> {
    if !context.uses_mocks {
        return Ok(None);
    }
    let devices: Vec<&Device> = inventory.devices.values().collect();
    let started = MockFleet::start(&devices, registry, None).await;
    let started = started.map_err(|error| LoadFleetError::Mock(chain(&error)))?;
    Ok(Some(started))
}
