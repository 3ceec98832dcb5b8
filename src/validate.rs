//! Offline checks of catalogs, before any device is contacted.
//!
//! Needs no network and no secret. A catalog is read once into a [`RuleContext`]; every rule
//! ([`rule::RULES`], one file each) checks it. Rules about several catalogs compare their summaries
//! ([`cross_catalog`]). `apply`, `plan` and `device` call [`for_run`] before they connect;
//! `switchtender validate` calls [`check`] and [`cross_catalog::check`].

pub(crate) mod cross_catalog;
mod drawing;
mod effect;
#[cfg(test)]
mod example;
mod finding;
mod order;
mod relation;
pub(crate) mod rule;
mod rule_context;
mod running_config;
mod settings_file;
pub(crate) mod severities;
pub(crate) mod target;

use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::driver::Registry;
use switchtender_devices::value::Attributes;

use crate::catalog::{Catalog, LoadError};
use crate::compat::Deviations;
use crate::parallel;
use crate::route::HostResourcePolicy;

pub(crate) use drawing::draw;
pub(crate) use effect::{Effect, blocks_apply, effect_of, is_missing_type};
pub(crate) use relation::ReferenceIndex;
pub use rule_context::RuleContext;
pub(crate) use running_config::RunningConfig;
pub(crate) use settings_file::SettingsFile;
pub(crate) use severities::Severities;
pub(crate) use target::CatalogTarget;
pub(crate) use target::TargetKind;
pub use target::TargetResolver;

/// Settings of the checks.
#[derive(Debug, Default)]
pub struct Policy {
    pub(crate) host_resources: HostResourcePolicy,
    /// Accept a catalog that was compiled for another node.
    pub(crate) allow_name_mismatch: bool,
    /// Maximum share, in percent, of a catalog's interfaces that may be shut down.
    pub(crate) max_shutdown: Option<u8>,
    /// Whether `resources` may remove all instances of a type.
    pub(crate) allows_purge: bool,
    pub(crate) severities: Severities,
    /// Whether conflicting resources fail, instead of the device being refused.
    pub(crate) conflicts_fail_resources: bool,
    /// Deviations from Puppet 7 of the run that follows.
    pub(crate) deviations: Deviations,
}

/// The findings of all rules about a catalog, sorted by position.
pub fn catalog(
    catalog: &Catalog,
    registry: &Registry,
    target: &CatalogTarget,
    policy: &Policy,
) -> Vec<Diagnostic> {
    check(&RuleContext::new(catalog, registry, policy, target))
}

/// As [`catalog`], for an existing context.
pub fn check(context: &RuleContext<'_>) -> Vec<Diagnostic> {
    diagnostics(context, check_rules(context))
}

fn check_rules(context: &RuleContext<'_>) -> finding::RuleFindings {
    let findings: Vec<finding::RuleFindings> = if context.is_large() {
        parallel::map(rule::RULES, |rule| rule.check(context))
    } else {
        rule::RULES.iter().map(|rule| rule.check(context)).collect()
    };
    findings.into_iter().flatten().collect()
}

fn diagnostics(context: &RuleContext<'_>, findings: finding::RuleFindings) -> Vec<Diagnostic> {
    let severities = &context.policy.severities;
    findings.diagnostics(context.catalog, severities, || context.secret_paths())
}

/// The findings about a catalog that cannot be loaded: the load errors, and the findings that block
/// a run about the part that is readable.
pub(crate) fn for_partial(
    error: LoadError,
    target: &CatalogTarget,
    registry: &Registry,
    policy: &Policy,
) -> Vec<Diagnostic> {
    let mut findings = error.diagnostics;
    if let Some(readable) = error.readable {
        let context = RuleContext::new(&readable.catalog, registry, policy, target);
        let context = context.without(readable.damaged);
        context.mask(&mut findings);
        let found = check(&context).into_iter();
        findings.extend(found.filter(|found| blocks_apply(found, policy)));
    }
    findings
}

/// The errors of loading a catalog. The secrets of models are masked in the excerpts.
pub(crate) fn load_findings(error: LoadError, registry: &Registry) -> Vec<Diagnostic> {
    let mut findings = error.diagnostics;
    if let Some(readable) = error.readable {
        let policy = Policy::default();
        let context = RuleContext::new(&readable.catalog, registry, &policy, &CatalogTarget::Host);
        context.without(readable.damaged).mask(&mut findings);
    }
    findings
}

/// The result of the checks before a run.
pub(crate) struct RunCheck {
    pub(crate) findings: Vec<Diagnostic>,
    pub(crate) canonical: Canonical,
    /// Resources that fail in the run, by index, with the reason.
    pub(crate) failures: Vec<(usize, String)>,
}

/// As [`catalog`], with data for the run that follows.
pub(crate) fn for_run(
    catalog: &Catalog,
    registry: &Registry,
    target: &CatalogTarget,
    policy: &Policy,
) -> RunCheck {
    let context = RuleContext::new(catalog, registry, policy, target);
    let rule_findings = check_rules(&context);
    let failures = rule_findings.failures();
    let findings = diagnostics(&context, rule_findings);
    let desired = context.typed.into_iter().map(|typed| typed?.desired);
    RunCheck {
        findings,
        canonical: desired.map(|desired| Some(desired?.attributes)).collect(),
        failures,
    }
}

/// The attributes of a catalog's resources in canonical form, in the order of the catalog. `None`:
/// the resource has no model or has invalid values.
pub(crate) type Canonical = Vec<Option<Attributes>>;
