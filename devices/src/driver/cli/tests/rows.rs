//! Instances that are rows of JSON documents and CSV, changed by the lines of a shell.

use super::*;
use crate::driver::{Driver, Facts};
use crate::read::Reads;

const SHELL: &str = r##"
schema = 1
platform = "box"
transport = "ssh-cli"
[connection]
read_mode = "shell"
config_mode = "shell"
[mode.shell]
prompt = '\S+#'
[read.ports]
command = "ports --json"
parse = "json"
answer = { ports = true }
[read.links]
command = "ip -j addr show"
parse = "json"
answer = "list"
[read.table]
command = "ports --format=json"
parse = "json"
answer = { data = true }
[read.servers]
command = "show stat"
parse = "csv"
first = "be"
comment = "#"
[codec.list]
kind = "list"
separator = " "
"##;

const PORT: &str = r#"
ensurable = true
ensure_default = "present"
[attr.name]
role = "namevar"
values = [{ name = "text", pattern = '[\w.\-]+' }]
[attr.bridge]
role = "init_only"
values = [{ name = "text", pattern = '\w+' }]
[attr.tag]
values = ["unset", { name = "id", integer = [0, 4095] }]
[attr.trunks]
array = "set"
values = ["unset", { name = "id", integer = [0, 4095] }]
"#;

#[test]
fn rows_of_json_are_read_created_changed_and_removed() {
    holds_on(
        SHELL,
        PORT,
        r#"
        [instance]
        from = "ports"
        rows = "ports"
        key = { name = "name" }
        create = "add-port {bridge} {name} [tag {tag}]"
        remove = "del-port {name}"
        [attr.bridge]
        field = "bridge.name"
        [attr.tag]
        field = "vlan.tag"
        line = "set {name} tag {tag}"
        no = "clear {name} tag"
        absent = "unset"
        [attr.trunks]
        field = "vlan.trunks"
        line = "add {name} trunk {trunks}"
        no = "remove {name} trunk {trunks}"
        many = true
        absent = "unset"

        [[test]]
        name = "reads numbers, lists and missing fields"
        given.ports = '{"ports": [{"name": "p1", "bridge": {"name": "br0"}, "vlan": {"tag": 10, "trunks": null}}, {"name": "p2", "bridge": {"name": "br0"}, "vlan": {"trunks": [20, 30]}}]}'
        expect = [
          { name = "p1", bridge = "br0", tag = 10, trunks = "unset" },
          { name = "p2", bridge = "br0", tag = "unset", trunks = [20, 30] },
        ]
        [[test]]
        name = "a creation has one line for what it sets"
        want = { name = "p3", bridge = "br1", tag = 7, trunks = [1, 2] }
        commands = ["add-port br1 p3 tag 7", "add p3 trunk 1", "add p3 trunk 2"]
        [[test]]
        name = "a change does not create again"
        given.ports = '{"ports": [{"name": "p1", "bridge": {"name": "br0"}, "vlan": {"tag": 10, "trunks": [1, 2]}}]}'
        want = { name = "p1", bridge = "br0", tag = 20, trunks = [2, 3] }
        commands = ["set p1 tag 20", "add p1 trunk 3", "remove p1 trunk 1"]
        [[test]]
        name = "a removed value"
        given.ports = '{"ports": [{"name": "p1", "bridge": {"name": "br0"}, "vlan": {"tag": 10, "trunks": [1]}}]}'
        want = { name = "p1", bridge = "br0", tag = "unset", trunks = "unset" }
        commands = ["clear p1 tag", "remove p1 trunk 1"]
        [[test]]
        name = "removes"
        given.ports = '{"ports": [{"name": "p1"}]}'
        want = { name = "p1", bridge = "br0", ensure = "absent" }
        commands = ["del-port p1"]
        [[test]]
        name = "the missing attribute is named"
        want = { name = "p1" }
        error = "bridge: is required by the line `add-port {bridge} {name} [tag {tag}]`"
        "#,
    );
}

#[test]
fn rows_may_be_lists_of_values_under_headings() {
    holds_on(
        SHELL,
        PORT,
        r#"
        [instance]
        from = "table"
        rows = "data"
        headings = "headings"
        key = { name = "name" }
        create = "add-port br0 {name}"
        remove = "del-port {name}"
        [attr.bridge]
        unsupported = "the table has no bridge"
        [attr.tag]
        field = "tag"
        codec = "ovsdb"
        line = "clear {name} tag -- set {name} tag {tag}"
        no = "clear {name} tag"
        replace = "remove-first"
        absent = "unset"
        [attr.trunks]
        field = "trunks"
        codec = "ovsdb"
        line = "set {name} trunks {trunks:words}"
        no = "clear {name} trunks"
        absent = "unset"

        [[test]]
        name = "reads"
        given.table = '{"headings": ["name", "tag", "trunks"], "data": [["p1", 10, ["set", []]], ["p2", ["set", []], ["set", [20, 30]]]]}'
        expect = [
          { name = "p1", tag = 10, trunks = "unset" },
          { name = "p2", tag = "unset", trunks = [20, 30] },
        ]
        [[test]]
        name = "changes, the old value removed first"
        given.table = '{"headings": ["name", "tag", "trunks"], "data": [["p1", 10, 5]]}'
        want = { name = "p1", tag = 20, trunks = [6, 7] }
        commands = ["clear p1 tag", "clear p1 tag -- set p1 tag 20", "set p1 trunks 6 7"]
        "#,
    );
}

