//! What can be known to be wrong with a catalog before any device is touched.
//!
//! Offline: no network, no secret. A catalog is read once into a [`Subject`] and every rule
//! ([`rule::RULES`], one file each) looks at it; [`across`] looks at all catalogs together.
//! `apply` and `plan` use [`for_device`] before they connect, `switchtender validate` the rest.

pub mod across;
#[cfg(test)]
mod example;
mod finding;
mod order;
mod relation;
pub mod rule;
pub mod severities;
pub mod side;
mod subject;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use switchtender_devices::diagnostic::{Diagnostic, Severity};
use switchtender_devices::driver::Registry;
use switchtender_devices::value::Attributes;

use crate::catalog::{Catalog, LoadError};
use crate::inventory::Device;
use crate::route::Mixed;

pub use finding::Finding;
pub use rule::Rule;
pub use severities::Severities;
pub use side::{For, Routing};
pub use subject::{Running, Side, Subject};

/// What is asked of catalogs.
#[derive(Debug, Default)]
pub struct Policy {
    pub mixed: Mixed,
    /// Accept a catalog of another name.
    pub force_name: bool,
    /// How many per cent of a catalog's interfaces may be shut down.
    pub max_shutdown: Option<u8>,
    pub severities: Severities,
}

/// Everything that the rules have to say about a catalog, sorted by place.
pub fn catalog(
    catalog: &Catalog,
    registry: &Registry,
    side: &Side,
    policy: &Policy,
) -> Vec<Diagnostic> {
    check(&Subject::new(catalog, registry, policy, side))
}

/// As [`catalog`], for a subject that was made already.
pub fn check(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let findings = match subject.is_large() {
        true => look_side_by_side(subject),
        false => look_one_by_one(subject),
    };
    let severities = &subject.policy.severities;
    findings.diagnostics(subject.catalog, severities, || subject.secrets())
}

fn look_one_by_one(subject: &Subject<'_>) -> finding::Findings {
    let mut findings = finding::Findings::default();
    for rule in rule::RULES {
        rule.look_at(subject, &mut findings);
    }
    findings
}

/// All rules, each looked at by whichever processor is free; findings come in the order of the
/// rules.
fn look_side_by_side(subject: &Subject<'_>) -> finding::Findings {
    let next = AtomicUsize::new(0);
    let look = || {
        let mut looked = Vec::new();
        // From the end, where the rule stands that takes longest.
        let rules = || {
            rule::RULES
                .iter()
                .rev()
                .nth(next.fetch_add(1, Ordering::Relaxed))
        };
        while let Some(rule) = rules() {
            let mut findings = finding::Findings::default();
            rule.look_at(subject, &mut findings);
            looked.push((rule.code, findings));
        }
        looked
    };
    let mut by_code: HashMap<&str, finding::Findings> = std::thread::scope(|scope| {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let others: Vec<_> = (1..processors).map(|_| scope.spawn(look)).collect();
        let mut looked = look();
        for other in others {
            looked.extend(other.join().expect("rules do not panic"));
        }
        looked.into_iter().collect()
    });
    let mut findings = finding::Findings::default();
    for rule in rule::RULES {
        findings.extend(by_code.remove(rule.code).unwrap_or_default());
    }
    findings
}

/// Whether a run with this finding must not connect. A type that nobody knows is the failure of
/// its resource and of what depends on it, not of the catalog; what two resources set against each
/// other does no harm beyond that line, and is told.
pub fn stands_in_the_way(finding: &Diagnostic) -> bool {
    let passes = [
        rule::unknown_type::RULE.code,
        rule::conflicting_lines::RULE.code,
    ];
    finding.severity == Severity::Error && !passes.contains(&finding.code)
}

/// What speaks against applying a catalog to a device of the inventory (see
/// [`stands_in_the_way`]), and what it wants of the device.
pub fn for_device(
    catalog: &Catalog,
    device: &Device,
    registry: &Registry,
    policy: &Policy,
) -> (Vec<Diagnostic>, Canonical) {
    let side = Side::of_device(device, registry, &Default::default());
    for_run(catalog, registry, &side, policy)
}

/// What is wrong with a catalog for a device that cannot even be loaded: that, and what the rules
/// say of what could be read of it.
pub fn of_unloadable(
    error: LoadError,
    device: &Device,
    registry: &Registry,
    policy: &Policy,
) -> Vec<Diagnostic> {
    let mut findings = error.diagnostics;
    if let Some(readable) = error.readable {
        let side = Side::of_device(device, registry, &Default::default());
        let subject = Subject::new(&readable.catalog, registry, policy, &side);
        let subject = subject.without(readable.damaged);
        subject.hide(&mut findings);
        findings.extend(check(&subject).into_iter().filter(stands_in_the_way));
    }
    findings
}

/// As [`catalog`], with what the resources want, which a run goes on with.
pub fn for_run(
    catalog: &Catalog,
    registry: &Registry,
    side: &Side,
    policy: &Policy,
) -> (Vec<Diagnostic>, Canonical) {
    let subject = Subject::new(catalog, registry, policy, side);
    let findings = check(&subject);
    let wanted = subject.typed.into_iter().map(|typed| typed?.wanted);
    (
        findings,
        wanted.map(|wanted| Some(wanted?.attributes)).collect(),
    )
}

/// The attributes of a catalog's resources, in its order, as its platform writes them; `None` for
/// what has no model and for what is wrong.
pub type Canonical = Vec<Option<Attributes>>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_kept_back_by_what_no_device_could_take() {
        let cases = [
            ("network_vlan { '40': vlan_name => 'a b' }", true),
            ("network_vlann { '40': }", false),
            (
                "network_trunk { 'Gi1/0/1': mode => 'access' }
                 ios_network_trunk { 'Gi1/0/1': mode => 'trunk' }",
                false,
            ),
        ];
        for (manifest, expected) in cases {
            let (_, found) =
                example::findings(manifest, &example::device("cisco_ios"), &Policy::default());
            assert!(found.iter().any(|found| found.severity == Severity::Error));
            assert_eq!(found.iter().any(stands_in_the_way), expected, "{manifest}");
        }
    }

    #[test]
    fn several_processors_find_what_one_finds() {
        let (registry, policy) = (example::registry(), Policy::default());
        // Every mistake that the rules have an example of.
        let parts = rule::RULES.iter().filter_map(|rule| match rule.example {
            rule::Example::Device("cisco_ios") => Some(rule.bad.replace(['«', '»'], "")),
            _ => None,
        });
        let mut findings = 0;
        for manifest in parts {
            let catalog = example::compile(&manifest).catalog;
            let side = example::device("cisco_ios");
            let subject = Subject::new(&catalog, &registry, &policy, &side);
            let found = |looked: finding::Findings| {
                let found = looked.diagnostics(&catalog, &policy.severities, Vec::new);
                let told = found.into_iter().map(|found| (found.code, found.message));
                told.collect::<Vec<_>>()
            };
            let one = found(look_one_by_one(&subject));
            assert_eq!(found(look_side_by_side(&subject)), one);
            findings += one.len();
        }
        assert!(findings > 20, "{findings}");
    }
}
