//! No accepted value of any attribute or title reaches a device as another command: no control
//! character, no line end, no `?`, no line that exceeds the buffer of the device, no other path.
//!
//! The expectations are written from the documentation of the devices, not from the definitions.

use std::sync::{Arc, LazyLock};

use proptest::prelude::*;
use switchtender_mutation::sample;

use super::{SelfTest, TestFailure, initial_state};
use crate::change::{Change, ChangeKind, Desired};
use crate::driver::type_driver::TypeDriver;
use crate::driver::{Driver, Platform, Problem, Registry, Transport};
use crate::operation::{Action, ConfigLine, Edit, Operation, Request};
use crate::read::State;
use crate::read::xml::{self, Namespaces};
use crate::secret::Text;
use crate::value::{Attributes, Value};

/// Bytes of the buffer of a VTY line (`docs/reference/devices/cisco_ios.md`), or of a row of the
/// terminal without the prompt.
fn buffer(platform: &Platform) -> usize {
    match platform.name.as_str() {
        "frr" => 430,
        "arista_eos" => 1000,
        "cisco_nxos" => 510,
        // A line of a terminal.
        _ if is_shell(platform) => 4095,
        _ => 254,
    }
}

fn is_shell(platform: &Platform) -> bool {
    ["haproxy", "linux", "openvswitch"].contains(&platform.name.as_str())
}

/// Complete values that would be another command or another path.
const COMPLETE: [&str; 8] = [
    "?",
    ".",
    "..",
    "/Common/..",
    "/Common/.",
    "range Gi1/0/1 - 4",
    "r Gi1/0/1 , Gi1/0/2",
    "/..",
];

static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::shipped);

