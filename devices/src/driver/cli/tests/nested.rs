//! Instances in nested blocks.

use super::{files, holds, render_all};
use crate::driver::Registry;

pub(super) const NEIGHBOR: &str = r#"
    ensurable = true
    ensure_default = "present"
    title = "{asn} {name}"
    [attr.asn]
    role = "namevar"
    values = [{ name = "number", integer = [1, 4294967295] }]
    canon = ["decimal"]
    [attr.name]
    role = "namevar"
    values = [{ name = "address", pattern = '[0-9a-f.:]+' }]
    canon = ["ip"]
    [attr.remote_as]
    values = [{ name = "number", pattern = '\d+' }]
    [attr.description]
    values = ["unset", { name = "text", pattern = '.+' }]
    [attr.password]
    sensitive = true
    values = ["unset", { name = "text", pattern = '\S+' }]
    [attr.ipv4]
    values = [true, false]
    [attr.ipv4_maximum]
    values = ["unset", { name = "number", integer = [1, 1000] }]
    "#;

/// NX-OS: a neighbor is a block, and its address families are blocks in it.
const BY_BLOCK: &str = r#"
    [instance]
    from = "config"
    block = "router bgp {asn} / neighbor {name}"
    [attr.remote_as]
    line = "remote-as {remote_as}"
    [attr.description]
    line = "description {description:rest}"
    absent = "unset"
    [attr.password]
    unsupported = "the key is a number of a table"
    [attr.ipv4]
    sub = "address-family ipv4 unicast"
    [attr.ipv4_maximum]
    sub = "address-family ipv4 unicast"
    line = "maximum-prefix {ipv4_maximum}"
    absent = "unset"
    "#;

const NXOS_TEXT: &str = "\
router bgp 65000
  router-id 10.0.0.1
  neighbor 192.0.2.1
    remote-as 65001
    description to spine 1
    address-family ipv4 unicast
      maximum-prefix 100
      send-community
  neighbor 192.0.2.2
    remote-as 65002
";

