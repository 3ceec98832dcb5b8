//! The order of instances.

use super::{PLATFORM, files_of, holds_on, render_all};
use crate::driver::Registry;

const MODEL: &str = r#"
ensurable = true
ensure_default = "present"
title = "{filter} {name}"
[attr.filter]
role = "namevar"
values = [{ name = "filter", pattern = '\w+' }]
[attr.name]
role = "namevar"
values = [{ name = "name", pattern = '\w+' }]
[attr.action]
values = ["accept", "discard"]
[attr.after]
values = ["first", { name = "name", pattern = '\w+' }]
"#;

const LINES: &str = r#"
[instance]
from   = "config"
prefix = "set filter {filter} term {name}"
[attr.action]
line = "then {action}"
[attr.after]
order.after  = "insert filter {filter} term {name} after term {after}"
order.before = "insert filter {filter} term {name} before term {first}"
absent       = "first"
"#;

fn platform() -> String {
    format!("negate = \"delete\"\nnegate_replaces = \"set\"\n{PLATFORM}")
}

/// Terms of filters on Junos.
#[test]
fn instances_of_lines_are_moved_in_their_block() {
    let tests = r#"
[[test]]
name = "reads"
given.config = '''
set filter F term a then accept
set filter F term b from x
set filter F term b then discard
set filter G term c then accept
'''
expect = [
  { filter = "F", name = "a", action = "accept", after = "first" },
  { filter = "F", name = "b", action = "discard", after = "a" },
  { filter = "G", name = "c", action = "accept", after = "first" },
]
[[test]]
name = "moves to the beginning"
given.config = '''
set filter G term z then accept
set filter F term a then accept
set filter F term b from x
set filter F term b then discard
'''
want = { filter = "F", name = "b", action = "discard", after = "first" }
commands = ["insert filter F term b before term a"]
[[test]]
name = "moves behind another one with several lines"
given.config = '''
set filter F term a then accept
set filter F term b from x
set filter F term b then discard
'''
want = { filter = "F", name = "a", action = "accept", after = "b" }
commands = ["insert filter F term a after term b"]
[[test]]
name = "creates between others"
given.config = '''
set filter F term a then accept
set filter F term b then discard
'''
want = { filter = "F", name = "n", action = "accept", after = "a" }
commands = ["set filter F term n then accept", "insert filter F term n after term a"]
[[test]]
name = "creates the only one"
given.config = "set filter G term z then accept"
want = { filter = "F", name = "n", action = "accept", after = "first" }
commands = ["set filter F term n then accept"]
[[test]]
name = "creates the last one"
given.config = "set filter F term a then accept"
want = { filter = "F", name = "n", action = "accept", after = "a" }
commands = ["set filter F term n then accept"]
"#;
    holds_on(&platform(), MODEL, &format!("{LINES}{tests}"));
}

#[test]
fn lines_that_move_need_both_names() {
    for (from, to, expected) in [
        (
            " after term {after}",
            " up",
            "`insert filter {filter} term {name} up` lacks {after}",
        ),
        (
            "before term {first}",
            "before term a",
            "`insert filter {filter} term {name} before term a` lacks {first}",
        ),
        (
            "prefix = \"set filter {filter} term {name}\"\n[attr.action]\nline = \"then {action}\"",
            "line = \"set filter {filter} term {name} {action}\"",
            "`order` of `after` requires `block`, `prefix` or `named`",
        ),
    ] {
        assert!(LINES.contains(from), "{from}");
        let files = files_of(&platform(), MODEL, &LINES.replace(from, to));
        let found = Registry::from_files(&[], &files)
            .map_or_else(|found| render_all(&found), |_| String::new());
        assert!(found.contains(expected), "{found}");
    }
}
