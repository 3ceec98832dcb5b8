//! From the text of a catalog to resources that may be applied: loaded, checked by the offline
//! rules, typed. Nothing is sent to a device whose catalog does not pass.

use std::sync::Arc;

use switchtender_devices::diagnostic::{Diagnostic, Severity};
use switchtender_devices::driver::{Platform, Registry};
use switchtender_devices::value::Value;

use super::catalog_source::CatalogText;
use super::convert_resources;
use super::device_run::{DeviceRunError, RunMode, RunOptions};
use crate::catalog::types::Types;
use crate::catalog::{self, Catalog, Level, Resources};
use crate::validate::{self, Effect, effect_of};

/// A catalog that may be applied.
pub(super) struct PreparedCatalog {
    pub(crate) registry: Arc<Registry>,
    pub(crate) platform: Arc<Platform>,
    pub(crate) resources: Resources,
    pub(crate) environment: Option<String>,
    /// Findings that do not prevent the run.
    pub(crate) findings: Vec<Diagnostic>,
    /// A resource says `noop => false`; only then can a noop run write at all, as in Puppet.
    pub(crate) has_noop_override: bool,
}

/// Loads a catalog, checks everything that needs no device, and gives the resources their types.
///
/// # Errors
/// [`DeviceRunError::Refused`] with everything that is wrong with the catalog.
pub(super) fn check_catalog(
    text: CatalogText,
    options: &RunOptions,
) -> Result<PreparedCatalog, DeviceRunError> {
    let CatalogText {
        source,
        loading,
        registry,
        platform,
        target,
    } = text;
    let policy = &options.policy;
    let loaded = catalog::load(&source, &loading);
    let mut catalog = loaded.map_err(|error| DeviceRunError::Refused {
        findings: validate::for_partial(error, &target, &registry, policy),
    })?;
    if options.mode == RunMode::Plan {
        // A plan shows what an apply would do; a resource cannot opt out of noop.
        for declared in &mut catalog.resources {
            declared
                .parameters
                .retain(|name, value| name != "noop" || *value != Value::Bool(false));
        }
    }
    let (findings, canonical) = validate::for_run(&catalog, &registry, &target, policy);
    let findings = admit(findings)?;
    let has_noop_override = has_noop_override(&catalog);
    let environment = catalog.environment.clone();
    let types = Types::new(|name: &str| registry.model(name).cloned());
    let deviations = options.settings.deviations;
    let resources = convert_resources::convert(catalog, &platform, &types, deviations, canonical)
        .map_err(|error| DeviceRunError::Refused {
        findings: error.diagnostics,
    })?;
    Ok(PreparedCatalog {
        registry,
        platform,
        resources,
        environment,
        findings,
        has_noop_override,
    })
}

/// Returns the findings of a catalog that may be applied.
fn admit(mut findings: Vec<Diagnostic>) -> Result<Vec<Diagnostic>, DeviceRunError> {
    if !findings.iter().any(validate::blocks_apply) {
        return Ok(findings);
    }
    // Errors must not disappear among remarks, and other findings in the catalog of another
    // device say nothing about this device.
    let is_foreign = |found: &Diagnostic| effect_of(found) == Effect::RefuseCatalog;
    let has_foreign = findings.iter().any(is_foreign);
    findings.retain(|found| match has_foreign {
        true => is_foreign(found),
        false => found.severity >= Severity::Warning,
    });
    Err(DeviceRunError::Refused { findings })
}

fn has_noop_override(catalog: &Catalog) -> bool {
    catalog
        .resources
        .iter()
        .any(|declared| declared.parameters.get("noop") == Some(&Value::Bool(false)))
}

impl PreparedCatalog {
    /// The findings that a run logs, with their levels.
    pub(crate) fn log_entries(&self) -> impl Iterator<Item = (Level, String)> {
        self.findings.iter().filter_map(|finding| {
            let place = finding
                .position
                .as_ref()
                .map(|place| format!(" ({}:{})", place.file, place.line));
            let text = format!("{}{}", finding.message, place.unwrap_or_default());
            Some((log_level(finding)?, text))
        })
    }
}

/// The level of a finding in a run, if the run logs it.
fn log_level(finding: &Diagnostic) -> Option<Level> {
    match effect_of(finding) {
        Effect::Ignore => None,
        Effect::Inform => Some(Level::Info),
        _ => Some(Level::Warning),
    }
}
