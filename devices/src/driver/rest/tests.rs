//! Shapes of REST interfaces, as definitions with self-tests that load, pass and have no findings.

use std::sync::Arc;

use crate::change::{Change, Desired};
use crate::definitions::DefinitionFile;
use crate::driver::{Driver, Facts, Registry};
use crate::operation::Action;
use crate::read::Reads;
use crate::value::{Attributes, Value};

const PLATFORM: &str = r#"
schema = 1
platform = "box"
transport = "rest"
examples = ["example"]
secrets = ['"password"\s*:\s*"((?:[^"\\]|\\.)*)"']
[connection]
port = 443
"#;

const MODEL: &str = r#"
schema = 1
type = "thing"
doc = "A thing."
ensurable = true
title = "{group} {id}"
[attr.group]
role = "namevar"
refers = []
values = [{ name = "group", pattern = '[^ ]+' }]
[attr.id]
role = "namevar"
values = [{ name = "id", integer = [1, 99] }]
[attr.note]
refers = []
values = ["unset", { name = "text", pattern = '.*' }]
[attr.ports]
array = "list"
values = [{ name = "port", integer = [1, 99] }]
"#;

fn registry(definition: &str) -> Result<Registry, Vec<String>> {
    let head = "schema = 1\nplatform = \"box\"\ntype = \"thing\"\nrank = 1\n";
    let files = [
        DefinitionFile::new("models/thing.toml", MODEL),
        DefinitionFile::new("box/platform.toml", PLATFORM),
        DefinitionFile::new("box/thing.toml", format!("{head}{definition}")),
    ];
    let loaded = Registry::from_files(&[], &files);
    loaded.map_err(|findings| findings.into_iter().map(|one| one.message).collect())
}

/// The failures of the self-tests and the findings of a definition.
fn problems(definition: &str) -> Vec<String> {
    let registry = match registry(definition) {
        Ok(registry) => registry,
        Err(messages) => return messages,
    };
    let failures = registry.test(None).into_iter();
    let failures = failures.filter_map(|one| Some(format!("{}: {}", one.name, one.failure?)));
    let findings = registry.check().into_iter().map(|one| one.message);
    failures.chain(findings).collect()
}

#[test]
fn array_has_composite_keys_and_fields_that_are_null() {
    let definition = r#"
[instance]
rows = "."
collection = "/things"
object = "/things={group|percent},{id|percent}"
key = { group = "g", id = "n.id" }
unset = "null"
envelope = "m:thing[0]"
[attr.note]
field = "note"
absent = "unset"
[attr.ports]
field = "ports"
values = [{ name = "port", integer = [1, 9] }]
[instance.create]
[[test]]
name = "reads"
given."GET /things" = '[{"g":"a","n":{"id":1},"note":"x","ports":[1]},{"g":"a","n":{"id":2},"note":null,"ports":[2]}]'
expect = [{ group = "a", id = 1, note = "x", ports = [1] }, { group = "a", id = 2, note = "unset", ports = [2] }]
[[test]]
name = "creates with the key"
given."GET /things" = '[{"g":"a","n":{"id":1}}]'
want = { group = "a/b", id = "1", ensure = "present", note = "unset", ports = [3] }
requests = ['POST /things {"m:thing":[{"g":"a/b","n":{"id":1},"ports":[3]}]}']
[[test]]
name = "changes the second"
given."GET /things" = '[{"g":"a","n":{"id":1},"note":"x"},{"g":"a","n":{"id":2},"note":"y"}]'
want = { group = "a", id = 2, ensure = "present", note = "unset" }
requests = ['PATCH /things=a,2 {"m:thing":[{"note":null}]}']
[[test]]
name = "refuses a value of other platforms"
want = { group = "a", id = 2, ensure = "present", ports = [10] }
error = "ports: [10] is not valid on this platform; expected a list of an integer from 1 to 9"
[[test]]
name = "second run"
given."GET /things" = '[{"g":"a","n":{"id":"2"},"note":"y"}]'
want = { group = "a", id = 2, ensure = "present", note = "y" }
requests = []
[[test]]
name = "removes"
given."GET /things" = '[{"g":"a,b","n":{"id":2}}]'
want = { group = "a,b", id = 2, ensure = "absent" }
requests = ['DELETE /things=a%2Cb,2']
"#;
    assert_eq!(problems(definition), [""; 0]);
}

