//! The features of definitions of command lines, in small definitions with tests.

mod errors;
mod forms;
mod growth;
mod instance_keys;
mod lines;
mod named;
mod nested;
mod number_sets;
mod order;
mod overrides;
mod positions;
mod prefix;
mod restrictions;
mod rows;
mod shared_lines;
mod shared_table;
mod shared_values;
mod split;
mod unknown_values;
mod words;
mod write_only;

use crate::definitions::DefinitionFile;
use crate::diagnostic::{Diagnostic, Severity};
use crate::driver::Registry;

const PLATFORM: &str = r#"
schema = 1
platform = "box"
transport = "ssh-cli"
[connection]
read_mode = "exec"
config_mode = "exec"
[mode.exec]
prompt = '\S+#'
[read.config]
command = "show running-config"
parse = "indent"
expect = '^box '
ignore = ['^!', '^exit$']
opaque = [{ start = '^banner \S+ \^C', end = '\^C' }]
replace = [{ pattern = ' \(\d+ matches\)', with = "" }]
[read.objects]
command = "show objects"
parse = "json"
answer = { kind = "objects" }
[codec.ifname]
kind = "prefix"
table = [["Gi", "GigabitEthernet"], ["Po", "Port-channel"]]
[codec.bundle]
kind = "prefix"
table = [["Po", "Port-channel"]]
only = true
[codec.vlans]
kind = "range-set"
low = 1
high = 4094
[codec.both]
kind = "expand"
table = [["both", ["export", "import"]]]
"#;

fn files(model: &str, implementation: &str) -> Vec<DefinitionFile> {
    files_of(PLATFORM, model, implementation)
}

fn files_of(platform: &str, model: &str, implementation: &str) -> Vec<DefinitionFile> {
    let model = format!("schema = 1\ntype = \"thing\"\ndoc = \"x\"\n{model}");
    let implementation =
        format!("schema = 1\nplatform = \"box\"\ntype = \"thing\"\n{implementation}");
    vec![
        DefinitionFile::new("models/thing.toml", model),
        DefinitionFile::new("box/platform.toml", platform),
        DefinitionFile::new("box/thing.toml", implementation),
    ]
}

