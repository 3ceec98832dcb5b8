//! Options of a structural mock, from the definition of its platform.

use switchtender_devices::driver::{CommandLineOutline, OutlineError, Platform};
use switchtender_devices::read::Reads;
use switchtender_mocks::StructuralOptions;

/// It is part of no word of a configuration: secrets are masked wherever they stand.
pub(crate) const DEFAULT_PASSWORD: &str = "mock-password";

/// A structural mock of a platform, with saved answers by name of the read, and what it cannot show.
///
/// # Errors
/// The platform has no command line with a configuration of lines.
pub(crate) fn describe(
    name: &str,
    platform: &Platform,
    saved: &Reads,
) -> Result<(StructuralOptions, Vec<String>), OutlineError> {
    let outline = platform.outline(name, saved)?;
    let notes = notes(&outline, saved);
    let options = StructuralOptions {
        name: name.to_owned(),
        user: "admin".to_owned(),
        password: DEFAULT_PASSWORD.to_owned(),
        config: outline.config,
        command_line: outline.command_line,
        exchanges_in_memory: 0,
        faults: Vec::new(),
    };
    Ok((options, notes))
}

/// What a structural mock is, and the reads that it cannot answer or update.
fn notes(outline: &CommandLineOutline, saved: &Reads) -> Vec<String> {
    let mut notes = vec![
        "structural mock: it keeps lines and blocks as the definition describes them, \
         and is no proof for a real device"
            .to_owned(),
    ];
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