#[test]
fn map_has_names_and_complete_objects_with_unmanaged_fields() {
    let definition = r#"
[instance]
rows = "data.things"
collection = "/things"
object = "/things/{group|percent}/{id|percent}"
key = { group = "@name", id = "id" }
create = { verb = "PUT", body = { id = "{id|number}", kind = 7 } }
update = { verb = "PUT" }
unset = "omit"
[attr.note]
field = "info[lang=en].note"
absent = "unset"
[attr.ports]
field = "listen[*].port"
absent = []
[[test]]
name = "reads"
given."GET /things" = '{"data":{"things":{"a":{"id":1,"info":[{"lang":"de","note":"y"},{"lang":"en","note":"x"}],"listen":[{"port":1,"tls":true},{"port":2}]}}}}'
expect = [{ group = "a", id = 1, note = "x", ports = [1, 2] }]
[[test]]
name = "creates"
given."GET /things" = '{"data":{"things":{}}}'
want = { group = "b", id = 2, ensure = "present", note = "x" }
requests = ['PUT /things/b/2 {"id":2,"kind":7,"info":[{"lang":"en","note":"x"}]}']
[[test]]
name = "changes"
given."GET /things" = '{"data":{"things":{"a":{"id":1,"x":0,"info":[{"lang":"de","note":"y"},{"lang":"en","note":"x","z":1}],"listen":[{"port":1,"tls":true},{"port":2}]}}}}'
want = { group = "a", id = 1, note = "unset", ports = [3, 1] }
requests = ['PUT /things/a/1 {"id":1,"x":0,"info":[{"lang":"de","note":"y"},{"lang":"en","z":1}],"listen":[{"port":3},{"port":1,"tls":true}]}']
[[test]]
name = "second run"
given."GET /things" = '{"data":{"things":{"a":{"id":1}}}}'
want = { group = "a", id = 1, note = "unset", ports = [] }
requests = []
[[test]]
name = "removes"
given."GET /things" = '{"data":{"things":{"a":{"id":1},"b":{"id":1}}}}'
want = { group = "a", id = 1, ensure = "absent" }
requests = ['DELETE /things/a/1']
"#;
    assert_eq!(problems(definition), [""; 0]);
}

