//! Messages for authors of definitions.

use std::sync::Arc;

use crate::diagnostic::Source;
use crate::document::{Findings, read};
use crate::driver::platform::Platform;
use crate::driver::self_test::test_source::TestSource;
use crate::model::load::load as load_model;

const MODEL: &str = r#"
schema = 1
type = "thing"
doc = "A thing."
ensurable = true
refresh = "yes"
[attr.name]
role = "namevar"
[attr.key]
sensitive = true
[attr.kind]
values = ["a", "b"]
[attr.size]
values = [{ name = "number", integer = [0, 9] }]
[attr.colour]
values = ["red", "green"]
[attr.parts]
array = "set"
values = ["none", { name = "path", pattern = '/\S+' }]
"#;

const COMPLETE: &str = r#"
[instance]
collection = "/things"
rows = { at = "items", optional = true }
key = { name = "fullPath" }
answer = { kind = "things" }
object = "/things/{name|tilde}"
create = { body = { name = "{name}" } }
[kind]
attr = "kind"
is.a = { marks = { a = true } }
is.b = {}
[attr.size]
field = "size"
[attr.colour]
field = "colour"
[attr.parts]
field = "parts"
[attr.key]
field = "key"
[refresh]
path = "/things/{name|tilde}/restart"
body = { size = "{size}" }
"#;

const PLATFORM: &str = r#"
schema = 1
platform = "box"
transport = "rest"
[connection]
[read.all]
command = "/"
body = '{"command":"get"}'
parse = "json"
answer = "list"
[write.all]
path = "/"
document = "[0].all"
"#;

fn findings(text: &str) -> Vec<String> {
    let model = load_model(&Source::new("models/thing.toml", MODEL)).expect("a good model");
    let model = Arc::new(model);
    let platform = Source::new("box/platform.toml", PLATFORM);
    let platform = read(&Findings::new(&platform), |root| {
        Platform::load(root, TestSource::File { extended: None }, false)
    })
    .expect("a good platform");
    let source = Source::new("thing.toml", text);
    let findings = Findings::new(&source);
    read(&findings, |root| {
        super::read(
            root,
            &platform.context(&model, &[], &source),
            &(&[], String::new()),
        );
        root.finish();
    });
    findings
        .into_list()
        .into_iter()
        .map(|found| match found.help {
            Some(help) => format!("{} ({help})", found.message),
            None => found.message,
        })
        .collect()
}

#[test]
fn load_accepts_a_complete_definition() {
    assert_eq!(findings(COMPLETE), [""; 0]);
}

#[test]
fn load_reports_keys_that_contradict_a_document() {
    let document = |keys: &str, key: &str| {
        format!(
            "[instance]\nfrom = \"all\"\n{keys}\nkey = {{ name = \"{key}\" }}\n[attr.kind]\nfield = \"k\"\n\
             [attr.size]\nfield = \"s\"\n[attr.colour]\nfield = \"c\"\n[attr.parts]\nfield = \"p\"\n[attr.key]\nfield = \"key\"\n"
        )
    };
    let rows = "rows = { each = \"[0].all.groups\", at = \"things\", optional = true }";
    let cases = [
        (rows, "../name", ""),
        ("rows = \"[0].all.things\"", "name", ""),
        (
            "rows = \"[0].all.things\"",
            "../name",
            "`../` in the key `name` requires an outer list, `each` of `rows`",
        ),
        (
            "rows = \"[1].things\"",
            "name",
            "the list `[1].things` is not in the document that [write] sends",
        ),
        (
            "rows = \"[0].all.things\"\netag = true",
            "name",
            "`etag` has no effect with a document (remove it; it belongs to `collection`; `singleton`; `from`)",
        ),
    ];
    for (keys, key, expected) in cases {
        assert_eq!(
            findings(&document(keys, key)).join("; "),
            expected,
            "{keys}"
        );
    }
    let other = document(rows, "name").replace("from = \"all\"", "from = \"al\"");
    assert_eq!(
        findings(&other),
        ["the platform has no read `al` (did you mean `all`?)"]
    );
}

