//! Lines of a running configuration that must be managed.

use std::path::Path;

use switchtender_devices::driver::{Driver, Facts};
use switchtender_devices::read::CONFIG;

use super::Inputs;
use super::checked::CheckedFile;
use crate::catalog::Catalog;
use crate::coverage::strict;
use crate::diagnostic::Diagnostic;
use crate::error_chain::chain;
use crate::fleet::coverage::{DeclaredLines, LinePolicy, SurveyedDevice, declared_resources};
use crate::fleet::saved_files;

/// Adds a finding for each line of `DIR/<name>.cfg` that the catalog does not declare. A catalog with errors
/// declares nothing: it has its own findings.
pub(super) fn check(
    catalog: Catalog,
    (directory, name): (&Path, &str),
    (driver, policy): (&Driver, LinePolicy),
    inputs: &Inputs<'_>,
    checked: &mut CheckedFile,
) {
    let Some(strict) = inputs.strict.or(policy.strict) else {
        return;
    };
    let Ok(resources) = declared_resources(catalog, inputs.registry, driver.platform()) else {
        return;
    };
    let path = directory.join(format!("{name}.cfg"));
    let reads = match saved_files::read_file(&path) {
        Ok(reads) if reads.contains_key(CONFIG) => reads,
        Ok(_) => return,
        Err(error) => {
            let finding = Diagnostic::error("cannot-read", chain(&error));
            checked.findings.push(finding);
            checked.unreadable = true;
            return;
        }
    };
    // An answer that cannot be parsed has its finding.
    if let Ok(surveyed) = SurveyedDevice::of(driver.clone(), Facts::default(), &reads) {
        let declared = DeclaredLines { resources, policy };
        let lines = surveyed.classified(Some(&declared));
        checked.add(strict::findings(&lines, strict));
    }
}
