//! Findings about definitions of command lines.

use super::*;

#[test]
fn definition_errors_have_suggestions() {
    let model = r#"
        [attr.name]
        role = "namevar"
        [attr.mode]
        values = ["access", "dynamic_auto"]
        "#;
    let cases = [
        (
            "[instance]\nfrom = \"confg\"\nblock = \"x {name}\"\n[attr.mode]\nline = \"mode {mode}\"\n",
            "the platform has no read `confg` (did you mean `config`?)",
        ),
        (
            "rewrite = [{ when = { nane = \"x\" } }]\n[instance]\nfrom = \"config\"\nblock = \"x {name}\"\n[attr.mode]\nline = \"mode {mode}\"\n",
            "thing has no attribute `nane` (did you mean `name`?)",
        ),
        (
            "[instance]\nfrom = \"config\"\nblock = \"x {nam}\"\n[attr.mode]\nline = \"mode {mode}\"\n",
            "`x {nam}` uses `nam`, which is not an attribute of thing (did you mean `name`?)",
        ),
        (
            "[instance]\nfrom = \"config\"\nblock = \"x {name}\"\n[attr.mode]\nlines = \"mode {mode}\"\n",
            "unknown key `lines` in [attr.mode] (did you mean `line`?)",
        ),
        (
            "[instance]\nfrom = \"config\"\nblock = \"x {name}\"\n[attr.mode]\nset.acess = \"mode access\"\n",
            "the model has no value `acess` of `mode` (did you mean `access`?)",
        ),
        (
            "[instance]\nfrom = \"config\"\nblock = \"x {name}\"\n",
            "`mode` of thing is not implemented (add [attr.mode], or `unsupported = \"reason\"` in it)",
        ),
        (
            "[instance]\nfrom = \"config\"\nblock = \"x {name}\"\n[attr.mode]\nline = \"mode {mode\"\n",
            "a `{` has no `}`",
        ),
        (
            "[instance]\nfrom = \"config\"\nline = \"x {name}\"\n[attr.mode]\nline = \"mode {mode}\"\n",
            "`mode` has lines of its own, but each instance is one line",
        ),
        (
            "[instance]\nfrom = \"config\"\nblock = \"x {name}\"\n[attr.mode]\nreplace = \"remove-first\"\nset.access = \"mode access\"\nset.dynamic_auto = \"mode auto\"\n",
            "`replace` of `mode` has no effect with `set`: use `line`, or remove `replace`",
        ),
        (
            "[instance]\nfrom = \"config\"\nblock = \"x {name}\"\n[attr.mode]\nmany = true\nline = \"mode {mode}\"\nwith = [\"name\"]\n",
            "`many` of `mode` has no effect with `with` (remove one of them; an element of several values is a tuple",
        ),
        (
            "[instance]\nfrom = \"config\"\nblock = \"x {name}\"\n[attr.mode]\nline = \"mode {mode}\"\nidentity = 'mode'\n",
            "`identity` of `mode` has no effect without `many`",
        ),
        (
            "[instance]\nfrom = \"config\"\nblock = \"x {name}\"\n[attr.name]\nskip = [\"vlan1\"]\n[attr.mode]\nline = \"mode {mode}\"\n",
            "`skip` of `name` has no effect in the header of a block",
        ),
        (
            "[instance]\nfrom = \"objects\"\nkey = { name = \"Name\" }\n[attr.mode]\nfield = \"Mode\"\n",
            "[instance] does not declare where the rows are in the JSON document",
        ),
        (
            "[instance]\nfrom = \"objects\"\nrows = \"a..b\"\nkey = { name = \"Name\" }\n[attr.mode]\nfield = \"Mode\"\n",
            "`a..b` is not a path: a name is missing",
        ),
        (
            "[instance]\nfrom = \"objects\"\nrows = \"list\"\nkey = { name = \"../Name\" }\n[attr.mode]\nfield = \"Mode\"\n",
            "`../Name` requires an outer list, `each` of `rows`",
        ),
        (
            "[instance]\nfrom = \"objects\"\nrows = \"list\"\nkey = { name = \"Name\" }\n[attr.mode]\ncolumn = \"Mode\"\n",
            "`objects` has no columns: use `field` for values of its instances",
        ),
        (
            "[instance]\nfrom = \"config\"\nblock = \"x {name}\"\nrows = \"list\"\n[attr.mode]\nfield = \"Mode\"\n",
            "`config` has no fields: use `line` for values of its instances",
        ),
        (
            "[instance]\nfrom = \"config\"\nblock = \"x {name}\"\nrows = \"list\"\n[attr.mode]\nline = \"mode {mode}\"\n",
            "`rows` has no effect with `block`",
        ),
        (
            "[instance]\nfrom = \"config\"\nblock = \"x {name}\"\ncreate = \"new {name}\"\n[attr.mode]\nline = \"mode {mode}\"\n",
            "`create` has no effect with `block`",
        ),
        (
            "[instance]\nfrom = \"objects\"\nrows = \"list\"\nkey = { name = \"Name\" }\nenter = \"x {name}\"\ncreate = \"new {name}\"\n[attr.mode]\nfield = \"Mode\"\nline = \"mode {mode}\"\n",
            "`enter` creates the instance, too: use `mode` with `create`",
        ),
        (
            "[instance]\nfrom = \"objects\"\nrows = \"list\"\nkey = { name = \"Name\" }\n[attr.mode]\nfield = \"Mode\"\nline = \"mode {mode}\"\n",
            "`mode {mode}` lacks {name}: without `mode`, each line names its instance",
        ),
    ];
    for (implementation, expected) in cases {
        let findings = Registry::from_files(&[], &files(model, implementation)).unwrap_err();
        let text = render_all(&findings);
        assert!(text.contains(expected), "{implementation}\n{text}");
    }
}

