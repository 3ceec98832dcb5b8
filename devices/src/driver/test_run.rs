//! Runs self-tests.
//!
//! A test with a change runs a second time on the predicted result and must send nothing. The
//! definition needs no key for this.

pub(super) mod platform_test;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::self_test::{Coverage, SelfTest};
use crate::change::{Change, ChangeKind, Desired, Instance};
use crate::diagnostic::Severity;
use crate::driver::platform::Platform;
use crate::driver::type_driver::TypeDriver;
use crate::driver::{
    Driver, NoSecretHistory, Problem, ProblemKind, RenderError, SecretHistory, UnsupportedType,
};
use crate::model::canonical::ValueError;
use crate::operation::{Action, Operation};
use crate::read::{CONFIG, ReadError, Reads, State};
use crate::secret::Text;
use crate::value::{Attributes, Value};

/// The result of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestResult {
    /// `cisco_ios/network_vlan`.
    pub definition: String,
    /// The test's name in the definition file.
    pub name: String,
    /// The test stands in a user's file, not in one built into the program.
    pub own: bool,
    pub(crate) covers: Vec<Coverage>,
    /// What is wrong, in several lines; `None` when it passed.
    pub failure: Option<String>,
}

/// Why a test fails, in one or several lines.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct TestFailure(String);

macro_rules! fails_with {
    ($($error:ty),*) => {
        $(impl From<$error> for TestFailure {
            fn from(error: $error) -> Self {
                Self(error.to_string())
            }
        })*
    };
}

fails_with!(ReadError, RenderError, UnsupportedType, ValueError);

/// Runs a test of a definition.
pub(crate) fn run(
    platform: &Arc<Platform>,
    definition: &TypeDriver,
    test: &SelfTest,
) -> TestResult {
    let mut covers = Vec::new();
    let failure = check(platform, definition, test, &mut covers).err();
    let failure = failure.map(|TestFailure(text)| text);
    TestResult {
        definition: format!("{}/{}", platform.name, definition.model.name),
        name: test.name.clone(),
        own: !definition.shipped && Arc::ptr_eq(&test.source, &definition.source),
        covers,
        failure,
    }
}

