//! The effect of findings in a run. It is the same in `plan`, `apply` and `device`, except
//! [`Effect::RefuseConflict`]: as in Puppet, `device` applies the other resources of a catalog.

use switchtender_devices::diagnostic::{Diagnostic, Severity};

use super::Policy;
use super::rule::Rule;

/// The effect of one finding in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Refuses the catalog, because it belongs to another device. Its other findings are left out.
    RefuseCatalog,
    /// Refuses the device: the run sends nothing to it.
    RefuseDevice,
    /// Refuses the device, and the run writes the graphs of the dependency cycles.
    RefuseCycle,
    /// Refuses the device. A run of `device` fails the resources and continues.
    RefuseConflict,
    /// Fails the resource with the message of the finding, and skips its dependents; the run logs
    /// a warning first.
    FailResources,
    /// Logs a warning. The run fails the resource with its own reason.
    WarnOfFailure,
    /// Logs a warning.
    Warn,
    /// Logs at info; a plan prints the finding below the resource.
    Inform,
    /// None; `switchtender validate` reports the finding.
    Ignore,
}

/// The effects of a rule's findings by severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Effects {
    pub(crate) error: Effect,
    pub(crate) warning: Effect,
    pub(crate) note: Effect,
}

impl Effects {
    /// Errors refuse the complete catalog.
    pub(crate) const REFUSE_CATALOG: Self = Self::of_error(Effect::RefuseCatalog);
    /// Errors refuse the device.
    pub(crate) const REFUSE_DEVICE: Self = Self::of_error(Effect::RefuseDevice);
    /// Errors refuse the device with the graphs of the dependency cycles.
    pub(crate) const REFUSE_CYCLE: Self = Self::of_error(Effect::RefuseCycle);
    /// Errors fail the resources.
    pub(crate) const FAIL_RESOURCES: Self = Self::of_error(Effect::FailResources);
    /// Errors are warnings: the run fails the resources itself.
    pub(crate) const WARN_OF_FAILURE: Self = Self::of_error(Effect::WarnOfFailure);
    /// Errors refuse the device, or fail the resources.
    pub(crate) const REFUSE_CONFLICT: Self = Self::of_error(Effect::RefuseConflict);
    /// Errors refuse the device; the rest is left to `validate`, or the run reports it itself.
    pub(crate) const ERRORS_ONLY: Self = Self {
        warning: Effect::Ignore,
        ..Self::REFUSE_DEVICE
    };

    const fn of_error(error: Effect) -> Self {
        Self {
            error,
            warning: Effect::Warn,
            note: Effect::Ignore,
        }
    }

    /// The effect of a finding of this severity.
    pub(crate) fn of(self, severity: Severity) -> Effect {
        match severity {
            Severity::Error => self.error,
            Severity::Warning => self.warning,
            Severity::Note => self.note,
        }
    }
}

impl Effect {
    /// Whether a run that is not refused fails the resources with the message of the finding.
    pub(super) fn fails_resources(self) -> bool {
        matches!(self, Effect::RefuseConflict | Effect::FailResources)
    }
}

/// The effect of a finding in a run. A finding of no rule has that of [`Effects::REFUSE_DEVICE`].
pub(crate) fn effect_of(finding: &Diagnostic) -> Effect {
    let effects = Rule::find(finding.code).map_or(Effects::REFUSE_DEVICE, |rule| rule.effects);
    effects.of(finding.severity)
}

/// Findings about types that a device does not have.
const OF_TYPES: [&str; 2] = ["unknown-type", "unsupported-type"];

/// Whether the device does not have a type. A catalog may be for hosts, too; desired state in files is not.
pub(crate) fn is_missing_type(finding: &Diagnostic) -> bool {
    finding.severity == Severity::Error && OF_TYPES.contains(&finding.code)
}

/// Whether a run with this finding must not connect to the device.
pub(crate) fn blocks_apply(finding: &Diagnostic, policy: &Policy) -> bool {
    match effect_of(finding) {
        Effect::RefuseCatalog | Effect::RefuseDevice | Effect::RefuseCycle => true,
        Effect::RefuseConflict => !policy.conflicts_fail_resources,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::example;
    use super::*;

    #[test]
    fn blocks_apply_where_the_rule_declares_it() {
        let cases = [
            ("network_vlan { '40': vlan_name => 'a b' }", false),
            (
                "port_channel { 'Po10': ensure => 'present', id => 11 }",
                true,
            ),
            ("network_vlann { '40': }", false),
            (
                "network_trunk { 'Gi1/0/1': mode => 'access' }
                 ios_network_trunk { 'Gi1/0/1': mode => 'trunk' }",
                true,
            ),
        ];
        for (manifest, expected) in cases {
            let (_, found) =
                example::findings(manifest, &example::device("cisco_ios"), &Policy::default());
            assert!(found.iter().any(|found| found.severity != Severity::Note));
            assert_eq!(
                found
                    .iter()
                    .any(|found| blocks_apply(found, &Policy::default())),
                expected,
                "{manifest}"
            );
        }
    }

    #[test]
    fn effect_follows_from_rule_and_severity() {
        let cases = [
            ("wrong-name", Severity::Error, Effect::RefuseCatalog),
            ("cycle", Severity::Error, Effect::RefuseCycle),
            ("unknown-type", Severity::Error, Effect::FailResources),
            ("conflicting-lines", Severity::Error, Effect::RefuseConflict),
            ("conflicting-lines", Severity::Warning, Effect::Warn),
            ("unsupported-type", Severity::Error, Effect::WarnOfFailure),
            ("unknown-schedule", Severity::Error, Effect::WarnOfFailure),
            ("reserved-name", Severity::Warning, Effect::Ignore),
            (
                "unsupported-attribute",
                Severity::Error,
                Effect::RefuseDevice,
            ),
            ("unsupported-attribute", Severity::Note, Effect::Inform),
            ("misleading-value", Severity::Warning, Effect::Inform),
            ("host-resource", Severity::Error, Effect::RefuseDevice),
            ("host-resource", Severity::Warning, Effect::Ignore),
            ("no-refresh", Severity::Note, Effect::Ignore),
            ("a-code-of-no-rule", Severity::Error, Effect::RefuseDevice),
        ];
        for (code, severity, expected) in cases {
            let finding = Diagnostic::new(code, severity, "x");
            assert_eq!(effect_of(&finding), expected, "{code} {severity:?}");
        }
    }
}
