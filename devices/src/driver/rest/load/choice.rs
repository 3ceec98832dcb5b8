//! Checks choices: each value has a place, and the attribute that decides can be read.

use super::check::values_without;
use crate::driver::rest::definition::{ChoiceRule, ChosenField};
use crate::driver::rest::definition::{RestAttributeRule, RestDefinition, RestLocation};
use crate::model::{AttributeModel, TypeModel, ValueSpec};

/// Values without a place, and attributes that cannot decide about one.
pub(super) fn choice_errors(definition: &RestDefinition, model: &TypeModel) -> Vec<String> {
    let mut errors = Vec::new();
    for (name, rule) in &definition.attributes {
        let attribute = &model.attributes[name];
        match &rule.location {
            RestLocation::Choice(choice) => errors.extend(value_errors(choice, rule, attribute)),
            RestLocation::Chosen(chosen) => {
                errors.extend(deciding_errors(definition, model, name, chosen));
            }
            _ => {}
        }
    }
    errors
}

/// Values of a choice without a place, and places in one another.
fn value_errors(
    choice: &ChoiceRule,
    rule: &RestAttributeRule,
    attribute: &AttributeModel,
) -> Vec<String> {
    let name = &attribute.name;
    let mut errors = Vec::new();
    let absent = choice
        .absent
        .as_ref()
        .and_then(|absent| absent.scalar_text());
    let located: Vec<&str> = choice.places.keys().map(String::as_str).collect();
    let values = values_without(rule, attribute, &located);
    let missing = values.filter(|value| Some(value.as_ref()) != absent.as_deref());
    errors.extend(missing.map(|value| {
        format!("value `{value}` of `{name}` has no `choice.{value}` and is not `absent`")
    }));
    for (index, (value, path)) in choice.places.iter().enumerate() {
        let mut others = choice.places.iter().enumerate();
        let inside = others.find(|(other, (_, inner))| *other != index && path.contains(inner));
        if let Some((_, (other, _))) = inside {
            errors.push(format!(
                "`choice.{other}` of `{name}` is in the field of `choice.{value}`, so that both exist"
            ));
        }
    }
    errors
}

/// An attribute that cannot decide about a place, and values that it does not have.
fn deciding_errors(
    definition: &RestDefinition,
    model: &TypeModel,
    name: &str,
    chosen: &ChosenField,
) -> Vec<String> {
    let by = &chosen.by;
    let mut decides = by.clone();
    // An attribute decides about itself if the chain returns to it.
    for _ in 0..=definition.attributes.len() {
        let next = definition
            .attributes
            .get(&decides)
            .map(|rule| &rule.location);
        match next {
            Some(RestLocation::Chosen(outer)) if outer.by == name => {
                return vec![format!(
                    "`by` of `{name}`: `{by}` depends on `{name}` itself"
                )];
            }
            Some(RestLocation::Chosen(outer)) => decides = outer.by.clone(),
            _ => break,
        }
    }
    let is_kind = definition
        .kinds
        .as_ref()
        .is_some_and(|kinds| kinds.attribute == *by);
    let location = definition.attributes.get(by).map(|rule| &rule.location);
    let is_read = is_kind
        || location.is_some_and(|location| match location {
            RestLocation::States(_) | RestLocation::Choice(_) => true,
            other => !other.fields().is_empty(),
        });
    let Some(attribute) = model.attributes.get(by).filter(|_| is_read) else {
        return vec![format!(
            "`by` of `{name}` names `{by}`, which has no `choice`, `set` or `field`"
        )];
    };
    let is_open = |spec: &ValueSpec| !matches!(spec, ValueSpec::Literal(_));
    if attribute.values.iter().any(is_open) {
        return Vec::new();
    }
    let is_value = |value: &str| attribute.values.iter().any(|spec| spec.name() == value);
    let unknown = chosen.places.keys().filter(|value| !is_value(value));
    unknown
        .map(|value| format!("`field.{value}` of `{name}`: `{by}` has no value `{value}`"))
        .collect()
}
