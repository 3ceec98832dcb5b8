//! A catalog that was compiled for another device.

use super::{Check, Example, Rule};
use crate::diagnostic::Severity;
use crate::validate::finding::{At, Finding, Findings};
use crate::validate::subject::{Side, Subject};

pub const RULE: Rule = Rule {
    code: "wrong-name",
    severity: Severity::Error,
    summary: "a catalog whose name is another device",
    explanation: "\
A catalog carries the name of the node that it was compiled for. Applying it to a device of another
name would configure that device as somebody else. A device whose certificate has another name than
its entry in the inventory says so there: `certname = \"sw1.example.net\"`.",
    bad: "",
    good: "",
    example: Example::Other,
    check: Check::Catalog(check),
};

fn check(subject: &Subject<'_>, findings: &mut Findings) {
    let Side::Device {
        certname: Some(certname),
        ..
    } = subject.side
    else {
        return;
    };
    if subject.catalog.name != *certname && !subject.policy.force_name {
        findings.push(
            Finding::new(
                &RULE,
                At::Name,
                format!(
                    "the catalog is for `{}`, not for `{certname}`",
                    subject.catalog.name
                ),
            )
            .help("give the device this `certname` in the inventory, or force it with --force-name"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::Policy;
    use crate::validate::example::assert_marked;

    #[test]
    fn the_name_must_be_the_devices_unless_it_is_forced() {
        let side = |certname: Option<&str>| Side::Device {
            certname: certname.map(str::to_owned),
            driver: None,
            running: None,
        };
        let right = "node 'sw1' { network_vlan { '40': } }";
        let wrong = "node «'sw1'» { network_vlan { '40': } }";
        for (manifest, certname, force_name) in [
            (wrong, Some("sw2"), false),
            (right, Some("sw1"), false),
            (right, None, false),
            (right, Some("sw2"), true),
        ] {
            let policy = Policy {
                force_name,
                ..Policy::default()
            };
            assert_marked(&RULE, manifest, &side(certname), &policy);
        }
    }
}
