//! More interfaces shut down than the limit allows.

use switchtender_devices::model::Shutdown;
use switchtender_devices::value::Value;

use super::{Effects, Example, Rule, RuleCheck};
use crate::diagnostic::Severity;
use crate::validate::finding::{Location, RuleFinding, RuleFindings};
use crate::validate::rule_context::RuleContext;

pub(crate) const RULE: Rule = Rule {
    code: "max-shutdown",
    severity: Severity::Error,
    effects: Effects::REFUSE_DEVICE,
    summary: "more interfaces shut down than the limit allows",
    explanation: "\
`--max-shutdown N`, or `max_shutdown = N` in the inventory, refuses a catalog that shuts down more than N
percent of the interfaces that it declares. It stops an error in a shared class, such as a wrong default, before the first port is down.
`validate`, `plan` and `apply` check it without the device; `apply` does not connect to a refused one.",
    bad: "",
    good: "",
    example: Example::None,
    check: RuleCheck::Catalog(check),
};

fn check(context: &RuleContext<'_>, findings: &mut RuleFindings) {
    let Some(allowed) = context.max_shutdown() else {
        return;
    };
    let interfaces: Vec<(usize, &Shutdown, bool)> = context
        .desired()
        .filter_map(|(index, _, desired)| {
            let shutdown = desired.model.shutdown.as_ref()?;
            let is_shut_down = shutdown.is_shut_down(&desired.attributes)?;
            Some((index, shutdown, is_shut_down))
        })
        .collect();
    let mut down = interfaces.iter().filter(|(.., is_shut_down)| *is_shut_down);
    let number = down.clone().count();
    // Rounded up, so that 0 allows none.
    let share = (number * 100).div_ceil(interfaces.len().max(1));
    if share <= usize::from(allowed) {
        return;
    }
    if let Some((index, shutdown, _)) = down.next() {
        let attribute = shutdown.attribute.as_str();
        let value = context.catalog.resources[*index].parameters.get(attribute);
        let at = if value.is_some_and(|value| *value != Value::Undef) { Location::parameter(*index, attribute) } else { Location::title(*index) };
        let message = format!(
            "{number} of {} interfaces would be shut down ({share}%, the limit is {allowed}%)",
            interfaces.len()
        );
        findings.push(
            RuleFinding::new(&RULE, at, message)
                .label("the first of them")
                .help("check what changed, or raise the limit: --max-shutdown, or `max_shutdown` in [defaults] or the table of the device"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compat::Deviations;
    use crate::validate::Policy;
    use crate::validate::example::{assert_marked, device};

    #[test]
    fn max_shutdown_counts_interfaces_of_the_catalog() {
        let two_of_four = "
            network_interface { 'GigabitEthernet1/0/1': enable => true }
            network_interface { 'GigabitEthernet1/0/2': enable => «false» }
            network_interface { 'GigabitEthernet1/0/3': enable => false }
            network_interface { 'GigabitEthernet1/0/4': enable => true }";
        let by_default = "network_interface { «'GigabitEthernet1/0/1'»: mtu => 1500 }";
        let unmarked = |manifest: &str| manifest.replace(['«', '»'], "");
        for (manifest, allowed, refused) in [
            (two_of_four, Some(49), true),
            (two_of_four, Some(50), false),
            (two_of_four, None, false),
            (by_default, Some(0), true),
            ("network_vlan { '40': }", Some(0), false),
        ] {
            let policy = Policy {
                max_shutdown: allowed,
                deviations: Deviations::puppet7(),
                ..Policy::default()
            };
            let manifest = if refused { manifest.to_owned() } else { unmarked(manifest) };
            assert_marked(&RULE, &manifest, &device("cisco_ios"), &policy);
        }
    }
}
