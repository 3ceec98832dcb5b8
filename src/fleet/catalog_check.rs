//! From the text of a catalog to resources that may be applied: loaded, checked by the offline
//! rules, typed. Nothing is sent to a device whose catalog does not pass.

use std::sync::Arc;

use switchtender_devices::diagnostic::{Diagnostic, Severity};
use switchtender_devices::driver::{Platform, Registry};
use switchtender_devices::secret_mask::SecretMask;
use switchtender_devices::session::Access;
use switchtender_devices::value::Value;

use super::catalog_source::CatalogText;
use super::convert_resources;
use super::coverage::LinePolicy;
use super::device_run::DeviceRunError;
use super::run_request::RunRequest;
use super::stored_plan::{PlanUse, catalog_digest};
use super::undo::UndoRecord;
use crate::catalog::types::Types;
use crate::catalog::{self, Catalog, Level, Resources};
use crate::compat::{Deviation, Deviations};
use crate::graph::{self, cycle, dot};
use crate::run_kind::RunKind;
use crate::validate::{self, Effect, blocks_apply, effect_of, is_missing_type};

/// A catalog that may be applied.
pub(super) struct PreparedCatalog {
    pub(crate) registry: Arc<Registry>,
    pub(crate) platform: Arc<Platform>,
    pub(crate) resources: Resources,
    pub(crate) environment: Option<String>,
    /// Digest of its resources and relations, if the run compares plans.
    pub(crate) digest: Option<String>,
    /// Findings that do not prevent the run.
    pub(crate) findings: Vec<Diagnostic>,
    /// The record of the run that the catalog undoes.
    pub(crate) undo: Option<Arc<UndoRecord>>,
    /// The catalog has secrets, so that its digest needs a key.
    pub(crate) has_secrets: bool,
    /// A resource has `noop => false`; only then can a noop run write, as in Puppet.
    pub(crate) has_noop_override: bool,
    /// What desired state files say about lines that no resource has.
    pub(crate) line_policy: LinePolicy,
}

/// Loads a catalog, checks everything that needs no device, and gives the resources their types.
/// The message about cycles names `cycles_file`, if graphs are written. The secrets of the catalog are
/// added to `mask`.
///
/// # Errors
/// [`DeviceRunError::Refused`] with everything that is wrong with the catalog.
pub(super) fn check_catalog(
    mut text: CatalogText,
    request: &RunRequest,
    cycles_file: Option<&str>,
    mask: &SecretMask,
) -> Result<PreparedCatalog, DeviceRunError> {
    let origins = text.origins.take();
    let mut result = check_text(text, origins.is_some(), request, cycles_file, mask);
    if let Some(origins) = origins {
        match &mut result {
            Ok(catalog) => origins.relocate(&mut catalog.findings),
            Err(DeviceRunError::Refused { findings, .. }) => origins.relocate(findings),
            Err(_) => {}
        }
    }
    result
}

fn check_text(
    text: CatalogText,
    is_desired_state: bool,
    request: &RunRequest,
    cycles_file: Option<&str>,
    mask: &SecretMask,
) -> Result<PreparedCatalog, DeviceRunError> {
    let CatalogText {
        cached: _,
        source,
        loading,
        origins: _,
        line_policy,
        registry,
        platform,
        target,
        undo,
    } = text;
    let policy = &request.policy;
    let blocks = |found: &Diagnostic| {
        blocks_apply(found, policy) || (is_desired_state && is_missing_type(found))
    };
    let loaded = catalog::load(&source, &loading);
    let catalog = loaded.map_err(|error| {
        DeviceRunError::refused(validate::for_partial(error, &target, &registry, policy))
    })?;
    let has_secrets = add_secrets(&catalog, &registry, mask)
        // A secret of the device can stand in any text.
        || mask.apply(&source.text) != source.text;
    let mut checked = validate::for_run(&catalog, &registry, &target, policy);
    if undo.is_some() {
        // Its resources are those of the run that is undone, which were checked.
        checked
            .findings
            .retain(|found| effect_of(found) == Effect::RefuseCycle);
        checked.failures.clear();
    }
    let types = Types::new(|name: &str| registry.model(name).cloned());
    let deviations = request.settings.deviations;
    let convert = |catalog, canonical| {
        convert_resources::convert(catalog, &platform, &types, deviations, canonical)
    };
    if checked.findings.iter().any(blocks) {
        let is_cycle = |found: &Diagnostic| effect_of(found) == Effect::RefuseCycle;
        let has_cycle = checked.findings.iter().any(is_cycle);
        let cycles = has_cycle
            .then(|| convert(catalog, checked.canonical).ok())
            .flatten()
            .and_then(|resources| CycleReport::new(&resources, cycles_file, deviations));
        return Err(DeviceRunError::Refused {
            findings: blocking(checked.findings),
            cycles: cycles.map(Box::new),
        });
    }
    let has_noop_override = has_noop_override(&catalog);
    let environment = catalog.environment.clone();
    let mut resources = convert(catalog, checked.canonical)
        .map_err(|error| DeviceRunError::refused(error.diagnostics))?;
    for (index, reason) in &checked.failures {
        resources.refuse(*index, reason);
    }
    // The order in which the run made its changes is known, from the last one to the first one.
    resources.is_order_fixed = undo.is_some();
    if request.kind == RunKind::Plan {
        // A plan shows what an apply would do.
        resources.enforce_noop();
    }
    let compares_plans = !matches!(request.plan, PlanUse::None) || request.confirmation.is_some();
    Ok(PreparedCatalog {
        registry,
        platform,
        resources,
        environment,
        digest: compares_plans.then(|| catalog_digest(&source.text)),
        findings: checked.findings,
        undo,
        has_secrets,
        has_noop_override,
        line_policy,
    })
}

