//! Whether a run would do exactly what was planned.

use switchtender_devices::diagnostic::Diagnostic;

use super::{PlannedDevice, PlannedResource};

impl PlannedDevice {
    /// The differences of what a run would do now to what was planned, as errors.
    pub(crate) fn differences(&self, now: &Self) -> Vec<Diagnostic> {
        let changed = |what: &str| {
            let message = format!("the {what} changed since the plan");
            Diagnostic::error("plan-changed", message).help("make a new plan")
        };
        if self.identity.is_other(&now.identity) {
            let message = format!(
                "the plan was made for another device, {}; the device that answers has {}",
                self.identity, now.identity
            );
            return vec![Diagnostic::error("plan-changed", message).help("make a new plan")];
        }
        if self.key.is_some() && self.key != now.key {
            let message =
                "the plan was made with another state directory, and compares secrets by its key";
            let help = "pass the same --state-dir; with --mock, pass one to both commands";
            return vec![Diagnostic::error("plan-changed", message).help(help)];
        }
        let mut findings = Vec::new();
        if self.catalog != now.catalog {
            findings.push(changed("catalog"));
        }
        if self.definitions != now.definitions {
            findings.push(changed("definitions"));
        }
        for planned in &self.resources {
            let found = now
                .resources
                .iter()
                .find(|other| other.resource == planned.resource);
            if found.is_some_and(|found| found.is_same(planned)) {
                continue;
            }
            findings.push(match now.failures.get(&planned.resource) {
                Some(reason) => {
                    let message = format!("{}: {reason}", planned.resource);
                    Diagnostic::error("plan-changed", message)
                }
                None => resource_changed(Some(planned), found),
            });
        }
        for found in &now.resources {
            let is_planned = |other: &PlannedResource| other.resource == found.resource;
            if !self.resources.iter().any(is_planned) {
                findings.push(resource_changed(None, Some(found)));
            }
        }
        let names = |device: &Self| -> Vec<String> {
            let names = device.resources.iter();
            names.map(|planned| planned.resource.clone()).collect()
        };
        if findings.is_empty() && names(self) != names(now) {
            findings.push(changed("order of the resources"));
        }
        findings
    }
}

/// What was planned for a resource and what a run would do now.
fn resource_changed(
    planned: Option<&PlannedResource>,
    now: Option<&PlannedResource>,
) -> Diagnostic {
    let name = planned.or(now).map_or("", |found| found.resource.as_str());
    let texts = |found: Option<&PlannedResource>| -> Vec<String> {
        let changes = found.iter().flat_map(|found| &found.changes);
        let changes = changes.map(ToString::to_string);
        let operations = found.iter().flat_map(|found| &found.operations);
        let operations = operations.map(ToString::to_string);
        changes.chain(operations).collect()
    };
    let (of_plan, of_now) = (texts(planned), texts(now));
    // What both have says nothing, unless their order differs.
    let others = |own: &[String], other: &[String]| {
        let own_only: Vec<&str> = own
            .iter()
            .filter(|text| !other.contains(text))
            .map(String::as_str)
            .collect();
        match (own_only.is_empty(), own.is_empty()) {
            (false, _) => own_only.join(", "),
            (true, true) => "no change".to_owned(),
            (true, false) if other.len() > own.len() => "nothing else".to_owned(),
            (true, false) => own.join(", "),
        }
    };
    let (before, after) = (others(&of_plan, &of_now), others(&of_now, &of_plan));
    let read = planned.zip(now).and_then(|(planned, now)| {
        let names = planned.read.keys().chain(now.read.keys());
        let mut names = names.filter(|name| planned.read.get(*name) != now.read.get(*name));
        names.next().cloned()
    });
    let difference = match (of_plan == of_now, read) {
        (false, _) => format!("planned: {before}; now: {after}"),
        (true, Some(name)) => format!("{name} changed on the device"),
        (true, None) => "a secret changed".to_owned(),
    };
    Diagnostic::error("plan-changed", format!("{name}: {difference}"))
        .help("the device changed since the plan: make a new plan")
}

impl PlannedResource {
    /// Whether the same is read, changed and sent. Positions in files do not count.
    fn is_same(&self, other: &Self) -> bool {
        let without_position = |resource: &Self| Self {
            file: None,
            line: None,
            ..resource.clone()
        };
        without_position(self) == without_position(other)
    }
}

#[cfg(test)]
mod tests {
    use super::super::example::device;
    use super::*;
    use crate::store::identity::DeviceIdentity;

    fn messages(planned: &PlannedDevice, now: &PlannedDevice) -> Vec<String> {
        let findings = planned.differences(now).into_iter();
        findings.map(|finding| finding.message).collect()
    }

    #[test]
    fn differences_name_what_changed() {
        let planned = device(&[("A[1]", &["vlan 10", "name a"]), ("B[2]", &["x"])]);
        assert_eq!(messages(&planned, &planned), [""; 0]);
        let other = device(&[("A[1]", &["vlan 10", "name b"]), ("C[3]", &["y"])]);
        assert_eq!(
            messages(&planned, &other),
            [
                "A[1]: planned: `vlan 10;  name a`; now: `vlan 10;  name b`",
                "B[2]: planned: `x`; now: no change",
                "C[3]: planned: no change; now: `y`",
            ]
        );
        let mut failed = other;
        let reason = "cannot change it";
        failed.failures = [("B[2]".to_owned(), reason.to_owned())].into();
        let messages_of_failed = messages(&planned, &failed);
        assert_eq!(messages_of_failed[1], "B[2]: cannot change it");
        let mut secret = planned.clone();
        secret.resources[0].operations[0].secrets = vec!["2e".to_owned()];
        assert_eq!(messages(&planned, &secret), ["A[1]: a secret changed"]);
        let mut read = planned.clone();
        let mtu = read.resources[1].read.get_mut("mtu").unwrap();
        "9000".clone_into(mtu);
        assert_eq!(
            messages(&planned, &read),
            ["B[2]: mtu changed on the device"]
        );
        let mut sources = planned.clone();
        sources.catalog = "c".to_owned();
        sources.definitions = "d".to_owned();
        assert_eq!(
            messages(&planned, &sources),
            [
                "the catalog changed since the plan",
                "the definitions changed since the plan"
            ]
        );
        let mut moved = planned.clone();
        moved.resources[0].line = Some(9);
        moved.difference.clear();
        assert_eq!(messages(&planned, &moved), [""; 0]);
        let other_device = PlannedDevice {
            identity: DeviceIdentity::parse("FCW2"),
            ..planned.clone()
        };
        assert_eq!(
            messages(&planned, &other_device),
            [
                "the plan was made for another device, serial number FCW1; the device that answers has serial number FCW2"
            ]
        );
        let other_key = PlannedDevice {
            key: Some("l".to_owned()),
            ..planned.clone()
        };
        assert_eq!(
            messages(&planned, &other_key),
            ["the plan was made with another state directory, and compares secrets by its key"]
        );
        let without_secrets = PlannedDevice {
            key: None,
            ..planned.clone()
        };
        assert_eq!(messages(&without_secrets, &other_key), [""; 0]);
        let mut order = planned.clone();
        order.resources.reverse();
        assert_eq!(
            messages(&planned, &order),
            ["the order of the resources changed since the plan"]
        );
    }
}