#[test]
fn blocks_in_blocks_are_read_entered_and_removed() {
    let tests = format!(
        "{BY_BLOCK}
        [[test]]
        name = \"reads\"
        given.config = '''
{NXOS_TEXT}'''
        expect = [
          {{ asn = \"65000\", name = \"192.0.2.1\", remote_as = \"65001\", description = \"to spine 1\", ipv4 = true, ipv4_maximum = 100 }},
          {{ asn = \"65000\", name = \"192.0.2.2\", remote_as = \"65002\", description = \"unset\", ipv4 = false, ipv4_maximum = \"unset\" }},
        ]
        [[test]]
        name = \"changes\"
        given.config = '''
{NXOS_TEXT}'''
        want = {{ asn = 65000, name = \"192.0.2.2\", remote_as = \"65003\", ipv4 = true, ipv4_maximum = 5 }}
        commands = [
          \"router bgp 65000\",
          \" neighbor 192.0.2.2\",
          \"  remote-as 65003\",
          \"  address-family ipv4 unicast\",
          \"   maximum-prefix 5\",
        ]
        [[test]]
        name = \"removes an inner block\"
        given.config = '''
{NXOS_TEXT}'''
        want = {{ asn = 65000, name = \"192.0.2.1\", ipv4 = false, ipv4_maximum = \"unset\" }}
        commands = [
          \"router bgp 65000\",
          \" neighbor 192.0.2.1\",
          \"  no address-family ipv4 unicast\",
        ]
        [[test]]
        name = \"removes\"
        given.config = '''
{NXOS_TEXT}'''
        want = {{ asn = 65000, name = \"192.0.2.1\", ensure = \"absent\" }}
        commands = [\"router bgp 65000\", \" no neighbor 192.0.2.1\"]
        "
    );
    holds(NEIGHBOR, &tests);
}

const IN_VRF: &str = r#"
    ensurable = true
    ensure_default = "present"
    title = ["{asn} {vrf} {name}", "{asn} {name}"]
    [attr.asn]
    role = "namevar"
    [attr.vrf]
    role = "namevar"
    default = "default"
    [attr.name]
    role = "namevar"
    [attr.remote_as]
    "#;

#[test]
fn optional_blocks_are_left_out_for_their_default() {
    holds(
        IN_VRF,
        r#"
        [instance]
        from = "config"
        block = "router bgp {asn} / [vrf {vrf}] / neighbor {name}"
        [attr.vrf]
        absent = "default"
        [attr.remote_as]
        line = "remote-as {remote_as}"
        [[test]]
        name = "reads"
        given.config = '''
router bgp 1
  neighbor 192.0.2.1
    remote-as 2
  vrf RED
    neighbor 192.0.2.1
      remote-as 3
'''
        expect = [
          { asn = "1", vrf = "default", name = "192.0.2.1", remote_as = "2" },
          { asn = "1", vrf = "RED", name = "192.0.2.1", remote_as = "3" },
        ]
        [[test]]
        name = "creates in the default"
        want = { asn = "1", name = "192.0.2.1", remote_as = "2" }
        commands = ["router bgp 1", " neighbor 192.0.2.1", "  remote-as 2"]
        [[test]]
        name = "creates in a VRF"
        want = { asn = "1", vrf = "RED", name = "192.0.2.1", remote_as = "2" }
        commands = ["router bgp 1", " vrf RED", "  neighbor 192.0.2.1", "   remote-as 2"]
        [[test]]
        name = "removes from a VRF"
        given.config = '''
router bgp 1
  vrf RED
    neighbor 192.0.2.1
      remote-as 3
'''
        want = { asn = "1", vrf = "RED", name = "192.0.2.1", ensure = "absent" }
        commands = ["router bgp 1", " vrf RED", "  no neighbor 192.0.2.1"]
        "#,
    );
}

#[test]
fn lines_may_stand_in_blocks_of_any_depth() {
    holds(
        r#"
        ensurable = true
        ensure_default = "present"
        title = "{asn} {vrf} {name}"
        [attr.asn]
        role = "namevar"
        values = [{ name = "number", integer = [1, 4294967295] }]
        canon = ["decimal"]
        [attr.vrf]
        role = "namevar"
        [attr.name]
        role = "namevar"
        "#,
        r#"
        [instance]
        from = "config"
        block = "router bgp {asn} / address-family ipv4 vrf {vrf}"
        line = "network {name}"
        [[test]]
        name = "reads"
        given.config = '''
router bgp 1
 network 10.0.0.0
 address-family ipv4 vrf RED
  network 10.1.0.0
'''
        expect = [{ asn = "1", vrf = "RED", name = "10.1.0.0" }]
        [[test]]
        name = "adds and removes"
        given.config = '''
router bgp 1
 address-family ipv4 vrf RED
  network 10.1.0.0
'''
        want = { asn = "1", vrf = "RED", name = "10.2.0.0" }
        commands = ["router bgp 1", " address-family ipv4 vrf RED", "  network 10.2.0.0"]
        [[test]]
        name = "removes"
        given.config = '''
router bgp 1
 address-family ipv4 vrf RED
  network 10.1.0.0
'''
        want = { asn = "1", vrf = "RED", name = "10.1.0.0", ensure = "absent" }
        commands = ["router bgp 1", " address-family ipv4 vrf RED", "  no network 10.1.0.0"]
        "#,
    );
}

#[test]
fn locations_that_cannot_work_are_errors() {
    let cases = [
        (
            "block = \"router bgp {asn}\"\nprefix = \"neighbor {name:rest}\"",
            "`{name}` of `prefix` takes the rest of the line: use one word",
        ),
        (
            "block = \"router bgp {asn} / [neighbor {name}]\"",
            "the last block of `router bgp {asn} / [neighbor {name}]` cannot be optional \
             (write one syntax for each place: `block = [\"router bgp {asn}\", \"router bgp {asn} / neighbor {name}\"]`)",
        ),
        (
            "block = \"router bgp {asn} / neighbor {name}\"\nenter = \"neighbor {name}\"",
            "`enter` has no effect with `block`",
        ),
        (
            "block = \"router bgp {asn}\"",
            "[instance] has no placeholder for the namevar `name`",
        ),
        (
            "block = \"router bgp {asn}\"\nprefix = \"neighbor {name}\"\n[attr.description]\nline = \"neighbor {name} description {description:rest}\"",
            "`neighbor {name} description {description:rest}` has {name} of `prefix`: write the words after `prefix`",
        ),
        (
            "block = \"router bgp {asn}\"\nprefix = \"neighbor {name}\"\n[attr.description]\nopaque = \"description\"",
            "`description` cannot stand behind `prefix`: use `line` or `set`",
        ),
        (
            "block = \"router bgp {asn} / neighbor {name}\"\n[attr.description]\nsub = \"family {name}\"\nline = \"x {description}\"",
            "`sub` of `description` has fixed words: move the placeholder to `block`",
        ),
        (
            "block = \"router bgp {asn}\"\nline = \"neighbor {name}\"\n[attr.description]\nline = \"x {description}\"",
            "use `prefix` or `named` for instances of several lines",
        ),
    ];
    for (instance, expected) in cases {
        let implementation = format!("[instance]\nfrom = \"config\"\n{instance}\n");
        let findings = Registry::from_files(&[], &files(NEIGHBOR, &implementation)).unwrap_err();
        let text = render_all(&findings);
        assert!(text.contains(expected), "{instance}\n{text}");
    }
}

#[test]
fn instances_are_removed_by_a_word_of_their_own() {
    holds(
        r#"
        ensurable = true
        title = "{table} {name}"
        [attr.table]
        role = "namevar"
        [attr.name]
        role = "namevar"
        "#,
        r#"
        [instance]
        from = "config"
        block = "config {table} / edit {name}"
        remove = "delete {name}"
        [[test]]
        name = "the other entries of the table remain"
        given.config = "config a\n edit x\n edit y\nconfig b\n edit x"
        want = { table = "a", name = "x", ensure = "absent" }
        commands = ["config a", " delete x"]
        "#,
    );
}

/// OS10: the process, and the same lines in a block for each VRF.
const PROCESS: &str = r#"
    ensurable = true
    title = ["{asn} {vrf}", "{asn}"]
    [attr.asn]
    role = "namevar"
    values = [{ name = "number", integer = [1, 4294967295] }]
    canon = ["decimal"]
    [attr.vrf]
    role = "namevar"
    default = "default"
    [attr.router_id]
    values = ["unset", { name = "address", pattern = '[\d.]+' }]
    "#;

#[test]
fn a_new_instance_has_the_syntax_with_all_of_its_names() {
    holds(
        PROCESS,
        r#"
        [instance]
        from = "config"
        block = ["router bgp {asn}", "router bgp {asn} / vrf {vrf}"]
        [attr.vrf]
        absent = "default"
        [attr.router_id]
        line = "router-id {router_id}"
        absent = "unset"

        [[test]]
        name = "in a VRF, and the device has a process"
        given.config = '''
router bgp 65001
 router-id 10.0.0.1
'''
        want = { asn = 65001, vrf = "RED", ensure = "present", router_id = "10.9.9.9" }
        commands = ["router bgp 65001", " vrf RED", "  router-id 10.9.9.9"]

        [[test]]
        name = "the process, and the device has a VRF"
        given.config = '''
router bgp 65001
 vrf RED
  router-id 10.0.0.1
'''
        want = { asn = 65002, ensure = "present", router_id = "10.9.9.9" }
        commands = ["router bgp 65002", " router-id 10.9.9.9"]

        [[test]]
        name = "on an empty device"
        want = { asn = 65001, vrf = "RED", ensure = "present", router_id = "10.9.9.9" }
        commands = ["router bgp 65001", " vrf RED", "  router-id 10.9.9.9"]
        "#,
    );
}

#[test]
fn a_new_line_is_in_the_block_with_all_of_its_names() {
    let model = r#"
        ensurable = true
        title = ["{asn} {vrf} {prefix}", "{asn} {prefix}"]
        [attr.asn]
        role = "namevar"
        values = [{ name = "number", integer = [1, 4294967295] }]
        canon = ["decimal"]
        [attr.vrf]
        role = "namevar"
        default = "default"
        [attr.prefix]
        role = "namevar"
        values = [{ name = "prefix", pattern = '\S+/\d+' }]
        "#;
    holds(
        model,
        r#"
        [instance]
        from = "config"
        block = ["router bgp {asn}", "router bgp {asn} / vrf {vrf}"]
        line = "network {prefix}"
        [attr.vrf]
        absent = "default"

        [[test]]
        name = "reads"
        given.config = '''
router bgp 65001
 network 10.0.0.0/8
 vrf RED
  network 10.0.0.0/8
'''
        expect = [
          { asn = "65001", vrf = "default", prefix = "10.0.0.0/8" },
          { asn = "65001", vrf = "RED", prefix = "10.0.0.0/8" },
        ]
        [[test]]
        name = "in a VRF"
        given.config = '''
router bgp 65001
 network 10.0.0.0/8
'''
        want = { asn = 65001, vrf = "RED", prefix = "10.0.0.0/8", ensure = "present" }
        commands = ["router bgp 65001", " vrf RED", "  network 10.0.0.0/8"]
        "#,
    );
}

#[test]
fn a_name_that_no_syntax_of_new_instances_has_is_a_finding() {
    let implementation = r#"
        [instance]
        from = "config"
        block = ["router bgp {asn}", "vrf {vrf} / router bgp"]
        [attr.router_id]
        line = "router-id {router_id}"
        absent = "unset"
        "#;
    let findings = Registry::from_files(&[], &files(PROCESS, implementation)).unwrap_err();
    let text = render_all(&findings);
    assert!(
        text.contains(
            "no syntax of `block` has `asn` and all other namevars (a new instance needs one of \
             `router bgp {asn}`, `vrf {vrf} / router bgp` with all namevars)"
        ),
        "{text}"
    );
}
