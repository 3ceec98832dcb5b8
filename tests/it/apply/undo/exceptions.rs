//! What an undo does not restore, by type, and why.

/// Texts that the undo of a run leaves.
pub(super) struct UndoExceptions {
    /// The run has changed a resource of this type.
    pub(super) changed_type: &'static str,
    /// Whole messages, and whole lines with their blocks: `-` is missing after the undo, `+` is left.
    texts: &'static [&'static str],
}

impl UndoExceptions {
    pub(super) fn has(&self, text: &str) -> bool {
        self.texts.contains(&text)
    }
}

pub(super) const EXCEPTIONS: &[UndoExceptions] = &[
    // A resource with another title has replaced the name.
    UndoExceptions {
        changed_type: "Domain_name",
        texts: &[
            "- ip domain name lab.example",
            "not restored in the configuration: -ip domain name lab.example",
        ],
    },
    // A server that returns is the last one.
    UndoExceptions {
        changed_type: "Name_server",
        texts: &[
            "+ ip name-server 2001:DB8::53 192.0.2.53",
            "- ip name-server 192.0.2.53 2001:DB8::53",
        ],
    },
    // A peer is added by a command of the catalog.
    UndoExceptions {
        changed_type: "F5_addtotrust",
        texts: &[
            r#"+ Tree { / objects: { / "cm/device": { / "/Common/lb2.lab.test": Object {"#,
            r#"+ Tree { / objects: { / "cm/device": { / "/Common/lb2.lab.test": Object { / fields: {"#,
            r#"+ Tree { / objects: { / "cm/device": { / "/Common/lb2.lab.test": Object { / fields: { / "configsyncIp": String("none"),"#,
            r#"+ Tree { / objects: { / "cm/device": { / "/Common/lb2.lab.test": Object { / fields: { / "hostname": String("lb2.lab.test"),"#,
            r#"+ Tree { / objects: { / "cm/device": { / "/Common/lb2.lab.test": Object { / fields: { / "managementIp": String("192.0.2.12"),"#,
            r#"+ Tree { / objects: { / "cm/device": { / "/Common/lb2.lab.test": Object { / fields: { / "mirrorIp": String("any6"),"#,
            r#"+ Tree { / objects: { / "cm/device": { / "/Common/lb2.lab.test": Object { / fields: { / "selfDevice": String("false"),"#,
            r#"+ Tree { / objects: { / "cm/device": { / "/Common/lb2.lab.test": Object { / fields: { / "timeZone": String("UTC"),"#,
            r#"+ Tree { / objects: { / "cm/device": { / "/Common/lb2.lab.test": Object { / path: FullPath {"#,
            r#"+ Tree { / objects: { / "cm/device": { / "/Common/lb2.lab.test": Object { / path: FullPath { / name: "lb2.lab.test","#,
            r#"+ Tree { / objects: { / "cm/device": { / "/Common/lb2.lab.test": Object { / path: FullPath { / partition: "Common","#,
            r#"+ Tree { / objects: { / "cm/device": { / "/Common/lb2.lab.test": Object { / path: FullPath { / sub_path: None,"#,
            r#"+ Tree { / objects: { / "cm/device": { / "/Common/lb2.lab.test": Object { / subs: {},"#,
            r#"+ Tree { / objects: { / "cm/device": { / "/Common/lb2.lab.test": Object { / },"#,
            "F5_addtotrust[/Common/addtotrust]: not restored: the effect of its commands cannot be predicted",
        ],
    },
    // A command of the catalog.
    UndoExceptions {
        changed_type: "F5_configsync",
        texts: &[
            "F5_configsync[/Common/config-sync]: not restored: the effect of its commands cannot be predicted",
        ],
    },
    // A license is activated by a command of the catalog.
    UndoExceptions {
        changed_type: "F5_license",
        texts: &[
            r#"+ Tree { / license: "ABCDE-ABCDE-ABCDE-ABCDE-ABCDEFG","#,
            r#"- Tree { / license: "AAAAA-BBBBB-CCCCC-DDDDD-EEEEEEE","#,
            "F5_license[/Common/license]: not restored: the effect of its commands cannot be predicted",
        ],
    },
    // A command of the catalog.
    UndoExceptions {
        changed_type: "F5_root",
        texts: &[
            "F5_root[/Common/root]: not restored: the effect of its commands cannot be predicted",
        ],
    },
    // The line is in the difference, because the switch adds it by itself after `aaa new-model`.
    UndoExceptions {
        changed_type: "Ios_aaa_session_id",
        texts: &["not restored in the configuration: -aaa session-id common"],
    },
    // An entry that is removed with its list, and is no resource of the catalog.
    UndoExceptions {
        changed_type: "Ios_access_list",
        texts: &[
            "- ip access-list extended WEB / 10 permit ip any any log",
            "not restored in the configuration: - 10 permit ip any any log",
        ],
    },
    // Neighbors that are removed with their VRF, and are no resources of the catalog.
    UndoExceptions {
        changed_type: "Ios_bgp_vrf",
        texts: &[
            "- router bgp 65000 / address-family ipv4 vrf BLUE / neighbor 198.51.100.1 activate",
            "- router bgp 65000 / address-family ipv4 vrf BLUE / neighbor 198.51.100.1 remote-as 65003",
            "- router bgp 65000 / address-family ipv4 vrf BLUE / neighbor LEAFS peer-group",
            "- router bgp 65000 / address-family ipv4 vrf BLUE / neighbor LEAFS remote-as 65010",
            "- router bgp 65000 / address-family ipv4 vrf BLUE / neighbor LEAFS send-community both",
            "not restored in the configuration: -  neighbor 198.51.100.1 activate",
            "not restored in the configuration: -  neighbor 198.51.100.1 remote-as 65003",
            "not restored in the configuration: -  neighbor LEAFS peer-group",
            "not restored in the configuration: -  neighbor LEAFS remote-as 65010",
            "not restored in the configuration: -  neighbor LEAFS send-community both",
        ],
    },
    // Neighbors that are removed with their process, and are no resources of the catalog.
    UndoExceptions {
        changed_type: "Ios_bgp_process",
        texts: &[
            "- router bgp 65000 / address-family ipv4 / neighbor 198.51.100.1 activate",
            "- router bgp 65000 / address-family ipv4 / neighbor 198.51.100.1 next-hop-self",
            "- router bgp 65000 / address-family ipv4 / neighbor 198.51.100.1 route-map IN in",
            "- router bgp 65000 / address-family ipv4 / neighbor 198.51.100.1 soft-reconfiguration inbound",
            "- router bgp 65000 / neighbor 198.51.100.1 ebgp-multihop 2",
            "- router bgp 65000 / neighbor 198.51.100.1 remote-as 65002",
            "- router bgp 65000 / neighbor LEAFS peer-group",
            "- router bgp 65000 / neighbor LEAFS remote-as 65010",
            "not restored in the configuration: -  neighbor 198.51.100.1 activate",
            "not restored in the configuration: -  neighbor 198.51.100.1 next-hop-self",
            "not restored in the configuration: -  neighbor 198.51.100.1 route-map IN in",
            "not restored in the configuration: -  neighbor 198.51.100.1 soft-reconfiguration inbound",
            "not restored in the configuration: - neighbor 198.51.100.1 ebgp-multihop 2",
            "not restored in the configuration: - neighbor 198.51.100.1 remote-as 65002",
            "not restored in the configuration: - neighbor LEAFS peer-group",
            "not restored in the configuration: - neighbor LEAFS remote-as 65010",
        ],
    },
    // OSPF that is removed with its interface, and is no resource of the catalog.
    UndoExceptions {
        changed_type: "Ios_ip_interface",
        texts: &[
            "- interface Vlan10 / ip ospf 1 area 1",
            "not restored in the configuration: - ip ospf 1 area 1",
        ],
    },
    // Secrets are not stored.
    UndoExceptions {
        changed_type: "Ios_hsrp_group",
        texts: &[
            "+ interface Vlan10 / standby 10 authentication md5 key-string 0ther",
            "- interface Vlan10 / standby 10 authentication clear",
            "- interface Vlan10 / standby 10 authentication md5 key-string 0ther",
            "- interface Vlan10 / standby 10 authentication md5 key-string s3cret",
            "Ios_hsrp_group[Vlan10 10]: not restored: authentication: its old value is a secret and is not stored",
            "Ios_hsrp_group[Vlan10 10]: not restored: md5_key: its old value is a secret and is not stored",
            "Ios_hsrp_group[Vlan10 10]: not restored: md5_key_format: needs md5_key",
            "not restored in the configuration: - standby 10 authentication md5 key-string ••••",
            "not restored in the configuration: - standby 10 authentication ••••",
        ],
    },
    // `login local` replaces the list of methods.
    UndoExceptions {
        changed_type: "Ios_line",
        texts: &[
            "Ios_line[vty 0 4]: not restored: login_authentication: the device keeps another value",
            "not restored in the configuration: + login authentication VTY",
        ],
    },
    // The switch prints the block without lines.
    UndoExceptions {
        changed_type: "Ios_stp_global",
        texts: &[
            "+ spanning-tree mst configuration",
            "not restored in the configuration: +spanning-tree mst configuration",
        ],
    },
    // IOS does not remove a VTP domain, and does not print the password.
    UndoExceptions {
        changed_type: "Ios_vtp",
        texts: &[
            "Ios_vtp[default]: not restored: domain: it had no value, and has no line without one",
            "Ios_vtp[default]: not restored: password: the device does not show its value",
            "not restored in the configuration: +vtp domain CAMPUS",
        ],
    },
];
