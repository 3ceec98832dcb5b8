//! The VLAN table, which is not in the configuration text.

use std::collections::BTreeMap;

use super::vlan_list::VlanList;

/// Reserved VLANs: they exist, and cannot be changed or removed.
pub(super) const RESERVED: [u16; 5] = [1, 1002, 1003, 1004, 1005];

/// A VLAN.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Vlan {
    /// Name; `VLAN0010` by default.
    pub name: String,
    /// Whether the VLAN is shut down on this device.
    pub shutdown: bool,
}

/// All VLANs by number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct VlanTable(BTreeMap<u16, Vlan>);

/// Edits of a `vlan` submode. They take effect at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PendingVlans {
    /// The VLANs.
    pub list: VlanList,
    /// A new name, or the default one.
    pub name: Option<Option<String>>,
    /// Shut down or not.
    pub shutdown: Option<bool>,
}

impl Default for VlanTable {
    fn default() -> Self {
        let names = [
            "default",
            "fddi-default",
            "token-ring-default",
            "fddinet-default",
            "trnet-default",
        ];
        let rows = RESERVED.iter().zip(names);
        VlanTable(
            rows.map(|(number, name)| {
                (
                    *number,
                    Vlan {
                        name: name.to_owned(),
                        shutdown: false,
                    },
                )
            })
            .collect(),
        )
    }
}

impl VlanTable {
    /// Rows by number.
    pub(super) fn rows(&self) -> impl Iterator<Item = (u16, &Vlan)> {
        self.0.iter().map(|(number, vlan)| (*number, vlan))
    }

    /// A VLAN by number.
    pub(super) fn get(&self, number: u16) -> Option<&Vlan> {
        self.0.get(&number)
    }

    /// Creates the VLAN with its default name, if it does not exist.
    pub(super) fn create(&mut self, number: u16) {
        self.0.entry(number).or_insert_with(|| Vlan {
            name: default_name(number),
            shutdown: false,
        });
    }

    /// Applies the edits of the submode.
    pub(super) fn commit(&mut self, pending: &PendingVlans) {
        for number in pending.list.iter() {
            self.create(number);
            let Some(vlan) = self.0.get_mut(&number) else {
                continue;
            };
            match &pending.name {
                Some(Some(name)) => vlan.name.clone_from(name),
                Some(None) => vlan.name = default_name(number),
                None => {}
            }
            if let Some(shutdown) = pending.shutdown {
                vlan.shutdown = shutdown;
            }
        }
    }

    /// Removes VLANs. The caller refuses reserved ones.
    pub(super) fn remove(&mut self, list: &VlanList) {
        self.0.retain(|number, _| !list.contains(*number));
    }
}

fn default_name(number: u16) -> String {
    format!("VLAN{number:04}")
}