/// How a hostile text is made from an accepted one.
#[derive(Clone, Debug)]
enum Payload {
    /// Inserted at this part of the text, in percent.
    Insert(&'static str, usize),
    /// Replaces the text.
    Replace(&'static str),
    /// Appended this many times.
    Repeat(&'static str, usize),
}

impl Payload {
    fn text(&self, accepted: &str) -> String {
        match self {
            Payload::Insert(text, percent) => {
                let characters: Vec<char> = accepted.chars().collect();
                let (before, after) = characters.split_at(characters.len() * percent / 100);
                let (before, after): (String, String) =
                    (before.iter().collect(), after.iter().collect());
                format!("{before}{text}{after}")
            }
            Payload::Replace(text) => (*text).to_owned(),
            Payload::Repeat(text, times) => format!("{accepted}{}", text.repeat(*times)),
        }
    }

    /// The value with the first of its texts replaced. A number or a boolean becomes a text.
    fn apply(&self, value: &Value) -> Value {
        match value {
            Value::List(items) if !items.is_empty() => {
                let mut items = items.clone();
                let last = items.len() - 1;
                items[last] = self.apply(&items[last]);
                Value::List(items)
            }
            Value::Hash(entries) if !entries.is_empty() => {
                let mut entries = entries.clone();
                entries[0].1 = self.apply(&entries[0].1);
                Value::Hash(entries)
            }
            one => self.text(&one.scalar_text().unwrap_or_default()).into(),
        }
    }
}

fn payloads() -> impl Strategy<Value = Payload> {
    let texts = prop::sample::select(vec![
        "?",
        "\n",
        "\r",
        "\r\n",
        "\nreload\n",
        "\t",
        "\0",
        "\x03",
        "\x17",
        "\x1a",
        "\x1b[2J",
        "\x7f",
        "\u{85}",
        "\u{9b}",
        "!",
        " ! ",
        "..",
        "/../",
        "/",
        "%2e%2e",
        "#",
        "&a=b",
        "\"",
        "\\",
        "^C",
        "^",
    ]);
    let repeated = prop::sample::select(vec!["a", "7", "é", "😀", " a", ",1"]);
    prop_oneof![
        4 => (texts, 0..=100_usize).prop_map(|(text, at)| Payload::Insert(text, at)),
        2 => (repeated, 40..400_usize).prop_map(|(text, times)| Payload::Repeat(text, times)),
    ]
}

/// What a device would not take as the text that was meant.
fn fault_of_line(line: &ConfigLine, platform: &Platform) -> Option<String> {
    let texts = line.mode.iter().chain(&line.text).chain(&line.body);
    texts.map(Text::reveal).find_map(|text| {
        let fault = if text.bytes().any(|byte| byte < 0x20 || byte == 0x7f) {
            "a control character"
        } else if text.chars().any(|c| ('\u{80}'..='\u{9f}').contains(&c)) {
            "a C1 control character"
        } else if text.contains('?') {
            "a question mark"
        } else if text.len() > buffer(platform) {
            "too many bytes"
        } else if is_shell(platform) && text.contains(|c| ";&|<>()$`'\"\\*[]{}~!#\n".contains(c)) {
            "a character of the shell"
        } else if text.to_lowercase().starts_with("interface r") {
            "a range of interfaces"
        } else {
            return None;
        };
        Some(format!("{fault}: {text:?}"))
    })
}

fn fault_of_request(request: &Request) -> Option<String> {
    let path = &request.path;
    let is_unescaped = |byte: u8| byte.is_ascii_graphic() && !b"?#\"<>\\^`{|}".contains(&byte);
    let is_dots = |segment: &str| {
        let decoded = segment.to_lowercase().replace("%2e", ".");
        decoded == "." || decoded == ".."
    };
    let is_below_root = ["/mgmt/", "/config/"]
        .iter()
        .any(|root| path.starts_with(root));
    // A device without paths for objects.
    let is_root = path == "/";
    let fault = if !is_below_root && !is_root || !path.bytes().all(is_unescaped) {
        "an invalid path"
    } else if path.split('/').any(is_dots) {
        "a relative path"
    } else if let Some(body) = &request.body
        && !request.is_file
        && serde_json::from_str::<serde_json::Value>(&body.reveal()).is_err()
    {
        "a body that is not JSON"
    } else {
        return None;
    };
    Some(format!("{fault}: {request}"))
}

fn fault_of_edit(edit: &Edit) -> Option<String> {
    let config = edit.config.reveal();
    let parsed = xml::parse(&config, &Namespaces::default());
    let is_one = parsed.is_ok_and(|tree| tree.as_object().is_some_and(|all| all.len() == 1));
    (!is_one).then(|| format!("not one XML element: {config}"))
}

fn fault(operations: &[Operation], platform: &Platform) -> Option<String> {
    operations
        .iter()
        .find_map(|operation| match &operation.action {
            Action::Line(line) => fault_of_line(line, platform),
            Action::Request(request) => fault_of_request(request),
            Action::Edit(edit) => fault_of_edit(edit),
        })
}

/// A resource of a self-test.
struct Subject<'a> {
    platform: &'a Arc<Platform>,
    definition: &'a TypeDriver,
    test: &'a SelfTest,
    driver: Driver,
}

impl Subject<'_> {
    fn desired(&self, want: &Attributes) -> Option<Desired> {
        let model = &self.definition.model;
        let resolved = model
            .resolve("", want)
            .and_then(|attributes| self.driver.canonicalize(model, attributes));
        let desired = Desired {
            reference: model.name.as_str().into(),
            model: Arc::clone(model),
            attributes: resolved.ok()?,
        };
        let problems = self.driver.check(&desired);
        let is_refused = problems.iter().any(Problem::is_refusal);
        (!is_refused).then_some(desired)
    }

    fn render(
        &self,
        desired: &Desired,
        state: &State,
        kind: ChangeKind,
    ) -> Result<Vec<Operation>, TestFailure> {
        let current = self.driver.instance(desired, state)?;
        let desired = self
            .driver
            .resolve(desired, current.as_ref(), state)
            .into_owned();
        let attributes = desired.attributes.keys().cloned().collect();
        let mut change = Change::new(Arc::new(desired), current, attributes);
        change.kind = kind;
        Ok(self.driver.render(&change, state)?)
    }

    /// Creates, changes and removes a resource with this value.
    fn try_value(&self, name: &str, value: &Value) -> Result<(), TestFailure> {
        let mut want: Attributes = self.test.want.clone().unwrap_or_default();
        want.insert(name.to_owned(), value.clone());
        let Some(desired) = self.desired(&want) else {
            return Ok(());
        };
        let mut state = initial_state(&self.driver, self.definition, self.test)?;
        let steps = [ChangeKind::Create, ChangeKind::Update, ChangeKind::Remove];
        for kind in steps {
            // The resource may be refused for its state. Then nothing is sent.
            let Ok(operations) = self.render(&desired, &state, kind) else {
                continue;
            };
            if let Some(fault) = fault(&operations, self.platform) {
                return Err(TestFailure(fault));
            }
            if kind != ChangeKind::Remove {
                self.driver
                    .predict(&self.definition.model, &mut state, &operations);
            }
        }
        let refresh = self.driver.refresh(&desired, None).unwrap_or_default();
        fault(&refresh, self.platform).map_or(Ok(()), |fault| Err(TestFailure(fault)))
    }
}

fn subjects(registry: &Registry) -> impl Iterator<Item = Subject<'_>> {
    let definitions = registry.platforms().flat_map(|platform| {
        let types = platform.type_drivers();
        types.map(move |definition| (platform, definition))
    });
    definitions.flat_map(|(platform, definition)| {
        let tests = definition.tests.iter();
        let tests = tests.filter(|test| test.want.is_some() && test.error.is_none());
        tests.map(move |test| Subject {
            platform,
            definition,
            test,
            driver: Driver::new(platform, &test.facts),
        })
    })
}

