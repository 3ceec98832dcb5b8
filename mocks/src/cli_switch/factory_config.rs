//! The initial state of a switch: the factory default configuration, or a configuration text.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::configure::{ConfigSession, interface_rule_index};
use super::device::Position;
use super::device::{Configuration, Device};
use super::grammar::global::set_banner;
use super::interface_name::InterfaceName;
use super::options::SwitchOptions;
use super::platform_profile::{ALL, PlatformProfile};
use super::running_config::load;
use super::vlan::PendingVlans;
use super::vlan_list::VlanList;
use crate::control::lock;
use crate::serial_number;

const FACTORY: &str = "\
service timestamps debug datetime msec
service timestamps log datetime msec
no aaa new-model
spanning-tree mode rapid-pvst
spanning-tree extend system-id
interface Vlan1
 shutdown
line con 0
 stopbits 1
line vty 0 4
 login local
 transport input ssh
line vty 5 15
 login local
 transport input ssh
";

/// Factory default configurations by model, shared by all switches of a process.
static FACTORIES: Mutex<BTreeMap<&'static str, Arc<Configuration>>> = Mutex::new(BTreeMap::new());

/// Creates a device. Also returns the unknown lines of its configuration text.
pub(super) fn new_device(
    profile: &'static PlatformProfile,
    options: &SwitchOptions,
) -> (Device, Vec<String>) {
    let mut device = Device::new(profile, &options.hostname);
    device.serials = match options.serials.as_slice() {
        [] => vec![serial_number(&options.name)],
        serials => serials.to_vec(),
    };
    let unknown = match &options.config {
        None => {
            device.configuration = factory(profile);
            Vec::new()
        }
        Some(text) => {
            add_interfaces(&mut device, text);
            let unknown = load(&mut device, text);
            if !is_printed(text) && device.configuration.root.find("aaa new-model").is_none() {
                load(&mut device, "no aaa new-model");
            }
            unknown
        }
    };
    for (number, name) in &options.vlans {
        let list = VlanList::parse(&number.to_string()).unwrap_or_default();
        device.edit().vlans.commit(&PendingVlans {
            list,
            name: Some(Some(name.clone())),
            shutdown: None,
        });
    }
    if let Some(motd) = &options.motd {
        let mut position = Position::exec(true);
        set_banner(
            &mut ConfigSession {
                device: &mut device,
                position: &mut position,
            },
            "banner motd",
            motd,
        );
    }
    device.startup = Some((device.hostname.clone(), device.configuration.clone()));
    (device, unknown)
}

fn factory(profile: &'static PlatformProfile) -> Arc<Configuration> {
    let mut factories = lock(&FACTORIES);
    let made = factories.entry(profile.model).or_insert_with(|| {
        let mut device = Device::new(profile, "Switch");
        add_interfaces(&mut device, FACTORY);
        load(&mut device, FACTORY);
        device.configuration
    });
    made.clone()
}

/// Whether a device printed the complete text; otherwise it has handwritten lines.
fn is_printed(text: &str) -> bool {
    release(text).is_some()
}

/// The release in the first line of a running configuration, `15.7`.
fn release(text: &str) -> Option<&str> {
    let mut lines = text.lines();
    lines.find_map(|line| Some(line.strip_prefix("version ")?.trim()))
}

/// The platform that printed a configuration; the default for other texts.
pub(super) fn profile_of(text: &str) -> &'static PlatformProfile {
    let default = &ALL[0];
    let Some(release) = release(text) else {
        return default;
    };
    let main = release.split('.').next().and_then(|main| main.parse().ok());
    let main: u32 = main.unwrap_or_default();
    let has = |start: &str| {
        text.lines()
            .any(|line| line.trim_start().starts_with(start))
    };
    // Routers print neither switchports nor, by default, a mode of the spanning tree.
    let switches = has("switchport") || has("spanning-tree mode") || has("no switchport");
    let isl = has("switchport trunk encapsulation");
    let routing = has("no switchport") || has("ip vrf ") || has("vrf definition ");
    let fits = |profile: &&PlatformProfile| {
        profile.has_switching == switches
            && profile.is_ios_xe == (main >= 16)
            && (profile.is_release_12() == (main == 12) || main > 15)
            && (profile.isl || !isl)
            && (profile.has_routing || !routing)
    };
    let same_kind = |profile: &&PlatformProfile| profile.has_switching == switches;
    let mut all = ALL.iter();
    let found = all.find(fits).or_else(|| {
        let mut all = ALL.iter().filter(same_kind);
        all.find(|profile| profile.is_ios_xe == (main >= 16))
    });
    found.unwrap_or(default)
}

/// Adds the interfaces in the text. A text that names no port is about a new device, which has the
/// ports of the model, unless a device printed it.
fn add_interfaces(device: &mut Device, text: &str) {
    let named: Vec<InterfaceName> = text
        .lines()
        .filter_map(|line| {
            let name = line.strip_prefix("interface ")?.trim();
            InterfaceName::parse(name).or_else(|| InterfaceName::parse(name.split(' ').next()?))
        })
        .collect();
    if !is_printed(text) && named.iter().all(InterfaceName::is_virtual) {
        for name in device.profile.physical_interfaces() {
            device.add_interface(interface_rule_index(), &name);
        }
    }
    for name in named {
        device.add_interface(interface_rule_index(), &name);
    }
}
