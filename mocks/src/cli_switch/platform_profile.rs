//! The supported platforms: ports, software and features.

use super::interface_name::InterfaceName;

/// A model with its image.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PlatformProfile {
    /// Product number, as `show version` prints it.
    pub model: &'static str,
    /// Version of the image.
    pub version: &'static str,
    /// IOS-XE rather than IOS.
    pub is_ios_xe: bool,
    /// Has ports that switch frames. Routers have none.
    pub has_switching: bool,
    /// Supports ISL, so the trunk encapsulation is a setting.
    pub isl: bool,
    /// Supports routed ports and VRFs.
    pub has_routing: bool,
    /// Supports an MTU per interface.
    pub interface_mtu: bool,
    /// Access ports: prefix of their names, and number of ports.
    pub ports: (&'static str, u32),
    /// Uplink ports: prefix of their names, and number of ports.
    pub uplinks: (&'static str, u32),
    platform: &'static str,
    processor: &'static str,
}

/// All models, the default first.
pub(super) const ALL: &[PlatformProfile] = &[
    PlatformProfile {
        model: "C9300-48P",
        version: "17.9.4a",
        is_ios_xe: true,
        has_switching: true,
        isl: false,
        has_routing: true,
        interface_mtu: true,
        ports: ("GigabitEthernet1/0/", 48),
        uplinks: ("TenGigabitEthernet1/1/", 4),
        platform: "CAT9K_IOSXE",
        processor: "X86",
    },
    PlatformProfile {
        model: "C9300-24P",
        version: "17.9.4a",
        is_ios_xe: true,
        has_switching: true,
        isl: false,
        has_routing: true,
        interface_mtu: true,
        ports: ("GigabitEthernet1/0/", 24),
        uplinks: ("TenGigabitEthernet1/1/", 4),
        platform: "CAT9K_IOSXE",
        processor: "X86",
    },
    PlatformProfile {
        model: "WS-C2960X-48FPS-L",
        version: "15.2(7)E4",
        is_ios_xe: false,
        has_switching: true,
        isl: false,
        has_routing: false,
        interface_mtu: false,
        ports: ("GigabitEthernet1/0/", 48),
        uplinks: ("GigabitEthernet1/1/", 4),
        platform: "C2960X-UNIVERSALK9-M",
        processor: "APM86XXX",
    },
    PlatformProfile {
        model: "WS-C2960-24TT-L",
        version: "12.2(55)SE12",
        is_ios_xe: false,
        has_switching: true,
        isl: false,
        has_routing: false,
        interface_mtu: false,
        ports: ("FastEthernet0/", 24),
        uplinks: ("GigabitEthernet0/", 2),
        platform: "C2960-LANBASEK9-M",
        processor: "PowerPC405",
    },
    PlatformProfile {
        model: "WS-C3750G-24TS-1U",
        version: "12.2(55)SE12",
        is_ios_xe: false,
        has_switching: true,
        isl: true,
        has_routing: true,
        interface_mtu: false,
        ports: ("GigabitEthernet1/0/", 24),
        uplinks: ("GigabitEthernet1/1/", 4),
        platform: "C3750-IPSERVICESK9-M",
        processor: "PowerPC405",
    },
    PlatformProfile {
        model: "WS-C3750X-24T-S",
        version: "15.2(4)E10",
        is_ios_xe: false,
        has_switching: true,
        isl: true,
        has_routing: true,
        interface_mtu: false,
        ports: ("GigabitEthernet1/0/", 24),
        uplinks: ("GigabitEthernet1/1/", 4),
        platform: "C3750E-UNIVERSALK9-M",
        processor: "PowerPC405",
    },
    PlatformProfile {
        model: "CISCO2811",
        version: "12.4(24)T8",
        is_ios_xe: false,
        has_switching: false,
        isl: false,
        has_routing: true,
        interface_mtu: true,
        ports: ("FastEthernet0/", 2),
        uplinks: ("Serial0/0/", 0),
        platform: "C2800NM-ADVENTERPRISEK9-M",
        processor: "",
    },
    PlatformProfile {
        model: "CISCO2911/K9",
        version: "15.7(3)M8",
        is_ios_xe: false,
        has_switching: false,
        isl: false,
        has_routing: true,
        interface_mtu: true,
        ports: ("GigabitEthernet0/", 3),
        uplinks: ("Serial0/0/", 0),
        platform: "C2900-UNIVERSALK9-M",
        processor: "",
    },
    PlatformProfile {
        model: "ISR4331/K9",
        version: "16.12.5",
        is_ios_xe: true,
        has_switching: false,
        isl: false,
        has_routing: true,
        interface_mtu: true,
        ports: ("GigabitEthernet0/0/", 3),
        uplinks: ("Serial0/1/", 0),
        platform: "X86_64_LINUX_IOSD-UNIVERSALK9-M",
        processor: "1RU",
    },
];

impl PlatformProfile {
    /// The platform of a product number. Case is ignored.
    pub(super) fn find(model: &str) -> Option<&'static PlatformProfile> {
        ALL.iter()
            .find(|profile| profile.model.eq_ignore_ascii_case(model))
    }

    /// Whether the image is IOS 12, with its older spellings.
    pub(super) fn is_release_12(&self) -> bool {
        self.version.starts_with("12.")
    }

    /// Whether ports have types (edge, network, normal) and the lines of PortFast the word `edge`.
    ///
    /// Configuration Guide of Catalyst 2960-X, 15.2(4)E, "STP PortFast Port Types"; CiscoDevNet/cml-community#77:
    /// 15.2 refuses `portfast trunk`; puppetlabs/cisco_ios#324: `bpduguard default` is stored with `edge`. Layer 2
    /// Configuration Guide of Catalyst 9500, 17.3: only its high-performance models have them among Catalyst 9000.
    pub(super) fn has_port_types(&self) -> bool {
        !self.is_ios_xe && !self.is_release_12()
    }

    /// Whether a numbered line of an access list shows its number in the configuration.
    pub(super) fn prints_sequence_numbers(&self) -> bool {
        self.is_ios_xe
    }

    /// Whether lines of an address family of a VRF are printed at the indentation of its header.
    pub(super) fn prints_flat_address_families(&self) -> bool {
        !self.is_ios_xe
    }

    /// Names of the physical ports.
    pub(super) fn physical_interfaces(&self) -> Vec<InterfaceName> {
        [self.ports, self.uplinks]
            .iter()
            .flat_map(|(prefix, count)| (1..=*count).map(move |number| format!("{prefix}{number}")))
            .map(|name| {
                InterfaceName::parse(&name).expect("the table of models has well-formed names")
            })
            .collect()
    }

    /// The output of `show version`. `serials`: of the members of a stack, the master first.
    pub(super) fn show_version(&self, hostname: &str, serials: &[String]) -> String {
        let serial = serials.first().map_or("", String::as_str);
        let PlatformProfile {
            model,
            version,
            platform,
            processor,
            ..
        } = self;
        let kind = match (self.has_switching, self.has_routing) {
            (false, _) => "ISR",
            (true, true) => "Catalyst L3 Switch",
            (true, false) => "Catalyst L2 Switch",
        };
        let head = if self.is_ios_xe {
            let train = version.trim_end_matches(|letter: char| letter.is_ascii_lowercase());
            format!(
                "Cisco IOS XE Software, Version {version}\nCisco IOS Software [Cupertino], {kind} Software ({platform}), \
                 Version {train}, RELEASE SOFTWARE (fc3)\n"
            )
        } else {
            let family = platform.split('-').next().unwrap_or(platform);
            format!(
                "Cisco IOS Software, {family} Software ({platform}), Version {version}, RELEASE SOFTWARE (fc1)\n"
            )
        };
        // Routers of the second generation print no word `processor`.
        let hardware = if processor.is_empty() {
            format!("Cisco {model} (revision 1.0) with 483328K/40960K bytes of memory.")
        } else {
            format!(
                "cisco {model} ({processor}) processor (revision V02) with 1331521K/6147K bytes of memory."
            )
        };
        let (port_count, uplink_count) = (self.ports.1, self.uplinks.1);
        let port_kind = |prefix: &str| match prefix {
            prefix if prefix.starts_with("Fast") => "FastEthernet",
            prefix if prefix.starts_with("Ten") => "Ten Gigabit Ethernet",
            _ => "Gigabit Ethernet",
        };
        let ports = if uplink_count == 0 {
            format!("{port_count} {} interfaces\n", port_kind(self.ports.0))
        } else if port_kind(self.ports.0) == port_kind(self.uplinks.0) {
            format!(
                "{} {} interfaces\n",
                port_count + uplink_count,
                port_kind(self.ports.0)
            )
        } else {
            format!(
                "{port_count} {} interfaces\n{uplink_count} {} interfaces\n",
                port_kind(self.ports.0),
                port_kind(self.uplinks.0)
            )
        };
        let members: String = (2..)
            .zip(serials.iter().skip(1))
            .map(|(number, serial)| {
                format!(
                    "Switch {number:02}\n---------\n\
                     Model Number                       : {model}\n\
                     System Serial Number               : {serial}\n\n"
                )
            })
            .collect();
        format!(
            "{head}Technical Support: http://www.cisco.com/techsupport\nThis text comes from a mock device.\n\n\
             ROM: Bootstrap program\n\n\
             {hostname} uptime is 2 weeks, 3 days, 4 hours, 5 minutes\n\
             System returned to ROM by power-on\n\
             System image file is \"flash:packages.conf\"\n\n\
             {hardware}\n\
             Processor board ID {serial}\n\
             1 Virtual Ethernet interface\n{ports}\
             2048K bytes of non-volatile configuration memory.\n\n\
             Base Ethernet MAC Address          : 02:00:00:00:00:01\n\
             Model Number                       : {model}\n\
             System Serial Number               : {serial}\n\n{members}\
             Configuration register is 0x102\n"
        )
    }
}