fn check(
    platform: &Arc<Platform>,
    definition: &TypeDriver,
    test: &SelfTest,
    covers: &mut Vec<Coverage>,
) -> Result<(), TestFailure> {
    let model = &definition.model;
    let live = Driver::new(platform, &test.facts);
    let saved = test.is_offline.then(|| saved_answers(platform, test));
    let saved = saved.transpose()?;
    let driver = live.clone().with_saved(saved.as_ref());
    if let Err(reason) = driver.supports(model) {
        if test.error.as_ref() != Some(&reason.to_string()) {
            return Err(reason.into());
        }
        covers.push(Coverage::Refusal);
        return Ok(());
    }
    let mut state = match &saved {
        Some(saved) => platform.parse(saved)?,
        None => initial_state(&driver, definition, test)?,
    };

    if let Some(expected) = &test.expect {
        covers.push(Coverage::Read);
        compare_expected(&driver, &state, definition, (test, expected))?;
        // The other answers must show the same as the configuration.
        if test.is_offline && test.supplied.len() > 1 {
            let answers = initial_state(&live, definition, test)?;
            compare_expected(&live, &answers, definition, (test, expected))?;
        }
    }

    // A file that extends another one may read more of its lines, or less.
    let is_own = Arc::ptr_eq(&test.source, &definition.source);
    if (is_own && test.expect.is_some()) || test.not_understood.is_some() {
        let expected = test.not_understood.as_deref().unwrap_or_default();
        let found = driver.not_understood(&[model], &state);
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        if *expected != found {
            let text = difference(expected, &found);
            return Err(TestFailure(format!("not understood:\n{text}")));
        }
    }

    let Some(want) = &test.want else {
        return Ok(());
    };
    let resolved = model
        .resolve("", want)
        .and_then(|attributes| driver.canonicalize(model, attributes));
    let desired = match resolved {
        Ok(attributes) => Desired {
            reference: format!("{}[{}]", model.name, test.name).into(),
            model: Arc::clone(model),
            attributes,
        },
        Err(errors) => {
            let messages = errors
                .iter()
                .flat_map(|error| error_forms(&model.name, &error.attribute, &error.message));
            return refused(test, messages.collect(), covers);
        }
    };
    // A reserved instance is refused unless it is in sync.
    let is_in_sync = || {
        let run = operations_for(&driver, &desired, &state, &NoSecretHistory);
        run.is_ok_and(|(_, change)| change.is_none())
    };
    let errors: Vec<String> = driver
        .check(&desired)
        .iter()
        .filter(|problem| match problem.kind {
            ProblemKind::Reserved | ProblemKind::Unchangeable => !is_in_sync(),
            _ => problem.severity == Severity::Error,
        })
        .flat_map(|problem: &Problem| {
            error_forms(&model.name, &problem.attribute, &problem.message)
        })
        .collect();
    if !errors.is_empty() {
        return refused(test, errors, covers);
    }
    let planned = operations_for(&driver, &desired, &state, &NoSecretHistory);
    if test.error.is_some() {
        let errors = planned.err().into_iter().flat_map(|TestFailure(error)| {
            let (attribute, message) = error.split_once(": ").unwrap_or(("", &error));
            error_forms(&model.name, attribute, message)
        });
        return refused(test, errors.collect(), covers);
    }
    let (operations, kind) = planned?;
    let printed = print(&operations);
    covers.push(match kind {
        None => Coverage::SecondRun,
        Some(ChangeKind::Create) => Coverage::Create,
        Some(ChangeKind::Update) => Coverage::Change,
        Some(ChangeKind::Remove) => Coverage::Remove,
    });
    if let Some(expected) = &test.operations
        && *expected != printed
    {
        return Err(TestFailure(difference(expected, &printed)));
    }
    driver.predict(model, &mut state, &operations);
    let (again, _) = operations_for(&driver, &desired, &state, &SetByTest)?;
    if !again.is_empty() {
        let lines = print(&again).join("\n  ");
        return Err(TestFailure(format!("a second run sends:\n  {lines}")));
    }
    Ok(())
}

/// What the device has, by the test's answers.
/// Compares the instances in a state with the expected ones.
fn compare_expected(
    driver: &Driver,
    state: &State,
    definition: &TypeDriver,
    (test, expected): (&SelfTest, &[Attributes]),
) -> Result<(), TestFailure> {
    let model = &definition.model;
    let mut found = driver.instances(model, state)?;
    // A shipped test does not have the attributes that the user added.
    if !Arc::ptr_eq(&test.source, &definition.source) {
        for instance in &mut found {
            let attributes = &mut instance.attributes;
            attributes.retain(|name, _| !definition.added.contains(name));
        }
    }
    let expected: Result<Vec<Instance>, TestFailure> = expected
        .iter()
        .map(|attributes| {
            let canonical = canonical(driver, definition, attributes)?;
            Ok(Instance {
                attributes: canonical,
                ..Instance::default()
            })
        })
        .collect();
    let expected = expected?;
    if test.is_subset {
        retain_expected(&expected, &mut found);
    }
    compare_instances(&expected, &found).map_err(|TestFailure(text)| {
        let unknown = driver.not_understood(&[model], state);
        let unknown = unknown
            .iter()
            .map(|one| format!("\nnot understood: {}", one.text));
        TestFailure(text + &unknown.collect::<String>())
    })
}

/// The answers that the configuration of a test has.
fn saved_answers(platform: &Platform, test: &SelfTest) -> Result<Reads, TestFailure> {
    let config = test.supplied.get(CONFIG).cloned();
    let config = config
        .ok_or_else(|| TestFailure(format!("a test with `offline` requires `given.{CONFIG}`")))?;
    let mut reads = Reads::from_iter([(CONFIG.to_owned(), config)]);
    platform.add_saved_answers(&mut reads);
    Ok(reads)
}

