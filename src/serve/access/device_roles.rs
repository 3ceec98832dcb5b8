//! The roles of a sender: each for all devices, or for some of them.

use serde::{Deserialize, Serialize};
use switchtender_devices::document::Item;

use super::role::Role;
use crate::inventory::{DeviceSelection, Selectable, TargetSyntaxError};

/// The devices of a role: an expression, such as `site = berlin`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct DeviceLimit {
    text: String,
    selection: DeviceSelection,
}

impl PartialEq for DeviceLimit {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for DeviceLimit {}

impl std::str::FromStr for DeviceLimit {
    type Err = TargetSyntaxError;

    fn from_str(text: &str) -> Result<Self, TargetSyntaxError> {
        Ok(Self {
            text: text.to_owned(),
            selection: DeviceSelection::parse(text)?,
        })
    }
}

impl TryFrom<String> for DeviceLimit {
    type Error = TargetSyntaxError;

    fn try_from(text: String) -> Result<Self, TargetSyntaxError> {
        text.parse()
    }
}

impl From<DeviceLimit> for String {
    fn from(limit: DeviceLimit) -> Self {
        limit.text
    }
}

impl std::fmt::Display for DeviceLimit {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl DeviceLimit {
    /// Reads an expression of the settings.
    pub(crate) fn read(item: &Item<'_>) -> Option<Self> {
        let parsed = item.string()?.parse::<Self>();
        parsed
            .map_err(|error| item.error("bad-value", error.to_string()))
            .ok()
    }

    pub(crate) fn includes(&self, device: &impl Selectable) -> bool {
        self.selection.matches(device)
    }
}

/// A role for some devices. `None`: for all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DeviceRole {
    pub(crate) role: Role,
    pub(crate) devices: Option<DeviceLimit>,
}

/// All roles of a sender; there is at least one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DeviceRoles {
    roles: Vec<DeviceRole>,
    /// The roles of the person whose token it is: no role is wider.
    at_most: Option<Box<DeviceRoles>>,
}

impl DeviceRoles {
    /// A role for all devices.
    pub(crate) fn everywhere(role: Role) -> Self {
        Self::one(role, None)
    }

    /// A role for some devices.
    pub(crate) fn one(role: Role, devices: Option<DeviceLimit>) -> Self {
        Self {
            roles: vec![DeviceRole { role, devices }],
            at_most: None,
        }
    }

    /// The same roles, none of them wider than those of a person.
    pub(crate) fn at_most(self, person: DeviceRoles) -> Self {
        Self {
            at_most: Some(Box::new(person)),
            ..self
        }
    }

    /// `None`: there is no role.
    pub(crate) fn of(roles: Vec<DeviceRole>) -> Option<Self> {
        (!roles.is_empty()).then_some(Self {
            roles,
            at_most: None,
        })
    }

    /// The role for some device or other, for pages without a device.
    pub(crate) fn highest(&self) -> Role {
        let roles = self.roles.iter().map(|one| one.role);
        let own = roles.max().unwrap_or(Role::View);
        let limit = self.at_most.as_ref();
        limit.map_or(own, |limit| own.min(limit.highest()))
    }

    /// The role for all devices.
    pub(crate) fn of_fleet(&self) -> Option<Role> {
        let unlimited = self.roles.iter().filter(|one| one.devices.is_none());
        let own = unlimited.map(|one| one.role).max()?;
        match &self.at_most {
            Some(limit) => Some(own.min(limit.of_fleet()?)),
            None => Some(own),
        }
    }

    /// The role for a device. `None`: the sender does not see it.
    pub(crate) fn on(&self, device: &impl Selectable) -> Option<Role> {
        let includes = |one: &&DeviceRole| {
            let limit = one.devices.as_ref();
            limit.is_none_or(|limit| limit.includes(device))
        };
        let own = self.roles.iter().filter(includes).map(|one| one.role);
        let own = own.max()?;
        match &self.at_most {
            Some(limit) => Some(own.min(limit.on(device)?)),
            None => Some(own),
        }
    }

    /// Whether no device is hidden.
    pub(crate) fn sees_all(&self) -> bool {
        self.of_fleet().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::device_state::KnownDevice;

    fn role(role: Role, devices: &str) -> DeviceRole {
        let devices = (!devices.is_empty()).then(|| devices.parse().unwrap());
        DeviceRole { role, devices }
    }

    #[test]
    fn device_roles_are_the_highest_of_each_device() {
        let device = |site: &str| KnownDevice {
            name: "sw1".to_owned(),
            platform: "cisco_ios".to_owned(),
            site: Some(site.to_owned()),
            labels: [("role".to_owned(), "core".to_owned())].into(),
            address: String::new(),
            guarantee: None,
        };
        let limited = vec![
            role(Role::Plan, "role in (core, edge)"),
            role(Role::Apply, "site = berlin"),
        ];
        let roles = DeviceRoles::of(limited.clone()).unwrap();
        assert_eq!(roles.on(&device("berlin")), Some(Role::Apply));
        assert_eq!(roles.on(&device("paris")), Some(Role::Plan));
        assert_eq!((roles.highest(), roles.of_fleet()), (Role::Apply, None));
        let one = DeviceRoles::of(limited[1..].to_vec()).unwrap();
        assert_eq!(one.on(&device("paris")), None);
        assert!(!one.sees_all());
        let all = [&limited[..], &[role(Role::View, "")]].concat();
        let all = DeviceRoles::of(all).unwrap();
        assert_eq!(all.of_fleet(), Some(Role::View));
        assert!(all.sees_all());
        assert_eq!(DeviceRoles::of(Vec::new()), None);
    }
}
