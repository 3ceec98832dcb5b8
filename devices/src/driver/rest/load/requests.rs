//! Checks requests of their own: those of values, and changes and removals with a path of their own.

use crate::driver::rest::definition::{RequestTarget, RestDefinition, RestLocation};
use crate::driver::rest::template::BodyField;
use crate::model::TypeModel;

/// Requests that cannot name their object, and values that an attribute does not have.
pub(super) fn request_errors(definition: &RestDefinition, model: &TypeModel) -> Vec<String> {
    let rule = &definition.instance;
    let mut errors = Vec::new();
    let has_own_paths = rule.document.is_none() && definition.namespaces.is_none();
    for (name, attribute) in &definition.attributes {
        if !attribute.requests.is_empty() && (!has_own_paths || rule.has_frames()) {
            errors.push(format!(
                "a request of its own of `{name}` requires objects with a path: remove it"
            ));
        }
        let values = &model.attributes[name].values;
        let absent = attribute.location.absent();
        for value in attribute.requests.keys() {
            let is_literal = values.iter().any(|spec| spec.name() == value.as_str());
            let is_absent = absent.as_ref() == Some(value);
            if !is_literal && !is_absent {
                errors.push(format!(
                    "`set.{value}` of `{name}`: the model has no such value"
                ));
            }
            if let RestLocation::States(states) = &attribute.location {
                let state = states.get(value);
                let when = state.and_then(|state| state.when.as_ref());
                if when.is_none_or(Vec::is_empty) {
                    errors.push(format!(
                        "`set.{value}` of `{name}` has a request and no field, so that the value cannot be read"
                    ));
                }
            }
        }
    }
    let path = match &rule.update.target {
        RequestTarget::Object => return errors,
        target => rule.path_of(target),
    };
    for key in rule.key.iter().filter(|key| key.up == 0) {
        let name = key.attribute.as_str();
        let is_in_body = rule.update.is_complete
            || rule.update.fields.iter().any(|(_, field)| match field {
                BodyField::Text(text) => text.holes().any(|hole| hole == name),
                BodyField::Constant(_) => false,
            });
        if !is_in_body && path.holes().all(|hole| hole != name) {
            errors.push(format!(
                "`at` of `update` does not name the object: add `{name}` to `fields` of `update`"
            ));
        }
    }
    errors
}
