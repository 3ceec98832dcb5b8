//! The switchport settings of an interface, read from its configuration lines.

use super::platform_profile::PlatformProfile;
use super::tree::Block;
use super::vlan_list::VlanList;

/// Switchport settings of an interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Switchport {
    /// False after `no switchport`.
    pub enabled: bool,
    /// `access`, `trunk`, `dynamic auto`, `dynamic desirable`.
    pub mode: String,
    /// `negotiate`, `dot1q`, `isl`.
    pub encapsulation: String,
    /// VLAN of untagged frames of an access port.
    pub access: u16,
    /// VLAN of untagged frames of a trunk.
    pub native: u16,
    /// Voice VLAN or a word.
    pub voice: Option<String>,
    /// Allowed VLANs of a trunk; `None` means all.
    pub allowed: Option<VlanList>,
    /// VLANs eligible for pruning; `None` means the default.
    pub pruning: Option<VlanList>,
    /// Trunking is not negotiated.
    pub nonegotiate: bool,
}

impl Switchport {
    /// Parses the lines of an interface.
    pub(super) fn of(block: &Block, profile: &PlatformProfile) -> Self {
        let number = |identity| {
            block
                .value(identity)
                .and_then(|value| value.parse().ok())
                .unwrap_or(1)
        };
        let list = |identity| match block.value(identity) {
            Some("none") => Some(VlanList::default()),
            Some(value) => VlanList::parse(value),
            None => None,
        };
        let default = if profile.isl { "negotiate" } else { "dot1q" };
        Switchport {
            enabled: block.find("switchport").is_none(),
            mode: block
                .value("switchport mode")
                .unwrap_or("dynamic auto")
                .to_owned(),
            encapsulation: block
                .value("switchport trunk encapsulation")
                .unwrap_or(default)
                .to_owned(),
            access: number("switchport access vlan"),
            native: number("switchport trunk native vlan"),
            voice: block.value("switchport voice vlan").map(str::to_owned),
            allowed: list("switchport trunk allowed vlan"),
            pruning: list("switchport trunk pruning vlan"),
            nonegotiate: block.find("switchport nonegotiate").is_some(),
        }
    }

    /// Whether the port negotiates its mode.
    pub(super) fn is_dynamic(&self) -> bool {
        self.mode.starts_with("dynamic")
    }
}