#[test]
fn definition_check_finds_more_than_loading() {
    let model = r#"
        [attr.name]
        role = "namevar"
        [attr.mode]
        values = ["access", "dynamic_auto"]
        [attr.level]
        values = ["unset", { name = "level", integer = [1, 7] }]
        "#;
    let cases = [
        (
            "[attr.mode]\nset.access = \"mode access\"\n[attr.level]\nline = \"level {level}\"\nabsent = \"unset\"\n",
            "value `dynamic_auto` of thing.mode has no command",
        ),
        (
            "[attr.mode]\nline = \"x [{mode}] [{level}]\"\nwith = [\"level\"]\n[attr.level]\ninside = \"mode\"\ncodec = \"bundle\"\n",
            "no self-test for read, change, no difference (`commands = []`)",
        ),
        (
            "[attr.mode]\nline = \"x {mode}\"\n[attr.level]\nset.unset = \"x access\"\nline = \"level {level}\"\nabsent = \"unset\"\n",
            "mode and level both match the line `x access`",
        ),
        (
            "[attr.mode]\nline = \"x {mode}\"\nno = \"no y\"\n[attr.level]\nline = \"level {level}\"\nabsent = \"unset\"\n",
            "the `no` form of mode does not remove its line",
        ),
        (
            "[attr.mode]\nset.access = \"mode a\"\nset.dynamic_auto = \"mode a\"\n[attr.level]\nline = \"level {level}\"\nabsent = \"unset\"\n",
            "`access` and `dynamic_auto` of mode have the same line `mode a`",
        ),
    ];
    for (attributes, expected) in cases {
        let implementation =
            format!("[instance]\nfrom = \"config\"\nblock = \"x {{name}}\"\n{attributes}");
        let registry = Registry::from_files(&[], &files(model, &implementation))
            .unwrap_or_else(|findings| panic!("{}", render_all(&findings)));
        let text = render_all(&registry.check());
        assert!(text.contains(expected), "{attributes}\n{text}");
    }
}

