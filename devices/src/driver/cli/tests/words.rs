//! Words with text around their placeholders, and words in quotation marks.

use super::{PLATFORM, files_of, holds_on, render_all};
use crate::driver::Registry;

const MODEL: &str = r#"
    ensurable = true
    ensure_default = "present"
    [attr.name]
    role = "namevar"
    [attr.backend]
    [attr.comment]
    values = ["unset", { name = "text", pattern = '.+' }]
    [attr.key]
    sensitive = true
    values = ["unset", { name = "text", pattern = '.+' }]
    "#;

/// Options of a line as in RouterOS.
const LINE: &str = r#"
    [instance]
    from = "config"
    line = "add server={backend}/{name} <[comment={comment:quoted}] [key={key:quoted}]>"
    "#;

fn registry(quote: &str, implementation: &str) -> Result<Registry, String> {
    let platform = format!("{PLATFORM}\n{quote}");
    let files = files_of(&platform, MODEL, implementation);
    Registry::from_files(&[], &files).map_err(|findings| render_all(&findings))
}

#[track_caller]
fn holds(quote: &str, implementation: &str) {
    holds_on(&format!("{PLATFORM}\n{quote}"), MODEL, implementation);
}

const ESCAPE: &str = "[quote]\nmark = '\"'\nescape = '\\'\nescaped = '$'\n";

#[test]
fn texts_in_quotation_marks_are_read_and_written() {
    let tests = r#"
        [[test]]
        name = "reads"
        given.config = '''
add server=web/s1 comment="rack \"A\" 2" key=plain
add server=web/s2 key="\$1 two" comment=one
'''
        expect = [
          { backend = "web", name = "s1", comment = 'rack "A" 2', key = "plain" },
          { backend = "web", name = "s2", comment = "one", key = "$1 two" },
        ]
        [[test]]
        name = "writes"
        want = { backend = "web", name = "s1", comment = '" key=other; $(x) \', key = "two words" }
        commands = ['add server=web/s1 comment="\" key=other; \$(x) \\" key="two words"']
        [[test]]
        name = "removes"
        given.config = 'add server=web/s1 comment="two words"'
        want = { name = "s1", ensure = "absent" }
        commands = ['no add server=web/s1 comment="two words"']
        [[test]]
        name = "refuses a word that would be split otherwise"
        want = { backend = "web/x", name = "s1" }
        error = 'backend: "web/x" contains "/", which ends the value in its line'
        [[test]]
        name = "refuses marks without quotation"
        want = { backend = '"web', name = "s1" }
        error = 'backend: "\"web" contains a quotation mark or a character with a meaning in box'
        [[test]]
        name = "in sync"
        given.config = 'add server=web/s1 comment="one"'
        want = { backend = "web", name = "s1", comment = "one" }
        commands = []
        "#;
    holds(ESCAPE, &format!("{LINE}{tests}"));
}

#[test]
fn marks_without_an_escape_are_refused() {
    let tests = r#"
        [[test]]
        name = "refuses the mark"
        want = { backend = "web", name = "s1", comment = "it's" }
        error = '''comment: "it's" contains a quotation mark or a character with a meaning in box'''
        [[test]]
        name = "writes other characters"
        want = { backend = "web", name = "s1", comment = 'a "b" \n $x' }
        commands = ["add server=web/s1 comment='a \"b\" \\n $x'"]
        "#;
    holds("[quote]\nmark = \"'\"\n", &format!("{LINE}{tests}"));
}

#[test]
fn quotation_marks_must_be_declared() {
    let text = registry("", LINE).unwrap_err();
    assert!(
        text.contains("has `:quoted`: add [quote] to platform.toml"),
        "{text}"
    );
    let cases = [
        ("[quote]\nmark = \"''\"\n", "`mark` must be one character"),
        (
            "[quote]\nmark = '\"'\nescaped = '$'\n",
            "`escaped` requires `escape`",
        ),
    ];
    for (quote, expected) in cases {
        let text = registry(quote, LINE).unwrap_err();
        assert!(text.contains(expected), "{text}");
    }
}

/// Aruba AOS-CX: `interface lag 99 multi-chassis` is the group of links `lag 99`.
#[test]
fn text_of_several_words_ends_before_a_literal() {
    super::holds(
        r#"
        [attr.name]
        role = "namevar"
        values = [{ name = "interface", pattern = '\S+( \d+)?' }]
        [attr.mtu]
        "#,
        r#"
        [instance]
        from = "config"
        block = "interface {name:words} [{*multi!multi-chassis}]"
        [attr.mtu]
        line = "mtu {mtu}"
        [[test]]
        name = "reads"
        given.config = "interface lag 99 multi-chassis\n mtu 9000\ninterface 1/1/1\n mtu 1500"
        expect = [{ name = "lag 99", mtu = "9000" }, { name = "1/1/1", mtu = "1500" }]
        [[test]]
        name = "changes"
        given.config = "interface lag 99 multi-chassis\n mtu 9000"
        want = { name = "lag 99", mtu = "1500" }
        commands = ["interface lag 99 multi-chassis", " mtu 1500"]
        [[test]]
        name = "sends nothing"
        given.config = "interface lag 99 multi-chassis\n mtu 9000"
        want = { name = "lag 99", mtu = "9000" }
        commands = []
        "#,
    );
}

/// FortiOS: `set member "web" "db 1"`.
#[test]
fn elements_of_a_list_stand_between_marks_where_they_need_them() {
    let platform = format!("{PLATFORM}\n{ESCAPE}");
    super::holds_on(
        &platform,
        "[attr.name]\nrole = \"namevar\"\n[attr.member]\narray = \"list\"\n",
        r#"
        [instance]
        from = "config"
        block = "edit {name:quoted}"
        [attr.member]
        line = "set member {member:words}"
        absent = []
        [[test]]
        name = "reads"
        given.config = '''
edit "group"
 set member "web" "db 1" plain
'''
        expect = [{ name = "group", member = ["web", "db 1", "plain"] }]
        [[test]]
        name = "writes"
        want = { name = "group 1", member = ["web", "db 1", 'a"b'] }
        commands = ['edit "group 1"', ' set member web "db 1" "a\"b"']
        "#,
    );
}
