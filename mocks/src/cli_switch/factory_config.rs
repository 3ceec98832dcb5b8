//! The initial state of a switch: the factory default configuration, or a configuration text.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::configure::{ConfigSession, interface_rule_index};
use super::device::Position;
use super::device::{Configuration, Device};
use super::grammar::global::set_banner;
use super::interface_name::InterfaceName;
use super::options::SwitchOptions;
use super::platform_profile::PlatformProfile;
use super::running_config::load;
use super::vlan::PendingVlans;
use super::vlan_list::VlanList;
use crate::control::lock;

const FACTORY: &str = "\
service timestamps debug datetime msec
service timestamps log datetime msec
spanning-tree mode rapid-pvst
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
    let mut device = Device {
        profile,
        hostname: options.hostname.clone(),
        configuration: Arc::default(),
        startup: None,
        revert: None,
    };
    let unknown = match &options.config {
        None => {
            device.configuration = factory(profile);
            Vec::new()
        }
        Some(text) => {
            add_interfaces(&mut device, text);
            load(&mut device, text)
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
        let mut device = Device {
            profile,
            hostname: "Switch".to_owned(),
            configuration: Arc::default(),
            startup: None,
            revert: None,
        };
        add_interfaces(&mut device, FACTORY);
        load(&mut device, FACTORY);
        device.configuration
    });
    made.clone()
}

/// Adds the ports in the text, or the ports of the model if the text has none.
fn add_interfaces(device: &mut Device, text: &str) {
    let named: Vec<InterfaceName> = text
        .lines()
        .filter_map(|line| InterfaceName::parse(line.strip_prefix("interface ")?.trim()))
        .collect();
    if named.iter().all(InterfaceName::is_virtual) {
        for name in device.profile.physical_interfaces() {
            device.add_interface(interface_rule_index(), &name);
        }
    }
    for name in named {
        device.add_interface(interface_rule_index(), &name);
    }
}
