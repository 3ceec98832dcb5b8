//! `resource --config FILE`: the resources in a saved configuration.

use super::{ResourceArgs, ResourceFormat, find_model, show};
use crate::cli::exit::{CommandError, Exit, eprint_notice};
use crate::cli::one_device::SavedDevice;
use crate::cli::view::of_device;
use crate::fleet::inspect;

/// Prints the resources of one type, or of all types of the platform that the file can show.
pub(super) async fn run(args: &ResourceArgs, device: &SavedDevice) -> Result<Exit, CommandError> {
    // There is no device before the type.
    let (type_name, name) = (args.device.device.as_deref(), args.type_name.as_deref());
    if let Some(extra) = &args.name {
        let error = CommandError::new(format!("unexpected argument `{extra}`"));
        return Err(error.hint("with --config, name only TYPE and NAME"));
    }
    if let Some(note) = device.connector.unknown_facts_note() {
        eprint_notice(&note);
    }
    if let Some(type_name) = type_name {
        let model = find_model(&device.registry, type_name)?;
        let inspection = inspect::instances(&device.connector, &model).await;
        let inspection = inspection.map_err(|error| CommandError {
            hint: error.hint(),
            ..CommandError::new(of_device(&device.file, &error))
        })?;
        inspection.notes.iter().for_each(|note| eprint_notice(note));
        show(args, &device.file, &model, inspection, name)?;
        return Ok(Exit::SUCCESS);
    }
    if args.format != ResourceFormat::Puppet {
        let error = CommandError::new("a document of this format has one type");
        return Err(error.hint("name a TYPE"));
    }
    let mut notes = Vec::new();
    for definition in device.connector.platform.types.values() {
        let model = &definition.model;
        match inspect::instances(&device.connector, model).await {
            Ok(mut inspection) => {
                notes.append(&mut inspection.notes);
                let is_empty =
                    inspection.instances.is_empty() && inspection.not_understood.is_empty();
                if !is_empty {
                    show(args, &device.file, model, inspection, None)?;
                }
            }
            Err(error) => {
                let reason = of_device(&device.file, &error);
                notes.push(format!("cannot read {}: {reason}", model.name));
            }
        }
    }
    notes.dedup();
    notes.iter().for_each(|note| eprint_notice(note));
    Ok(Exit::SUCCESS)
}
