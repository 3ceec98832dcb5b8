//! Checks the catalog that is made of a device's desired state.

use super::checked::CheckedFile;
use super::{Inputs, check_loaded, facts};
use crate::catalog::{self, Loading};
use crate::cli::options::offline_state::OfflineStateError;
use crate::cli::options::offline_state::offline_catalog;
use crate::desired_state::{StateDirectory, StateError};
use crate::diagnostic::Diagnostic;
use crate::error_chain::chain;
use crate::fleet::coverage::LinePolicy;
use crate::inventory::Device;

/// Codes of findings about what a catalog lacks.
const OF_MISSING_PARTS: [&str; 2] = ["empty-catalog", "missing-dependency"];

/// Checks the desired state of a device. Secrets are not read.
pub(super) fn check_state(
    directory: &StateDirectory,
    device: &Device,
    inputs: &Inputs<'_>,
) -> CheckedFile {
    let mut checked = CheckedFile::new(device.name.to_string());
    let facts = facts(inputs.facts, &device.certname, &mut checked);
    if checked.unreadable {
        return checked;
    }
    let made = offline_catalog(
        directory,
        device,
        inputs.registry,
        facts.as_ref(),
        inputs.state_dir,
    );
    let made = match made {
        Ok(made) => made,
        Err(OfflineStateError::State(error)) if !error.findings().is_empty() => {
            checked.add(error.findings().to_vec());
            return checked;
        }
        Err(error) => {
            let is_empty = matches!(error, OfflineStateError::State(StateError::Empty { .. }));
            checked.unreadable = !is_empty;
            let code = if is_empty { "no-state" } else { "cannot-read" };
            let mut finding = Diagnostic::error(code, chain(&error));
            if let OfflineStateError::State(error) = &error {
                finding.help = error.hint();
            }
            checked.findings.push(finding);
            return checked;
        }
    };
    let has_errors = !made.errors.is_empty();
    checked.add(made.errors);
    checked.add(made.warnings);
    checked.line_policy = LinePolicy {
        unmanaged: made.unmanaged,
        strict: made.strict,
    };
    let loaded = catalog::load(&made.source, &Loading::default());
    let mut checked = check_loaded(loaded, checked, inputs);
    if has_errors {
        // Parts with errors are not in the catalog.
        checked
            .findings
            .retain(|found| !OF_MISSING_PARTS.contains(&found.code));
    }
    made.origins.relocate(&mut checked.findings);
    checked.origins = Some(made.origins);
    checked.entries = made.entries;
    checked
}
