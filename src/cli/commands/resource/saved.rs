//! `resource --config FILE`: the resources in a saved configuration, or in all of a directory.

use switchtender_devices::driver::Registry;

use super::all::{print_counts, write};
use super::{ResourceArgs, find_model, read_error, show};
use crate::cli::exit::{CommandError, Exit, eprint_notice, eprint_text, print_document};
use crate::cli::options::global::Global;
use crate::cli::output::view::of_device;
use crate::fleet::export::LeftOutCounts;
use crate::fleet::inspect::{self, Inspection};
use crate::fleet::saved_fleet::SavedDevice;

/// Prints the resources of one type, or of all types of the platform that the file can show.
pub(super) async fn run(
    args: &ResourceArgs,
    registry: &Registry,
    device: &SavedDevice,
) -> Result<Exit, CommandError> {
    let file = device.file.display().to_string();
    if let [_, _, extra, ..] = args.names.as_slice() {
        let error = CommandError::new(format!("unexpected argument `{extra}`"));
        return Err(error.hint("with --config, name only TYPE and NAME"));
    }
    let name = args.names.get(1).map(String::as_str);
    if let Some(type_name) = args.names.first() {
        let model = find_model(registry, type_name)?;
        let inspection = inspect::instances(&device.connector, &model).await;
        let inspection = inspection.map_err(|error| read_error(&file, &error))?;
        inspection.notes.iter().for_each(|note| eprint_notice(note));
        return show(args, (&file, &device.name), &model, inspection, name);
    }
    let mut exit = Exit::SUCCESS;
    let mut inspection = read_all(device, &mut exit).await?;
    inspection.leave_out(args.with_defaults);
    let rendered = args.output(&device.name, None).render(inspection);
    if let Some(notice) = rendered.notice {
        eprint_notice(&notice);
    }
    print_document(&rendered.text);
    Ok(exit)
}

/// Prints or writes the resources of all types in saved configurations. An error of one device does not
/// stop the others.
pub(super) async fn run_all(
    args: &ResourceArgs,
    global: &Global,
    devices: &[SavedDevice],
) -> Result<Exit, CommandError> {
    if let Some(extra) = args.names.first() {
        let error = CommandError::new(format!("unexpected argument `{extra}`"));
        return Err(error.hint("--all has all types; leave out the name"));
    }
    if devices.len() > 1 && args.output_dir.is_none() {
        let error = CommandError::new(format!("{} devices are saved", devices.len()));
        return Err(error.hint("write a file for each with --output-dir DIR"));
    }
    let mut exit = Exit::SUCCESS;
    let (mut left_out, mut written_files) = (LeftOutCounts::default(), 0);
    for device in devices {
        let written = match read_all(device, &mut exit).await {
            Ok(mut inspection) => {
                left_out += inspection.leave_out(args.with_defaults);
                let written = write(&device.name, &device.name, args, inspection);
                written.map_err(|error| read_error(&device.name, &error))
            }
            Err(error) => Err(error),
        };
        match written {
            Ok(()) => written_files += 1,
            Err(error) => {
                eprint_text(&error.text(global.is_stderr_colored()));
                exit = Exit::FAILURE;
            }
        }
    }
    print_counts(args, written_files, left_out);
    Ok(exit)
}

/// The instances of all types, with messages about those that the file does not show.
async fn read_all(device: &SavedDevice, exit: &mut Exit) -> Result<Inspection, CommandError> {
    let file = device.file.display().to_string();
    let inspection = inspect::all_instances(&device.connector).await;
    let inspection = inspection.map_err(|error| read_error(&file, &error))?;
    for note in &inspection.notes {
        eprint_notice(&format!("{file}: {note}"));
    }
    for failed in &inspection.failed {
        let reason = of_device(&file, &failed.error);
        eprint_notice(&format!(
            "cannot read {}: {reason}",
            failed.types.join(", ")
        ));
        *exit = Exit::FAILURE;
    }
    Ok(inspection)
}
