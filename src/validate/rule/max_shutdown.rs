//! Too many of a device's interfaces going down.

use switchtender_devices::value::Value;

use super::{Check, Example, Rule};
use crate::diagnostic::Severity;
use crate::validate::finding::{At, Finding, Findings};
use crate::validate::subject::Subject;

pub const RULE: Rule = Rule {
    code: "max-shutdown",
    severity: Severity::Error,
    summary: "more interfaces shut down than `--max-shutdown` allows",
    explanation: "\
`--max-shutdown N` refuses a catalog that wants more than N per cent of the interfaces that it
names to be down. A change in a shared class, such as a default that becomes false, shuts a whole
site; this stops it before the first port.",
    bad: "",
    good: "",
    example: Example::Other,
    check: Check::Catalog(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings) {
    let Some(allowed) = subject.policy.max_shutdown else {
        return;
    };
    let states: Vec<(usize, bool)> = subject
        .wanted()
        .filter(|(_, _, wanted)| wanted.model.name == "network_interface")
        .filter_map(|(index, _, wanted)| Some((index, wanted.attributes.get("enable")?.as_bool()?)))
        .collect();
    let down: Vec<usize> = states
        .iter()
        .filter(|(_, enable)| !enable)
        .map(|(index, _)| *index)
        .collect();
    // Rounded up, so that 0 allows none.
    let share = (down.len() * 100).div_ceil(states.len().max(1));
    if share <= usize::from(allowed) {
        return;
    }
    if let Some(&first) = down.first() {
        let given = subject.catalog.resources[first]
            .parameters
            .get("enable")
            .is_some_and(|value| *value != Value::Undef);
        let at = if given {
            At::parameter(first, "enable")
        } else {
            At::title(first)
        };
        findings.push(
            Finding::new(
                &RULE,
                at,
                format!(
                    "{} of {} interfaces would be shut down ({share}%, allowed are {allowed}%)",
                    down.len(),
                    states.len()
                ),
            )
            .beside("the first of them")
            .help("see what changed, or allow more with --max-shutdown"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::Policy;
    use crate::validate::example::{assert_marked, device};

    #[test]
    fn the_share_is_of_the_interfaces_that_the_catalog_names() {
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
                ..Policy::default()
            };
            let manifest = if refused { manifest.to_owned() } else { unmarked(manifest) };
            assert_marked(&RULE, &manifest, &device("cisco_ios"), &policy);
        }
    }
}