fn render_all(findings: &[Diagnostic]) -> String {
    let lines = findings.iter().map(|finding| match &finding.help {
        Some(help) => format!("{} ({help})", finding.message),
        None => finding.message.clone(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Runs the tests in a definition, and the checks that concern no missing tests.
#[track_caller]
fn holds(model: &str, implementation: &str) {
    holds_on(PLATFORM, model, implementation);
}

#[track_caller]
fn holds_on(platform: &str, model: &str, implementation: &str) {
    let registry = Registry::from_files(&[], &files_of(platform, model, implementation))
        .unwrap_or_else(|findings| panic!("{}", render_all(&findings)));
    let results = registry.test(None);
    assert!(!results.is_empty());
    for result in results {
        assert_eq!(result.failure, None, "{}", result.name);
    }
    let errors: Vec<Diagnostic> = registry
        .check()
        .into_iter()
        .filter(|finding| finding.severity == Severity::Error)
        .collect();
    assert!(errors.is_empty(), "{}", render_all(&errors));
}

#[test]
fn definition_has_a_block_with_lines_of_every_kind() {
    holds(
        r#"
        [attr.name]
        role = "namevar"
        values = [{ name = "text", pattern = '.+' }]
        [attr.vrf]
        values = ["unset", { name = "text", pattern = '\S+' }]
        [attr.logging_event]
        array = "set"
        values = ["unset", "spanning-tree", "status", "subif-link-status", "trunk-status"]
        [attr.logging_event_link_status]
        values = [true, false]
        [attr.ip_dhcp_snooping_limit]
        values = [false, { name = "rate", integer = [1, 2048] }]
        [attr.flowcontrol_receive]
        values = ["desired", "on", "off"]
        "#,
        r#"
        [instance]
        from = "config"
        block = "interface {name}"
        codec = { name = "ifname" }
        [attr.vrf]
        line = ["ip vrf forwarding {vrf}", "vrf forwarding {vrf}"]
        absent = "unset"
        no = "full"
        warn = "changing vrf removes the IP addresses of {name}"
        [attr.logging_event]
        line = "logging event {logging_event}"
        many = true
        skip = ["link-status"]
        absent = "unset"
        [attr.logging_event_link_status]
        line = "logging event link-status"
        default = "on"
        [attr.ip_dhcp_snooping_limit]
        line = "ip dhcp snooping limit rate {ip_dhcp_snooping_limit}"
        absent = false
        no = "head"
        [attr.flowcontrol_receive]
        line = "flowcontrol receive {flowcontrol_receive}"
        absent = "off"

        [[variant]]
        when = { model = ["2960", "4503"] }
        unsupported = ["vrf"]

        [[test]]
        name = "reads one block of the shared tree"
        given.config = '''
interface GigabitEthernet0/1
 vrf forwarding BLUE
 no logging event link-status
 logging event spanning-tree
 logging event trunk-status
 ip dhcp snooping limit rate 1500
!
interface GigabitEthernet0/2
!
'''
        expect = [
          { name = "GigabitEthernet0/1", vrf = "BLUE", logging_event = ["spanning-tree", "trunk-status"], logging_event_link_status = false, ip_dhcp_snooping_limit = 1500, flowcontrol_receive = "off" },
          { name = "GigabitEthernet0/2", vrf = "unset", logging_event = "unset", logging_event_link_status = true, ip_dhcp_snooping_limit = false, flowcontrol_receive = "off" },
        ]

        [[test]]
        name = "short names, removals, additions, no-forms, one visit to the mode"
        given.config = '''
interface GigabitEthernet0/1
 vrf forwarding BLUE
 no logging event link-status
 logging event spanning-tree
 ip dhcp snooping limit rate 1500
'''
        want = { name = "gi 0/1", vrf = "unset", logging_event = ["status"], logging_event_link_status = true, ip_dhcp_snooping_limit = false, flowcontrol_receive = "off" }
        commands = [
          "interface GigabitEthernet0/1",
          " no vrf forwarding BLUE",
          " logging event status",
          " no logging event spanning-tree",
          " logging event link-status",
          " no ip dhcp snooping limit rate",
        ]

        [[test]]
        name = "a variant leaves out what its devices lack"
        facts = { model = "2960" }
        given.config = '''
interface GigabitEthernet0/1
'''
        want = { name = "Gi0/1", vrf = "BLUE", flowcontrol_receive = "on" }
        commands = ["interface GigabitEthernet0/1", " flowcontrol receive on"]
        "#,
    );
}

#[test]
fn definition_has_members_numbers_and_limits() {
    holds(
        r#"
        ensurable = true
        [attr.name]
        role = "namevar"
        values = [{ name = "text", pattern = '.+' }]
        [attr.id]
        values = [{ name = "id", integer = [1, 99] }]
        [attr.members]
        array = "set"
        values = ["unset", { name = "text", pattern = '.+' }]
        [attr.mode]
        values = ["active", "passive"]
        "#,
        r#"
        [instance]
        from = "config"
        block = "interface {name}"
        codec = { name = "bundle" }
        remove = ["default interface {name}", "no interface {name}"]
        [attr.id]
        number_of = "name"
        [attr.members]
        elsewhere = "interface {member}"
        line = "channel-group {name|number} mode {mode}"
        codec = "ifname"
        with = ["mode"]
        at_most = 3
        [attr.mode]
        inside = "members"

        [[test]]
        name = "members are read from their own blocks"
        given.config = '''
interface Port-channel10
!
interface GigabitEthernet1
 channel-group 10 mode active
interface GigabitEthernet2
 channel-group 101 mode active
'''
        expect = [{ name = "Port-channel10", id = 10, members = ["GigabitEthernet1"], mode = "active" }]

        [[test]]
        name = "create: the bundle before its members"
        want = { name = "Po10", ensure = "present", id = 10, members = ["gi2", "gi1"], mode = "active" }
        commands = [
          "interface Port-channel10",
          "interface GigabitEthernet1",
          " channel-group 10 mode active",
          "interface GigabitEthernet2",
          " channel-group 10 mode active",
        ]

        [[test]]
        name = "members come and go, and those that stay are left alone"
        given.config = '''
interface Port-channel10
interface GigabitEthernet1
 channel-group 10 mode active
interface GigabitEthernet2
 channel-group 10 mode active
'''
        want = { name = "Po10", members = ["gi2", "gi3"], mode = "active" }
        commands = [
          "interface GigabitEthernet3",
          " channel-group 10 mode active",
          "interface GigabitEthernet1",
          " no channel-group 10 mode active",
        ]

        [[test]]
        name = "another mode, member by member"
        given.config = '''
interface Port-channel10
interface GigabitEthernet1
 channel-group 10 mode active
'''
        want = { name = "Po10", members = ["gi1"], mode = "passive" }
        commands = ["interface GigabitEthernet1", " no channel-group 10 mode active", " channel-group 10 mode passive"]

        [[test]]
        name = "the number is in the name"
        want = { name = "Po10", id = 11 }
        error = "id: 11 differs from the number in Port-channel10"

        [[test]]
        name = "names that are no bundles"
        want = { name = "Gi1" }
        error = "name: `Gi1` is not the name of a Port-channel"

        [[test]]
        name = "too many"
        want = { name = "Po10", members = ["gi1", "gi2", "gi3", "gi4"], mode = "active" }
        error = "members: 4 values; the device stores at most 3"
        "#,
    );
}

#[test]
fn definition_has_two_spellings_and_an_inner_block() {
    holds(
        r#"
        ensurable = true
        [attr.name]
        role = "namevar"
        values = [{ name = "word", pattern = '\S+' }]
        [attr.rd]
        values = ["unset", { name = "rd", pattern = '\d+:\d+' }]
        [attr.targets]
        array = "set"
        values = ["unset", { name = "target", tuple = [["export", "import", "both"], "word"] }]
        "#,
        r#"
        [instance]
        from = "config"
        block = ["ip vrf {name}", "vrf definition {name}"]
        [attr.rd]
        line = "rd {rd}"
        no = "full"
        replace = "remove-first"
        absent = "unset"
        [attr.targets]
        line = "route-target {0} {1}"
        sub = ["", "address-family ipv4"]
        many = true
        replace = "remove-first"
        codec = "both"
        absent = "unset"

        [[test]]
        name = "reads both"
        given.config = '''
ip vrf OLD
 rd 1:1
 route-target import 1:1
vrf definition NEW
 rd 2:2
 !
 address-family ipv4
  route-target export 2:2
'''
        expect = [
          { name = "OLD", rd = "1:1", targets = [["import", "1:1"]] },
          { name = "NEW", rd = "2:2", targets = [["export", "2:2"]] },
        ]

        [[test]]
        name = "creates in the first form"
        want = { name = "A", ensure = "present", rd = "1:1", targets = [["both", "1:1"]] }
        commands = ["ip vrf A", " rd 1:1", " route-target export 1:1", " route-target import 1:1"]

        [[test]]
        name = "creates in the form that the device uses"
        given.config = '''
vrf definition B
'''
        want = { name = "A", ensure = "present", targets = [["import", "1:1"]] }
        commands = ["vrf definition A", " address-family ipv4", "  route-target import 1:1"]

        [[test]]
        name = "removes before it sets"
        given.config = '''
vrf definition A
 rd 1:1
 address-family ipv4
  route-target import 1:1
'''
        want = { name = "A", rd = "2:2", targets = [["import", "2:2"]] }
        commands = [
          "vrf definition A",
          " no rd 1:1",
          " rd 2:2",
          " address-family ipv4",
          "  no route-target import 1:1",
          "  route-target import 2:2",
        ]

        [[test]]
        name = "removes with the header that the device has"
        given.config = '''
vrf definition A
 rd 1:1
'''
        want = { name = "A", ensure = "absent" }
        commands = ["no vrf definition A"]
        "#,
    );
}
