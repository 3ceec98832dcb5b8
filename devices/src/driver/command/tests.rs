//! Findings in definitions with `[command]`, and problems of resources.

use std::sync::Mutex;

use crate::change::Desired;
use crate::definitions::DefinitionFile;
use crate::driver::{Driver, Facts, Registry, SecretHistory};
use crate::read::Reads;
use crate::value::{Attributes, Value};

const MODEL: &str = r#"
schema = 1
type = "raw"
doc = "Lines."
[attr.name]
role = "namevar"
[attr.lines]
[attr.unless]
role = "parameter"
[attr.note]
"#;

const PLATFORM: &str = r#"
schema = 1
platform = "box"
transport = "rest"
[connection]
[read.version]
command = "/version"
parse = "json"
answer = { version = true }
"#;

fn registry(definition: &str) -> Result<Registry, Vec<String>> {
    let head = "schema = 1\nplatform = \"box\"\ntype = \"raw\"\nrank = 1\n";
    let files = [
        DefinitionFile::new("models/raw.toml", MODEL),
        DefinitionFile::new("box/platform.toml", PLATFORM),
        DefinitionFile::new("box/raw.toml", format!("{head}{definition}")),
    ];
    let loaded = Registry::from_files(&[], &files);
    loaded.map_err(|findings| findings.into_iter().map(|one| one.message).collect())
}

#[test]
fn load_reports_incomplete_commands() {
    let note = "[attr.note]\nignored = \"x\"\n";
    let cases = [
        (
            "[command]\nattribute = \"lines\"\npath = \"/cli\"\nbody = { c = \"{lines}\" }\n",
            "the attribute `note` of the model has no section [attr.note]; add it with `ignored = \"REASON\"`",
        ),
        (
            "[command]\nattribute = \"line\"\npath = \"/cli\"\nbody = { c = \"{lines}\" }\n",
            "`raw` has no attribute `line`",
        ),
        (
            "[command]\nattribute = \"lines\"\npath = \"/cli\"\nbody = { c = \"{name}\" }\n",
            "`body` requires the placeholder `{lines}`",
        ),
        (
            "[command]\nattribute = \"lines\"\npath = \"/cli\"\nbody = { c = \"{lines}\" }\nunless = { pattern = \"unless\" }\n",
            "a condition requires `from`, the read with its text, or `path` in `unless`",
        ),
        (
            "[command]\nattribute = \"lines\"\npath = \"/cli\"\nbody = { c = \"{lines}\" }\nfrom = \"versions\"\n",
            "the platform has no read `versions`",
        ),
    ];
    for (definition, expected) in cases {
        let note = if expected.contains("attr.note") {
            ""
        } else {
            note
        };
        let messages = registry(&format!("{definition}{note}"))
            .err()
            .unwrap_or_default();
        assert_eq!(messages, [expected], "{definition}");
    }
}

/// Records that a value is not shown by the device.
#[derive(Default)]
struct RequestedValues(Mutex<Vec<String>>);

impl SecretHistory for RequestedValues {
    fn matches_last_set(&self, _: &str, attribute: &str, _: &Value) -> Option<bool> {
        self.0.lock().unwrap().push(attribute.to_owned());
        Some(true)
    }
}

#[test]
fn command_without_a_condition_has_no_readable_value() {
    let definition = "[command]\nattribute = \"lines\"\npath = \"/cli\"\nbody = { c = \"{lines}\" }\nfrom = \"version\"\n\
                      unless = { pattern = \"unless\" }\n[attr.note]\nignored = \"no use\"\n";
    let registry = registry(definition).expect("a good definition");
    let driver = Driver::new(registry.platform("box").unwrap(), &Facts::default());
    let reads = Reads::from_iter([("version".to_owned(), "{\"version\":\"9\"}".to_owned())]);
    let state = driver.platform().parse(&reads).unwrap();
    for (pattern, expected, requested) in [
        (None, vec!["lines"], vec!["lines"]),
        (Some("7"), vec!["lines"], vec![]),
        (Some("\"9\""), vec![], vec![]),
    ] {
        let mut values = Attributes::default();
        values.insert("name".to_owned(), Value::from("x"));
        values.insert("lines".to_owned(), Value::from("show"));
        if let Some(pattern) = pattern {
            values.insert("unless".to_owned(), Value::from(pattern));
        }
        let desired = Desired {
            reference: "Raw[x]".into(),
            model: registry.model("raw").unwrap().clone(),
            attributes: values,
        };
        let history = RequestedValues::default();
        let current = driver.instance(&desired, &state).unwrap();
        let differs = driver.differs(&desired, current.as_ref(), &history);
        assert_eq!(differs, expected, "{pattern:?}");
        assert_eq!(*history.0.lock().unwrap(), requested, "{pattern:?}");
    }
}

#[test]
fn check_warns_of_a_command_without_a_condition() {
    let definition = "[command]\nattribute = \"lines\"\npath = \"/cli\"\nbody = { c = \"{lines}\" }\nfrom = \"version\"\n\
                      unless = { pattern = \"unless\" }\n[attr.note]\nignored = \"no use\"\n";
    let registry = registry(definition).expect("a good definition");
    let driver = Driver::new(registry.platform("box").unwrap(), &Facts::default());
    let messages = |attributes: &[(&str, &str)]| -> Vec<String> {
        let mut values = Attributes::default();
        values.insert("name".to_owned(), Value::from("x"));
        for (name, value) in attributes {
            values.insert((*name).to_owned(), Value::from(*value));
        }
        let desired = Desired {
            reference: "Raw[x]".into(),
            model: registry.model("raw").unwrap().clone(),
            attributes: values,
        };
        let problems = driver.check(&desired).into_iter();
        problems
            .map(|one| format!("{}: {}", one.attribute, one.message))
            .collect()
    };
    let warning = "lines: the command has no condition: it is sent in every run";
    assert_eq!(messages(&[("lines", "show")]), [warning]);
    assert_eq!(messages(&[("lines", "show"), ("unless", "9")]), [""; 0]);
    let ignored = messages(&[("lines", "show"), ("unless", "9"), ("note", "y")]);
    assert_eq!(ignored, ["note: is ignored"]);
}
