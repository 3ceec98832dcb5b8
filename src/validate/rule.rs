//! The rules, one file each, and what is told of a rule besides its findings.
//!
//! To add a rule, copy a neighbour's file, name it in [`RULES`], and run the tests: each rule's
//! bad example must give exactly its finding at the marked place, and its good one none.

use switchtender_devices::driver::ProblemKind;
use switchtender_devices::model::canonical::ValueErrorKind;

use crate::diagnostic::Severity;

use super::finding::Findings;
use super::subject::Subject;

mod platform_problem;
mod value_error;

/// A rule and everything that is told of it.
#[derive(Debug)]
pub struct Rule {
    /// Short stable name, as in `explain CODE`, `switchtender.toml` and every output.
    pub code: &'static str,
    /// How bad a finding is unless the settings say otherwise.
    pub severity: Severity,
    /// What the finding says, in a few words.
    pub summary: &'static str,
    /// Why it is wrong and what comes of it.
    pub explanation: &'static str,
    /// A manifest with the mistake, `«»` around the offending value; empty where it takes more
    /// than a manifest.
    pub bad: &'static str,
    /// The same without it.
    pub good: &'static str,
    /// What the examples are compiled for.
    pub example: Example,
    pub check: Check,
}

/// What a rule's examples are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Example {
    /// A device of this platform.
    Device(&'static str),
    Host,
    /// There are none, or they are not manifests.
    Other,
}

/// What a rule looks at.
#[derive(Clone, Copy)]
pub enum Check {
    /// One catalog with its destination.
    Catalog(fn(&Subject<'_>, &mut Findings)),
    /// What models refuse of a resource.
    Value(ValueErrorKind),
    /// What platforms have to say about one.
    Problem(ProblemKind),
    /// Found while the catalog is loaded.
    Loading,
    /// Found over all catalogs and the inventory.
    Across,
}

impl std::fmt::Debug for Check {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Check::Catalog(_) => "Catalog",
            Check::Value(_) => "Value",
            Check::Problem(_) => "Problem",
            Check::Loading => "Loading",
            Check::Across => "Across",
        })
    }
}

impl Rule {
    /// Looks at one catalog, if that is what the rule is about.
    pub(super) fn look_at(&'static self, subject: &Subject<'_>, findings: &mut Findings) {
        match self.check {
            Check::Catalog(check) => check(subject, findings),
            Check::Value(kind) => value_error::report(subject, findings, self, kind),
            Check::Problem(kind) => platform_problem::report(subject, findings, self, kind),
            Check::Loading | Check::Across => {}
        }
    }

    /// The rule of this code.
    pub fn named(code: &str) -> Option<&'static Rule> {
        RULES.iter().copied().find(|rule| rule.code == code)
    }

    /// An example without its marks, and with a line of `^` under what was marked.
    pub fn underlined(example: &str) -> String {
        let mut text = String::new();
        for line in example.trim_matches('\n').lines() {
            let mut plain = String::new();
            let mut under = String::new();
            let mut marked = false;
            for character in line.chars() {
                match character {
                    '«' => marked = true,
                    '»' => marked = false,
                    other => {
                        plain.push(other);
                        under.push(if marked { '^' } else { ' ' });
                    }
                }
            }
            text.push_str(&plain);
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
    ($($file:ident: $($rule:ident),+;)+) => {
        $(pub(super) mod $file;)+
        /// All rules, in the order in which they are explained.
        pub const RULES: &[&Rule] = &[$($(&$file::$rule),+),+];
    };
}

rules! {
    host_resource: RULE;
    device_resource: RULE;
    skipped_relation: RULE;
    mixed_container: RULE;
    empty_catalog: RULE;
    wrong_name: RULE;
    unknown_type: RULE;
    kindless_type: RULE;
    unsupported_type: RULE;
    unknown_attribute: RULE;
    invalid_value: RULE;
    missing_attribute: RULE;
    attribute_conflict: RULE;
    metaparameter: RULE;
    null_value: RULE;
    unsupported_attribute: RULE;
    unwritable_value: RULE;
    misleading_value: RULE;
    reserved_name: RULE;
    clear_secret: RULE;
    secret_title: RULE;
    masked_value: RULE;
    shuts_down: RULE;
    max_shutdown: RULE;
    missing_dependency: RULE;
    bad_reference: RULE;
    cycle: RULE;
    automatic_conflict: RULE;
    no_refresh: RULE;
    audit_parameter: RULE;
    unknown_schedule: RULE;
    same_instance: RULE;
    conflicting_lines: RULE;
    undeclared: RULE;
    no_device: RULE;
    no_catalog: RULE;
    both_sides: RULE;
    duplicate_address: RULE;
    shared_address: RULE;
    vlan_names: RULE;
    duplicate_key: RULE;
    loading: READ, SYNTAX, ENCODING, EDGE, CONTAINMENT, VALUE, DEFERRED, DUPLICATE, ALIAS;
}
