//! White space at the start or end of a title.

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;
use crate::validate::finding::{Location, RuleFinding, RuleFindings};
use crate::validate::rule_context::RuleContext;

pub(crate) const RULE: Rule = Rule {
    code: "title-space",
    severity: Severity::Warning,
    effects: Effects::REFUSE_DEVICE,
    summary: "white space at the start or end of a title",
    explanation: "\
Puppet compares titles exactly, but a device can ignore white space around a name. A reference without the
white space is to another resource, and two resources can be the same object of the device.",
    bad: "
network_interface { «'GigabitEthernet1/0/1 '»:
  description => 'uplink',
}
",
    good: "
network_interface { 'GigabitEthernet1/0/1':
  description => 'uplink',
}
",
    example: Example::Device("cisco_ios"),
    check: RuleCheck::Catalog(check),
};

fn check(context: &RuleContext<'_>, findings: &mut RuleFindings) {
    for (index, resource, typed) in context.typed() {
        let title = resource.reference.title();
        let side = match (title != title.trim_start(), title != title.trim_end()) {
            (false, false) => continue,
            (true, false) => "leading",
            (false, true) => "trailing",
            (true, true) => "leading and trailing",
        };
        // The title can be a secret: the message has the type, the position has the title.
        let type_name = &typed.model.name;
        let message = format!("the title of this {type_name} has {side} white space");
        findings.push(
            RuleFinding::new(&RULE, Location::title(index), message)
                .help("remove the white space from the title and from references to it"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::Policy;
    use crate::validate::example::{device, findings};

    #[test]
    fn title_space_names_the_side() {
        for (title, side) in [
            (" Vlan10", Some("leading")),
            ("Vlan10\t", Some("trailing")),
            ("\u{a0}Vlan10 ", Some("leading and trailing")),
            ("Vlan 10", None),
        ] {
            let manifest = format!("network_interface {{ '{title}': description => 'users' }}");
            let (_, found) = findings(&manifest, &device("cisco_ios"), &Policy::default());
            let found = found.iter().find(|found| found.code == RULE.code);
            let message =
                side.map(|side| format!("the title of this network_interface has {side} white space"));
            assert_eq!(found.map(|found| found.message.to_string()), message);
        }
    }
}
