//! The drift of one device for `serve`: the files that an import of the device would write, and nothing is written.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use clap::Parser;
use switchtender_devices::names::{DeviceName, TypeName};
use switchtender_devices::session::Access;
use switchtender_devices::session::deadline::Deadline;
use tokio::runtime::Handle;

use super::ImportArgs;
use super::draft::ImportSource;
use super::inventory_text::ImportInventory;
use super::patch::{self, Drift, Patching};
use super::read::{ReadDevice, ReadFleet};
use super::report::DECISIONS;
use super::write;
use crate::cli::exit::CommandError;
use crate::cli::options::desired_state;
use crate::desired_state::StateDirectory;
use crate::error_chain::chain;
use crate::fleet::connector::Connector;
use crate::fleet::inspect;
use crate::import::drift::DriftDecision;
use crate::serve::accept_drift::{
    AcceptDriftError, ChangedFile, DriftFiles, DriftReader, DriftRequest,
};
use crate::store::blocking_io;

/// The arguments of an import with their defaults.
#[derive(Parser)]
struct DriftImportArgs {
    #[command(flatten)]
    import: ImportArgs,
}

/// Makes the files for `serve`.
pub(crate) fn drift_reader() -> DriftReader {
    Arc::new(|request| Box::pin(read(request)))
}

async fn read(request: DriftRequest) -> Result<DriftFiles, AcceptDriftError> {
    let DriftRequest {
        connector,
        device,
        directory,
    } = request;
    let fleet = read_device(&connector, &device).await;
    let fleet = fleet.map_err(AcceptDriftError::Read)?;
    let handle = Handle::current();
    let made = blocking_io::run(move || {
        let secrets = |source: &ImportSource<'_>| handle.block_on(source.secrets());
        files(&connector, &fleet, &directory, secrets)
    });
    made.await.map_err(|error| {
        let source = error.source.as_deref();
        let source = source.map(|source| format!(": {}", chain(source)));
        AcceptDriftError::Read(error.message + &source.unwrap_or_default())
    })
}

async fn read_device(connector: &Connector, device: &DeviceName) -> Result<ReadFleet, String> {
    let found = connector.inventory.devices.get(device);
    let found = found.ok_or_else(|| format!("the inventory has no device {device}"))?;
    let opened = connector.connector(found, Access::ReadOnly).await;
    let mut opened = opened.map_err(|error| chain(&error))?;
    opened.set_deadline(&Deadline::default());
    let inspection = inspect::all_instances(&opened).await;
    let inspection = inspection.map_err(|error| chain(&error))?;
    let platform = Arc::clone(&opened.platform);
    Ok(ReadFleet {
        registry: Arc::clone(&connector.registry),
        devices: vec![ReadDevice::new(device.clone(), platform, inspection)],
        failed: Vec::new(),
    })
}

/// The types that the files of the device declare.
fn declared_types(
    connector: &Connector,
    fleet: &ReadFleet,
    directory: &Path,
) -> Result<Vec<TypeName>, CommandError> {
    let state = StateDirectory::new(directory, &connector.inventory);
    let mut types = Vec::new();
    for device in &fleet.devices {
        let entry = &connector.inventory.devices[&device.name];
        let merged = state.merged(entry, &connector.registry);
        let merged = merged.map_err(desired_state::error)?;
        types.extend(
            merged
                .types
                .keys()
                .map(|name| TypeName::from(name.as_str())),
        );
    }
    Ok(types)
}

fn files(
    connector: &Connector,
    fleet: &ReadFleet,
    directory: &Path,
    secrets: impl Fn(&ImportSource<'_>) -> Result<patch::ReadSecrets, CommandError>,
) -> Result<DriftFiles, CommandError> {
    let words = ["import".as_ref(), directory.as_os_str()];
    let args = DriftImportArgs::try_parse_from(words);
    let mut args = args.map_err(|error| CommandError::new(error.to_string()))?;
    // What no file declares was not in the desired state, and is no drift of it.
    args.import.types = declared_types(connector, fleet, directory)?;
    if args.import.types.is_empty() {
        return Ok(DriftFiles::default());
    }
    let inventory = ImportInventory {
        inventory: connector.inventory.clone(),
        text: None,
        new_devices: 0,
        label_order: connector.inventory.label_order.clone(),
    };
    let source = ImportSource {
        args: &args.import,
        renamed: Vec::new(),
        fleet,
        inventory: &inventory,
        store: &connector.store,
    };
    let before = patch::state_files(directory)?;
    let secrets = secrets(&source)?;
    let draft = Patching::new(&source, before, &secrets)?.patch()?;
    if let Some((device, reason)) = draft.failed.first() {
        return Err(CommandError::new(format!("{device}: {reason}")));
    }
    let mut found = DriftFiles::default();
    for (path, text) in write::changed(directory, &draft)? {
        let file = ChangedFile {
            before: fs::read_to_string(directory.join(path)).ok(),
            after: text.to_owned(),
        };
        found.files.insert(path.to_owned(), file);
    }
    for one in &draft.drift {
        let resource = resource(one);
        if one.decision == DriftDecision::Taken {
            found.accepted.push(resource);
        } else {
            let mut all = DECISIONS.iter();
            let words = all.find(|(decision, _)| *decision == one.decision);
            let words = words.map_or("", |(_, words)| *words);
            found.left.push(format!("{resource}: {words}"));
        }
    }
    Ok(found)
}

fn resource(one: &Drift) -> String {
    let attribute = one.attribute.as_ref().map(|name| format!(".{name}"));
    let attribute = attribute.unwrap_or_default();
    format!("{}[{}]{attribute}", one.type_name, one.title)
}
