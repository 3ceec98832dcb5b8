//! Values that several lines or attributes have.

use super::holds;

#[test]
fn definition_has_entries_with_another_read_form() {
    holds(
        r#"
        ensurable = true
        title = "{list} {kind} {entry}"
        [attr.list]
        role = "namevar"
        values = [{ name = "text", pattern = '.+' }]
        [attr.kind]
        role = "namevar"
        values = ["standard", "extended"]
        canon = ["lower"]
        [attr.entry]
        role = "namevar"
        values = [{ name = "number", integer = [1, 9999] }]
        canon = ["decimal"]
        [attr.action]
        values = ["permit", "deny"]
        [attr.any]
        values = [true, false]
        [attr.host]
        values = [{ name = "host", pattern = '[\d.]+' }]
        [attr.log]
        values = [true, false]
        "#,
        r#"
        [instance]
        from = "config"
        block = "{kind} access list {list:rest}"
        mode = "access-list {kind} {list:rest}"
        line = ["{entry} {action} ({any?any}|host {host}) [{log?log}]", "{entry} {*}"]
        remove = "no {entry}"
        remove_empty = "no access-list {kind} {list:rest}"
        replace = "remove-first"

        [[test]]
        name = "reads, counters left out"
        given.config = '''
Extended access list my list
    10 permit host 10.0.0.1 log (3 matches)
    20 deny any
'''
        expect = [
          { list = "my list", kind = "extended", entry = "10", action = "permit", host = "10.0.0.1", log = true },
          { list = "my list", kind = "extended", entry = "20", action = "deny", any = true, log = false },
        ]

        [[test]]
        name = "create"
        want = { list = "L", kind = "extended", entry = 10, ensure = "present", action = "deny", any = true }
        commands = ["access-list extended L", " 10 deny any"]

        [[test]]
        name = "a number is taken until its entry is removed, understood or not"
        given.config = '''
Extended access list L
    10 permit what is this
'''
        want = { list = "L", kind = "extended", entry = 10, ensure = "present", action = "deny", any = true }
        commands = ["access-list extended L", " no 10", " 10 deny any"]

        [[test]]
        name = "remove one of two"
        given.config = '''
Extended access list L
    10 deny any
    20 deny any
'''
        want = { list = "L", kind = "extended", entry = 10, ensure = "absent" }
        commands = ["access-list extended L", " no 10"]

        [[test]]
        name = "the list goes with its last entry"
        given.config = '''
Extended access list L
    10 deny any
'''
        want = { list = "L", kind = "extended", entry = 10, ensure = "absent" }
        commands = ["no access-list extended L"]
        "#,
    );
}

#[test]
fn definition_has_one_meaning_in_several_attributes() {
    holds(
        r#"
        ensurable = true
        [attr.name]
        role = "namevar"
        [attr.address]
        values = [{ name = "address", pattern = '[\d.]+' }]
        [attr.mask]
        values = [{ name = "mask", pattern = '[\d.]+' }]
        [attr.host]
        values = [{ name = "host", pattern = '[\d.]+' }]
        [attr.any]
        values = [true, false]
        "#,
        r#"
        rewrite = [
          { when = { mask = "0.0.0.0" }, drop = ["mask"] },
          { without = ["mask"], rename = { address = "host" } },
          { when = { mask = "255.255.255.255" }, drop = ["mask", "address"], set = { any = true } },
        ]
        [instance]
        from = "config"
        line = "x {name} ({any!any}|host {host}|{address} {mask})"
        remove = "no x {name}"
        keep_unmanaged = false

        [[test]]
        name = "a host by its mask"
        given.config = '''
x a host 10.0.0.1
'''
        want = { name = "a", ensure = "present", address = "10.0.0.1", mask = "0.0.0.0" }
        commands = []

        [[test]]
        name = "a host by having no mask"
        want = { name = "a", ensure = "present", address = "10.0.0.1" }
        commands = ["x a host 10.0.0.1"]

        [[test]]
        name = "everything by its mask, and nothing of the old line stays"
        given.config = '''
x a 10.0.0.0 0.0.0.255
'''
        want = { name = "a", ensure = "present", address = "0.0.0.0", mask = "255.255.255.255" }
        commands = ["x a any"]

        [[test]]
        name = "any other mask is a network"
        want = { name = "a", ensure = "present", address = "10.0.0.0", mask = "0.0.0.255" }
        commands = ["x a 10.0.0.0 0.0.0.255"]
        "#,
    );
}

/// Cisco IOS IP Routing: OSPF Command Reference, "ip ospf message-digest-key": a key with an
/// identifier in use is refused until it is removed.
#[test]
fn line_with_several_attributes_is_removed_before_it_is_sent_again() {
    holds(
        r#"
        [attr.name]
        role = "namevar"
        [attr.key_id]
        values = ["unset", { name = "number", integer = [1, 255] }]
        [attr.key]
        sensitive = true
        values = [{ name = "text", pattern = '\S+' }]
        "#,
        r#"
        [instance]
        from = "config"
        block = "interface {name}"
        [attr.key_id]
        line = "ip ospf message-digest-key {key_id} md5 {key}"
        with = ["key"]
        no = "no ip ospf message-digest-key {key_id}"
        replace = "remove-first"
        absent = "unset"
        [attr.key]
        inside = "key_id"

        [[test]]
        name = "a new line"
        given.config = "interface Vlan10"
        want = { name = "Vlan10", key_id = 1, key = "a" }
        commands = ["interface Vlan10", " ip ospf message-digest-key 1 md5 a"]

        [[test]]
        name = "another number"
        given.config = '''
interface Vlan10
 ip ospf message-digest-key 1 md5 a
'''
        want = { name = "Vlan10", key_id = 2, key = "a" }
        commands = [
          "interface Vlan10",
          " no ip ospf message-digest-key 1",
          " ip ospf message-digest-key 2 md5 a",
        ]

        [[test]]
        name = "another text under the same number"
        given.config = '''
interface Vlan10
 ip ospf message-digest-key 1 md5 a
'''
        want = { name = "Vlan10", key_id = 1, key = "b" }
        commands = [
          "interface Vlan10",
          " no ip ospf message-digest-key 1",
          " ip ospf message-digest-key 1 md5 b",
        ]

        [[test]]
        name = "the removal is sent once"
        given.config = '''
interface Vlan10
 ip ospf message-digest-key 1 md5 a
'''
        want = { name = "Vlan10", key_id = "unset" }
        commands = ["interface Vlan10", " no ip ospf message-digest-key 1"]

        [[test]]
        name = "no difference"
        given.config = '''
interface Vlan10
 ip ospf message-digest-key 1 md5 a
'''
        want = { name = "Vlan10", key_id = 1, key = "a" }
        commands = []
        "#,
    );
}
