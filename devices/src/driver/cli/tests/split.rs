//! Lines of several instances.

use super::{PLATFORM, holds, holds_on};

#[test]
fn line_of_several_instances_is_read_as_one_for_each_and_written_one_by_one() {
    let platform = PLATFORM.replacen(
        "parse = \"indent\"",
        "parse = \"indent\"\nsplit = [{ pattern = '^name-server (.+)$' }, { pattern = '^vlan ([\\d,-]+)$', numbers = true }]",
        1,
    );
    let server = "ensurable = true\n[attr.name]\nrole = \"namevar\"\n";
    holds_on(
        &platform,
        server,
        r#"
        [instance]
        from = "config"
        line = "name-server {name}"
        [[test]]
        name = "reads"
        given.config = "name-server 192.0.2.1 192.0.2.2\nname-server 192.0.2.3"
        expect = [{ name = "192.0.2.1" }, { name = "192.0.2.2" }, { name = "192.0.2.3" }]
        [[test]]
        name = "creates"
        given.config = "name-server 192.0.2.1 192.0.2.2"
        want = { name = "192.0.2.9", ensure = "present" }
        commands = ["name-server 192.0.2.9"]
        [[test]]
        name = "is in sync"
        given.config = "name-server 192.0.2.1 192.0.2.2"
        want = { name = "192.0.2.2", ensure = "present" }
        commands = []
        [[test]]
        name = "removes one of them"
        given.config = "name-server 192.0.2.1 192.0.2.2"
        want = { name = "192.0.2.2", ensure = "absent" }
        commands = ["no name-server 192.0.2.2"]
        "#,
    );
    let vlan = "ensurable = true\n[attr.id]\nrole = \"namevar\"\n[attr.label]\n";
    holds_on(
        &platform,
        vlan,
        r#"
        [instance]
        from = "config"
        block = "vlan {id}"
        [attr.label]
        line = "name {label}"
        [[test]]
        name = "reads a range"
        given.config = "vlan 10,20-21\n name x\nvlan 30\n name y"
        expect = [{ id = "10", label = "x" }, { id = "20", label = "x" }, { id = "21", label = "x" }, { id = "30", label = "y" }]
        [[test]]
        name = "changes one of them"
        given.config = "vlan 10,20-21\n name x"
        want = { id = "20", ensure = "present", label = "z" }
        commands = ["vlan 20", " name z"]
        "#,
    );
}

/// Aruba AOS-CX: `vlan trunk allowed 30` adds a VLAN, `no vlan trunk allowed 20` removes one.
#[test]
fn lines_of_a_set_of_numbers_add_and_remove_numbers() {
    holds(
        "[attr.name]\nrole = \"namevar\"\n[attr.vlans]\narray = \"set\"\n",
        r#"
        [instance]
        from = "config"
        block = "interface {name}"
        [attr.vlans]
        line = "vlan trunk allowed {vlans}"
        many = true
        codec = "vlans"
        absent = "none"
        [[test]]
        name = "reads the numbers of all lines"
        given.config = "interface a\n vlan trunk allowed 10,20-22\n vlan trunk allowed 30\ninterface b\n mtu 9000"
        expect = [{ name = "a", vlans = "10,20-22,30" }, { name = "b", vlans = "none" }]
        [[test]]
        name = "adds and removes"
        given.config = "interface a\n vlan trunk allowed 10,20-22,30"
        want = { name = "a", vlans = "10,30,40-42" }
        commands = ["interface a", " vlan trunk allowed 40-42", " no vlan trunk allowed 20-22"]
        [[test]]
        name = "begins and ends"
        given.config = "interface a\n mtu 9000"
        want = { name = "a", vlans = ["5", "7"] }
        commands = ["interface a", " vlan trunk allowed 5,7"]
        [[test]]
        name = "removes all"
        given.config = "interface a\n vlan trunk allowed 1-5\n vlan trunk allowed 7"
        want = { name = "a", vlans = "none" }
        commands = ["interface a", " no vlan trunk allowed 1-5,7"]
        [[test]]
        name = "limits a trunk of all VLANs"
        given.config = "interface a\n vlan trunk allowed all"
        want = { name = "a", vlans = "1-4000" }
        commands = ["interface a", " no vlan trunk allowed 4001-4094"]
        [[test]]
        name = "sends nothing"
        given.config = "interface a\n vlan trunk allowed 1-5\n vlan trunk allowed 7"
        want = { name = "a", vlans = "7,1-5" }
        commands = []
        "#,
    );
}
