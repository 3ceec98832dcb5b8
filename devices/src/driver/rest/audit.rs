//! Checks that a definition reads back what it writes: for example values of the model, an object
//! is made, and the device's answer is read.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::canonical::canonical;
use super::definition::{RestDefinition, RestLocation};
use super::read_requests::{name_of, requests};
use super::{predict, read, write};
use crate::change::{Change, ChangeKind, Desired};
use crate::diagnostic::{Diagnostic, Source};
use crate::driver::implementation::RenderError;
use crate::model::{AttributeModel, TypeModel, ValueSpec};
use crate::operation::Action;
use crate::read::{Parsed, ReadError, State};
use crate::value::{Attributes, Name, Value};

/// Example texts; one should match any pattern.
const TEXTS: [&str; 9] = [
    "/Common/example",
    "192.0.2.1",
    "192.0.2.0/24",
    "255.255.255.0",
    "tcp:443",
    "example",
    "80",
    "some text",
    "/Common/gre",
];

/// The values that change when written and read back.
pub(crate) fn audit(
    definition: &RestDefinition,
    model: &Arc<TypeModel>,
    source: &Arc<Source>,
) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for attribute in model.properties() {
        let name = attribute.name.as_str();
        let Some(rule) = definition.attributes.get(name) else {
            continue;
        };
        if rule.write_only || matches!(rule.location, RestLocation::Unsupported(_)) {
            continue;
        }
        for value in examples(attribute) {
            let value = canonical(definition, model, name, &value, 0);
            match read_back(definition, model, name, &value) {
                Ok(Some(again)) if again == value => {}
                Ok(again) => {
                    let again = again.map_or_else(|| "nothing".to_owned(), |value| value.inspect());
                    let message = format!(
                        "`{name}` is written as {} and read back as {again}",
                        value.inspect()
                    );
                    findings.push(Diagnostic::error("round-trip", message).at(source, 0..0, ""));
                }
                Err(error) => {
                    let message = format!("`{name}` cannot be set to {}: {error}", value.inspect());
                    findings.push(Diagnostic::error("round-trip", message).at(source, 0..0, ""));
                }
            }
        }
    }
    findings
}

/// Example values of an attribute in the model's canonical form.
fn examples(attribute: &AttributeModel) -> Vec<Value> {
    attribute
        .values
        .iter()
        .flat_map(samples_of)
        .filter_map(|value| attribute.canonicalize(&value).ok())
        .collect()
}

fn samples_of(spec: &ValueSpec) -> Vec<Value> {
    match spec {
        ValueSpec::Literal(literal) => vec![literal.clone()],
        ValueSpec::Pattern { pattern, .. } => TEXTS
            .iter()
            .find(|text| pattern.is_match(text))
            .map(|text| Value::from(*text))
            .into_iter()
            .collect(),
        ValueSpec::Integer { low, high, .. } => vec![Value::Integer(*low), Value::Integer(*high)],
        ValueSpec::Struct { fields, .. } => {
            let fields: Option<Vec<(Value, Value)>> = fields
                .iter()
                .map(|(name, field)| {
                    let value = if field.values.is_empty() {
                        Some(vec!["/Common/example"].into())
                    } else {
                        field.values.iter().flat_map(samples_of).next()
                    };
                    Some((name.as_str().into(), value?))
                })
                .collect();
            fields.map(Value::Hash).into_iter().collect()
        }
        ValueSpec::Tuple { .. } => Vec::new(),
    }
}

/// Why a value cannot be written and read back.
#[derive(Debug, thiserror::Error)]
enum RoundTripError {
    #[error("no kind has the attribute")]
    NoKind,
    #[error(transparent)]
    Render(#[from] RenderError),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("no object was created")]
    NoObject,
}

fn read_back(
    definition: &RestDefinition,
    model: &Arc<TypeModel>,
    name: &str,
    value: &Value,
) -> Result<Option<Value>, RoundTripError> {
    let rule = &definition.attributes[name];
    let mut attributes = Attributes::default();
    for namevar in model.namevars() {
        attributes.insert(namevar.to_owned(), "/Common/example".into());
    }
    if let Some(kinds) = &definition.kinds {
        // A kind that is recognized by an entry needs that entry. Prefer other kinds.
        let kind = kinds
            .kinds
            .iter()
            .rev()
            .filter(|(_, kind)| kind.entry.is_none())
            .map(|(name, _)| name)
            .find(|name| rule.kinds.is_empty() || rule.kinds.contains(name))
            .ok_or(RoundTripError::NoKind)?;
        attributes.insert(kinds.attribute.clone(), kind.as_str().into());
    }
    // Attributes of a shared field are written together.
    let leader = match &rule.location {
        RestLocation::Inside(leader) => leader.as_str(),
        _ => name,
    };
    if let Some(RestLocation::Group { with, .. }) =
        definition.attributes.get(leader).map(|rule| &rule.location)
    {
        for partner in with.iter().map(Name::as_str).chain([leader]) {
            let example = examples(&model.attributes[partner]).pop();
            attributes.extend(example.map(|value| (partner.to_owned(), value)));
        }
    }
    attributes.insert(name.to_owned(), value.clone());
    let attributes: Attributes = attributes
        .iter()
        .map(|(name, value)| (name.clone(), canonical(definition, model, name, value, 0)))
        .collect();
    let mut state = empty(definition, model, name);
    let desired = Desired {
        reference: model.name.as_str().into(),
        model: Arc::clone(model),
        attributes,
    };
    let singleton = definition.instance.singleton.is_some();
    let change = Change {
        kind: if singleton {
            ChangeKind::Update
        } else {
            ChangeKind::Create
        },
        desired: Arc::new(desired),
        current: None,
        attributes: vec![name.into()],
    };
    let mut lenient = definition.clone();
    if let Some(create) = &mut lenient.instance.create {
        create.needs.clear();
    }
    for kind in lenient
        .kinds
        .iter_mut()
        .flat_map(|kinds| kinds.kinds.values_mut())
    {
        kind.needs.clear();
    }
    let operations = write::operations(&lenient, &change, &state)?;
    let requests = operations
        .iter()
        .filter_map(|operation| match &operation.action {
            Action::Request(request) => Some(request),
            Action::Line(_) => None,
        });
    predict::apply(definition, requests, &mut state);
    let instance = read::instance_of(definition, model, &change.desired, &state)?;
    let instance = instance.ok_or(RoundTripError::NoObject)?;
    Ok(instance.attributes.get(name).cloned())
}

/// A device without objects; entries have the kind of the attribute.
fn empty(definition: &RestDefinition, model: &TypeModel, name: &str) -> State {
    let mut state = State::default();
    for request in requests(definition, model, None) {
        state.insert(request.name, Parsed::Json(json!({})));
    }
    if let RestLocation::Entries(rule) = &definition.attributes[name].location
        && let Some(kind) = rule.kinds.first()
    {
        let shared = &definition.shared[&rule.of];
        let path = shared
            .kinds
            .fill(|_| Some(kind.clone()))
            .unwrap_or_default();
        let items: Json = json!({"items": [{"fullPath": "/Common/example"}]});
        state.insert(name_of(&path), Parsed::Json(items));
    }
    state
}
