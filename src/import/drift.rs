//! Who has changed a value since the last import or apply: the device, the files or both.

use switchtender_devices::value::Value;

use crate::transaction::Memory;

/// Which side prevails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Prevailing {
    /// Files keep all their values
    Files,
    /// Devices prevail, also over values of files that are newer
    Device,
}

/// What happens to a difference between device and files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DriftDecision {
    /// The files take the value of the device.
    Taken,
    /// Only the files have changed: the next apply changes the device.
    Pending,
    /// Both have changed.
    Conflict,
    /// No import and no apply has recorded the device: nothing in files is overwritten.
    NoBase,
    /// With the value of the device, the plan of the files is not empty.
    Refused,
}

/// The values of a device after the last import or apply.
pub(crate) struct DriftBase<'a> {
    memory: &'a Memory,
    /// An import or an apply has recorded the device.
    is_known: bool,
    /// No file is about this device alone: it is new.
    is_new: bool,
    prevailing: Option<Prevailing>,
}

impl<'a> DriftBase<'a> {
    pub(crate) fn new(memory: &'a Memory, is_new: bool, prevailing: Option<Prevailing>) -> Self {
        let mut resources = memory.iter();
        Self {
            memory,
            is_known: resources.any(|(_, remembered)| !remembered.history.is_empty()),
            is_new,
            prevailing,
        }
    }

    /// The decision about an attribute with these values of the device and of the files.
    pub(crate) fn attribute(
        &self,
        reference: &str,
        name: &str,
        (device, files): (&Value, &Value),
    ) -> DriftDecision {
        if let Some(decision) = self.without_values() {
            return decision;
        }
        let base = self.value(reference, name);
        let base = text(base.unwrap_or(&Value::Absent));
        let equals = |value: &Value| text(value) == base;
        match (equals(device), equals(files)) {
            (true, _) => DriftDecision::Pending,
            (false, true) => DriftDecision::Taken,
            (false, false) => DriftDecision::Conflict,
        }
    }

    /// The decision about a resource that only the device has.
    pub(crate) fn undeclared(&self, reference: &str) -> DriftDecision {
        match self.prevailing {
            Some(Prevailing::Files) => DriftDecision::Pending,
            Some(Prevailing::Device) => DriftDecision::Taken,
            None if self.has(reference) => DriftDecision::Pending,
            None => DriftDecision::Taken,
        }
    }

    fn without_values(&self) -> Option<DriftDecision> {
        match self.prevailing {
            Some(Prevailing::Files) => Some(DriftDecision::Pending),
            Some(Prevailing::Device) => Some(DriftDecision::Taken),
            None if self.is_known => None,
            None if self.is_new => Some(DriftDecision::Taken),
            None => Some(DriftDecision::NoBase),
        }
    }

    fn has(&self, reference: &str) -> bool {
        let mut resources = self.memory.iter();
        resources.any(|(name, remembered)| name == reference && !remembered.history.is_empty())
    }

    fn value(&self, reference: &str, name: &str) -> Option<&Value> {
        let mut resources = self.memory.iter();
        let (_, remembered) = resources.find(|(known, _)| *known == reference)?;
        remembered.history.get(name).map(|stored| &stored.0)
    }
}

/// A value as text. The values after a run are lists, also those with one element, and `absent` is a word there.
fn text(value: &Value) -> String {
    match value {
        Value::Undef | Value::Absent => String::new(),
        Value::List(items) => items.iter().map(text).collect::<Vec<_>>().join(","),
        value => match value.ruby_to_s() {
            word if word == "absent" => String::new(),
            word => word,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> Memory {
        let json = serde_json::json!({
            "Vlan[10]": {"history": {"name": ["users"], "mtu": [1500]}},
        });
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn side_that_has_changed_decides() {
        let memory = memory();
        let base = DriftBase::new(&memory, false, None);
        for (device, files, decision) in [
            ("desks", "users", DriftDecision::Taken),
            ("users", "desks", DriftDecision::Pending),
            ("phones", "desks", DriftDecision::Conflict),
        ] {
            let values = (&Value::string(device), &Value::string(files));
            assert_eq!(base.attribute("Vlan[10]", "name", values), decision);
        }
        let none = (&Value::string("x"), &Value::Absent);
        let new = base.attribute("Vlan[10]", "shutdown", none);
        assert_eq!(new, DriftDecision::Taken);
        assert_eq!(base.undeclared("Vlan[10]"), DriftDecision::Pending);
        assert_eq!(base.undeclared("Vlan[20]"), DriftDecision::Taken);
    }

    #[test]
    fn nothing_is_overwritten_without_a_base() {
        let memory = Memory::default();
        let values = (&Value::string("desks"), &Value::string("users"));
        for (is_new, prevailing, decision) in [
            (false, None, DriftDecision::NoBase),
            (true, None, DriftDecision::Taken),
            (false, Some(Prevailing::Device), DriftDecision::Taken),
            (true, Some(Prevailing::Files), DriftDecision::Pending),
        ] {
            let base = DriftBase::new(&memory, is_new, prevailing);
            assert_eq!(base.attribute("Vlan[10]", "name", values), decision);
        }
    }
}