#[test]
fn definition_default_in_another_line_is_checked_at_loading() {
    let model = "[attr.name]\nrole = \"namevar\"\n[attr.level]\nvalues = [\"unset\", { name = \"level\", integer = [1, 7] }]\n";
    let own = "[attr.level]\nline = \"level {level}\"\n";
    let other = "else.line = \"all levels {level}\"\n";
    let cases = [
        (
            format!("{own}absent = 1\nmany = true\n{other}"),
            "`else.line` of `level` requires a separate line for the value in a block",
        ),
        (
            format!("{own}absent = 1\nelse.line = \"all levels {{name}}\"\n"),
            "`else.line` of `level` must have `{level}` as its only value",
        ),
        (
            format!("{own}{other}"),
            "`level` has `else.line` and no `absent`",
        ),
        (
            format!("{own}absent = 1\n{other}else.only.level = '[0-9]'\n"),
            "`else.only` of `level` uses `level`, which is not a namevar",
        ),
        (
            format!("{own}absent = 1\n{other}else.only.name = '['\n"),
            "is not a valid pattern",
        ),
        (
            format!("{own}absent = 1\n{other}else.from = \"config\"\n"),
            "unknown key `from`",
        ),
    ];
    for (attributes, expected) in cases {
        let implementation =
            format!("[instance]\nfrom = \"config\"\nblock = \"x {{name}}\"\n{attributes}");
        let findings = Registry::from_files(&[], &files(model, &implementation)).unwrap_err();
        let text = render_all(&findings);
        assert!(text.contains(expected), "{attributes}\n{text}");
    }
}

#[test]
fn definition_of_a_user_changes_only_its_keys() {
    let model = "[attr.name]\nrole = \"namevar\"\n[attr.mode]\nvalues = [\"a\", \"b\"]\n";
    let shipped = files(
        model,
        "rank = 7\n[instance]\nfrom = \"config\"\nblock = \"x {name}\"\n[attr.mode]\nline = \"mode {mode}\"\n",
    );
    let own = |text: &str| {
        let header = "schema = 1\nplatform = \"box\"\ntype = \"thing\"\n";
        vec![DefinitionFile::new(
            "box/thing.toml",
            format!("{header}{text}"),
        )]
    };
    let changed = own(
        "extends = \"shipped\"\n[attr.mode]\nline = \"kind {mode}\"\n[[test]]\nname = \"t\"\nwant = { name = \"n\", mode = \"a\" }\ncommands = [\"x n\", \" kind a\"]\n",
    );
    let registry = Registry::from_files(&shipped, &changed)
        .unwrap_or_else(|findings| panic!("{}", render_all(&findings)));
    let platform = registry.platform("box").unwrap();
    assert_eq!(platform.type_driver("thing").unwrap().rank, 7);
    assert_eq!(registry.test(None)[0].failure, None);
    let findings =
        Registry::from_files(&shipped, &own("[attr.mode]\nline = \"kind {mode}\"\n")).unwrap_err();
    assert!(
        render_all(&findings).contains("key `instance` is missing"),
        "{}",
        render_all(&findings)
    );
}

/// One mistake is one error.
#[test]
fn errors_do_not_follow_from_others() {
    const MODEL: &str = r#"
        [attr.name]
        role = "namevar"
        values = [{ name = "word", pattern = '\w+' }]
        [attr.mtu]
        values = ["unset", { name = "mtu", integer = [1, 9000] }]
        "#;
    const LINES: &str = "[instance]\nfrom = \"config\"\nblock = \"interface {name}\"\n[attr.mtu]\nline = \"mtu {mtu}\"\nabsent = \"unset\"\n";
    for (from, to, expected) in [
        ("block", "blok", "unknown key `blok` in [instance]"),
        ("{name}", "{nam}", "`interface {nam}` uses `nam`"),
        ("{mtu}", "{mtu", "a `{` has no `}`"),
        ("integer", "integr", "unknown key `integr`"),
    ] {
        let files = files(&MODEL.replace(from, to), &LINES.replace(from, to));
        let found = Registry::from_files(&[], &files).expect_err(expected);
        let found = render_all(&found);
        assert!(
            found.contains(expected) && found.lines().count() == 1,
            "{found}"
        );
    }
}