#[test]
fn answer_without_the_list_is_an_error_of_the_read() {
    let definition = |answer: &str| {
        format!(
            "[instance]\nrows = \"results\"\ncollection = \"/things\"\n\
             object = \"/things/{{group|percent}}/{{id|percent}}\"\n\
             key = {{ group = \"g\", id = \"id\" }}\n\
             [attr.note]\nfield = \"note\"\n[attr.ports]\nunsupported = \"x\"\n\
             [[test]]\nname = \"reads\"\nexpect = []\ngiven.\"GET /things\" = '{answer}'\n"
        )
    };
    let failure = |answer: &str| problems(&definition(answer)).swap_remove(0);
    let prefix = "reads: cannot parse the answer to `GET /things`: ";
    for (answer, expected) in [
        (r#"{"items":[]}"#, "it has no list `results`, but `items`"),
        (r#"{"error":"busy"}"#, "it has no list `results`"),
        (r#"{"results":[{"g":"a"}]}"#, "an object has no `id`"),
    ] {
        assert_eq!(failure(answer), format!("{prefix}{expected}"), "{answer}");
    }
}

#[test]
fn complete_object_has_unmanaged_secrets_that_are_masked() {
    let definition = r#"
[instance]
rows = "."
collection = "/things"
object = "/things/{group|percent}/{id|percent}"
key = { group = "g", id = "id" }
update = { verb = "PUT" }
[attr.note]
field = "note"
[attr.ports]
unsupported = "x"
"#;
    let registry = registry(definition).expect("valid");
    let driver = Driver::new(registry.platform("box").expect("there"), &Facts::default());
    let model = registry.model("thing").expect("there");
    let answer =
        r#"[{"g":"a","id":1,"note":"x","users":[{"password":"hash1"},{"password":"ha\"sh2"}]}]"#;
    let reads = Reads::from_iter([("GET /things".to_owned(), answer.to_owned())]);
    let before = driver.platform().parse(&reads).expect("JSON");
    let attributes: Attributes = [
        ("group", "a".into()),
        ("id", 1.into()),
        ("note", "y".into()),
    ]
    .map(|(name, value): (&str, Value)| (name.to_owned(), value))
    .into_iter()
    .collect();
    let desired = Desired {
        reference: "Thing[a 1]".into(),
        model: Arc::clone(model),
        attributes,
    };
    let current = driver.instance(&desired, &before).expect("read");
    let change = Change::new(Arc::new(desired), current, vec!["note".into()]);
    let operations = driver.render(&change, &before).expect("written");
    let Action::Request(request) = &operations[0].action else {
        panic!("{operations:?}");
    };
    let body = request.body.as_ref().expect("a body");
    assert_eq!(
        body.reveal(),
        answer[1..answer.len() - 1].replace(r#""x""#, r#""y""#)
    );
    assert_eq!(
        request.to_string(),
        r#"PUT /things/a/1 {"g":"a","id":1,"note":"y","users":[{"password":"••••"},{"password":"••••"}]}"#
    );
    let mut after = before.clone();
    driver.predict(model, &mut after, &operations);
    let difference = driver.config_diff(&before, &after);
    assert!(difference.contains("+ note: \"y\""), "{difference}");
    assert!(
        !difference.contains("hash1") && !difference.contains("sh2"),
        "{difference}"
    );
}

#[test]
fn file_is_uploaded_before_the_request_that_names_it() {
    let model = MODEL.replacen(
        "[attr.ports]",
        "[attr.content]\nsensitive = true\nvalues = [{ name = \"text\", pattern = '(?s).+' }]\n[attr.ports]",
        1,
    );
    let definition = r#"
[instance]
rows = "items"
collection = "/certs"
object = "/certs/{group|percent},{id|percent}"
key = { group = "g", id = "n" }
create = { body = { g = "{group}", n = "{id|number}" } }
[attr.note]
field = "note"
absent = "unset"
[attr.ports]
field = "ports"
[attr.content]
upload     = { path = "/uploads/{group|percent}.crt", value = "file:/tmp/{group}.crt" }
field      = "sourcePath"
write_only = true
[[test]]
name = "reads"
given."GET /certs" = '{"items":[{"g":"a","n":1,"checksum":"x"}]}'
expect = [{ group = "a", id = 1, note = "unset" }]
[[test]]
name = "creates"
given."GET /certs" = '{"items":[]}'
want = { group = "a", id = 1, ensure = "present", content = "BEGIN" }
requests = ['POST /uploads/a.crt BEGIN', 'POST /certs {"g":"a","n":1,"sourcePath":"file:/tmp/a.crt"}']
"#;
    let head = "schema = 1\nplatform = \"box\"\ntype = \"thing\"\nrank = 1\n";
    let files = |definition: &str| {
        [
            DefinitionFile::new("models/thing.toml", &*model),
            DefinitionFile::new("box/platform.toml", PLATFORM),
            DefinitionFile::new("box/thing.toml", format!("{head}{definition}")),
        ]
    };
    let registry = Registry::from_files(&[], &files(definition)).expect("a good definition");
    let results = registry.test(None);
    let failures = results.into_iter().filter_map(|one| one.failure);
    let failures: Vec<String> = failures.collect();
    assert_eq!(failures, [""; 0]);
    let readable = definition.replacen("write_only = true", "", 1);
    let errors = Registry::from_files(&[], &files(&readable))
        .err()
        .unwrap_or_default();
    let errors: Vec<String> = errors.into_iter().map(|one| one.message).collect();
    let message = "the file in `content` cannot be read: it requires `write_only = true`, and `sensitive = true` in the model";
    assert_eq!(errors, [message]);
}

/// Written from the documentation of Kea's hook library `subnet_cmds`.
#[test]
fn commands_in_bodies_create_change_and_remove_objects() {
    let platform = format!(
        "{PLATFORM}[read.subnets]\ncommand = \"/\"\nbody = '{{\"command\":\"subnet4-list\"}}'\nparse = \"json\"\nanswer = \"list\"\n"
    );
    let model = MODEL.replacen("title = \"{group} {id}\"", "", 1);
    let model = model.replacen("[attr.group]\nrole = \"namevar\"", "[attr.group]", 1);
    let definition = r#"
[instance]
from     = "subnets"
rows     = "[0].arguments.subnets"
key      = { id = "id" }
object   = "/"
envelope = "arguments.subnets[0]"
create   = { frame = { command = "subnet4-add" } }
update   = { verb = "POST", frame = { command = "subnet4-update" } }
remove   = { body = { command = "subnet4-del", "arguments.id" = "{id|number}" } }
unset    = "omit"
[attr.group]
field = "subnet"
[attr.note]
field = "comment"
absent = "unset"
[attr.ports]
field = "ports"
[[test]]
name = "reads"
given.subnets = '[{"result":0,"arguments":{"subnets":[{"id":1,"subnet":"192.0.2.0/24"}]}}]'
expect = [{ id = 1, group = "192.0.2.0/24", note = "unset" }]
[[test]]
name = "creates"
given.subnets = '[{"result":0,"arguments":{"subnets":[]}}]'
want = { id = 2, ensure = "present", group = "192.0.2.0/24" }
requests = ['POST / {"arguments":{"subnets":[{"id":2,"subnet":"192.0.2.0/24"}]},"command":"subnet4-add"}']
[[test]]
name = "changes"
given.subnets = '[{"result":0,"arguments":{"subnets":[{"id":1,"subnet":"192.0.2.0/24","x":7,"comment":"a"}]}}]'
want = { id = 1, ensure = "present", note = "b" }
requests = ['POST / {"arguments":{"subnets":[{"id":1,"subnet":"192.0.2.0/24","x":7,"comment":"b"}]},"command":"subnet4-update"}']
[[test]]
name = "second run"
given.subnets = '[{"result":0,"arguments":{"subnets":[{"id":1,"subnet":"192.0.2.0/24"}]}}]'
want = { id = 1, ensure = "present", group = "192.0.2.0/24", note = "unset" }
requests = []
[[test]]
name = "removes"
given.subnets = '[{"result":0,"arguments":{"subnets":[{"id":1,"subnet":"192.0.2.0/24"},{"id":3,"subnet":"198.51.100.0/24"}]}}]'
want = { id = 3, ensure = "absent" }
requests = ['POST / {"command":"subnet4-del","arguments":{"id":3}}']
"#;
    let head = "schema = 1\nplatform = \"box\"\ntype = \"thing\"\nrank = 1\n";
    let files = |definition: &str| {
        [
            DefinitionFile::new("models/thing.toml", &*model),
            DefinitionFile::new("box/platform.toml", &*platform),
            DefinitionFile::new("box/thing.toml", format!("{head}{definition}")),
        ]
    };
    let registry = Registry::from_files(&[], &files(definition)).expect("a good definition");
    let failures = registry.test(None).into_iter();
    let failures = failures.filter_map(|one| Some(format!("{}: {}", one.name, one.failure?)));
    let findings = registry.check().into_iter().map(|one| one.message);
    let problems: Vec<String> = failures.chain(findings).collect();
    assert_eq!(problems, [""; 0]);
    let incomplete = definition.replacen(", frame = { command = \"subnet4-update\" }", "", 1);
    let errors = Registry::from_files(&[], &files(&incomplete))
        .err()
        .unwrap_or_default();
    let errors: Vec<String> = errors.into_iter().map(|one| one.message).collect();
    let message = "a `frame` in `create`, `update` and `body` in `remove` require each other";
    assert_eq!(errors, [message]);
}

/// The difference of a changed object has what differs, also if it is the only one and its members
/// have paths of their own.
#[test]
fn plan_of_a_singleton_with_members_has_only_what_differs() {
    let model = r#"
schema = 1
type = "thing"
doc = "A thing."
[attr.name]
role = "namevar"
[attr.policy]
values = ["first", "random"]
[attr.servers]
array = "set"
"#;
    let definition = r#"
schema = 1
platform = "box"
type = "thing"
rank = 1
[instance]
collection = "/pool"
singleton = "web"
answer = { handler = "proxy" }
[attr.policy]
field = "selection.policy"
[attr.servers]
sub = "servers"
key = "dial"
collection = "/pool/servers"
object = "/pool/servers/{member|percent}"
create.body = { dial = "{member}" }
"#;
    let files = [
        DefinitionFile::new("models/thing.toml", model),
        DefinitionFile::new("box/platform.toml", PLATFORM),
        DefinitionFile::new("box/thing.toml", definition),
    ];
    let registry = Registry::from_files(&[], &files).expect("a good definition");
    let driver = Driver::new(registry.platform("box").expect("there"), &Facts::default());
    let model = registry.model("thing").expect("there");
    let answer = r#"{"handler":"proxy","selection":{"policy":"first"},"servers":[{"dial":"a:1"},{"dial":"b:1"}]}"#;
    let reads = Reads::from_iter([("GET /pool".to_owned(), answer.to_owned())]);
    let before = driver.platform().parse(&reads).expect("JSON");
    let servers = Value::List(vec!["a:1".into(), "c:1".into()]);
    let attributes: Attributes = [
        ("name", "web".into()),
        ("policy", "random".into()),
        ("servers", servers),
    ]
    .map(|(name, value): (&str, Value)| (name.to_owned(), value))
    .into_iter()
    .collect();
    let desired = Desired {
        reference: "Thing[web]".into(),
        model: Arc::clone(model),
        attributes,
    };
    let current = driver.instance(&desired, &before).expect("read");
    let names = vec!["policy".into(), "servers".into()];
    let change = Change::new(Arc::new(desired), current, names);
    let operations = driver.render(&change, &before).expect("written");
    let mut after = before.clone();
    driver.predict(model, &mut after, &operations);
    let difference = driver.config_diff(&before, &after);
    let changed = |sign: char| -> Vec<&str> {
        let lines = difference.lines().filter(|line| line.starts_with(sign));
        lines.map(|line| line[1..].trim()).collect()
    };
    assert_eq!(
        changed('-'),
        [
            r#"selection.policy: "first""#,
            r#"servers: [{"dial":"a:1"},{"dial":"b:1"}]"#
        ],
        "{difference}"
    );
    assert_eq!(
        changed('+'),
        [
            r#"selection.policy: "random""#,
            r#"servers: [{"dial":"a:1"},{"dial":"c:1"}]"#
        ],
        "{difference}"
    );
}