/// The resources that reach a device with this payload in one of their values. Of all attributes, a sample
/// that begins with this number.
fn faults(payload: &Payload, first: usize) -> String {
    let mut faults = Vec::new();
    let mut numbers = first..;
    for subject in subjects(&REGISTRY) {
        for name in subject.definition.model.attributes.keys() {
            if !numbers.next().is_some_and(sample::has_case) {
                continue;
            }
            let accepted = subject.test.want.as_ref().and_then(|want| want.get(name));
            let value = payload.apply(accepted.unwrap_or(&"1".into()));
            if let Err(fault) = subject.try_value(name, &value) {
                faults.push(format!(
                    "{}/{} ({}): {name} => {}: {fault}",
                    subject.platform.name,
                    subject.definition.model.name,
                    subject.test.name,
                    value.inspect(),
                ));
            }
        }
    }
    faults.join("\n")
}

#[test]
fn hostile_texts_are_refused_or_sent_as_values() {
    for (number, text) in COMPLETE.into_iter().enumerate() {
        assert_eq!(faults(&Payload::Replace(text), number), "", "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn hostile_values_are_never_sent(payload in payloads(), first in 0..3_usize) {
        prop_assert_eq!(faults(&payload, first), "");
    }
}

/// The offline check rejects what rendering would reject.
#[test]
fn values_refused_while_rendering_are_refused_offline() {
    let values = [
        "x?",
        "?",
        "a\u{1b}b",
        "a\u{17}b",
        "range Gi1/0/1 - 4",
        &"a".repeat(300),
        &"é".repeat(130),
    ];
    let mut found = Vec::new();
    // A new object of a REST interface needs attributes that a self-test of a change lacks.
    let subjects = subjects(&REGISTRY);
    for subject in
        subjects.filter(|subject| subject.driver.platform().transport == Transport::SshCli)
    {
        let model = &subject.definition.model;
        let reads = subject.driver.reads(&[model]).into_iter();
        let reads = reads.map(|read| (read.name, String::new())).collect();
        let empty = subject.platform.parse(&reads).unwrap_or_default();
        for name in model.attributes.keys() {
            for text in values {
                let mut want: Attributes = subject.test.want.clone().unwrap_or_default();
                want.insert(name.clone(), text.into());
                let Some(desired) = subject.desired(&want) else {
                    continue;
                };
                if desired.is_absent() {
                    continue;
                }
                // A block that the device lacks is no problem of the value.
                let unread = State::default();
                if let Err(error) = subject.render(&desired, &empty, ChangeKind::Create)
                    && subject
                        .render(&desired, &unread, ChangeKind::Create)
                        .is_err()
                {
                    found.push(format!("{}: {name} => {text:?}: {error}", model.name));
                }
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn names_are_refused_offline_for_present_and_absent_resources() {
    let registry = &REGISTRY;
    let platform = registry.platform("cisco_ios").unwrap();
    let driver = Driver::new(platform, &crate::driver::Facts::default());
    let long = "a".repeat(300);
    let cases = [
        (
            "network_interface",
            "Gi1/0/1?",
            "cisco_ios does not accept `?` in text",
        ),
        (
            "network_interface",
            "Gi1/0/1\u{17}",
            "contains a control character",
        ),
        (
            "network_interface",
            "range Gi1/0/1 - 4",
            "`range Gi1/0/1 - 4` is a range, not one interface",
        ),
        (
            "network_interface",
            "Gi1/0/1,Gi1/0/2",
            "`Gi1/0/1,Gi1/0/2` is a range, not one interface",
        ),
        (
            "tacacs_server",
            "x?",
            "cisco_ios does not accept `?` in text",
        ),
        ("tacacs_server_group", &long, "bytes; cisco_ios accepts 254"),
        ("vrf", "x?", "cisco_ios does not accept `?` in text"),
    ];
    for (kind, title, message) in cases {
        let model = registry.model(kind).unwrap();
        for ensure in ["present", "absent"] {
            let mut supplied = Attributes::default();
            if model.attributes.contains_key("ensure") {
                supplied.insert("ensure", ensure.into());
            }
            let attributes = model.resolve(title, &supplied).unwrap();
            let messages: Vec<String> = match driver.canonicalize(model, attributes) {
                Ok(attributes) => {
                    let desired = Desired {
                        reference: title.into(),
                        model: Arc::clone(model),
                        attributes,
                    };
                    let problems = driver.check(&desired).into_iter();
                    problems
                        .map(|problem| format!("{}: {}", problem.attribute, problem.message))
                        .collect()
                }
                Err(errors) => errors.iter().map(ToString::to_string).collect(),
            };
            let is_named = messages
                .iter()
                .any(|one| one.starts_with("name: ") && one.ends_with(message));
            assert!(is_named, "{kind} {title:?} {ensure}: {messages:?}");
        }
    }
}
