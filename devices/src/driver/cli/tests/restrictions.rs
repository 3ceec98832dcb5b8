//! Types and values that a platform supports only in part.

use super::{files, holds, render_all};
use crate::driver::Registry;

const MODEL: &str = r#"
    ensurable = true
    [attr.name]
    role = "namevar"
    values = [{ name = "text", pattern = '\S+' }]
    [attr.mode]
    values = ["access", "trunk", "dynamic"]
    [attr.mtu]
    values = ["unset", { name = "bytes", integer = [64, 65536] }]
    "#;

#[test]
fn restrictions_of_names_values_and_removal() {
    holds(
        MODEL,
        r#"
        [instance]
        from   = "config"
        block  = "interface {name}"
        only   = { name = 'Vlan\d+' }
        remove = false
        [attr.mode]
        line   = "mode {mode}"
        values = ["access", "trunk"]
        [attr.mtu]
        line   = "mtu {mtu}"
        values = ["unset", { name = "bytes", integer = [1280, 9216] }]
        absent = "unset"
        [[test]]
        name = "other interfaces are no instances"
        given.config = "interface Vlan10\n mode access\ninterface Ethernet1\n mode trunk\n"
        expect = [{ name = "Vlan10", mode = "access", mtu = "unset" }]
        [[test]]
        name = "another name is refused"
        want = { name = "Ethernet1", mode = "access" }
        error = "name: \"Ethernet1\" is no name of the type on box; expected Vlan\\d+"
        [[test]]
        name = "a value of other platforms is refused"
        want = { name = "Vlan10", mode = "dynamic" }
        error = "mode: \"dynamic\" is not valid on this platform; expected `access` or `trunk`"
        [[test]]
        name = "a number of other platforms is refused"
        want = { name = "Vlan10", mtu = 9217 }
        error = "mtu: 9217 is not valid on this platform; expected `unset` or an integer from 1280 to 9216"
        [[test]]
        name = "a valid number is sent"
        given.config = "interface Vlan10"
        want = { name = "Vlan10", mtu = 9216 }
        commands = ["interface Vlan10", " mtu 9216"]
        [[test]]
        name = "an instance cannot be removed"
        given.config = "interface Vlan10"
        want = { name = "Vlan10", ensure = "absent" }
        error = "ensure: an instance cannot be removed on box"
        "#,
    );
}

#[test]
fn restrictions_that_the_model_does_not_allow_are_errors() {
    let implementation = |keys: &str| {
        format!(
            "[instance]\nfrom = \"config\"\nblock = \"interface {{name}}\"\n{keys}\n\
             [attr.mtu]\nline = \"mtu {{mtu}}\"\n"
        )
    };
    for (keys, expected) in [
        (
            "only = { mtu = '9' }\n[attr.mode]\nline = \"mode {mode}\"",
            "`mtu` is no namevar of thing",
        ),
        (
            "[attr.mode]\nline = \"mode {mode}\"\nvalues = [\"access\", \"routed\"]",
            "the model does not have all of `routed`",
        ),
    ] {
        let loaded = Registry::from_files(&[], &files(MODEL, &implementation(keys)));
        let findings = loaded.map(|_| ()).unwrap_err();
        assert!(
            render_all(&findings).contains(expected),
            "{}",
            render_all(&findings)
        );
    }
}
