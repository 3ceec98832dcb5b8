//! Instances that a device prints as lines of a block, or as complete lines.

use super::{files, holds, render_all};
use crate::driver::Registry;

const MODEL: &str = r#"
    ensurable = true
    title = "{list} {seq}"
    [attr.list]
    role = "namevar"
    [attr.seq]
    role = "namevar"
    [attr.action]
    values = ["permit", "deny"]
    [attr.prefix]
    values = [{ name = "prefix", pattern = '[0-9./]+' }]
    "#;

const FORMS: &str = r#"
    [instance]
    from  = "config"
    block = ["ip prefix-list {list}", ""]
    line  = ["seq {seq} {action} {prefix}", "ip prefix-list {list} seq {seq} {action} {prefix}"]
    "#;

#[test]
fn instance_is_written_in_the_form_that_the_device_uses() {
    let tests = r#"
        [[test]]
        name = "reads both forms"
        given.config = """
ip prefix-list A
   seq 10 permit 192.0.2.0/24
ip prefix-list B seq 20 deny 198.51.100.0/24
"""
        expect = [
          { list = "B", seq = "20", action = "deny", prefix = "198.51.100.0/24" },
          { list = "A", seq = "10", action = "permit", prefix = "192.0.2.0/24" },
        ]
        [[test]]
        name = "changes a line of a block"
        given.config = "ip prefix-list A\n seq 10 permit 192.0.2.0/24"
        want = { list = "A", seq = "10", ensure = "present", action = "deny", prefix = "192.0.2.0/24" }
        commands = ["ip prefix-list A", " seq 10 deny 192.0.2.0/24"]
        [[test]]
        name = "changes a complete line"
        given.config = "ip prefix-list A seq 10 permit 192.0.2.0/24"
        want = { list = "A", seq = "10", ensure = "present", action = "deny", prefix = "192.0.2.0/24" }
        commands = ["ip prefix-list A seq 10 deny 192.0.2.0/24"]
        [[test]]
        name = "a new one has the form of the others"
        given.config = "ip prefix-list A seq 10 permit 192.0.2.0/24"
        want = { list = "B", seq = "5", ensure = "present", action = "deny", prefix = "192.0.2.0/24" }
        commands = ["ip prefix-list B seq 5 deny 192.0.2.0/24"]
        [[test]]
        name = "the first one has the first form"
        given.config = "hostname x"
        want = { list = "B", seq = "5", ensure = "present", action = "deny", prefix = "192.0.2.0/24" }
        commands = ["ip prefix-list B", " seq 5 deny 192.0.2.0/24"]
        [[test]]
        name = "removes a line of a block"
        given.config = "ip prefix-list A\n seq 10 permit 192.0.2.0/24"
        want = { list = "A", seq = "10", ensure = "absent" }
        commands = ["ip prefix-list A", " no seq 10 permit 192.0.2.0/24"]
        [[test]]
        name = "removes a complete line"
        given.config = "ip prefix-list A seq 10 permit 192.0.2.0/24"
        want = { list = "A", seq = "10", ensure = "absent" }
        commands = ["no ip prefix-list A seq 10 permit 192.0.2.0/24"]
        [[test]]
        name = "is in sync in each form"
        given.config = "ip prefix-list A seq 10 permit 192.0.2.0/24\nip prefix-list B\n seq 1 deny 192.0.2.0/24"
        want = { list = "A", seq = "10", ensure = "present", action = "permit", prefix = "192.0.2.0/24" }
        commands = []
        "#;
    holds(MODEL, &format!("{FORMS}{tests}"));
}

#[test]
fn forms_have_one_syntax_for_each_block() {
    let errors = |from: &str, to: &str| {
        let loaded = Registry::from_files(&[], &files(MODEL, &FORMS.replacen(from, to, 1)));
        render_all(&loaded.err().unwrap_or_default())
    };
    let one = "with the top level as one of several blocks, `line` has one syntax for each block";
    assert_eq!(errors("\"seq {seq} {action} {prefix}\", ", ""), one);
    let remove =
        "with the top level as one of several blocks, `remove` has one line for each block";
    let line = "from  = \"config\"";
    let with_remove = format!("{line}\n    remove = \"no ip prefix-list {{list}} seq {{seq}}\"");
    assert_eq!(errors(line, &with_remove), remove);
}
