//! Answers of both platforms: what they refuse, merge, hide and print.

use switchtender_mocks::grammar_switch::platforms;
use switchtender_mocks::{GrammarSwitchOptions, OfflineGrammarSwitch};

fn switch(platform: &str) -> OfflineGrammarSwitch {
    OfflineGrammarSwitch::new(&GrammarSwitchOptions::new(platform, "sw1"))
        .expect("a platform with a grammar")
}

/// Runs a dialogue: `> line` is sent, other lines are the answer; `PROMPT> ` checks the prompt too.
fn dialogue(platform: &str, text: &str) {
    let mut switch = switch(platform);
    let mut lines = text.trim().lines().peekable();
    while let Some(line) = lines.next() {
        let (prompt, command) = line.split_once("> ").expect("a line that is sent");
        if !prompt.is_empty() {
            assert_eq!(switch.prompt().trim_end(), prompt, "before `{command}`");
        }
        let answer = match switch.execute(command) {
            Ok(answer) => answer,
            Err(refusal) => refusal.answer,
        };
        let mut expected = String::new();
        while let Some(answer) = lines.next_if(|line| line.starts_with('|')) {
            expected.push_str(answer.strip_prefix('|').unwrap_or_default());
            expected.push('\n');
        }
        assert_eq!(answer, expected, "answer to `{command}`");
    }
}

#[test]
fn outputs_have_no_errors() {
    for platform in platforms() {
        let mut switch = switch(platform);
        if switch.prompt().ends_with('>') {
            switch.execute("enable").expect("the privileged mode");
        }
        for command in [
            "show version",
            "show version | json",
            "show inventory",
            "show inventory | json",
            "show vlan brief",
            "show vlan | json",
            "show hostname",
            "show clock",
            "show ip interface brief",
            "show running-config all",
        ] {
            let output = switch
                .execute(command)
                .unwrap_or_else(|refusal| panic!("{platform}: `{command}`: {}", refusal.answer));
            assert!(!output.is_empty(), "{platform}: `{command}`");
            if command.ends_with("json") {
                serde_json::from_str::<serde_json::Value>(&output)
                    .unwrap_or_else(|error| panic!("{platform}: `{command}`: {error}\n{output}"));
            }
        }
    }
}

#[test]
fn nxos_refuses_what_has_no_feature() {
    dialogue(
        "cisco_nxos",
        "
sw1#> configure terminal
sw1(config)#> vpc domain 10
|             ^
|% Invalid command at '^' marker.
> feature vpc
sw1(config)#> vpc domain 10
sw1(config-vpc-domain)#> role priority 100
> interface port-channel10
sw1(config-if)#> vpc 10
> no feature vpc
> show running-config | include vpc
",
    );
}

#[test]
fn nxos_prints_vlans_as_a_list() {
    dialogue(
        "cisco_nxos",
        "
sw1#> conf t
> vlan 10,20-22
> vlan 20
sw1(config-vlan)#> name users
> do show running-config vlan | begin vlan
|vlan 1,10,20-22
|vlan 20
|  name users
> no vlan 21-22
> no vlan 20
> show running-config vlan | include vlan
|vlan 1,10
",
    );
}

#[test]
fn nxos_ports_hide_their_defaults() {
    dialogue(
        "cisco_nxos",
        "
sw1#> configure terminal
> int e1/1
sw1(config-if)#> switchport mode trunk
> switchport trunk allowed vlan 10,20
> switchport trunk allowed vlan add 30
> switchport trunk allowed vlan remove 10
> mtu 1500
> no shutdown
> ip address 10.0.0.1/24
|                   ^
|% Invalid command at '^' marker.
> show running-config interface e1/1 | begin interface
|interface Ethernet1/1
|  switchport mode trunk
|  switchport trunk allowed vlan 20,30
> no switchport
> ip address 10.0.0.1 255.255.255.0
> no shutdown
> show running-config interface ethernet 1/1 | begin interface
|interface Ethernet1/1
|  no switchport
|  ip address 10.0.0.1/24
|  no shutdown
> interface ethernet 1/2-3
sw1(config-if-range)#> description both
> default interface ethernet1/2
> show running-config | include both
|  description both
> interface ethernet9/9
|ERROR: Invalid interface Ethernet9/9
> interface mgmt0
> no description
> description
|                           ^
|% Incomplete command at '^' marker.
",
    );
}

#[test]
fn nxos_enters_neighbors() {
    dialogue(
        "cisco_nxos",
        "
sw1#> configure terminal
> feature bgp
> router bgp 65000
sw1(config-router)#> neighbor 10.0.0.2 remote-as 65001
sw1(config-router-neighbor)#> address-family ipv4 unicast
sw1(config-router-neighbor-af)#> route-map A in
> route-map B in
> neighbor 10.0.0.3
sw1(config-router-neighbor)#> exit
> router bgp 65001
|BGP is already running; AS is 65000
> show running-config bgp | begin router
|router bgp 65000
|  neighbor 10.0.0.2
|    remote-as 65001
|    address-family ipv4 unicast
|      route-map B in
|  neighbor 10.0.0.3
",
    );
}

#[test]
fn eos_candidates_take_effect_on_commit() {
    dialogue(
        "arista_eos",
        "
sw1>> configure
|% Invalid input
> enable
sw1#> configure session one
sw1(config-s-one)#> vlan 10
sw1(config-s-one-vlan-10)#> name users
> show session-config diffs
|--- system:/running-config
|+++ session:/one-session-config
|@@ -10,6 +10,9 @@
| !
| username admin role network-admin secret sha512 $6$MOCK$00000000000000000000000000000000
| !
|+vlan 10
|+   name users
|+!
| interface Ethernet1
| !
| interface Ethernet2
> show running-config | include users
> commit timer 00:05:00
sw1#> show running-config | include users
|   name users
> configure session one commit
> configure session two
> no vlan 10
> abort
sw1#> show running-config | include users
|   name users
",
    );
}

#[test]
fn eos_merges_prints_and_refuses() {
    dialogue(
        "arista_eos",
        "
> enable
> configure
sw1(config)#> interface Ethernet 1-2
sw1(config-if-Et1-2)#> switchport access vlan 30
|! Access VLAN does not exist. Creating vlan 30
> foo
|% Invalid input
> no switchport
> ip address 10.0.0.1 255.255.255.0
> mtu 1500
> interface et1
> default switchport access vlan
> vrf instance RED
> vrf RED
|% Invalid input
> interface Ethernet1
> vrf RED
> ip prefix-list A seq 10 permit 10.0.0.0/8 le 24
sw1(config)#> show running-config | section (interface Ethernet[12]$|RED|prefix-list)
|vrf instance RED
|interface Ethernet1
|   no switchport
|   vrf RED
|interface Ethernet2
|   no switchport
|   switchport access vlan 30
|   ip address 10.0.0.1/24
|no ip routing vrf RED
|ip prefix-list A
|   seq 10 permit 10.0.0.0/8 le 24
> router bgp 65000
> neighbor 10.0.0.2 remote-as 65001
> neighbor 10.0.0.2 description one
> no neighbor 10.0.0.2
sw1(config-router-bgp)#> exit
> write
|Copy completed successfully.
",
    );
}
