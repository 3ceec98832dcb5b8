//! `resource --config FILE`: the resources in a saved configuration.

use super::{ResourceArgs, TypeResources, find_model, read_error, render, secrets_notice, show};
use crate::cli::exit::{CommandError, Exit, eprint_notice, print_document};
use crate::cli::saved_config::SavedDevice;
use crate::cli::view::of_device;
use crate::fleet::inspect;

/// Prints the resources of one type, or of all types of the platform that the file can show.
pub(super) async fn run(args: &ResourceArgs, device: &SavedDevice) -> Result<Exit, CommandError> {
    let file = device.file.as_str();
    if let [_, _, extra, ..] = args.names.as_slice() {
        let error = CommandError::new(format!("unexpected argument `{extra}`"));
        return Err(error.hint("with --config, name only TYPE and NAME"));
    }
    if let Some(note) = device.connector.unknown_facts_note() {
        eprint_notice(&note);
    }
    let name = args.names.get(1).map(String::as_str);
    if let Some(type_name) = args.names.first() {
        let model = find_model(&device.registry, type_name)?;
        let inspection = inspect::instances(&device.connector, &model).await;
        let inspection = inspection.map_err(|error| read_error(file, &error))?;
        inspection.notes.iter().for_each(|note| eprint_notice(note));
        return show(args, file, file, &model, inspection, name);
    }
    let inspection = inspect::all_instances(&device.connector).await;
    let inspection = inspection.map_err(|error| read_error(file, &error))?;
    inspection.notes.iter().for_each(|note| eprint_notice(note));
    let exit = match inspection.failed.is_empty() {
        true => Exit::SUCCESS,
        false => Exit::FAILURE,
    };
    for failed in &inspection.failed {
        let reason = of_device(file, &failed.error);
        eprint_notice(&format!(
            "cannot read {}: {reason}",
            failed.types.join(", ")
        ));
    }
    let mut inspection = inspection;
    inspection.leave_out(args.with_defaults);
    let mut types = TypeResources::list(inspection, args.show_secrets);
    types.retain(|found| !found.is_empty());
    if let Some(notice) = secrets_notice(args.output, &types) {
        eprint_notice(&notice);
    }
    print_document(&render(args.output, &types, file));
    Ok(exit)
}
