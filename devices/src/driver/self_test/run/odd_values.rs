//! Tests empty values and values with surrounding spaces. Each must equal a value that the device
//! supports, or be rejected before connecting. It must not differ in every run.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{SelfTest, TestFailure, initial_state, operations_for};
use crate::change::Desired;
use crate::driver::type_driver::TypeDriver;
use crate::driver::{Driver, NoSecretHistory, Platform, Problem, Registry};
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

/// Whether an attribute is out of sync after it was set; false for rejected values.
fn is_never_in_sync(
    platform: &Arc<Platform>,
    definition: &TypeDriver,
    test: &SelfTest,
    (name, value): (&str, &Value),
) -> Result<bool, TestFailure> {
    let model = &definition.model;
    let driver = Driver::new(platform, &test.facts);
    let mut want: Attributes = test.want.clone().unwrap_or_default();
    want.insert(name.to_owned(), value.clone());
    let resolved = model
        .resolve("", &want)
        .and_then(|attributes| driver.canonicalize(model, attributes));
    let Ok(attributes) = resolved else {
        return Ok(false);
    };
    let desired = Desired {
        reference: model.name.as_str().into(),
        model: Arc::clone(model),
        attributes,
    };
    let problems = driver.check(&desired);
    if driver.supports(model).is_err() || problems.iter().any(Problem::is_refusal) {
        return Ok(false);
    }
    let mut state = initial_state(&driver, definition, test)?;
    // A line for a list that the device lacks is refused.
    let Ok((operations, _)) = operations_for(&driver, &desired, &state, &NoSecretHistory) else {
        return Ok(false);
    };
    driver.predict(model, &mut state, &operations);
    let current = driver.instance(&desired, &state)?;
    let desired = driver.resolve(&desired, current.as_ref());
    let differs = driver.differs(&desired, current.as_ref(), &NoSecretHistory);
    Ok(differs.iter().any(|differing| differing == name))
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
                    let settles = is_never_in_sync(platform, definition, test, (name, &value));
                    let why = match settles {
                        Ok(false) => continue,
                        Ok(true) => "differs again".to_owned(),
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
