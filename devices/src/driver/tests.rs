//! Features of definitions: each file below `tests` is a small type with its expectations.
//!
//! The sections `[model]`, `[type]` and `[platform]` of a case are the files of a definition, with
//! their name in each header. `platform.toml` of the folder is the platform that `[platform]` extends.
//! The self-tests of the type pass, and the definition has no errors. Further expectations:
//!
//! * `[[error]]`: a definition with other text has this `finding`, or with `alone` no other. The text
//!   is a complete `type`, or it has `with` in place of `replace` in the last file that contains it.
//! * `[[unread]]`: `texts` of the answers in `given` are not understood.
//! * `[[unreadable]]`: the answers in `given` are an error of the read with this `error`.
//! * `[[masked]]`: the `text` of a device has this `output`, with its secrets masked.
//! * `[[claimed]]`: the `lines` of the configuration in `given`, each with its number, what it is for the type, the
//!   title and the attributes.
//! * `[[predicted]]`: the change to `want` makes the `configuration` of the answers in `given` this.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;

use super::{Driver, Facts, NoSecretHistory, Registry};
use crate::change::{Change, Desired};
use crate::definitions::DefinitionFile;
use crate::diagnostic::{Diagnostic, Severity};
use crate::read::{Reads, State};
use crate::value::Value;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/driver/tests");

/// The names of sections. The first three are files.
const SECTIONS: [&str; 9] = [
    "platform",
    "model",
    "type",
    "claimed",
    "error",
    "unread",
    "unreadable",
    "predicted",
    "masked",
];

#[test]
fn cases_of_command_lines_hold() {
    hold("command_line");
}

#[test]
fn cases_of_shells_hold() {
    hold("shell");
}

#[test]
fn cases_of_rest_hold() {
    hold("rest");
}

#[test]
fn cases_of_netconf_hold() {
    hold("netconf");
}

