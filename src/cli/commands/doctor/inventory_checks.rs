//! Checks of an inventory: files, secrets, host keys, and on request the login.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use switchtender_devices::driver::{Registry, Transport};
use switchtender_devices::names::DeviceName;
use switchtender_devices::session::LineTransport;
use switchtender_devices::session::login_files::has_host_key;
use tokio_util::sync::CancellationToken;

use super::check_result::{CheckResult, CheckState};
use super::{DoctorArgs, check_writable};
use crate::cli::exit::CommandError;
use crate::cli::interrupt::stop_reads_on_signals;
use crate::cli::options::definitions;
use crate::cli::options::output_format::Output;
use crate::cli::options::selection::targets;
use crate::cli::options::state_root::state_root;
use crate::cli::output::view::summary::MAX_ROWS;
use crate::clock;
use crate::error_chain::chain;
use crate::fleet::connector::{Connector, DeviceConnector};
use crate::fleet::device_run::DeviceRunError;
use crate::fleet::read_devices::{CONCURRENCY, read_devices};
use crate::inventory::{Device, Inventory, InventoryOptions, Secrets, VaultSettings, range};
use crate::store::Store;

/// Checks the inventory and the selected devices.
pub(super) async fn check_all(
    path: &Path,
    args: &DoctorArgs,
) -> Result<Vec<CheckResult>, CommandError> {
    let registry = definitions::load(args.definitions.as_deref())?;
    let options = InventoryOptions {
        registry: Some(&registry),
        check_referenced_files: true,
        ..InventoryOptions::default()
    };
    let inventory = match Inventory::load(path, &options) {
        Ok(inventory) => inventory,
        Err(found) => {
            let found = found.iter();
            return Ok(found
                .map(|one| CheckResult::finding("inventory", one))
                .collect());
        }
    };
    let text = format!("devices in {}: {}", path.display(), inventory.devices.len());
    let mut checks = vec![CheckResult::new("inventory", CheckState::Ok, text)];
    let warnings = inventory.warnings.iter();
    checks.extend(warnings.map(|found| CheckResult::finding("inventory", found)));
    let root = match &args.state_dir {
        Some(dir) => dir.clone(),
        None => state_root()?,
    };
    checks.push(check_writable(&root, "--state-dir"));
    let selection = targets(&args.target)?;
    let devices = inventory
        .select(&selection)
        .map_err(CommandError::findings)?;
    checks.extend(check_environment(&inventory, &devices));
    if !args.connect {
        // A login checks the key, too.
        checks.extend(check_host_keys(&devices, &registry, &root));
    } else {
        let names: Vec<DeviceName> = devices.iter().map(|device| device.name.clone()).collect();
        let mut logins = BTreeMap::new();
        // Devices without a warning.
        let mut ok = BTreeSet::new();
        let mut slowest = Duration::ZERO;
        let connector = Connector {
            secrets: Secrets::of_inventory(&inventory),
            inventory,
            registry: Arc::new(registry),
            store: Store::at(root),
            mocks: None,
            running: None,
            transcripts: None,
            recordings: None,
        };
        let stop = CancellationToken::new();
        stop_reads_on_signals(&stop);
        let log_in = async |connector: DeviceConnector| {
            let began = clock::instant();
            let mut session = connector.reopen().await.map_err(DeviceRunError::from)?;
            let notes = session.notes();
            session.close().await;
            Ok((began.elapsed(), notes))
        };
        let connector = Arc::new(connector);
        read_devices(
            &connector,
            names.clone(),
            CONCURRENCY,
            &stop,
            log_in,
            |name, read| {
                let check = match read {
                    Ok((took, notes)) => {
                        let state = if notes.is_empty() {
                            CheckState::Ok
                        } else {
                            CheckState::Warning
                        };
                        if state == CheckState::Ok {
                            ok.insert(name.to_string());
                            slowest = slowest.max(took);
                        }
                        let text = format!("logged in, in {:.1} s", took.as_secs_f64());
                        CheckResult::new(&*name, state, [vec![text], notes].concat().join("; "))
                    }
                    Err(error) => {
                        let text = chain(&error);
                        let text = text.strip_prefix(&format!("{name}: ")).unwrap_or(&text);
                        CheckResult::new(&*name, CheckState::Error, text).hint(error.hint())
                    }
                };
                logins.insert(name, check);
            },
        )
        .await;
        let is_grouped = args.output == Output::Human && names.len() > MAX_ROWS;
        if is_grouped {
            let equal: Vec<&str> = names.iter().map(|name| &**name).collect();
            let is_ok = |name: &&str| ok.contains(*name);
            let equal: Vec<&str> = equal.into_iter().filter(is_ok).collect();
            logins.retain(|name, _| !ok.contains(&**name));
            if !equal.is_empty() {
                let count = equal.len();
                let subject = range::of_names(equal).join(", ");
                let text = format!(
                    "{count} devices logged in, in up to {:.1} s",
                    slowest.as_secs_f64()
                );
                checks.push(CheckResult::new(subject, CheckState::Ok, text));
            }
        }
        checks.extend(names.iter().filter_map(|name| logins.remove(name)));
    }
    Ok(checks)
}

