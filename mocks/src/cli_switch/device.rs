//! The state of one switch: platform, configuration, VLANs, and the mode of a session.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use super::archive::{ArchivedConfig, Revert};
use super::grammar::access_list;
use super::grammar::block_kind::BlockKind;
use super::interface_name::InterfaceName;
use super::platform_profile::PlatformProfile;
use super::reload::ScheduledReload;
use super::tree::{Block, Entry};
use super::vlan::{PendingVlans, VlanTable};
use super::vtp::Vtp;

/// A switch without its connections. Cheap to clone: the configuration is shared until it is changed.
#[derive(Debug, Clone)]
pub(super) struct Device {
    /// The platform.
    pub profile: &'static PlatformProfile,
    /// Host name, also used as the prompt.
    pub hostname: String,
    /// Serial numbers of the members of a stack, the master first.
    pub serials: Vec<String>,
    /// The running configuration.
    pub configuration: Arc<Configuration>,
    /// The saved configuration.
    pub startup: Option<(String, Arc<Configuration>)>,
    /// The configuration that a timed change restores unless it is confirmed in time.
    pub revert: Option<Revert>,
    /// The next restart.
    pub reload: Option<ScheduledReload>,
    /// The configuration archive, oldest first.
    pub archive: Vec<ArchivedConfig>,
    /// Number of the next file of the archive.
    pub archive_number: u32,
    /// The time by which the clock of the device is ahead.
    pub clock_advance: Duration,
    /// A change has cut the connections to the device.
    pub is_cut_off: bool,
    /// Is notified when a change cuts the connections.
    pub cut_off: Arc<Notify>,
    /// Is notified when a connection is refused for that.
    pub refused_connection: Arc<Notify>,
    /// Is notified when a session asks twice in succession for a scheduled reload.
    pub reload_poll: Arc<Notify>,
    /// Number of restarts.
    pub restarts: u32,
}

/// Configuration lines and the VLAN table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Configuration {
    /// Lines of the running configuration, without the host name.
    pub root: Block,
    /// VLANs.
    pub vlans: VlanTable,
    /// Users of SNMPv3 by name. They are no lines.
    pub snmp_users: BTreeMap<String, SnmpUser>,
    /// VTP. It is stored with the VLANs.
    pub vtp: Vtp,
}

/// A user of SNMPv3, without its keys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SnmpUser {
    /// The group.
    pub group: String,
    /// Algorithm of the authentication as `show snmp user` prints it.
    pub authentication: String,
    /// Algorithm of the encryption as `show snmp user` prints it.
    pub privacy: String,
    /// The access list with the word `ipv6`, if it has one.
    pub access: Vec<String>,
}

/// The mode of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Position {
    /// The mode.
    pub mode: Mode,
    /// Edits of a `vlan` submode that have not taken effect.
    pub pending: Option<PendingVlans>,
}

/// A mode of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mode {
    /// `>`
    Exec,
    /// `#`
    Privileged,
    /// `(config)#`
    Config,
    /// `(config-if)#`
    Interface(InterfaceName),
    /// `(config-vlan)#`
    Vlan,
    /// `(config-vrf)#`, by the line that opened it.
    Vrf(String),
    /// `(config-vrf-af)#`, by the line of the VRF and that of the address family.
    VrfFamily(String, String),
    /// `(config-std-nacl)#`, `(config-ext-nacl)#`
    AccessList {
        /// Extended rather than standard.
        extended: bool,
        /// Name or number.
        name: String,
    },
    /// `(config-line)#`, by the line that opened it.
    Line(String),
    /// `(config-server-tacacs)#`, by the line that opened it.
    TacacsServer(String),
    /// `(config-radius-server)#`, by the line that opened it.
    RadiusServer(String),
    /// `(config-sg-tacacs+)#`, by the line that opened it.
    TacacsGroup(String),
    /// `(config-router)#` of EIGRP, by the line that opened it.
    Eigrp(String),
    /// `(config-router)#`, by the line that opened it without its VRF.
    Ospf(String),
    /// `(config-router)#` of BGP, by the line that opened it.
    Bgp(String),
    /// `(config-router-af)#`, by the lines of the process and of the address family.
    BgpFamily(String, String),
    /// `(config-route-map)#`, by the identity of the entry.
    RouteMap(String),
    /// `(config-mst)#`
    Region,
    /// A block without code of its own.
    Block {
        /// Its kind.
        kind: BlockKind,
        /// Identity of the line that opened it.
        header: String,
        /// The mode around it.
        outer: Box<Mode>,
    },
    /// `(config-sg-radius)#`, by the line that opened it.
    RadiusGroup(String),
}

