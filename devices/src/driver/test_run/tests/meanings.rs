//! What a value says is what is sent: the word for the default is in no command and request, and
//! `false` sends something else than `true`. For all attributes of the shipped and example definitions,
//! on the devices of their self-tests.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::{SelfTest, initial_state};
use crate::change::{Change, Desired};
use crate::definitions;
use crate::driver::test_run::print;
use crate::driver::type_driver::TypeDriver;
use crate::driver::{Driver, Platform, Registry};
use crate::model::{AttributeModel, ValueSpec};
use crate::value::{Attributes, Value};

/// What the change of one attribute to a value sends, also if the device has the value, and the value
/// afterwards; `None` if it is refused.
fn sent(
    platform: &Arc<Platform>,
    definition: &TypeDriver,
    test: &SelfTest,
    (name, value): (&str, Value),
) -> Option<(Vec<String>, Option<Value>)> {
    let model = &definition.model;
    let driver = Driver::new(platform, &test.facts);
    driver.supports(model).ok()?;
    let mut want: Attributes = test.want.clone().unwrap_or_default();
    want.insert(name.to_owned(), value);
    let resolved = model.resolve("", &want);
    let resolved = resolved.and_then(|attributes| driver.canonicalize(model, attributes));
    let desired = Desired {
        reference: model.name.as_str().into(),
        model: Arc::clone(model),
        attributes: resolved.ok()?,
    };
    let mut problems = driver.check(&desired).into_iter();
    if problems.any(|problem| problem.is_refusal()) {
        return None;
    }
    let mut state = initial_state(&driver, definition, test).ok()?;
    let current = driver.instance(&desired, &state).ok()?;
    let desired = Arc::new(desired);
    let change = Change::new(Arc::clone(&desired), current, vec![name.into()]);
    let operations = driver.render(&change, &state).ok()?;
    driver.predict(model, &mut state, &operations);
    let after = driver.instance(&desired, &state).ok().flatten();
    let after = after.and_then(|after| after.attributes.get(name).cloned());
    Some((print(&operations), after))
}

/// Whether a command, or the body of a request, has a word in it. A command may begin with it:
/// `unset comment`. So may the action of a request: `?action=unset`.
fn has_word(sent: &[String], word: &str) -> bool {
    let is_end = |c: char| c.is_whitespace() || "\"'<>{}[](),:;=".contains(c);
    sent.iter().any(|line| {
        let body = line
            .split_once(" /")
            .and_then(|(_, path)| path.split_once(' '));
        let text = body.map_or(line.as_str(), |(_, body)| body);
        let words = text.split(is_end).filter(|word| !word.is_empty());
        words.skip(1).any(|other| other == word)
    })
}

fn findings(
    platform: &Arc<Platform>,
    definition: &TypeDriver,
    attribute: &AttributeModel,
) -> BTreeSet<String> {
    let name = attribute.name.as_str();
    let mut found = BTreeSet::new();
    let tests = definition.tests.iter().filter(|test| test.want.is_some());
    for test in tests {
        let attribute_name = format!("{}/{}.{name}", platform.name, definition.model.name);
        let sent = |value: Value| sent(platform, definition, test, (name, value));
        if let Some(word) = &attribute.default_word {
            // `spanning-tree loopguard default` has the word in each form.
            // `encapsulation profile NAME default` has it after the value.
            let is_literal = [Value::from(true), Value::from("x")]
                .into_iter()
                .any(|value| sent(value).is_some_and(|(sent, _)| has_word(&sent, word)));
            let sent = sent(Value::from(word.as_str()));
            let sends_word = |sent: &[String]| !is_literal && has_word(sent, word);
            if let Some((sent, _)) = sent.filter(|(sent, _)| sends_word(sent)) {
                found.insert(format!("{attribute_name}: {word} in {sent:?}"));
            }
        }
        let has_literal = |value: bool| {
            let mut values = attribute.values.iter();
            values
                .any(|spec| matches!(spec, ValueSpec::Literal(literal) if *literal == value.into()))
        };
        if has_literal(true)
            && has_literal(false)
            && let (Some((on, after)), Some((off, _))) = (sent(true.into()), sent(false.into()))
            && on == off
            && !on.is_empty()
            && after == Some(true.into())
        {
            found.insert(format!("{attribute_name}: true and false send {on:?}"));
        }
    }
    found
}

#[test]
fn words_for_the_default_are_never_sent_and_false_is_not_true() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/definitions");
    let examples = definitions::from_directory(&examples).unwrap();
    let registry = Registry::load(&examples).unwrap_or_else(|findings| panic!("{findings:#?}"));
    let mut found = BTreeSet::new();
    let mut words = 0;
    for platform in registry.platforms() {
        for definition in platform.type_drivers() {
            for attribute in definition.model.attributes.values() {
                words += usize::from(attribute.default_word.is_some());
                found.extend(findings(platform, definition, attribute));
            }
        }
    }
    assert!(words > 400, "{words}");
    assert!(found.is_empty(), "{found:#?}");
}
