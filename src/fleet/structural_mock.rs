//! Options of a structural mock, from the definition of its platform.

use switchtender_devices::driver::{CommandLineOutline, OutlineError, Platform, PlatformOutline};
use switchtender_devices::read::Reads;
use switchtender_mocks::{StructuralInterface, StructuralOptions};

/// It is part of no word of a configuration: secrets are masked wherever they stand.
pub(crate) const DEFAULT_PASSWORD: &str = "mock-password";

/// A structural mock of a platform, with saved answers by name of the read, and what it cannot show.
///
/// # Errors
/// The platform has a command line without a configuration of lines.
pub(crate) fn describe(
    name: &str,
    platform: &Platform,
    saved: &Reads,
) -> Result<(StructuralOptions, Vec<String>), OutlineError> {
    let (interface, notes) = match platform.outline(name, saved)? {
        PlatformOutline::CommandLine(outline) => {
            let notes = command_line_notes(&outline, saved);
            let interface = StructuralInterface::CommandLine {
                structure: Box::new(outline.command_line),
                config: outline.config,
            };
            (interface, notes)
        }
        PlatformOutline::Rest(outline) => {
            let unused = outline.unused.iter().map(|name| {
                format!(
                    "structural mock: the saved answer `{name}` is not JSON, or of no read of the platform"
                )
            });
            let notes = [note("objects of answers")].into_iter().chain(unused);
            let notes = notes.collect();
            let interface = Box::new(outline.interface);
            (StructuralInterface::Rest(interface), notes)
        }
        PlatformOutline::Netconf(interface) => (
            StructuralInterface::Netconf(interface),
            vec![note("elements of the configuration")],
        ),
    };
    let options = StructuralOptions {
        name: name.to_owned(),
        user: "admin".to_owned(),
        password: DEFAULT_PASSWORD.to_owned(),
        interface,
        exchanges_in_memory: 0,
        faults: Vec::new(),
    };
    Ok((options, notes))
}

/// What a structural mock is.
fn note(what: &str) -> String {
    format!(
        "structural mock: it keeps {what} as the definition describes them, and is no proof for a real device"
    )
}

/// The reads of a command line that a structural mock cannot answer or update.
fn command_line_notes(outline: &CommandLineOutline, saved: &Reads) -> Vec<String> {
    let mut notes = vec![note("lines and blocks")];
    for read in &outline.unanswered {
        notes.push(format!(
            "structural mock: `{}` has no answer; save one as `{}` in the JSON file of the device",
            read.command, read.name
        ));
    }
    for (name, command) in &outline.constant {
        if saved.contains_key(name) {
            notes.push(format!(
                "structural mock: the answer to `{command}` is the saved one and never changes"
            ));
        }
    }
    notes
}
