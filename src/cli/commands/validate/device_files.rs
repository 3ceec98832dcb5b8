//! Files about the devices of catalogs: facts and running configurations.

use std::path::Path;

use switchtender_devices::driver::{Driver, Facts};
use switchtender_devices::names::Certname;
use switchtender_devices::read::Reads;

use super::checked::CheckedFile;
use crate::cli::options::facts_file::read_facts;
use crate::diagnostic::Diagnostic;
use crate::error_chain::chain;
use crate::fleet::saved_files;
use crate::validate::RunningConfig;

/// The facts of a device; an error is a finding.
pub(super) fn facts(
    path: Option<&Path>,
    certname: &Certname,
    checked: &mut CheckedFile,
) -> Option<Facts> {
    read_facts(path?, certname).unwrap_or_else(|(path, error)| {
        report_unreadable(&path, &error.to_string(), checked);
        None
    })
}

/// The instances on a device: from its running configuration in `DIR/<name>.cfg`, and from its
/// answers by name of the read in `DIR/<name>.json`. `name` is the device's, or its certname.
pub(crate) fn running(
    directory: &Path,
    name: &str,
    driver: &Driver,
    checked: &mut CheckedFile,
) -> Option<RunningConfig> {
    let mut reads = Reads::default();
    for extension in ["json", "cfg"] {
        let path = directory.join(format!("{name}.{extension}"));
        let answers = match saved_files::read_file(&path) {
            Ok(answers) => answers,
            Err(error) if error.is_missing_file() => continue,
            Err(error) => {
                report_error(chain(&error), checked);
                continue;
            }
        };
        // Parsed alone, so that an error names its file.
        match RunningConfig::new(driver, &answers) {
            Ok(_) => {
                warn_of_incomplete(&path, &answers, driver, checked);
                reads.extend(answers);
            }
            Err(error) => report_unreadable(&path, &error.to_string(), checked),
        }
    }
    (!reads.is_empty()).then(|| RunningConfig::new(driver, &reads).ok())?
}

/// Warns about answers without the end that the platform declares: objects may be missing.
fn warn_of_incomplete(path: &Path, answers: &Reads, driver: &Driver, checked: &mut CheckedFile) {
    for (name, text) in answers {
        let Some(command) = driver.platform().incomplete_command(name, text) else {
            continue;
        };
        let message = format!(
            "{}: `{command}` is incomplete: its last line is not the end of the output",
            path.display()
        );
        let help = "save the complete output; objects after the end of the file count as missing";
        checked
            .findings
            .push(Diagnostic::warning("incomplete-answer", message).help(help));
    }
}

fn report_unreadable(path: &Path, cause: &str, checked: &mut CheckedFile) {
    report_error(format!("cannot read {}: {cause}", path.display()), checked);
}

fn report_error(message: String, checked: &mut CheckedFile) {
    checked
        .findings
        .push(Diagnostic::error("cannot-read", message));
    checked.unreadable = true;
}
