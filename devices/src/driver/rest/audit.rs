//! Checks that a definition reads back what it writes: for example values of the model, an object
//! is made, and the device's answer is read.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::canonical::canonical;
use super::definition::{CreateRule, KeyRule, RestLocation};
use super::implementation::RestType;
use super::read_requests::{name_of, requests};
use super::{predict, read, write};
use crate::change::{Change, ChangeKind, Desired};
use crate::diagnostic::Diagnostic;
use crate::driver::implementation::RenderError;
use crate::driver::problem::{narrowed_refusal, unsupported_refusal};
use crate::model::{AttributeModel, ValueSpec};
use crate::operation::Action;
use crate::read::field_path::FieldPath;
use crate::read::{Parsed, ReadError, State};
use crate::value::{Attributes, Name, Value};

/// Example texts for any platform; its own come first.
const TEXTS: [&str; 6] = [
    "192.0.2.1",
    "192.0.2.0/24",
    "255.255.255.0",
    "example",
    "80",
    "some text",
];

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

impl RestType {
    /// The values that change when written and read back.
    pub(super) fn findings(&self) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        let mut add = |message: String| {
            let finding = Diagnostic::error("round-trip", message);
            findings.push(finding.at(&self.source, 0..0, ""));
        };
        for attribute in self.model.properties() {
            let name = attribute.name.as_str();
            let Some(rule) = self.definition.attributes.get(name) else {
                continue;
            };
            let is_read_back = !matches!(
                rule.location,
                RestLocation::Unsupported(_) | RestLocation::Order(_)
            );
            if rule.write_only || !is_read_back {
                continue;
            }
            let examples = self.example_values(attribute).into_iter();
            let examples = examples.filter(|value| {
                let narrowed = narrowed_refusal(rule.narrowed.as_ref(), value);
                let lacking = unsupported_refusal(&rule.unsupported_values, attribute, value);
                narrowed.or(lacking).is_none()
            });
            let examples = examples.flat_map(|value| self.choices_of(name, &value));
            for (value, chosen) in examples {
                let value = canonical(&self.definition, &self.model, name, &value, None);
                match self.read_back(name, &value, chosen) {
                    Ok(Some(again)) if again == value => {}
                    Ok(again) => {
                        let again =
                            again.map_or_else(|| "nothing".to_owned(), |value| value.inspect());
                        let value = value.inspect();
                        add(format!(
                            "`{name}` is written as {value} and read back as {again}"
                        ));
                    }
                    Err(error) => {
                        let value = value.inspect();
                        add(format!("`{name}` cannot be set to {value}: {error}"));
                    }
                }
            }
        }
        findings
    }

    /// The name of an example object.
    fn example_name(&self) -> &str {
        self.examples.first().map_or("example", String::as_str)
    }

    /// Example values of an attribute in the model's canonical form.
    fn example_values(&self, attribute: &AttributeModel) -> Vec<Value> {
        attribute
            .values
            .iter()
            .flat_map(|spec| self.samples_of(spec))
            .filter_map(|value| attribute.canonicalize(&value).ok())
            .collect()
    }

    fn samples_of(&self, spec: &ValueSpec) -> Vec<Value> {
        match spec {
            ValueSpec::Literal(literal) => vec![literal.clone()],
            ValueSpec::Pattern { pattern, .. } => {
                let own = self.examples.iter().map(String::as_str);
                own.chain(TEXTS)
                    .find(|text| pattern.is_match(text))
                    .map(Value::from)
                    .into_iter()
                    .collect()
            }
            ValueSpec::Integer { low, high, .. } => {
                vec![Value::Integer(*low), Value::Integer(*high)]
            }
            ValueSpec::Numbers { low, .. } => vec![low.to_string().into()],
            ValueSpec::Struct { fields, .. } => {
                let fields: Option<Vec<(Value, Value)>> = fields
                    .iter()
                    .map(|(name, field)| {
                        let value = if field.values.is_empty() {
                            Some(vec![self.example_name()].into())
                        } else {
                            let mut samples =
                                field.values.iter().flat_map(|spec| self.samples_of(spec));
                            samples.next()
                        };
                        Some((name.as_str().into(), value?))
                    })
                    .collect();
                fields.map(Value::Hash).into_iter().collect()
            }
            ValueSpec::Tuple { .. } => Vec::new(),
        }
    }

    /// A value with each combination of the attributes that decide about its place.
    fn choices_of(&self, name: &str, value: &Value) -> Vec<(Value, Attributes)> {
        let rule = self.definition.attributes.get(name);
        let Some(RestLocation::Chosen(chosen)) = rule.map(|rule| &rule.location) else {
            return vec![(value.clone(), Attributes::default())];
        };
        let decided = chosen.places.keys();
        let all = decided.flat_map(|decided| {
            let outer = self.choices_of(&chosen.by, &decided.as_str().into());
            outer.into_iter().map(|(decided, mut attributes)| {
                attributes.insert(chosen.by.clone(), decided);
                (value.clone(), attributes)
            })
        });
        all.collect()
    }

    fn read_back(
        &self,
        name: &str,
        value: &Value,
        chosen: Attributes,
    ) -> Result<Option<Value>, RoundTripError> {
        let (definition, model) = (&self.definition, &self.model);
        let rule = &definition.attributes[name];
        let mut attributes = Attributes::default();
        for namevar in model.namevars() {
            let mut examples = self.example_values(&model.attributes[namevar]).into_iter();
            let example = examples
                .next()
                .unwrap_or_else(|| self.example_name().into());
            attributes.insert(namevar.to_owned(), example);
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
                let example = self.example_values(&model.attributes[partner]).pop();
                attributes.extend(example.map(|value| (partner.to_owned(), value)));
            }
        }
        attributes.extend(chosen.clone());
        attributes.insert(name.to_owned(), value.clone());
        let attributes: Attributes = attributes
            .iter()
            .map(|(name, value)| {
                (
                    name.clone(),
                    canonical(definition, model, name, value, None),
                )
            })
            .collect();
        let mut state = self.empty_state(name, &attributes);
        let desired = Desired {
            reference: model.name.as_str().into(),
            model: Arc::clone(model),
            attributes,
        };
        let singleton = definition.instance.singleton.is_some();
        let mut written: Vec<Name> = chosen.keys().cloned().collect();
        written.push(name.into());
        let change = Change {
            kind: if singleton {
                ChangeKind::Update
            } else {
                ChangeKind::Create
            },
            desired: Arc::new(desired),
            current: None,
            attributes: written,
        };
        let mut lenient = definition.clone();
        // An object that cannot be created has the same fields as others.
        let create = lenient.instance.create.get_or_insert_with(CreateRule::edit);
        create.needs.clear();
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
                Action::Line(_) | Action::Edit(_) => None,
            });
        predict::apply((&lenient, model), requests, &mut state);
        let instance = read::instance_of(definition, model, &change.desired, &state)?;
        let instance = instance.ok_or(RoundTripError::NoObject)?;
        Ok(instance.attributes.get(name).cloned())
    }

    /// The elements of the outer lists that contain the object, if there are any.
    fn outer_lists(&self, attributes: &Attributes) -> Json {
        let rule = &self.definition.instance;
        let mut answer = Json::Null;
        if let Some(document) = &rule.document {
            document.put_empty(&mut answer);
        }
        let Some(rows) = &rule.rows else {
            return answer;
        };
        let mut outer = FieldPath::default();
        for (index, list) in rows.outer().iter().enumerate() {
            let up = rows.depth() - index;
            let keys = || rule.key.iter().filter(|key| key.up == up);
            let text = |key: &KeyRule| {
                let value = attributes.get(&key.attribute);
                value.and_then(Value::scalar_text).unwrap_or_default()
            };
            let name = keys().find(|key| key.field.is_none()).map(text);
            outer = outer.join(&list.path_of_new(0, name.as_deref()));
            for key in keys() {
                if let Some(field) = &key.field {
                    outer.join(field).put(&mut answer, text(key).into());
                }
            }
        }
        answer
    }

    /// A device without objects; entries have the kind of the attribute.
    fn empty_state(&self, name: &str, attributes: &Attributes) -> State {
        let definition = &self.definition;
        let mut state = State::default();
        for request in requests(definition, &self.model, None) {
            let answer = self.outer_lists(attributes);
            state.insert(request.name, Parsed::Json(answer));
        }
        if let RestLocation::Entries(rule) = &definition.attributes[name].location
            && let Some(kind) = rule.kinds.first()
        {
            let shared = &definition.shared[&rule.of];
            let path = shared
                .kinds
                .fill(|_| Some(kind.clone()))
                .unwrap_or_default();
            let mut answer = Json::Null;
            if let Some(rows) = &definition.rows {
                *rows.get_or_insert(&mut answer) = json!([{"fullPath": self.example_name()}]);
            }
            state.insert(name_of(&path), Parsed::Json(answer));
        }
        state
    }
}
