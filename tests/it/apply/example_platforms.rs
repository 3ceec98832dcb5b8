//! Each example platform on its structural mock: two runs, `undo`, and a refused change.
//!
//! The desired state is what the self-tests of the types want, so that a new example needs no new test.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use regex::escape;
use serde_json::{Value, json};
use test_support::catalog::resource;
use test_support::lab::{Lab, PASSWORD};
use test_support::program::{self, ProgramOutput};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Child;
use toml::Table;

use super::recording;

/// Types that a structural mock cannot have, with the reason.
const LEFT_OUT: [(&str, &str, &str); 2] = [
    (
        "sonic",
        "network_interface",
        "its instances are in the JSON of a shell, which commands do not change",
    ),
    (
        "sonic",
        "sonic_vlan",
        "its instances are in the JSON of a shell, which commands do not change",
    ),
];

/// Attributes of types whose self-tests remove settings or name other resources.
const DESIRED: [(&str, &str, &str); 5] = [
    (
        "huawei_vrp",
        "network_interface",
        "description = \"to the core\"",
    ),
    (
        "h3c_comware",
        "network_interface",
        "description = \"to the core\"",
    ),
    ("fortios", "fortigate_policy", "after = \"first\""),
    ("fortigate_rest", "fortigate_policy", "after = \"first\""),
    ("junos_netconf", "junos_filter_term", "after = \"first\""),
];

/// What devices have at the start, by read: objects that their types do not create.
const START: [(&str, &str, &str); 1] = [(
    "pan_os",
    "GET /restapi/v10.2/Network/VirtualRouters",
    "{\"@status\":\"success\",\"result\":{\"entry\":[{\"@name\":\"default\"}]}}",
)];

/// A type of an example platform with the desired state of its self-test.
struct ExampleType {
    name: String,
    resource: Value,
}

struct ExamplePlatform {
    name: String,
    types: Vec<ExampleType>,
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/definitions")
}

fn read(path: &Path) -> Table {
    let text = std::fs::read_to_string(path).unwrap();
    text.parse()
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files with the extension `toml` in a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "toml")
    });
    files.sort();
    files
}

fn name_of(path: &Path) -> String {
    path.file_stem().unwrap().to_str().unwrap().to_owned()
}

/// The example platforms, without the types of [`LEFT_OUT`].
fn platforms() -> Vec<ExamplePlatform> {
    let mut platforms = Vec::new();
    let entries = std::fs::read_dir(directory()).unwrap();
    let mut directories: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    directories.retain(|path| path.join("platform.toml").exists());
    directories.sort();
    for directory in directories {
        let platform = name_of(&directory);
        let mut types = Vec::new();
        for file in files(&directory) {
            let name = name_of(&file);
            let is_left_out = LEFT_OUT
                .iter()
                .any(|(of, left, _)| (*of, *left) == (&platform, &name));
            if name != "platform" && !is_left_out {
                types.push(example_type(&platform, &name, &read(&file)));
            }
        }
        if !types.is_empty() {
            platforms.push(ExamplePlatform {
                name: platform,
                types,
            });
        }
    }
    platforms
}

/// The type with the desired state of the self-test that sets most attributes.
fn example_type(platform: &str, name: &str, file: &Table) -> ExampleType {
    let tests = file["test"].as_array().unwrap().iter();
    let tests = tests.filter_map(toml::Value::as_table);
    let mut best: Option<(usize, &Table)> = None;
    for test in tests {
        let sent = ["commands", "requests"].map(|key| test.get(key));
        let sent = sent.into_iter().flatten().filter_map(toml::Value::as_array);
        let is_change = sent.into_iter().any(|sent| !sent.is_empty());
        let want = test.get("want").and_then(toml::Value::as_table);
        let Some(want) = want.filter(|_| is_change && !test.contains_key("facts")) else {
            continue;
        };
        if want.get("ensure").and_then(toml::Value::as_str) == Some("absent") {
            continue;
        }
        let sets = |value: &&toml::Value| value.as_str() != Some("unset");
        let count = want.values().filter(sets).count();
        if best.is_none_or(|(most, _)| count > most) {
            best = Some((count, want));
        }
    }
    let (_, want) = best.unwrap_or_else(|| panic!("{platform}/{name}: no test of a change"));
    let mut want = want.clone();
    for (of, own, text) in DESIRED {
        if (of, own) == (platform, name) {
            want.extend(text.parse::<Table>().unwrap());
        }
    }
    let mut letters = name.chars();
    let first = letters.next().unwrap().to_uppercase();
    let title = title(&model(name), &want);
    let attributes = serde_json::to_value(&want).unwrap();
    ExampleType {
        name: name.to_owned(),
        resource: resource(&format!("{first}{}", letters.as_str()), &title, attributes),
    }
}

