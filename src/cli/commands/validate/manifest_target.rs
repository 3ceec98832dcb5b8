//! Checks the catalog that a manifest gives for a device.

use super::checked::CheckedFile;
use super::{Inputs, check_loaded, facts};
use crate::catalog::{self, Loading};
use crate::cli::options::manifest::offline_catalog;
use crate::diagnostic::Diagnostic;
use crate::error_chain::chain;
use crate::inventory::Device;
use crate::manifest::ManifestCompiler;

/// Compiles the manifest for a device, and checks the catalog.
pub(super) fn check_manifest(
    compiler: &ManifestCompiler,
    device: &Device,
    inputs: &Inputs<'_>,
) -> CheckedFile {
    let mut checked = CheckedFile::new(device.name.to_string());
    let facts = facts(inputs.facts, &device.certname, &mut checked);
    if checked.unreadable {
        return checked;
    }
    let compiled = match offline_catalog(compiler, device, facts.as_ref(), inputs.state_dir) {
        Ok(compiled) => compiled,
        Err(error) if !error.findings.is_empty() => {
            checked.add(error.findings);
            return checked;
        }
        Err(error) => {
            let reason = error.source.map(|source| format!(": {}", chain(&*source)));
            let message = format!("{}{}", error.message, reason.unwrap_or_default());
            let mut finding = Diagnostic::error("cannot-read", message);
            finding.help = error.hint;
            checked.findings.push(finding);
            checked.unreadable = true;
            return checked;
        }
    };
    for message in compiled.warnings {
        checked.add(vec![Diagnostic::warning("manifest", message)]);
    }
    let name = compiler.source_name(&device.certname);
    let loaded = catalog::source(name, compiled.text.into());
    let loaded = loaded.and_then(|source| catalog::load(&source, &Loading::default()));
    check_loaded(loaded, checked, inputs)
}