/// Adds the secrets of a catalog to a mask: values that the catalog or the model marks as sensitive. Returns
/// whether it has some.
fn add_secrets(catalog: &Catalog, registry: &Registry, mask: &SecretMask) -> bool {
    let mut has_secrets = false;
    for declared in &catalog.resources {
        let model = registry.model(&declared.reference.model_name());
        for (name, value) in &declared.parameters {
            let attribute = model.and_then(|model| model.attributes.get(name.as_str()));
            let is_sensitive = attribute.is_some_and(|attribute| attribute.sensitive);
            has_secrets |= is_sensitive || value.contains_secret();
            if is_sensitive {
                mask.add_value(value)
            } else {
                mask.add_sensitive(value)
            }
        }
    }
    has_secrets
}

/// The dependency cycles of a refused catalog.
#[derive(Debug)]
pub(crate) struct CycleReport {
    /// The message of Puppet, or where the graph is: a finding names each cycle.
    pub(crate) message: String,
    /// Names and texts of the graphs.
    pub(crate) graphs: Vec<(&'static str, String)>,
}

impl CycleReport {
    fn new(resources: &Resources, file: Option<&str>, deviations: Deviations) -> Option<Self> {
        let built = graph::build(resources);
        let cycles = cycle::find(&built.graph, resources);
        if cycles.is_empty() {
            return None;
        }
        let wording = if deviations.has(Deviation::ShortCycles) {
            cycle::Wording::Lines
        } else {
            cycle::Wording::Puppet
        };
        let mut graphs = dot::files(&built, resources);
        graphs.push(("cycles.dot", dot::cycles(&cycles, &built.graph, resources)));
        let mut messages = cycle::messages(&cycles, &built.graph, resources, file, wording);
        Some(Self {
            message: messages.pop()?,
            graphs,
        })
    }
}

/// The findings that explain why a catalog is refused.
fn blocking(mut findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    // Errors must not disappear among remarks, and other findings in the catalog of another
    // device say nothing about this device.
    let is_foreign = |found: &Diagnostic| effect_of(found) == Effect::RefuseCatalog;
    let has_foreign = findings.iter().any(is_foreign);
    findings.retain(|found| {
        if has_foreign {
            is_foreign(found)
        } else {
            found.severity >= Severity::Warning
        }
    });
    findings
}

fn has_noop_override(catalog: &Catalog) -> bool {
    catalog
        .resources
        .iter()
        .any(|declared| declared.parameters.get("noop") == Some(&Value::Bool(false)))
}

impl PreparedCatalog {
    /// The access that a run needs. A noop run can only write where the catalog overrides noop; a plan never writes.
    pub(crate) fn access(&self, kind: RunKind) -> Access {
        if kind == RunKind::Noop && self.has_noop_override {
            Access::ReadWrite
        } else {
            kind.access()
        }
    }

    /// The findings that a run logs, with their levels.
    pub(crate) fn log_entries(&self) -> impl Iterator<Item = (Level, String)> {
        self.findings.iter().filter_map(|finding| {
            let position = finding
                .position
                .as_ref()
                .map(|position| format!(" ({}:{})", position.file, position.line));
            let help = finding.help.as_ref().map(|help| format!("; {help}"));
            let text = [
                finding.message.as_str(),
                position.as_deref().unwrap_or_default(),
                help.as_deref().unwrap_or_default(),
            ]
            .concat();
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
