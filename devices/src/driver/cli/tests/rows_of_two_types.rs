//! Two types that read one table: each sees what the operations of the other do.

use std::sync::Arc;

use super::{desired_of, render_all};
use crate::change::Change;
use crate::definitions::DefinitionFile;
use crate::driver::{Driver, Facts, NoSecretHistory, Registry};
use crate::read::{Reads, State};
use crate::value::Value;

const SWITCH: &str = r#"
schema = 1
platform = "box"
transport = "ssh-cli"
[connection]
read_mode = "exec"
config_mode = "config"
sub_mode = "config-sub"
[mode.exec]
prompt = '\S+#'
to.config = { send = "configure" }
[mode.config]
prompt = '\S+\(config\)#'
to.exec = { send = "end" }
[mode.config-sub]
prompt = '\S+\(config-\w+\)#'
to.config = { send = "exit" }
[read.config]
command = "show running-config"
parse = "indent"
expect = '^box '
[read.ports]
command = "show ports"
parse = "columns"
first = "Port"
"#;

const PORT: &str = r#"
schema = 1
type = "port"
doc = "x"
ensurable = true
ensure_default = "present"
[attr.name]
role = "namevar"
values = [{ name = "text", pattern = '\w+' }]
[attr.label]
values = ["unset", { name = "text", pattern = '\w+' }]
[attr.up]
values = [true, false]
"#;

const PORT_LINES: &str = r#"
schema = 1
platform = "box"
type = "port"
[instance]
from = "ports"
key = { name = "Port" }
enter = "port {name}"
remove = "no port {name}"
[attr.label]
column = "Label"
line = "label {label}"
absent = "unset"
[attr.up]
column = "State"
when.true = '^up'
when.false = '^down'
set.true = "no shutdown"
set.false = "shutdown"
"#;

const PORT_LABEL: &str = r#"
schema = 1
type = "port_label"
doc = "x"
[attr.port]
role = "namevar"
values = [{ name = "text", pattern = '\w+' }]
[attr.text]
values = [{ name = "text", pattern = '\w+' }]
[attr.state]
role = "read_only"
values = [{ name = "text", pattern = '\w+' }]
"#;

const PORT_LABEL_LINES: &str = r#"
schema = 1
platform = "box"
type = "port_label"
[instance]
from = "ports"
key = { port = "Port" }
mode = "port {port}"
[attr.text]
column = "Label"
line = "label {text}"
[attr.state]
column = "State"
"#;

const TABLE: &str = "\
Port   Label   State
------ ------- ------
p1     left    up-1
";

struct Device {
    registry: Registry,
    state: State,
}

impl Device {
    fn new() -> Self {
        let files = [
            DefinitionFile::new("models/port.toml", PORT.to_owned()),
            DefinitionFile::new("models/port_label.toml", PORT_LABEL.to_owned()),
            DefinitionFile::new("box/platform.toml", SWITCH.to_owned()),
            DefinitionFile::new("box/port.toml", PORT_LINES.to_owned()),
            DefinitionFile::new("box/port_label.toml", PORT_LABEL_LINES.to_owned()),
        ];
        let registry = Registry::from_files(&[], &files)
            .unwrap_or_else(|findings| panic!("{}", render_all(&findings)));
        let reads: Reads = [("ports".to_owned(), TABLE.to_owned())]
            .into_iter()
            .collect();
        let state = registry.platform("box").unwrap().parse(&reads).unwrap();
        Self { registry, state }
    }

    fn driver(&self) -> Driver {
        Driver::new(self.registry.platform("box").unwrap(), &Facts::default())
    }

    /// The number of operations of a change, which are applied to the state.
    fn change(&mut self, kind: &str, supplied: &[(&str, Value)]) -> usize {
        let driver = self.driver();
        let desired = desired_of(&self.registry, kind, supplied);
        let current = driver.instance(&desired, &self.state).unwrap();
        let differs = driver.differs(&desired, current.as_ref(), &NoSecretHistory);
        let change = Change::new(Arc::new(desired), current, differs);
        let operations = driver.render(&change, &self.state).unwrap();
        driver.predict(&change.desired.model, &mut self.state, &operations);
        operations.len()
    }

    /// The instances of a type, as `name value …`.
    fn instances(&self, kind: &str) -> Vec<String> {
        let model = self.registry.model(kind).unwrap();
        let found = self.driver().instances(model, &self.state).unwrap();
        let texts = found.iter().map(|instance| {
            let values = instance.attributes.values();
            let values: Vec<String> = values.filter_map(Value::scalar_text).collect();
            values.join(" ")
        });
        texts.collect()
    }
}

#[test]
fn a_row_that_one_type_creates_is_changed_by_the_other() {
    let mut device = Device::new();
    device.change(
        "port",
        &[
            ("name", "p2".into()),
            ("label", "old".into()),
            ("up", true.into()),
        ],
    );
    assert_eq!(
        device.instances("port_label"),
        ["p1 left", "p2 old"],
        "the text of a state that has only a pattern is not known"
    );
    let other = [("port", "p2".into()), ("text", "new".into())];
    assert_eq!(device.change("port_label", &other), 1);
    assert_eq!(device.change("port_label", &other), 0);
    assert_eq!(device.instances("port"), ["p1 left true", "p2 new true"]);
}

#[test]
fn a_row_that_one_type_changes_or_removes_differs_for_the_other() {
    let mut device = Device::new();
    device.change("port_label", &[("port", "p1".into()), ("text", "x".into())]);
    assert_eq!(device.instances("port"), ["p1 x true"]);
    device.change(
        "port",
        &[("name", "p1".into()), ("ensure", "absent".into())],
    );
    assert_eq!(device.instances("port_label"), [""; 0]);
    device.change("port", &[("name", "p1".into()), ("up", false.into())]);
    assert_eq!(
        device.instances("port_label"),
        ["p1"],
        "a new row has nothing of the removed one"
    );
}
