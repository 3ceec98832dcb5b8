//! A value with an unexpected effect.

use switchtender_devices::driver::ProblemKind;

use super::{Effect, Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;

pub(crate) const RULE: Rule = Rule {
    code: "misleading-value",
    severity: Severity::Warning,
    effects: Effects {
        warning: Effect::Inform,
        ..Effects::REFUSE_DEVICE
    },
    summary: "a value with an unexpected effect",
    explanation: "\
The value is applied as the type documents it, but its effect is probably not the intended one.
Example: `untagged_vlan` sets the native VLAN of a trunk, even with `mode => access`, so the access VLAN
of the port does not change. Definitions mark such values with `misleading`.",
    bad: "
network_vlan { '10': }
network_trunk { 'GigabitEthernet1/0/1':
  mode          => 'access',
  untagged_vlan => «10»,
}
",
    good: "
network_vlan { '10': }
ios_network_trunk { 'GigabitEthernet1/0/1':
  mode        => 'access',
  access_vlan => 10,
}
",
    example: Example::Device("cisco_ios"),
    check: RuleCheck::Problem(ProblemKind::Misleading),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::Policy;
    use crate::validate::example::{assert_marked, device};

    #[test]
    fn misleading_value_depends_on_other_attributes() {
        for manifest in [
            "network_trunk { 'Gi1/0/1': mode => 'trunk', untagged_vlan => 99 }",
            "network_trunk { 'Gi1/0/1': untagged_vlan => 99 }",
            "network_trunk { 'Gi1/0/1': mode => 'access', untagged_vlan => 'unset' }",
            "network_trunk { 'Gi1/0/1': mode => 'access', tagged_vlans => «['10', '20']» }",
            "ios_network_trunk { 'Gi1/0/1': mode => 'access', allowed_vlans => «'10'» }",
            "ios_config { 'cef': command => «'ip cef'» }",
            "ios_config { 'cef': command => 'ip cef', idempotent_regex => '^ip cef' }",
            "cisco_command_config { 'cef': command => 'ip cef' }",
        ] {
            assert_marked(&RULE, manifest, &device("cisco_ios"), &Policy::default());
        }
    }
}
