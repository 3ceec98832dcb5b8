//! A switch as it comes into being: from the factory's configuration, or from a text.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::configure::Configuring;
use super::device::Position;
use super::device::{Configuration, Device};
use super::grammar::global::{interface_rule, set_banner};
use super::hardware::Hardware;
use super::interface_name::InterfaceName;
use super::options::SwitchOptions;
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

/// Factory configurations by model; two hundred switches share one.
static FACTORIES: Mutex<BTreeMap<&'static str, Arc<Configuration>>> = Mutex::new(BTreeMap::new());

/// Makes a device. Also gives the lines of the text that nothing is known about.
pub fn device(hardware: &'static Hardware, options: &SwitchOptions) -> (Device, Vec<String>) {
    let mut device = Device {
        hardware,
        hostname: options.hostname.clone(),
        configuration: Arc::default(),
        startup: None,
        revert: None,
    };
    let unknown = match &options.config {
        None => {
            device.configuration = factory(hardware);
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
            &mut Configuring {
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

fn factory(hardware: &'static Hardware) -> Arc<Configuration> {
    let mut factories = lock(&FACTORIES);
    let made = factories.entry(hardware.model).or_insert_with(|| {
        let mut device = Device {
            hardware,
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

/// The ports that the text names, or those of the model when it names none.
fn add_interfaces(device: &mut Device, text: &str) {
    let named: Vec<InterfaceName> = text
        .lines()
        .filter_map(|line| InterfaceName::parse(line.strip_prefix("interface ")?.trim()))
        .collect();
    if named.iter().all(InterfaceName::is_virtual) {
        for name in device.hardware.physical_interfaces() {
            device.add_interface(interface_rule(), &name);
        }
    }
    for name in named {
        device.add_interface(interface_rule(), &name);
    }
}