/// The model of a type: an example, or a built-in one.
fn model(name: &str) -> Table {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let all = [directory(), root.join("devices/definitions")];
    let mut paths = all
        .iter()
        .map(|path| path.join(format!("models/{name}.toml")));
    read(
        &paths
            .find(|path| path.exists())
            .unwrap_or_else(|| panic!("no model of {name}")),
    )
}

fn text(value: &toml::Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// The title of a resource with these attributes.
fn title(model: &Table, want: &Table) -> String {
    let patterns = match model.get("title") {
        Some(toml::Value::Array(patterns)) => patterns.clone(),
        one => one.cloned().into_iter().collect(),
    };
    let filled = patterns.iter().filter_map(|pattern| {
        let mut title = text(pattern);
        for (name, value) in want {
            title = title.replace(&format!("{{{name}}}"), &text(value));
        }
        (!title.contains('{')).then_some(title)
    });
    filled.into_iter().next().unwrap_or_else(|| {
        let attributes = model["attr"].as_table().unwrap().iter();
        let names = attributes.filter(|(_, attribute)| {
            attribute.get("role").and_then(toml::Value::as_str) == Some("namevar")
        });
        let values = names.filter_map(|(name, _)| want.get(name).map(text));
        values.collect::<Vec<_>>().join(" ")
    })
}

/// A pattern of an operation as a mock receives it: its last line, an edit, or method, path and body.
fn pattern(operation: &str) -> String {
    if operation.starts_with('<') {
        return "^<edit-config".to_owned();
    }
    let mut words = operation.splitn(3, ' ');
    match [words.next(), words.next(), words.next()] {
        [
            Some(verb @ ("POST" | "PUT" | "PATCH" | "DELETE")),
            Some(path),
            body,
        ] => {
            let body = body.map_or_else(String::new, |body| format!(".* {}", escape(body)));
            format!("^{verb} {}{body}", escape(path))
        }
        _ => {
            let line = operation.lines().next_back().unwrap_or_default();
            format!("^{}$", escape(line.trim()).replace("••••", ".*"))
        }
    }
}

/// A device for each platform with its resources, and their mocks with these faults.
async fn running(faults: impl Fn(&ExamplePlatform) -> Vec<String>) -> (Lab, Vec<Child>) {
    let mut lab = Lab::new();
    let definitions = directory().display().to_string();
    let mut started = Vec::new();
    for platform in platforms() {
        let name = platform.device();
        let mut arguments = vec!["mock", "platform", &platform.name, "--user", "ops"];
        arguments.extend(["--password", PASSWORD, "--definitions", &definitions]);
        let start = START.iter().find(|(of, ..)| *of == platform.name);
        let file = lab.path(&format!("{name}.json")).display().to_string();
        if let Some((_, read, answer)) = start {
            std::fs::write(&file, json!({ *read: answer }).to_string()).unwrap();
            arguments.extend(["--config", &file]);
        }
        let faults = faults(&platform);
        arguments.extend(faults.iter().flat_map(|fault| ["--fault", fault]));
        let mut command = tokio::process::Command::new(program::path());
        let command = command.args(arguments).stdout(Stdio::piped());
        started.push((command.kill_on_drop(true).spawn().unwrap(), platform));
    }
    let mut mocks = Vec::new();
    for (mut mock, platform) in started {
        let name = platform.device();
        let mut printed = BufReader::new(mock.stdout.take().unwrap()).lines();
        let line = loop {
            let line = printed.next_line().await.unwrap();
            let line = line.unwrap_or_else(|| panic!("{name}: the mock does not start"));
            if line.contains(": ssh -p ") || line.contains(": https://") {
                break line;
            }
        };
        let (port, pin) = recording::address(&line);
        lab.add_device(&name, &platform.name, port, Some(&pin));
        if line.contains("the token is the password") {
            lab.configure(&name, "token = { env = \"LAB_PASSWORD\" }");
        }
        let resources = platform.types.into_iter().map(|one| one.resource);
        lab.write_resources(&name, &resources.collect::<Vec<_>>());
        mocks.push(mock);
    }
    (lab, mocks)
}

async fn run(lab: &Lab, arguments: &[&str]) -> ProgramOutput {
    let definitions = directory().display().to_string();
    let common = ["--output", "json", "--definitions", &definitions];
    lab.run(&[arguments, &common].concat()).await
}

/// The events of each device.
fn events(ran: &ProgramOutput) -> BTreeMap<String, Vec<String>> {
    let platforms = platforms().into_iter();
    let devices = platforms.map(|platform| platform.device());
    devices
        .map(|device| (device.clone(), ran.events(&device)))
        .collect()
}

impl ExamplePlatform {
    fn device(&self) -> String {
        self.name.replace('_', "-")
    }
}

impl ExampleType {
    fn reference(&self) -> String {
        let text = |key: &str| self.resource[key].as_str().unwrap();
        format!("{}[{}]", text("type"), text("title"))
    }

    /// The events of the resource.
    fn events<'a>(&self, all: &'a [String]) -> Vec<&'a String> {
        let reference = format!("{}/", self.reference());
        all.iter()
            .filter(|event| event.starts_with(&reference))
            .collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn example_platforms_apply_twice_are_undone_and_report_refusals() {
    let (lab, mocks) = running(|_| Vec::new()).await;
    let planned = run(&lab, &["plan"]).await;
    assert_applied_and_undone(&lab).await;
    drop((lab, mocks));
    let refused = |platform: &ExamplePlatform| {
        let reference = platform.types[0].reference();
        let planned = planned.resource(&platform.device(), &reference);
        let operations = planned["operations"].as_array().unwrap();
        let operation = operations.first().and_then(Value::as_str);
        vec![format!("refuse={}", pattern(operation.unwrap()))]
    };
    let (lab, _mocks) = running(refused).await;
    let applied = run(&lab, &["apply"]).await;
    applied.assert_code(1);
    let all = events(&applied);
    for platform in platforms() {
        let device = platform.device();
        let first = platform.types[0].events(&all[&device]);
        let is_refused = first.iter().any(|event| event.contains(": failure: "));
        assert!(is_refused, "{device}: {}", applied.text());
    }
}

/// Two runs and `undo`.
async fn assert_applied_and_undone(lab: &Lab) {
    let applied = run(lab, &["apply"]).await;
    let first = events(&applied);
    for platform in platforms() {
        let device = platform.device();
        for one in &platform.types {
            let events = one.events(&first[&device]);
            let is_success = |event: &&String| event.contains(": success: ");
            let is_changed = !events.is_empty() && events.iter().all(is_success);
            assert!(is_changed, "{device}: {}: {events:?}", one.name);
        }
    }
    applied.assert_code(0);
    let again = run(lab, &["apply"]).await;
    again.assert_code(0);
    for (device, events) in events(&again) {
        assert!(events.is_empty(), "{device}: {events:#?}");
    }
    // Blocks of interfaces remain, which no type creates.
    let undo = ["undo", "--last", "--yes", "--allow", "incomplete-undo"];
    run(lab, &undo).await.assert_code(0);
    let planned = events(&run(lab, &["plan"]).await);
    for platform in platforms() {
        let device = platform.device();
        for one in &platform.types {
            let events = one.events(&planned[&device]);
            assert!(!events.is_empty(), "{device}: {} is not undone", one.name);
        }
    }
}
