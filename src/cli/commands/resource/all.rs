//! `resource --all`: the resources of all types on devices, printed or in files.

use std::fs;
use std::path::{Path, PathBuf};

use switchtender_devices::names::DeviceName;
use tokio_util::sync::CancellationToken;

use super::{ResourceArgs, ResourceFormat, read_error};
use crate::cli::exit::{CommandError, Exit, eprint_notice, eprint_text, print_document};
use crate::cli::interrupt::stop_reads_on_signals;
use crate::cli::options::global::Global;
use crate::cli::options::selection::targets;
use crate::fleet::export::LeftOutCounts;
use crate::fleet::inspect::{self, InspectError, Inspection};
use crate::fleet::read_devices::{CONCURRENCY, read_devices};
use crate::store;

/// Reads all types of the devices, and prints or writes them. An error of one device does not stop the
/// others.
pub(super) async fn run(args: &ResourceArgs, global: &Global) -> Result<Exit, CommandError> {
    let selection = targets(&args.names)?;
    let (connector, names) = args.access.select(&selection).await?;
    if names.len() > 1 && args.output_dir.is_none() {
        let error = CommandError::new(format!("{} devices are selected", names.len()));
        return Err(error.hint("write a file for each with --output-dir DIR"));
    }
    let stop = CancellationToken::new();
    stop_reads_on_signals(&stop);
    let mut exit = Exit::SUCCESS;
    let mut print_error = |name: &DeviceName, error: &InspectError| {
        eprint_text(&read_error(name, error).text(global.is_stderr_colored()));
        exit = Exit::FAILURE;
    };
    let (mut left_out, mut written_files) = (LeftOutCounts::default(), 0);
    let read = |connector| async move { inspect::all_instances(&connector).await };
    read_devices(&connector, names, CONCURRENCY, &stop, read, |name, read| {
        let written = read.and_then(|mut inspection| {
            for failed in std::mem::take(&mut inspection.failed) {
                print_error(&name, &failed.error);
                let types = failed.types.join(", ");
                eprint_notice(&format!("{name}: not read: {types}"));
            }
            left_out += inspection.leave_out(args.with_defaults);
            let certname = &connector.inventory.devices[&name].certname;
            write(&name, certname, args, inspection)
        });
        match written {
            Ok(()) => written_files += 1,
            Err(error) => print_error(&name, &error),
        }
    })
    .await;
    print_counts(args, written_files, left_out);
    Ok(exit)
}

/// Prints how many files were written, and what they leave out.
pub(super) fn print_counts(args: &ResourceArgs, written_files: usize, left_out: LeftOutCounts) {
    if let Some(directory) = &args.output_dir {
        let directory = directory.display();
        eprint_notice(&format!("files written to {directory}: {written_files}"));
    }
    for (count, what) in [
        (left_out.defaults, "at their defaults"),
        (left_out.managed, "that an application makes"),
    ] {
        if count > 0 {
            eprint_notice(&format!(
                "resources {what}, left out: {count}; --with-defaults shows them"
            ));
        }
    }
}

/// Prints or writes the resources of a device.
pub(super) fn write(
    name: &str,
    certname: &str,
    args: &ResourceArgs,
    inspection: Inspection,
) -> Result<(), InspectError> {
    let rendered = args.output(certname, None).render(inspection);
    if let Some(notice) = rendered.notice {
        eprint_notice(&format!("{name}: {notice}"));
    }
    let text = rendered.text;
    match &args.output_dir {
        Some(directory) => {
            let text = match args.format() {
                ResourceFormat::Puppet => node(certname, &text),
                _ => text,
            };
            let path = path(directory, args.format(), name);
            let is_edited = fs::read(&path).is_ok_and(|current| current != text.as_bytes());
            if is_edited && !args.force {
                return Err(InspectError::Edited(path));
            }
            store::write_file(&path, &text)?;
        }
        None => print_document(&text),
    }
    Ok(())
}

/// Puppet code for one device in a directory of manifests: other devices may have resources of the same titles.
fn node(certname: &str, code: &str) -> String {
    let lines = code.lines().map(|line| {
        if line.is_empty() {
            "\n".to_owned()
        } else {
            format!("  {line}\n")
        }
    });
    format!("node '{certname}' {{\n{}}}\n", lines.collect::<String>())
}

/// The file of a device, where `--state` and `--catalog` read it.
fn path(directory: &Path, format: ResourceFormat, device: &str) -> PathBuf {
    match format {
        ResourceFormat::Yaml | ResourceFormat::PuppetYaml => {
            directory.join("device").join(format!("{device}.yaml"))
        }
        ResourceFormat::Json | ResourceFormat::Catalog => directory.join(format!("{device}.json")),
        ResourceFormat::Puppet => directory.join(format!("{device}.pp")),
    }
}