#[test]
fn rows_of_nested_lists_have_fields_of_the_outer_row() {
    holds_on(
        SHELL,
        r#"
        ensurable = true
        ensure_default = "present"
        title = "{interface} {address}"
        [attr.interface]
        role = "namevar"
        values = [{ name = "word", pattern = '\w+' }]
        [attr.address]
        role = "namevar"
        values = [{ name = "prefix", pattern = '[\da-f.:]+/\d+' }]
        [attr.up]
        values = [true, false]
        "#,
        r#"
        [instance]
        from = "links"
        rows = { each = ".", at = "addr_info" }
        key = { interface = "../ifname", address = "{local}/{prefixlen}" }
        create = "ip addr add {address} dev {interface}"
        remove = "ip addr del {address} dev {interface}"
        [attr.up]
        field = "../flags"
        when.true = '\bUP\b'
        when.false = ''
        set.true = "ip link set {interface} up # {address}"
        set.false = "ip link set {interface} down # {address}"
        absent = false

        [[test]]
        name = "reads"
        given.links = '[{"ifname": "lo", "flags": ["LOOPBACK"], "addr_info": []}, {"ifname": "eth1", "flags": ["BROADCAST", "UP"], "addr_info": [{"local": "192.0.2.1", "prefixlen": 24}, {"local": "2001:db8::1", "prefixlen": 64}]}]'
        expect = [
          { interface = "eth1", address = "192.0.2.1/24", up = true },
          { interface = "eth1", address = "2001:db8::1/64", up = true },
        ]
        [[test]]
        name = "creates beside others"
        given.links = '[{"ifname": "eth1", "flags": [], "addr_info": [{"local": "192.0.2.1", "prefixlen": 24}]}]'
        want = { interface = "eth1", address = "192.0.2.2/24" }
        commands = ["ip addr add 192.0.2.2/24 dev eth1"]
        "#,
    );
}

#[test]
fn rows_of_csv_have_a_joined_key_and_lists_in_cells() {
    holds_on(
        SHELL,
        r#"
        [attr.name]
        role = "namevar"
        values = [{ name = "text", pattern = '[\w.\-]+/[\w.\-]+' }]
        [attr.weight]
        values = [{ name = "weight", integer = [0, 256] }]
        [attr.cookies]
        array = "set"
        [attr.ports]
        array = "set"
        values = [{ name = "port", integer = [1, 65535] }]
        "#,
        r##"
        [instance]
        from = "servers"
        key = { name = "{be}/{srv}" }
        [attr.weight]
        column = "weight"
        line = "set weight {name} {weight}"
        [attr.cookies]
        column = "cookies"
        codec = "list"
        line = "set cookies {name} {cookies:words}"
        [attr.ports]
        column = "ports"
        codec = "list"
        line = "set ports {name} {ports:words}"

        [[test]]
        name = "reads"
        given.servers = """
# be,srv,weight,cookies,ports,
web,s1,10,a b,80 443,
web,s2,20,,,
"""
        expect = [{ name = "web/s1", weight = 10, cookies = ["a", "b"], ports = [80, 443] }, { name = "web/s2", weight = 20 }]
        [[test]]
        name = "changes"
        given.servers = """
# be,srv,weight,cookies,ports,
web,s1,10,a b,80,
"""
        want = { name = "web/s1", weight = 30, cookies = ["c", "a"], ports = [443, 80] }
        commands = ["set weight web/s1 30", "set cookies web/s1 a c", "set ports web/s1 80 443"]
        "##,
    );
}

#[test]
fn rows_may_be_members_of_an_object() {
    holds_on(
        SHELL,
        "[attr.name]\nrole = \"namevar\"\n[attr.level]\nvalues = [{ name = \"level\", integer = [1, 7] }]\n",
        r#"
        [instance]
        from = "ports"
        rows = "ports"
        key = { name = "@name" }
        [attr.level]
        field = "level"
        line = "level {name} {level}"
        [[test]]
        name = "reads"
        given.ports = '{"ports": {"a": {"level": 3}, "b": {"level": 4}}}'
        expect = [{ name = "a", level = 3 }, { name = "b", level = 4 }]
        "#,
    );
}

#[test]
fn rows_that_are_missing_or_not_understood_are_not_absent() {
    let implementation = r#"
        [instance]
        from = "ports"
        rows = "ports"
        key = { name = "name" }
        create = "add-port {name}"
        remove = "del-port {name}"
        [attr.bridge]
        unsupported = "x"
        [attr.tag]
        field = "tag"
        line = "set {name} tag {tag}"
        no = "clear {name} tag"
        absent = "unset"
        [attr.trunks]
        field = "trunks"
        line = "trunk {name} {trunks:words}"
        no = "clear {name} trunks"
        absent = "unset"
        "#;
    let registry = Registry::from_files(&[], &files_of(SHELL, PORT, implementation)).unwrap();
    let platform = registry.platform("box").unwrap();
    let driver = Driver::new(platform, &Facts::default());
    let model = registry.model("thing").unwrap();
    let state = |answer: &str| {
        let reads: Reads = [("ports".to_owned(), answer.to_owned())]
            .into_iter()
            .collect();
        platform.parse(&reads).unwrap()
    };
    let error = driver.instances(model, &state("{\"interfaces\": []}"));
    assert_eq!(
        error.unwrap_err().to_string(),
        "cannot parse the answer to `ports`: it has no list `ports`, but `interfaces`"
    );
    let answer = r#"{"ports": [{"name": "a b"}, {"name": "p1", "tag": "x", "trunks": [1, {}]}]}"#;
    let found = driver.not_understood(&[model], &state(answer));
    let texts: Vec<&str> = found.iter().map(|one| one.text.as_str()).collect();
    assert_eq!(texts, ["name a b", "tag: x", "trunks: [1,{}]"]);
}