fn hold(folder: &str) {
    let folder = Path::new(FOLDER).join(folder);
    let platform = fs::read_to_string(folder.join("platform.toml")).unwrap();
    let mut failures = String::new();
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with("platform.toml") {
            continue;
        }
        let case = Case::parse(&platform, &fs::read_to_string(&path).unwrap());
        for failure in case.failures() {
            failures += &format!("{}: {failure}\n\n", path.display());
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expectations {
    #[serde(default, rename = "platform")]
    _platform: Option<toml::Value>,
    #[serde(default, rename = "model")]
    _model: Option<toml::Value>,
    #[serde(default, rename = "type")]
    _type: Option<toml::Value>,
    #[serde(default)]
    claimed: Vec<ClaimedLines>,
    #[serde(default)]
    error: Vec<ExpectedError>,
    #[serde(default)]
    unread: Vec<UnreadTexts>,
    #[serde(default)]
    unreadable: Vec<UnreadableAnswers>,
    #[serde(default)]
    predicted: Vec<PredictedConfiguration>,
    #[serde(default)]
    masked: Vec<MaskedText>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectedError {
    #[serde(rename = "type")]
    type_text: Option<String>,
    replace: Option<String>,
    with: Option<String>,
    finding: String,
    #[serde(default)]
    alone: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClaimedLines {
    #[serde(rename = "given")]
    answers: Reads,
    lines: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct UnreadTexts {
    #[serde(rename = "given")]
    answers: Reads,
    texts: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct UnreadableAnswers {
    #[serde(rename = "given")]
    answers: Reads,
    error: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MaskedText {
    text: String,
    output: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PredictedConfiguration {
    #[serde(rename = "given")]
    answers: Reads,
    want: toml::Table,
    configuration: String,
}

struct Case {
    platform: String,
    /// The texts of the sections that are files.
    parts: [Option<String>; 3],
    expectations: Expectations,
}

impl Case {
    fn parse(platform: &str, text: &str) -> Self {
        Self {
            platform: platform.to_owned(),
            parts: [0, 1, 2].map(|index| part(text, SECTIONS[index])),
            expectations: toml::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}")),
        }
    }

    /// What does not hold.
    fn failures(&self) -> Vec<String> {
        let mut failures = Vec::new();
        let errors = &self.expectations.error;
        failures.extend(errors.iter().filter_map(|error| self.missing_error(error)));
        if self.parts[2].is_none() {
            return failures;
        }
        let registry = match load(&self.platform, &self.parts) {
            Ok(registry) => registry,
            Err(findings) => return vec![render_all(&findings)],
        };
        failures.extend(registry.test(None).into_iter().filter_map(|result| {
            let failure = result.failure?;
            Some(format!("{}: {failure}", result.name))
        }));
        let mut findings = registry.check();
        findings.retain(|finding| finding.severity == Severity::Error);
        failures.extend(findings.iter().map(render));
        let device = Device::new(&registry);
        let claimed = self.expectations.claimed.iter();
        failures.extend(claimed.filter_map(|expected| {
            let found = device.claimed(&expected.answers);
            (found != expected.lines).then(|| format!("claimed: {found:#?}"))
        }));
        let unread = self.expectations.unread.iter();
        failures.extend(unread.filter_map(|expected| {
            let found = device.unread(&expected.answers);
            (found != expected.texts).then(|| format!("not understood: {found:#?}"))
        }));
        let unreadable = self.expectations.unreadable.iter();
        failures.extend(unreadable.filter_map(|expected| {
            let found = device.read_error(&expected.answers);
            (!found.contains(&expected.error)).then(|| format!("error: {found}"))
        }));
        let masked = self.expectations.masked.iter();
        failures.extend(masked.filter_map(|expected| {
            let found = device.driver.masked_text(&expected.text);
            (found != expected.output).then(|| format!("masked:\n{found}"))
        }));
        let predicted = self.expectations.predicted.iter();
        failures.extend(predicted.filter_map(|expected| {
            let found = device.predicted(&expected.answers, &expected.want);
            (found != expected.configuration).then(|| format!("predicted:\n{found}"))
        }));
        failures
    }

    fn missing_error(&self, expected: &ExpectedError) -> Option<String> {
        let mut parts = self.parts.clone();
        if let Some(text) = &expected.type_text {
            parts[2] = Some(text.clone());
        }
        if let (Some(from), Some(to)) = (&expected.replace, &expected.with) {
            let mut texts = parts.iter_mut().rev().flatten();
            let text = texts.find(|text| text.contains(from)).expect(from);
            *text = text.replacen(from, to, 1);
        }
        let findings = match load(&self.platform, &parts) {
            Ok(registry) => registry.check(),
            Err(findings) => findings,
        };
        let is_expected = |finding: &Diagnostic| render(finding).contains(&expected.finding);
        let is_found = findings.iter().any(is_expected) && (!expected.alone || findings.len() == 1);
        (!is_found).then(|| {
            let found = render_all(&findings);
            format!("expected: {}\nfound: {found}", expected.finding)
        })
    }
}

/// The text of a section, as the file that it is.
fn part(text: &str, name: &str) -> Option<String> {
    let mut part: Option<String> = None;
    let mut is_inside = false;
    for line in text.lines() {
        let header = line.trim_start_matches('[');
        let brackets = &line[..line.len() - header.len()];
        let end = header.find(['.', ']']).unwrap_or(0);
        if !brackets.is_empty() && SECTIONS.contains(&&header[..end]) {
            is_inside = &header[..end] == name;
            if is_inside {
                let part = part.get_or_insert_default();
                if let Some(rest) = header[end..].strip_prefix('.') {
                    *part += &format!("{brackets}{rest}\n");
                }
            }
        } else if is_inside {
            *part.get_or_insert_default() += &format!("{line}\n");
        }
    }
    part
}

/// The definition with these texts of the platform, the model and the type.
fn load(shared: &str, parts: &[Option<String>; 3]) -> Result<Registry, Vec<Diagnostic>> {
    let shipped = [DefinitionFile::new("box/platform.toml", shared.to_owned())];
    let [platform, model, implementation] = parts;
    let model = model.as_deref().expect("a case has a model");
    let implementation = implementation.as_deref().unwrap_or_default();
    let mut own = vec![
        DefinitionFile::new(
            "models/thing.toml",
            format!("schema = 1\ntype = \"thing\"\ndoc = \"x\"\n{model}"),
        ),
        DefinitionFile::new(
            "box/thing.toml",
            format!("schema = 1\nplatform = \"box\"\ntype = \"thing\"\n{implementation}"),
        ),
    ];
    own.extend(platform.iter().map(|platform| {
        let text = format!("extends = \"shipped\"\n{platform}");
        DefinitionFile::new("box/platform.toml", text)
    }));
    Registry::from_files(&shipped, &own)
}

struct Device<'a> {
    registry: &'a Registry,
    driver: Driver,
}

impl<'a> Device<'a> {
    fn new(registry: &'a Registry) -> Self {
        let driver = Driver::new(registry.platform("box").unwrap(), &Facts::default());
        Self { registry, driver }
    }

    fn state(&self, reads: &Reads) -> State {
        self.driver.platform().parse(reads).unwrap()
    }

    /// What is not understood, with its attribute if it belongs to one.
    fn unread(&self, reads: &Reads) -> Vec<String> {
        let model = self.registry.model("thing").unwrap();
        let found = self.driver.not_understood(&[model], &self.state(reads));
        let rendered = found.iter().map(|one| match &one.attribute {
            Some(attribute) => format!("{attribute}: {one}"),
            None => one.to_string(),
        });
        rendered.collect()
    }

    /// The lines of the configuration with what they are for the type.
    fn claimed(&self, reads: &Reads) -> Vec<String> {
        let lines = self.driver.surveyed_lines(reads, &self.state(reads));
        let rendered = lines.iter().map(|line| {
            let mut words = vec![line.line.to_string()];
            if line.is_generated {
                words.push("generated".to_owned());
            }
            if !line.not_understood.is_empty() {
                words.push("not understood".to_owned());
            }
            for claim in &line.claims {
                words.push(format!("{:?}", claim.kind).to_lowercase());
                words.extend(claim.title.clone());
                words.extend(claim.attributes.iter().map(ToString::to_string));
            }
            words.join(" ")
        });
        rendered.collect()
    }

    /// Why the instances cannot be read.
    fn read_error(&self, reads: &Reads) -> String {
        let model = self.registry.model("thing").unwrap();
        let found = self.driver.instances(model, &self.state(reads));
        found.map_or_else(|error| error.to_string(), |found| format!("{found:?}"))
    }

    /// The configuration after a change.
    fn predicted(&self, reads: &Reads, want: &toml::Table) -> String {
        let model = self.registry.model("thing").unwrap();
        let mut state = self.state(reads);
        let supplied = want.iter().map(|(name, value)| (name, value_of(value)));
        let desired = Desired {
            reference: "Thing[x]".into(),
            model: Arc::clone(model),
            attributes: model.resolve("", &supplied.collect()).unwrap(),
        };
        let current = self.driver.instance(&desired, &state).unwrap();
        let differs = self
            .driver
            .differs(&desired, current.as_ref(), &NoSecretHistory);
        let change = Change::new(Arc::new(desired), current, differs);
        let operations = self.driver.render(&change, &state).unwrap();
        self.driver.predict(model, &mut state, &operations);
        self.driver.configuration(&state).text()
    }
}

fn value_of(value: &toml::Value) -> Value {
    match value {
        toml::Value::Integer(number) => (*number).into(),
        toml::Value::Boolean(flag) => (*flag).into(),
        toml::Value::Array(items) => Value::List(items.iter().map(value_of).collect()),
        other => other.as_str().expect("a text").into(),
    }
}

fn render(finding: &Diagnostic) -> String {
    match &finding.help {
        Some(help) => format!("{} ({help})", finding.message),
        None => finding.message.clone(),
    }
}

fn render_all(findings: &[Diagnostic]) -> String {
    let lines: Vec<String> = findings.iter().map(render).collect();
    lines.join("\n")
}
