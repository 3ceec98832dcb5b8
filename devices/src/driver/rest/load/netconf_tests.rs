//! Types with NETCONF: what they cannot have, and lists where a type has one element.

use super::key_tests::NETCONF;
use crate::definitions::DefinitionFile;
use crate::driver::Registry;

const MODEL: &str = r#"
schema = 1
type = "thing"
doc = "A thing."
ensurable = true
refresh = "yes"
title = "{group} {name}"
[attr.group]
role = "namevar"
values = [{ name = "text", pattern = '\S+' }]
[attr.name]
role = "namevar"
values = [{ name = "text", pattern = '\S+' }]
[attr.kind]
role = "init_only"
values = ["x"]
[attr.size]
values = ["unset", { name = "text", pattern = '\S+' }]
"#;

const COMPLETE: &str = r#"
schema = 1
platform = "box"
type = "thing"
rank = 1
[instance]
collection = "/a:groups/group[*]/thing"
key = { group = "../name", name = "name" }
[attr.kind]
unsupported = "not here"
[attr.size]
field = "size"
absent = "unset"
"#;

fn registry(definition: &str) -> Result<Registry, String> {
    let files = [
        DefinitionFile::new("models/thing.toml", MODEL),
        DefinitionFile::new("box/platform.toml", NETCONF),
        DefinitionFile::new("box/thing.toml", definition),
    ];
    Registry::from_files(&[], &files).map_err(|findings| {
        let lines = findings.iter().map(|found| {
            let label = found.labels.first();
            let line = label.map_or(0, |label| label.source.position(label.span.start).0);
            let help = found.help.as_deref().unwrap_or_default();
            format!("{line}: {} ({help})", found.message)
        });
        lines.collect::<Vec<_>>().join("\n")
    })
}

#[test]
fn netconf_reports_what_is_not_available() {
    assert_eq!(registry(COMPLETE).err(), None);
    // (text in the complete definition, its replacement, the error)
    let cases = [
        (
            "group[*]/thing",
            "group[*]/thing[*]/part",
            "7: a list in a list in a list cannot be expressed (use one `[*]`, ",
        ),
        (
            "group[*]/thing",
            "group/thing",
            "`../` in the key `group` requires an outer list, `[*]` in `collection`",
        ),
        (
            "group = \"../name\"",
            "group = \"group\"",
            "7: `[*]` requires the key of the outer list (add the namevar with `../` to `key`",
        ),
        (
            "/a:groups",
            "/groups",
            "7: `groups` needs a prefix of [namespace]",
        ),
        (
            "[attr.kind]\nunsupported = \"not here\"",
            "[kind]\nattr = \"kind\"\nis.x = { marks = { x = true } }",
            "[kind] is not available with NETCONF (write a type for each kind)",
        ),
        (
            "field = \"size\"\nabsent = \"unset\"",
            "sub = \"sizes\"\ncollection = \"/x\"\nobject = \"/x/{member|percent}\"\nkey = \"name\"",
            "[attr.size] has a location that is not available with NETCONF (use `field` or `set`)",
        ),
        (
            "absent = \"unset\"",
            "absent = \"unset\"\nunset = \"null\"",
            "`unset = \"null\"` of `size` is not available with NETCONF: use `delete`",
        ),
        (
            "field = \"size\"",
            "field = \"sizes[0]\"",
            "`[0]` is not available with NETCONF: name a key, `[name=x]`",
        ),
        (
            "[attr.kind]",
            "[refresh]\npath = \"/x\"\n[attr.kind]",
            "[refresh] is not available with NETCONF (remove it; ",
        ),
    ];
    for (from, to, expected) in cases {
        assert!(COMPLETE.contains(from), "{from}");
        let found = registry(&COMPLETE.replacen(from, to, 1)).err();
        let found = found.unwrap_or_default();
        assert!(found.contains(expected), "{to}: {found}");
    }
}

/// The failure of a test that reads an answer.
fn reading(definition: &str, answer: &str) -> Option<String> {
    let collection = definition.split('"').find(|text| text.starts_with("/a:"));
    let collection = collection.expect("the definition has a collection");
    let test = format!(
        "[[test]]\nname = \"reads\"\ngiven.\"GET {collection}\" = '{answer}'\nexpect = []\n"
    );
    let registry = registry(&format!("{definition}{test}")).expect("a good definition");
    let failures = registry.test(None).into_iter();
    failures.filter_map(|result| result.failure).next()
}

/// An answer with lists where a definition has one element is not one without instances.
#[test]
fn netconf_reports_a_list_in_the_path_of_a_type() {
    let groups = r#"<groups xmlns="urn:a"><group><name>a</name><thing><name>x</name></thing></group><group><name>b</name></group></groups>"#;
    let one_group = COMPLETE
        .replace("group[*]/thing", "group/thing")
        .replace("group = \"../name\"", "group = \"group\"");
    let failure = reading(&one_group, groups).unwrap_or_default();
    let expected = "`a:groups.group` is a list: its elements are `a:groups.group[*]`";
    assert!(failure.contains(expected), "{failure}");
    let singleton = one_group.replace("/group/thing", "/group").replace(
        "key = { group = \"group\", name = \"name\" }",
        "singleton = \"default\"",
    );
    let failure = reading(&singleton, groups).unwrap_or_default();
    let expected = "`a:groups.group` is a list, not one object";
    assert!(failure.contains(expected), "{failure}");
    let none = r#"<groups xmlns="urn:a"><group><name>a</name></group></groups>"#;
    assert_eq!(reading(COMPLETE, none), None);
}
