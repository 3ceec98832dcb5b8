//! Tests empty values and values with surrounding spaces. Each must equal a value that the device
//! supports, or be rejected before connecting. It must not differ in every run.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{SelfTest, TestFailure, initial_state, operations_for};
use crate::change::Desired;
use crate::driver::type_driver::TypeDriver;
use crate::driver::{Driver, NoSecretHistory, Platform, Registry};
use crate::value::{Attributes, Value};

fn odd_values() -> Vec<Value> {
    let texts = [
        "",
        " ",
        " text",
        "text ",
        "two  words",
        "text\n",
        "\ntext",
        " \n",
    ];
    let texts = texts.map(Value::from);
    let lists = texts.clone().map(|text| Value::List(vec![text]));
    let empty = [Value::List(Vec::new()), Value::Hash(Vec::new())];
    texts.into_iter().chain(lists).chain(empty).collect()
}

/// Whether a value of an attribute differs after another one, or itself, was set; `None` if one of them is
/// rejected.
pub(super) fn differs_after(
    platform: &Arc<Platform>,
    definition: &TypeDriver,
    test: &SelfTest,
    name: &str,
    (set, declared): (&Value, &Value),
) -> Result<Option<bool>, TestFailure> {
    let model = &definition.model;
    let driver = Driver::new(platform, &test.facts);
    let desired = |value: &Value| {
        let mut want: Attributes = test.want.clone().unwrap_or_default();
        want.insert(name.to_owned(), value.clone());
        let resolved = model
            .resolve("", &want)
            .and_then(|attributes| driver.canonicalize(model, attributes));
        let desired = Desired {
            reference: model.name.as_str().into(),
            model: Arc::clone(model),
            attributes: resolved.ok()?,
        };
        let mut problems = driver.check(&desired).into_iter();
        let is_refused = problems.any(|problem| problem.is_refusal());
        (!is_refused).then_some(desired)
    };
    let (Some(set), Some(declared), Ok(())) =
        (desired(set), desired(declared), driver.supports(model))
    else {
        return Ok(None);
    };
    let mut state = initial_state(&driver, definition, test)?;
    // A line for a list that the device lacks is refused.
    let Ok((operations, _)) = operations_for(&driver, &set, &state, &NoSecretHistory) else {
        return Ok(None);
    };
    driver.predict(model, &mut state, &operations);
    let current = driver.instance(&declared, &state)?;
    let declared = driver.resolve(&declared, current.as_ref(), &state);
    let differs = driver.differs(&declared, current.as_ref(), &NoSecretHistory);
    Ok(Some(differs.iter().any(|differing| differing == name)))
}

#[test]
fn values_that_a_device_normalizes_are_normalized_or_refused() {
    let registry = Registry::shipped();
    let mut found = BTreeSet::new();
    for (platform, definition) in registry
        .platforms()
        .flat_map(|platform| platform.type_drivers().map(move |of| (platform, of)))
    {
        let tests = definition.tests.iter().filter(|test| test.error.is_none());
        let tests = tests.filter(|test| {
            let ensure = test.want.as_ref().map(|want| want.get("ensure"));
            ensure.is_some_and(|ensure| ensure.and_then(Value::as_str) != Some("absent"))
        });
        for test in tests {
            // Secrets that a device does not print are compared with the last value that was set.
            let attributes = definition.model.attributes.values();
            for attribute in attributes.filter(|attribute| !attribute.sensitive) {
                for value in odd_values() {
                    let name = attribute.name.as_str();
                    let settles = differs_after(platform, definition, test, name, (&value, &value));
                    let why = match settles {
                        Ok(None | Some(false)) => continue,
                        Ok(Some(true)) => "differs again".to_owned(),
                        Err(failure) => failure.to_string(),
                    };
                    let of = &definition.model.name;
                    found.insert(format!(
                        "{}/{of}: {name} => {}: {why}",
                        platform.name,
                        value.inspect()
                    ));
                }
            }
        }
    }
    let found: Vec<String> = found.into_iter().collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}
