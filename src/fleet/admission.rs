//! Whether a catalog may be applied, by what the offline rules say of it, in every kind of run.

use switchtender_devices::diagnostic::{Diagnostic, Severity};
use switchtender_devices::value::Value;

use crate::catalog::{Catalog, Level};
use crate::validate::{self, Effect, effect_of};

/// Nothing may be sent to the device: all that is to be told of it.
#[derive(Debug)]
pub struct Refused(pub Vec<Diagnostic>);

/// Admits a catalog with these findings; those that do not stand in the way come back.
pub fn admit(mut findings: Vec<Diagnostic>) -> Result<Vec<Diagnostic>, Refused> {
    if !findings.iter().any(validate::blocks_apply) {
        return Ok(findings);
    }
    let has_foreign = findings
        .iter()
        .any(|found| effect_of(found) == Effect::RefuseCatalog);
    findings.retain(|found| match has_foreign {
        true => effect_of(found) == Effect::RefuseCatalog,
        false => found.severity >= Severity::Warning,
    });
    Err(Refused(findings))
}

/// Whether a resource says `noop => false`; only then can a noop run write at all, as in Puppet.
pub fn insists(catalog: &Catalog) -> bool {
    catalog
        .resources
        .iter()
        .any(|declared| declared.parameters.get("noop") == Some(&Value::Bool(false)))
}

/// A finding about an admitted catalog that people should see in a run, too, and how loud. The run
/// itself lists host resources.
pub fn worth_telling(finding: &Diagnostic) -> Option<(Level, String)> {
    let level = match effect_of(finding) {
        Effect::Ignore => return None,
        Effect::Inform => Level::Info,
        _ => Level::Warning,
    };
    let place = finding
        .place
        .as_ref()
        .map(|place| format!(" ({}:{})", place.file, place.line));
    let text = format!("{}{}", finding.message, place.unwrap_or_default());
    Some((level, text))
}