#[test]
fn load_reports_errors_with_suggestions() {
    // (text in the complete definition, its replacement, message)
    let cases = [
        ("[instance]", "[instances]", "key `instance` is missing"),
        (
            "answer = { kind = \"things\" }",
            "",
            "[instance] does not declare what a valid answer contains (add `answer`: a field with the value that identifies the answer, such as `answer = { kind = \"…\" }`)",
        ),
        (
            "create = {",
            "create = { verb = \"PATCH\",",
            "`instance.create.verb` cannot be `PATCH` (use one of `POST`, `PUT`)",
        ),
        (
            "create = {",
            "create = { verb = \"PUT\", at = \"collection\",",
            "a `PUT` of one object at the path of the collection replaces all objects (use `at = \"object\"`)",
        ),
        (
            "rows = { at = \"items\", optional = true }",
            "",
            "key `rows` is missing in [instance] (add the path of the list in the answer, such as `rows = \"results\"`; `\".\"` is the answer itself)",
        ),
        (
            "{ at = \"items\", optional = true }",
            "\"a..b\"",
            "`a..b` is not a path: a name is missing",
        ),
        (
            "key = { name = \"fullPath\" }",
            "",
            "key `key` is missing in [instance]",
        ),
        (
            "key = { name = \"fullPath\" }",
            "key = { name = \"@name\" }",
            "an object in a map is created at its own path: add `at = \"object\"` to `create`",
        ),
        (
            "object = \"/things/{name|tilde}\"",
            "object = \"/things\"",
            "`object` has no placeholder for the namevar `name`",
        ),
        (
            "object = \"/things/{name|tilde}\"",
            "object = \"/things/{name}\"",
            "`{name}` in the path `/things/{name}` is not encoded; use `{name|percent}`",
        ),
        (
            "object = \"/things/{name|tilde}\"",
            "object = \"/things/{name|tilde}/{size|percent}\"",
            "`/things/{name|tilde}/{size|percent}` uses `size`, which is not a namevar in `key`",
        ),
        (
            "body = { name = \"{name}\" }",
            "body = { name = \"{nam}\" }",
            "`{nam}` uses `nam`, which is not an attribute of thing",
        ),
        (
            "path = \"/things/{name|tilde}/restart\"",
            "path = \"/things/{name}/restart\"",
            "`{name}` in `path` is not encoded; use `{name|percent}`",
        ),
        (
            "field = \"colour\"",
            "field = \"colour\"\nunset = \"null\"",
            "`unset` requires `absent`, the value without the field",
        ),
        (
            "field = \"colour\"",
            "field = \"colour\"\nabsent = \"red\"\nunset = \"omit\"",
            "`unset = \"omit\"` of `colour` requires `update = { body = \"whole\" }`",
        ),
        (
            "field = \"colour\"",
            "field = \"a[0].colour\"",
            "`colour` is in an array, which a request replaces: use `update = { body = \"whole\" }`",
        ),
        (
            "field = \"colour\"",
            "field = \"a[*].colour\"",
            "`[*]` requires an array attribute",
        ),
        (
            "path = \"/things/{name|tilde}/restart\"",
            "",
            "key `path` is missing in [refresh]",
        ),
        (
            "{size}",
            "{sise}",
            "`{sise}` uses `sise`, which is not an attribute of thing (did you mean `size`?)",
        ),
        ("{size}", "{key}", "`{key}` sends the secret `key`"),
        (
            "object = \"/things/{name|tilde}\"",
            "",
            "key `object` is missing in [instance]",
        ),
        (
            "{name|tilde}",
            "{name|tidle}",
            "unknown filter `tidle`; filters: tilde, base, partition, folder, percent, number, shell",
        ),
        (
            "object =",
            "obejct =",
            "unknown key `obejct` in [instance] (did you mean `object`?)",
        ),
        (
            "[attr.colour]",
            "[attr.color]",
            "`thing` has no attribute `color` (did you mean `colour`?)",
        ),
        (
            "[attr.colour]\nfield = \"colour\"",
            "",
            "the attribute `colour` of the model has no section [attr.colour]; add it with a location or `unsupported = \"REASON\"`",
        ),
        (
            "field = \"colour\"",
            "",
            "[attr.colour] has no location (add `field`, `set`, `sub`, `entry`, `order`, `upload`, `inside` or `unsupported`)",
        ),
        (
            "field = \"colour\"",
            "set.red = { isRed = true }",
            "value `green` of `colour` has no `set.green`",
        ),
        (
            "field = \"colour\"",
            "set.red = { r = 1 }\nset.green = { g = 1 }\nwhen.blue = { b = 1 }",
            "`when.blue` has no `set.blue`",
        ),
        (
            "field = \"colour\"",
            "field = \"colour\"\nfiled = \"x\"",
            "unknown key `filed` in [attr.colour] (did you mean `field`?)",
        ),
        (
            "field = \"colour\"",
            "field = \"colour\"\ncodec = \"f5-monitor\"",
            "the codec requires 2 attributes; list the others in `with`",
        ),
        (
            "field = \"colour\"",
            "field = \"colour\"\ncodec = \"f5-montior\"",
            "`attr.colour.codec` cannot be `f5-montior` (did you mean `f5-monitor`?)",
        ),
        (
            "field = \"colour\"",
            "field = \"colour\"\ncodec = \"words\"",
            "[attr.colour]: this codec requires an array attribute",
        ),
        (
            "field = \"colour\"",
            "inside = \"size\"",
            "`colour` has `inside = \"size\"`, but `with` of `size` does not list it",
        ),
        (
            "field = \"colour\"",
            "entry = \"profiles\"\nkind = \"x\"",
            "`colour` requires the section [shared.profiles]",
        ),
        (
            "field = \"colour\"",
            "field = \"colour\"\nkinds = [\"c\"]",
            "`kinds` of `colour` lists `c`, which [kind] does not declare",
        ),
        (
            "field = \"colour\"",
            "field = \"colour\"\ntruthy = [\"yes\"]",
            "`truthy` requires two words: for true, for false",
        ),
        (
            "key = { name = \"fullPath\" }",
            "key = { size = \"id\" }",
            "`size` in `key` is not a namevar of the model",
        ),
        (
            "field = \"parts\"",
            "sub = \"partsReference.items\"\ncollection = \"/things/{name}/parts\"\nobject = \"/x/{member}\"\nsplit = \"{a}{b}{c}\"",
            "`split` must be `{host}:{port}` or `{field}`",
        ),
    ];
    for (from, to, expected) in cases {
        assert!(COMPLETE.contains(from), "{from}");
        let found = findings(&COMPLETE.replacen(from, to, 1));
        assert!(
            found.iter().any(|message| message == expected),
            "{to}\nexpected: {expected}\nfound: {found:#?}"
        );
    }
}
