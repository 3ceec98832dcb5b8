//! The head of the pages about one device: status, tabs and actions.

use super::fleet::status;
use crate::history::devices::FleetDevice;
use crate::serve::access::{Principal, Role};
use crate::serve::web::shared_views::device_path;
use crate::serve::web::state::WebState;
use crate::serve::web::status_label::StatusLabel;

/// Tabs: name and end of the path.
const TABS: [(&str, &str); 4] = [
    ("Overview", ""),
    ("Resources", "/resources"),
    ("Configuration", "/configuration"),
    ("Graph", "/graph"),
];

pub(super) struct DeviceHead {
    pub(super) name: String,
    pub(super) path: String,
    pub(super) status: StatusLabel,
    pub(super) is_paused: bool,
    /// Runs never change the device.
    pub(super) is_plan_only: bool,
    /// Runs change the device only as a person approved.
    pub(super) needs_approval: bool,
    /// The role of the sender for the device.
    role: Option<Role>,
    tab: &'static str,
}

pub(super) struct TabLink {
    pub(super) name: &'static str,
    pub(super) path: String,
    pub(super) is_current: bool,
}

impl DeviceHead {
    /// `tab`: the end of the path.
    pub(super) fn new(
        state: &WebState,
        sender: &Principal,
        device: &FleetDevice,
        tab: &'static str,
    ) -> Self {
        Self {
            name: device.name.clone(),
            path: device_path(&device.name),
            status: status(device),
            is_paused: device.paused_since.is_some(),
            is_plan_only: state.service(sender).is_plan_only(&device.name),
            needs_approval: state.service(sender).needs_approval(&device.name),
            role: sender.roles.on(device),
            tab,
        }
    }

    pub(super) fn may_plan(&self) -> bool {
        self.role >= Some(Role::Plan)
    }

    pub(super) fn may_apply(&self) -> bool {
        self.role >= Some(Role::Apply)
    }

    pub(super) fn tabs(&self) -> Vec<TabLink> {
        TABS.iter()
            .map(|&(name, end)| TabLink {
                name,
                path: format!("{}{end}", self.path),
                is_current: end == self.tab,
            })
            .collect()
    }
}