impl Mode {
    /// The text in the prompt's parentheses.
    pub(super) fn tag(&self) -> Option<&'static str> {
        Some(match self {
            Mode::Exec | Mode::Privileged => return None,
            Mode::Config => "config",
            Mode::Interface(_) => "config-if",
            Mode::Vlan => "config-vlan",
            Mode::Vrf(_) => "config-vrf",
            Mode::VrfFamily(..) => "config-vrf-af",
            Mode::AccessList {
                extended: false, ..
            } => "config-std-nacl",
            Mode::AccessList { extended: true, .. } => "config-ext-nacl",
            Mode::Line(_) => "config-line",
            Mode::TacacsServer(_) => "config-server-tacacs",
            Mode::RadiusServer(_) => "config-radius-server",
            Mode::TacacsGroup(_) => "config-sg-tacacs+",
            Mode::RadiusGroup(_) => "config-sg-radius",
            Mode::Region => "config-mst",
            Mode::Block { kind, .. } => kind.tag(),
            Mode::Eigrp(_) | Mode::Ospf(_) | Mode::Bgp(_) => "config-router",
            Mode::BgpFamily(..) => "config-router-af",
            Mode::RouteMap(_) => "config-route-map",
        })
    }

    /// The name in the log.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Mode::Exec => "exec",
            Mode::Privileged => "privileged",
            other => other.tag().unwrap_or("config"),
        }
    }

    /// Identity of the outermost line whose block this mode edits.
    pub(super) fn block_identity(&self) -> Option<String> {
        match self {
            Mode::Exec | Mode::Privileged | Mode::Config | Mode::Vlan => None,
            Mode::Interface(name) => Some(format!("interface {name}")),
            Mode::Region => Some("spanning-tree mst configuration".to_owned()),
            Mode::Block { outer, header, .. } => outer.block_identity().or(Some(header.clone())),
            Mode::Vrf(line)
            | Mode::VrfFamily(line, _)
            | Mode::Line(line)
            | Mode::TacacsServer(line)
            | Mode::RadiusServer(line)
            | Mode::TacacsGroup(line)
            | Mode::RadiusGroup(line)
            | Mode::Eigrp(line)
            | Mode::Ospf(line)
            | Mode::Bgp(line)
            | Mode::BgpFamily(line, _)
            | Mode::RouteMap(line) => Some(line.clone()),
            Mode::AccessList { name, .. } => Some(access_list_identity(name)),
        }
    }
}

impl Mode {
    /// Identities of the lines whose blocks are around the lines of this mode, the outermost first.
    pub(super) fn path(&self) -> Vec<String> {
        match self {
            Mode::Block { header, outer, .. } => {
                let mut path = outer.path();
                path.push(header.clone());
                path
            }
            Mode::VrfFamily(block, line) | Mode::BgpFamily(block, line) => {
                vec![block.clone(), line.clone()]
            }
            mode => mode.block_identity().into_iter().collect(),
        }
    }

    /// The mode around a block, unless it is the global one.
    pub(super) fn outer(&self) -> Option<&Mode> {
        match self {
            Mode::Block { outer, .. } if **outer != Mode::Config => Some(outer),
            _ => None,
        }
    }
}

/// Identity of an access list's line: names are unique over both kinds.
pub(super) fn access_list_identity(name: &str) -> String {
    format!("ip access-list {name}")
}

/// Identity of an interface's line.
pub(super) fn interface_identity(name: &InterfaceName) -> String {
    format!("interface {name}")
}

impl Device {
    /// A switch without a configuration.
    pub(super) fn new(profile: &'static PlatformProfile, hostname: &str) -> Self {
        Self {
            profile,
            hostname: hostname.to_owned(),
            serials: Vec::new(),
            configuration: Arc::default(),
            startup: None,
            revert: None,
            reload: None,
            archive: Vec::new(),
            archive_number: 0,
            clock_advance: Duration::ZERO,
            is_cut_off: false,
            cut_off: Arc::default(),
            refused_connection: Arc::default(),
            reload_poll: Arc::default(),
            restarts: 0,
        }
    }

    /// The configuration, to change.
    pub(super) fn edit(&mut self) -> &mut Configuration {
        Arc::make_mut(&mut self.configuration)
    }

    /// Lines of an interface that exists.
    pub(super) fn interface(&self, name: &InterfaceName) -> Option<&Block> {
        self.configuration
            .root
            .find(&interface_identity(name))?
            .block
            .as_ref()
    }

    /// All interfaces with their lines, in order.
    pub(super) fn interfaces(&self) -> impl Iterator<Item = (InterfaceName, &Block)> {
        self.configuration
            .root
            .entries()
            .iter()
            .filter_map(|entry| {
                let name = InterfaceName::parse(entry.identity.strip_prefix("interface ")?)?;
                Some((name, entry.block.as_ref()?))
            })
    }

    /// All access lists: whether extended, name, lines.
    pub(super) fn access_lists(&self) -> impl Iterator<Item = (bool, &str, &Block)> {
        self.configuration
            .root
            .entries()
            .iter()
            .filter_map(access_list::of_entry)
    }

    /// Whether stored keys are obfuscated.
    pub(super) fn hides_keys(&self) -> bool {
        self.configuration
            .root
            .find("service password-encryption")
            .is_some()
    }

    /// Whether a VRF of that name is configured.
    pub(super) fn has_vrf(&self, name: &str) -> bool {
        let root = &self.configuration.root;
        root.find(&format!("ip vrf {name}")).is_some()
            || root.find(&format!("vrf definition {name}")).is_some()
    }

    /// Applies the edits of a `vlan` submode.
    pub(super) fn commit(&mut self, position: &mut Position) {
        if let Some(pending) = position.pending.take() {
            self.edit().vlans.commit(&pending);
        }
    }

    /// Adds an interface without lines, if it does not exist.
    pub(super) fn add_interface(&mut self, rule: usize, name: &InterfaceName) {
        let identity = interface_identity(name);
        if self.configuration.root.find(&identity).is_none() {
            self.edit().root.set(Entry {
                rule,
                sort: name.sort_key(),
                text: identity.clone(),
                identity,
                block: Some(Block::default()),
            });
        }
    }
}

impl Position {
    /// At a prompt of the exec modes.
    pub(super) fn exec(privileged: bool) -> Self {
        Position {
            mode: if privileged {
                Mode::Privileged
            } else {
                Mode::Exec
            },
            pending: None,
        }
    }
}