fn initial_state(
    driver: &Driver,
    definition: &TypeDriver,
    test: &SelfTest,
) -> Result<State, TestFailure> {
    let mut reads = Reads::default();
    for request in driver.reads(&[&definition.model]) {
        reads.insert(request.name.clone(), String::new());
    }
    let desired = test.want.as_ref().and_then(|want| {
        let attributes = definition.model.resolve("", want).ok()?;
        Some(Desired {
            reference: definition.model.name.as_str().into(),
            model: Arc::clone(&definition.model),
            attributes,
        })
    });
    for request in desired
        .iter()
        .flat_map(|desired| driver.reads_for(&[desired]))
    {
        reads.insert(request.name, String::new());
    }
    for (name, text) in &test.supplied {
        if !reads.contains_key(name) {
            // Of a test that compares the configuration with other answers.
            if test.is_offline && name == CONFIG {
                continue;
            }
            let reads: Vec<_> = reads.keys().map(String::as_str).collect();
            let reads = reads.join(", ");
            let message = format!("the type does not read `{name}`, only {reads}");
            return Err(TestFailure(message));
        }
        if is_complete_answer(text) {
            check_answer(driver.platform(), name, text)?;
        }
        reads.insert(name.clone(), text.clone());
    }
    Ok(driver.platform().parse(&reads)?)
}

/// Whether a text of a test is a complete answer. Other texts are parts of a configuration.
fn is_complete_answer(text: &str) -> bool {
    let parsed: Result<serde_json::Value, _> = serde_json::from_str(text);
    parsed.is_ok_and(|json| json.is_object() || json.is_array())
}

/// Checks an answer as that of a device.
fn check_answer(platform: &Platform, read: &str, text: &str) -> Result<(), TestFailure> {
    let rule = platform.reads.get(read);
    let checked = rule.map_or(Ok(()), |rule| rule.request.answer.check(text));
    checked.map_err(|error| {
        TestFailure(format!(
            "a device with this answer to `{read}` is refused: {error}"
        ))
    })
}

/// A refusal in the forms in which a test may expect it; the most telling one first.
fn error_forms(kind: &str, attribute: &str, message: &str) -> [String; 4] {
    [
        format!("{kind}: {attribute}: {message}"),
        format!("{kind}: {message}"),
        format!("{attribute}: {message}"),
        message.to_owned(),
    ]
}

fn refused(
    test: &SelfTest,
    messages: Vec<String>,
    covers: &mut Vec<Coverage>,
) -> Result<(), TestFailure> {
    covers.push(Coverage::Refusal);
    if let Some(expected) = &test.error
        && messages.contains(expected)
    {
        return Ok(());
    }
    let texts: Vec<String> = messages.into_iter().step_by(4).collect();
    Err(TestFailure(match &test.error {
        Some(expected) if texts.is_empty() => format!("expected to be refused: {expected}"),
        Some(expected) => difference(std::slice::from_ref(expected), &texts),
        None => format!("refused: {}", texts.join("; ")),
    }))
}

/// Expected attributes in canonical form; those of a read are not checked by rules.
fn canonical(
    driver: &Driver,
    definition: &TypeDriver,
    attributes: &Attributes,
) -> Result<Attributes, TestFailure> {
    let model = &definition.model;
    let values: Result<Attributes, ValueError> = attributes
        .iter()
        .map(|(name, value)| Ok((name.clone(), model.canonicalize(name, value)?)))
        .collect();
    driver.canonicalize(model, values?).map_err(|errors| {
        let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
        TestFailure(errors.join("; "))
    })
}

/// The first run of a test has set all secrets.
struct SetByTest;

impl SecretHistory for SetByTest {
    fn matches_last_set(&self, _: &str, _: &str, _: &Value) -> Option<bool> {
        Some(true)
    }
}

