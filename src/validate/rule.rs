//! The rules, one file each: explanation, examples that are tests, check.
//!
//! To add a rule, copy a neighbor's file, add its name to the call of `rules!` and run the tests.
//! The bad example must give exactly the finding of its rule at the marked value, the good one
//! none. A rule that needs a setting has no example and a unit test.

use switchtender_devices::driver::ProblemKind;
use switchtender_devices::model::canonical::ValueErrorKind;

use crate::diagnostic::Severity;

use super::cross_catalog::{CatalogSet, CrossFindings};
use super::effect::{Effect, Effects};
use super::finding::RuleFindings;
use super::rule_context::RuleContext;

mod platform_problem;
mod value_error;

/// A rule with its documentation.
#[derive(Debug)]
pub(crate) struct Rule {
    /// Short stable name, as in `explain CODE`, `switchtender.toml` and every output.
    pub(crate) code: &'static str,
    /// Severity of its findings, unless the finding or the settings have another one.
    pub(crate) severity: Severity,
    /// Effect of its findings in `plan`, `apply` and `device`.
    pub(crate) effects: Effects,
    /// The problem in a few words.
    pub(crate) summary: &'static str,
    /// Cause and consequence.
    pub(crate) explanation: &'static str,
    /// An example with the error, `«»` mark the wrong value. Empty: there is none.
    pub(crate) bad: &'static str,
    /// The same without the error.
    pub(crate) good: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "only tests run the examples"))]
    pub(crate) example: Example,
    pub(crate) check: RuleCheck,
}

/// The kind of a rule's examples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Example {
    /// Manifests for a device of this platform.
    Device(&'static str),
    /// Manifests for a device of this platform, whose answers have no objects.
    EmptyDevice(&'static str),
    /// Manifests for a host.
    Host,
    /// Catalogs of a device, as JSON.
    Json,
    /// There are none.
    None,
}

/// The subject of a rule.
#[derive(Clone, Copy)]
pub(crate) enum RuleCheck {
    /// One catalog with its target.
    Catalog(fn(&RuleContext<'_>, &mut RuleFindings)),
    /// Errors of one kind that models report about a resource.
    Value(ValueErrorKind),
    /// Problems of one kind that drivers report about a resource.
    Problem(ProblemKind),
    /// Errors of `catalog::load`.
    Load,
    /// All catalogs of one command.
    CrossCatalog(fn(&CatalogSet<'_>, &mut CrossFindings)),
    /// Errors of `inventory::Inventory::load`.
    Inventory,
    /// The changes of a run, before the first one.
    Plan,
}

impl std::fmt::Debug for RuleCheck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            RuleCheck::Catalog(_) => "Catalog",
            RuleCheck::Value(_) => "Value",
            RuleCheck::Problem(_) => "Problem",
            RuleCheck::Load => "Load",
            RuleCheck::CrossCatalog(_) => "CrossCatalog",
            RuleCheck::Inventory => "Inventory",
            RuleCheck::Plan => "Plan",
        })
    }
}

impl Rule {
    /// The findings about one catalog; none if the rule has another subject.
    pub(super) fn check(&'static self, context: &RuleContext<'_>) -> RuleFindings {
        let mut findings = RuleFindings::default();
        match self.check {
            RuleCheck::Catalog(check) => check(context, &mut findings),
            RuleCheck::Value(kind) => value_error::report(context, &mut findings, self, kind),
            RuleCheck::Problem(kind) => {
                platform_problem::report(context, &mut findings, self, kind);
            }
            RuleCheck::Load
            | RuleCheck::CrossCatalog(_)
            | RuleCheck::Inventory
            | RuleCheck::Plan => {}
        }
        findings
    }

    /// The rule with this code.
    pub(crate) fn find(code: &str) -> Option<&'static Rule> {
        RULES.iter().copied().find(|rule| rule.code == code)
    }

    /// An example without its marks, with a line of `^` below each marked value.
    pub(crate) fn render_example(example: &str) -> String {
        let mut text = String::new();
        for line in example.trim_matches('\n').lines() {
            let mut unmarked = String::new();
            let mut under = String::new();
            let mut marked = false;
            for character in line.chars() {
                match character {
                    '«' => marked = true,
                    '»' => marked = false,
                    other => {
                        unmarked.push(other);
                        under.push(if marked { '^' } else { ' ' });
                    }
                }
            }
            text.push_str(&unmarked);
            text.push('\n');
            if under.contains('^') {
                text.push_str(under.trim_end());
                text.push('\n');
            }
        }
        text
    }
}

macro_rules! rules {
    ($($file:ident,)+) => {
        $(pub(super) mod $file;)+
        /// All rules, in the order of `switchtender explain`.
        pub(crate) const RULES: &[&Rule] = &[$(&$file::RULE),+];
    };
}

rules! {
    host_resource,
    device_resource,
    skipped_relation,
    mixed_container,
    empty_catalog,
    wrong_name,
    unknown_type,
    kindless_type,
    unsupported_type,
    unknown_attribute,
    invalid_value,
    missing_attribute,
    attribute_conflict,
    metaparameter,
    null_value,
    unsupported_attribute,
    unwritable_change,
    unwritable_value,
    misleading_value,
    reserved_name,
    clear_secret,
    secret_title,
    title_space,
    masked_value,
    shuts_down,
    max_shutdown,
    max_changes,
    max_removals,
    unmanaged_line,
    own_path,
    undeclared_purge,
    missing_dependency,
    bad_reference,
    cycle,
    automatic_conflict,
    no_refresh,
    audit_parameter,
    unknown_schedule,
    same_instance,
    conflicting_lines,
    undeclared,
    no_device,
    no_catalog,
    both_sides,
    duplicate_address,
    shared_address,
    vlan_names,
    duplicate_key,
    cannot_read,
    catalog_syntax,
    catalog_encoding,
    catalog_edge,
    containment_cycle,
    catalog_value,
    catalog_deferred,
    duplicate,
    alias,
}
