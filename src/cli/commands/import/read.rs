//! Reads what is imported: devices, or a folder of saved configurations.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use futures_util::FutureExt as _;
use switchtender_devices::driver::{Driver, Facts, Platform, Registry};
use switchtender_devices::names::DeviceName;
use switchtender_devices::read::{CONFIG, Reads};
use switchtender_devices::session::saved::SavedAnswers;
use switchtender_devices::value::Value;
use tokio_util::sync::CancellationToken;

use super::ImportArgs;
use crate::cli::exit::{CommandError, eprint_notice};
use crate::cli::interrupt::stop_reads_on_signals;
use crate::cli::options::saved_config::{OpenConfigs, open_configs};
use crate::cli::options::selection::targets;
use crate::coverage::counts::ClassCounts;
use crate::desired_state::MergedState;
use crate::desired_state::declared::DeclaredAttributes;
use crate::error_chain::chain;
use crate::fleet::connector::DeviceConnector;
use crate::fleet::coverage;
use crate::fleet::declared_device::{DeclaredDevice, DeclaredSecrets};
use crate::fleet::inspect::{self, InspectError, Inspection};
use crate::fleet::read_devices::{CONCURRENCY, read_devices};
use crate::fleet::saved_fleet::SavedDevice;
use crate::import::labels::LabeledDevice;
use crate::parallel;

/// What was read of a fleet.
pub(super) struct ReadFleet {
    pub(super) registry: Arc<Registry>,
    pub(super) devices: Vec<ReadDevice>,
    /// Devices that could not be read, with the reason.
    pub(super) failed: Vec<(String, String)>,
}

/// A device with its answers.
pub(super) struct ReadDevice {
    pub(super) name: DeviceName,
    pub(super) platform: Arc<Platform>,
    /// Where it is reached, if a folder tells it.
    pub(super) address: Option<String>,
    /// The folder of its configuration.
    folder: Option<String>,
    pub(super) facts: Facts,
    reads: Reads,
    pub(super) declared: DeclaredDevice,
    /// Secrets of which the device shows a hash: `TYPE[NAME].ATTRIBUTE`.
    pub(super) hashed: Vec<String>,
    /// What was read incompletely.
    pub(super) notes: Vec<String>,
}

impl ReadDevice {
    pub(super) fn new(name: DeviceName, platform: Arc<Platform>, inspection: Inspection) -> Self {
        let hashed = hashed(&inspection);
        let mut inspection = inspection;
        inspection.leave_out(false);
        let mut notes = std::mem::take(&mut inspection.notes);
        for failed in &inspection.failed {
            let types = failed.types.join(", ");
            notes.push(format!("not read: {types}: {}", chain(&failed.error)));
        }
        Self {
            name,
            platform,
            address: None,
            folder: None,
            facts: std::mem::take(&mut inspection.facts),
            reads: std::mem::take(&mut inspection.reads),
            declared: DeclaredDevice::new(inspection, DeclaredSecrets::Included),
            hashed,
            notes,
        }
    }

    /// What labels come from.
    pub(super) fn labeled(&self) -> LabeledDevice<'_> {
        LabeledDevice {
            name: &self.name,
            facts: &self.facts,
            folder: self.folder.as_deref(),
        }
    }

    /// A connector that answers as the device did.
    pub(super) fn connector(&self) -> DeviceConnector {
        let answers = SavedAnswers {
            device: self.name.to_string(),
            reads: self.reads.clone(),
        };
        DeviceConnector::replayed(answers, Arc::clone(&self.platform), self.facts.clone())
    }

    /// The attributes of a resource that it has.
    pub(super) fn attributes(&self, type_name: &str, title: &str) -> Option<&DeclaredAttributes> {
        self.declared.state.types.get(type_name)?.get(title)
    }

    /// The names of a title in the form of the device.
    pub(super) fn canonical_title(
        &self,
        type_name: &str,
        title: &str,
        registry: &Registry,
    ) -> String {
        let Some(model) = registry.model(type_name) else {
            return title.to_owned();
        };
        let names = model.names(title);
        let driver = Driver::new(&self.platform, &self.facts);
        let canonical = driver.canonicalize(model, names.clone()).unwrap_or(names);
        let texts = model.namevars().filter_map(|name| canonical.get(name));
        texts.map(Value::ruby_to_s).collect::<Vec<_>>().join(" ")
    }

    /// The titles that files declare, in the form of the device.
    pub(super) fn declared_titles(
        &self,
        merged: &MergedState,
        type_name: &str,
        registry: &Registry,
    ) -> BTreeSet<String> {
        let resources = merged.types.get(type_name).into_iter().flatten();
        resources
            .map(|(title, _)| self.canonical_title(type_name, title, registry))
            .collect()
    }

    /// The classes of the lines of its configuration.
    pub(super) fn coverage(&self) -> ClassCounts {
        let surveyed = coverage::survey(self.connector()).now_or_never();
        let surveyed = surveyed.expect("saved answers do not wait");
        let lines = surveyed.map(|surveyed| surveyed.classified(None));
        ClassCounts::of(&lines.unwrap_or_default())
    }

    /// The lines of its configuration that have a meaning.
    pub(super) fn lines(&self) -> usize {
        let text = self.reads.get(CONFIG).map_or("", String::as_str);
        let lines = text.lines().map(str::trim);
        lines
            .filter(|line| !line.is_empty() && !line.starts_with('!'))
            .count()
    }
}