/// Checks the variables of secrets, and the SSH agent.
fn check_environment(inventory: &Inventory, devices: &[&Device]) -> Vec<CheckResult> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for device in devices {
        for name in device.environment_variables() {
            *counts.entry(name).or_default() += 1;
        }
    }
    let counts = counts.into_iter();
    let mut needed: BTreeMap<&str, String> = counts
        .map(|(name, count)| (name, format!("devices that need it: {count}")))
        .collect();
    for name in inventory
        .vault
        .iter()
        .flat_map(VaultSettings::environment_variables)
    {
        needed.insert(name, "the login of [vault] needs it".to_owned());
    }
    let check = |(name, who): (&str, String)| {
        let subject = format!("environment variable {name}");
        match std::env::var_os(name) {
            Some(value) if !value.is_empty() => CheckResult::new(subject, CheckState::Ok, "is set"),
            _ => {
                let text = format!("is not set; {who}");
                CheckResult::new(subject, CheckState::Error, text)
                    .hint(Some(format!("export {name}, or use another secret source")))
            }
        }
    };
    needed.into_iter().map(check).collect()
}

/// Checks whether the files of host keys have the devices.
fn check_host_keys(devices: &[&Device], registry: &Registry, root: &Path) -> Vec<CheckResult> {
    let mut checks = Vec::new();
    let mut known = 0;
    for device in devices {
        let (Some(platform), Some(host)) = (
            registry.platform(&device.platform),
            device.settings.address.as_ref(),
        ) else {
            continue;
        };
        let transport = device.settings.transport.as_ref();
        let transport = transport.map_or(LineTransport::Ssh, |one| one.value);
        if platform.transport != Transport::SshCli || transport == LineTransport::Http {
            continue;
        }
        let own = device.settings.port.as_ref().map(|port| port.value);
        let port = own.unwrap_or_else(|| platform.protocol().port(transport));
        match has_host_key(&host.value, port, &device.host_key_policy(root)) {
            Ok(true) => known += 1,
            Ok(false) => {
                let text = format!("no host key of {} port {port} is known", host.value);
                let hint = format!(
                    "`ssh-keyscan -p {port} {} >> ~/.ssh/known_hosts` (compare the fingerprints), or set host_key = \"trust_on_first_use\"",
                    host.value
                );
                checks.push(
                    CheckResult::new(&*device.name, CheckState::Error, text).hint(Some(hint)),
                );
            }
            Err(error) => {
                checks.push(CheckResult::new(
                    &*device.name,
                    CheckState::Error,
                    chain(&error),
                ));
            }
        }
    }
    if known > 0 {
        let text = format!("devices with a known or permitted key: {known}");
        checks.push(CheckResult::new("host keys", CheckState::Ok, text));
    }
    checks
}
