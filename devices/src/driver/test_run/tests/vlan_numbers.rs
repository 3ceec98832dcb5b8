//! VLAN 0, VLAN 4095 and greater numbers are refused wherever a VLAN is a value.
//!
//! Where a VLAN can stand is tried: alone, in lists, in pairs, and behind the word `vlan`. A place that also accepts a
//! word is text.

use std::path::Path;

use crate::definitions;
use crate::driver::Registry;
use crate::model::{AttributeModel, TypeModel};
use crate::value::Value;

const REFUSED: [&str; 4] = ["0", "4095", "4096", "5000"];

/// Tags of frames, in the words of an access list. It accepts what frames can have.
const TAGS: [(&str, &str); 1] = [("cisco_ace", "vlan")];

fn text(text: String) -> Value {
    Value::String(text)
}

/// Values behind the word `vlan`.
fn named(number: &str) -> Vec<Value> {
    let texts = [
        format!("0011.2233.4455 vlan {number}"),
        format!("LIST vlan {number}"),
        format!("LIST vlan 20,{number} static"),
    ];
    texts.into_iter().map(text).collect()
}

/// Values of an attribute that is about VLANs.
fn plain(number: &str) -> Vec<Value> {
    let single = || text(number.to_owned());
    let mut values = vec![
        single(),
        text(format!("20,{number}")),
        text(format!("{number},30")),
    ];
    values.extend(number.parse().map(Value::Integer));
    let seconds = [5, 10, 4096].map(Value::Integer);
    for second in seconds.into_iter().chain([text("20".to_owned())]) {
        values.push(Value::List(vec![Value::List(vec![single(), second])]));
    }
    values
}

fn is_about_vlans(model: &TypeModel, attribute: &AttributeModel) -> bool {
    let is_vlan =
        model.name.as_str().ends_with("_vlan") && ["id", "number"].contains(&&*attribute.name);
    let refers = |reference: &crate::model::Reference| reference.target.as_str().ends_with("_vlan");
    is_vlan || attribute.name.contains("vlan") || attribute.refers.iter().any(refers)
}

/// The numbers that an attribute accepts and no VLAN has.
fn accepted(model: &TypeModel, attribute: &AttributeModel) -> Vec<Value> {
    let accepts = |value: &Value| attribute.canonicalize(value).is_ok();
    let values = |number: &str| {
        let mut values = named(number);
        if is_about_vlans(model, attribute) {
            values.extend(plain(number));
        }
        values
    };
    let mut found = Vec::new();
    for number in REFUSED {
        let words = values("xx");
        for (valid, wrong) in values("10").into_iter().zip(values(number)) {
            let is_text = words
                .iter()
                .any(|word| shape(word) == shape(&valid) && accepts(word));
            if accepts(&valid) && !is_text && accepts(&wrong) {
                found.push(wrong);
            }
        }
    }
    found
}

/// The form of a value without its number. A word is no integer: an attribute that accepts it accepts text.
fn shape(value: &Value) -> String {
    match value {
        Value::Integer(number) => format!("{:?}", text(number.to_string())),
        other => format!("{other:?}").replace("xx", "10"),
    }
}

#[test]
fn no_attribute_accepts_a_vlan_that_does_not_exist() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/definitions");
    let registry = Registry::load(&definitions::from_directory(&examples).unwrap()).unwrap();
    let mut wrong = Vec::new();
    let mut tried = 0;
    for model in registry.models() {
        for attribute in model.attributes.values() {
            let is_tag = TAGS.contains(&(model.name.as_str(), &attribute.name));
            if is_about_vlans(model, attribute) {
                tried += 1;
            }
            for value in accepted(model, attribute) {
                if !is_tag {
                    wrong.push(format!("{}.{}: {value:?}", model.name, attribute.name));
                }
            }
            let is_list = attribute.name.ends_with("vlan") || attribute.name.ends_with("vlans");
            if is_list && attribute.values.is_empty() {
                wrong.push(format!("{}.{}: any value", model.name, attribute.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tried > 80, "only {tried} attributes");
}