/// What has to be sent for a resource, and as what kind of change.
fn operations_for(
    driver: &Driver,
    desired: &Desired,
    state: &State,
    secrets: &dyn SecretHistory,
) -> Result<(Vec<Operation>, Option<ChangeKind>), TestFailure> {
    match change_for(driver, desired, state, secrets)? {
        Some(change) => Ok((driver.render(&change, state)?, Some(change.kind))),
        None => Ok((Vec::new(), None)),
    }
}

/// The change of a resource, if it differs.
fn change_for(
    driver: &Driver,
    desired: &Desired,
    state: &State,
    secrets: &dyn SecretHistory,
) -> Result<Option<Change>, TestFailure> {
    let current = driver.instance(desired, state)?;
    let desired = driver
        .resolve(desired, current.as_ref(), state)
        .into_owned();
    let attributes = driver.differs(&desired, current.as_ref(), secrets);
    // What is not there, and is not said to be there, is nothing that a run would manage.
    let nothing_to_manage = desired.model.is_ensurable()
        && current.is_none()
        && !attributes.iter().any(|name| name == "ensure");
    if attributes.is_empty() || nothing_to_manage {
        return Ok(None);
    }
    Ok(Some(Change::new(Arc::new(desired), current, attributes)))
}

/// The operations as a definition's author writes them: a line to enter a mode, what is sent
/// there indented below it; a request on one line.
pub fn print(operations: &[Operation]) -> Vec<String> {
    let mut printed = Vec::new();
    let mut mode: Vec<String> = Vec::new();
    for operation in operations {
        match &operation.action {
            Action::Line(line) => {
                let path: Vec<String> = line.mode.iter().map(Text::reveal).collect();
                let shared = mode.iter().zip(&path).take_while(|(a, b)| a == b).count();
                for (depth, text) in path.iter().enumerate().skip(shared) {
                    printed.push(format!("{}{text}", " ".repeat(depth)));
                }
                let indent = " ".repeat(path.len());
                mode = path;
                let lines = line.text.iter().chain(&line.body);
                printed.extend(lines.map(|text| format!("{indent}{}", text.reveal())));
            }
            Action::Edit(edit) => printed.push(edit.config.reveal()),
            Action::Request(request) => {
                let body = request
                    .body
                    .as_ref()
                    .map(|body| format!(" {}", body.reveal()));
                printed.push(format!(
                    "{} {}{}",
                    request.method,
                    request.path,
                    body.unwrap_or_default()
                ));
            }
        }
    }
    printed
}

/// Leaves the attributes that are expected of each instance.
fn retain_expected(expected: &[Instance], found: &mut [Instance]) {
    for (expected, found) in expected.iter().zip(found) {
        let names = &expected.attributes;
        found.attributes.retain(|name, _| names.contains_key(name));
    }
}

fn compare_instances(expected: &[Instance], found: &[Instance]) -> Result<(), TestFailure> {
    let show = |instances: &[Instance]| -> Vec<String> {
        instances
            .iter()
            .map(|instance| {
                let mut attributes: Vec<_> = instance
                    .attributes
                    .iter()
                    .map(|(name, value)| format!("{name} = {:?}", without_sensitive(value)))
                    .collect();
                attributes.sort();
                attributes.join(", ")
            })
            .collect()
    };
    let (expected, found) = (show(expected), show(found));
    if expected == found {
        Ok(())
    } else {
        Err(TestFailure(difference(&expected, &found)))
    }
}

/// Tests have no secrets: what is wrapped is shown, so that a difference can be seen.
fn without_sensitive(value: &Value) -> Value {
    match value {
        Value::Sensitive(inner) => without_sensitive(inner),
        Value::List(items) => Value::List(items.iter().map(without_sensitive).collect()),
        other => other.clone(),
    }
}

fn difference(expected: &[String], found: &[String]) -> String {
    let lines = |lines: &[String]| match lines {
        [] => "  (nothing)".to_owned(),
        lines => lines
            .iter()
            .map(|line| format!("  {line}"))
            .collect::<Vec<_>>()
            .join("\n"),
    };
    format!("expected:\n{}\nfound:\n{}", lines(expected), lines(found))
}