/// The secrets of which a device shows a hash.
fn hashed(inspection: &Inspection) -> Vec<String> {
    let mut found = Vec::new();
    for one in &inspection.types {
        for instance in &one.instances {
            let names = one.model.namevars();
            let names = names.filter_map(|name| instance.attributes.get(name));
            let names = names.filter(|name| !name.contains_secret());
            let names: Vec<_> = names.map(Value::ruby_to_s).collect();
            let resource = format!("{}[{}]", one.model.name, names.join(" "));
            let hashed = instance.hashed.iter();
            found.extend(hashed.map(|(attribute, _)| format!("{resource}.{attribute}")));
        }
    }
    found
}

/// Reads the devices of a command.
pub(super) async fn read(args: &ImportArgs) -> Result<ReadFleet, CommandError> {
    match &args.configs {
        Some(path) => read_configs(args, path),
        None => read_live(args).await,
    }
}

fn read_configs(args: &ImportArgs, path: &Path) -> Result<ReadFleet, CommandError> {
    let OpenConfigs {
        registry,
        mut devices,
    } = open_configs(path, &args.access)?;
    if !args.devices.is_empty() {
        for name in &args.devices {
            if !devices.iter().any(|device| *device.name == **name) {
                let text = format!("{} has no configuration of {name}", path.display());
                return Err(CommandError::new(text));
            }
        }
        devices.retain(|device| args.devices.iter().any(|name| **name == *device.name));
    }
    let read = parallel::map(&devices, |device: &SavedDevice| {
        let inspection = inspect::all_instances(&device.connector).now_or_never();
        inspection.expect("saved answers do not wait")
    });
    let mut fleet = ReadFleet {
        registry: Arc::new(registry),
        devices: Vec::new(),
        failed: Vec::new(),
    };
    for (device, read) in devices.into_iter().zip(read) {
        match read {
            Ok(inspection) => {
                let mut read = ReadDevice::new(device.name, device.platform, inspection);
                read.folder = device.group;
                read.address = device.address;
                // Devices with the same note are listed together.
                let file = format!("{}: ", device.file.display());
                for note in &mut read.notes {
                    *note = note.replace(&file, "");
                }
                fleet.devices.push(read);
            }
            Err(error) => fleet.failed.push((device.name.to_string(), chain(&error))),
        }
    }
    Ok(fleet)
}

async fn read_live(args: &ImportArgs) -> Result<ReadFleet, CommandError> {
    let selection = targets(&args.devices)?;
    let (connector, names) = args.access.select(&selection).await?;
    let stop = CancellationToken::new();
    stop_reads_on_signals(&stop);
    let mut fleet = ReadFleet {
        registry: Arc::clone(&connector.registry),
        devices: Vec::new(),
        failed: Vec::new(),
    };
    let count = names.len();
    let read = |connector: DeviceConnector| async move {
        let platform = Arc::clone(&connector.platform);
        let inspection = inspect::all_instances(&connector).await?;
        Ok((platform, inspection))
    };
    let done = |name: DeviceName, read: Result<(Arc<Platform>, Inspection), InspectError>| {
        match read {
            Ok((platform, inspection)) => {
                fleet
                    .devices
                    .push(ReadDevice::new(name, platform, inspection));
            }
            Err(error) => fleet.failed.push((name.to_string(), chain(&error))),
        }
        let finished = fleet.devices.len() + fleet.failed.len();
        if count > 1 {
            eprint_notice(&format!("read {finished} of {count} devices"));
        }
    };
    read_devices(&connector, names, CONCURRENCY, &stop, read, done).await;
    // Devices finish in any order, and the files must not depend on it.
    fleet.devices.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(fleet)
}
