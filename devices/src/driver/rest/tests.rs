//! Differences and masked secrets of changes of objects.

use std::sync::Arc;

use crate::change::{Change, Desired};
use crate::definitions::DefinitionFile;
use crate::driver::{Driver, Facts, Registry};
use crate::operation::{Action, Operation};
use crate::read::Reads;
use crate::value::Value;

const PLATFORM: &str = include_str!("../tests/rest/platform.toml");

/// The operations and the difference of a change from the answer of a device to these values.
fn change(
    (model, definition): (&str, &str),
    (path, answer): (&str, &str),
    values: &[(&str, Value)],
) -> (Vec<Operation>, String) {
    let files = [
        DefinitionFile::new(
            "models/thing.toml",
            format!("schema = 1\ntype = \"thing\"\ndoc = \"x\"\n{model}"),
        ),
        DefinitionFile::new("box/platform.toml", PLATFORM),
        DefinitionFile::new(
            "box/thing.toml",
            format!("schema = 1\nplatform = \"box\"\ntype = \"thing\"\n{definition}"),
        ),
    ];
    let registry = Registry::from_files(&[], &files).unwrap();
    let driver = Driver::new(registry.platform("box").unwrap(), &Facts::default());
    let model = registry.model("thing").unwrap();
    let reads = Reads::from_iter([(path.to_owned(), answer.to_owned())]);
    let before = driver.platform().parse(&reads).unwrap();
    let attributes = values.iter().map(|(name, value)| (*name, value.clone()));
    let desired = Desired {
        reference: "Thing[x]".into(),
        model: Arc::clone(model),
        attributes: attributes.collect(),
    };
    let current = driver.instance(&desired, &before).unwrap();
    let names = values.iter().map(|(name, _)| (*name).into());
    let names = names.filter(|name| *name != "name").collect();
    let change = Change::new(Arc::new(desired), current, names);
    let operations = driver.render(&change, &before).unwrap();
    let mut after = before.clone();
    driver.predict(model, &mut after, &operations);
    let difference = driver.config_diff(&before, &after);
    (operations, difference)
}

#[test]
fn complete_object_has_unmanaged_secrets_that_are_masked() {
    let model = r#"
[attr.name]
role = "namevar"
[attr.note]
"#;
    let definition = r#"
[instance]
rows = "."
collection = "/things"
object = "/things/{name|percent}"
key = { name = "id" }
update = { verb = "PUT" }
[attr.note]
field = "note"
"#;
    let answer = r#"[{"id":"a","note":"x","users":[{"password":"hash1"},{"password":"ha\"sh2"}]}]"#;
    let (operations, difference) = change(
        (model, definition),
        ("GET /things", answer),
        &[("name", "a".into()), ("note", "y".into())],
    );
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
        r#"PUT /things/a {"id":"a","note":"y","users":[{"password":"••••"},{"password":"••••"}]}"#
    );
    assert!(difference.contains("+ note: \"y\""), "{difference}");
    assert!(
        !difference.contains("hash1") && !difference.contains("sh2"),
        "{difference}"
    );
}

/// The difference of a changed object has what differs, also if it is the only one and its members
/// have paths of their own.
#[test]
fn plan_of_a_singleton_with_members_has_only_what_differs() {
    let model = r#"
[attr.name]
role = "namevar"
[attr.policy]
values = ["first", "random"]
[attr.servers]
array = "set"
"#;
    let definition = r#"
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
    let answer = r#"{"handler":"proxy","selection":{"policy":"first"},"servers":[{"dial":"a:1"},{"dial":"b:1"}]}"#;
    let servers = Value::List(vec!["a:1".into(), "c:1".into()]);
    let (_, difference) = change(
        (model, definition),
        ("GET /pool", answer),
        &[
            ("name", "web".into()),
            ("policy", "random".into()),
            ("servers", servers),
        ],
    );
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
