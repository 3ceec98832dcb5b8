//! Converts a change to requests: as few as possible, in the order that the device accepts.
//!
//! An object is created by one request with all attributes. It is changed by one request with the
//! fields that differ, and one request for each added, changed or removed member. Attributes that
//! the catalog does not have are not sent.

use serde_json::Value as Json;

use super::codec::ObjectContext;
use super::definition::{MembersRule, RestDefinition, RestLocation};
use super::field::{field_body, state_fields};
use super::json::{Body, FieldPath};
use super::lookups::{Lookups, partition};
use super::writer::{RequestWriter, error};
use crate::change::{Change, ChangeKind};
use crate::driver::implementation::RenderError;
use crate::operation::{Method, Operation};
use crate::read::State;
use crate::value::Name;

/// Why an attribute that a device sets only at the creation fails.
const NOT_CHANGEABLE: &str = "cannot be changed; remove the resource and create it again";

/// The requests of one change.
///
/// # Errors
/// The device does not support the change, or a required answer is invalid.
pub(crate) fn operations(
    definition: &RestDefinition,
    change: &Change,
    state: &State,
) -> Result<Vec<Operation>, RenderError> {
    let writer = RequestWriter {
        definition,
        model: &change.desired.model,
        change,
        lookups: Lookups::of(definition, &change.desired.model, state),
        state,
    };
    match change.kind {
        ChangeKind::Create => writer.create(),
        ChangeKind::Update => writer.update(),
        ChangeKind::Remove => writer.remove(),
    }
}

impl RequestWriter<'_> {
    fn create(&self) -> Result<Vec<Operation>, RenderError> {
        let definition = self.definition;
        let Some(create) = &definition.instance.create else {
            return Err(error(
                "ensure",
                "the device has exactly one, which cannot be created",
            ));
        };
        let kind = definition.kind_of(&self.change.desired.attributes);
        let needs = kind
            .map(|(_, kind)| kind.needs.as_slice())
            .unwrap_or_default();
        for name in create.needs.iter().chain(needs) {
            if !self.change.desired.attributes.contains_key(name) {
                return Err(error(name, "is required to create the object"));
            }
        }
        let mut body = Body::object();
        for (field, template) in &create.body {
            let text = self.fill(template, None)?;
            if !text.is_empty() {
                body.put(&FieldPath::new(field), Json::from(text).into());
            }
        }
        for (path, json) in kind.iter().flat_map(|(_, kind)| &kind.marks) {
            body.put(path, json.clone().into());
        }
        self.put_fields(&mut body, &|name| {
            self.change.desired.attributes.contains_key(name)
        });
        for (name, members) in self.members() {
            let list = self
                .desired_members(name, members)
                .iter()
                .map(|member| self.member_body(members, member))
                .collect::<Result<Vec<_>, _>>()?;
            if !list.is_empty() {
                body.put(&members.write, Body::List(list));
            }
        }
        let path = self.path(&definition.instance.collection, None)?;
        Ok(vec![self.request(
            vec!["ensure".into()],
            create.method,
            path,
            Some(body),
        )])
    }

    fn update(&self) -> Result<Vec<Operation>, RenderError> {
        let definition = self.definition;
        let differs = |name: &str| self.change.attributes.iter().any(|one| one == name);
        if let Some(kinds) = &definition.kinds {
            let desired = self.change.desired.attributes.get(&kinds.attribute);
            let current = self.change.current.as_ref();
            let current = current.and_then(|current| current.attributes.get(&kinds.attribute));
            if desired.is_some() && current.is_some() && desired != current {
                return Err(error(&kinds.attribute, NOT_CHANGEABLE));
            }
        }
        for name in &self.change.attributes {
            let chooses_kind = definition
                .kinds
                .as_ref()
                .is_some_and(|kinds| kinds.attribute == *name);
            let fixed = definition
                .attributes
                .get(name)
                .is_some_and(|rule| rule.create_only);
            if chooses_kind || fixed {
                return Err(error(name, NOT_CHANGEABLE));
            }
        }
        let object = self.path(&definition.instance.object, None)?;
        let mut operations = Vec::new();
        let mut body = Body::object();
        self.put_fields(&mut body, &differs);
        if !body.is_empty() {
            let members: Vec<&str> = self.members().map(|(name, _)| name).collect();
            let carried = self
                .change
                .attributes
                .iter()
                .filter(|name| !members.contains(&name.as_str()))
                .cloned()
                .collect();
            let method = definition.instance.update;
            operations.push(self.request(carried, method, object, Some(body)));
        }
        for (name, members) in self.members() {
            if differs(name) {
                operations.extend(self.change_members(name, members)?);
            }
        }
        Ok(operations)
    }

    fn remove(&self) -> Result<Vec<Operation>, RenderError> {
        if !self.definition.instance.remove {
            return Err(error(
                "ensure",
                "the device has exactly one, which cannot be removed",
            ));
        }
        let path = self.path(&self.definition.instance.object, None)?;
        Ok(vec![self.request(
            vec!["ensure".into()],
            Method::Delete,
            path,
            None,
        )])
    }

    fn members(&self) -> impl Iterator<Item = (&str, &MembersRule)> {
        self.definition
            .attributes
            .iter()
            .filter_map(|(name, rule)| match &rule.location {
                RestLocation::Members(members) => Some((name.as_str(), members.as_ref())),
                _ => None,
            })
    }

    /// Sets the fields of all selected attributes, in the order of the model.
    pub(super) fn put_fields(&self, body: &mut Body, chosen: &dyn Fn(&str) -> bool) {
        let kind = self.definition.kind_of(&self.change.desired.attributes);
        let kind = kind.map(|(name, _)| name);
        let partition = partition(self.name());
        let context = ObjectContext {
            partition: &partition,
            domain: self.lookups.domain(&partition),
        };
        for name in self.model.attributes.keys() {
            let Some(rule) = self.definition.attributes.get(name) else {
                continue;
            };
            if !self.definition.has(name, kind) {
                continue;
            }
            match &rule.location {
                RestLocation::Field(rule) if chosen(name) => {
                    if let Some(value) = self.change.desired.attributes.get(name) {
                        body.put(&rule.path, field_body(rule, value));
                    }
                }
                RestLocation::States(states) if chosen(name) => {
                    for (path, json) in state_fields(states, self.value(name).as_ref()) {
                        body.put(path, json.clone().into());
                    }
                }
                RestLocation::Group { codec, field, with } => {
                    let names: Vec<&Name> = std::iter::once(name).chain(with).collect();
                    if names.iter().any(|name| chosen(name)) {
                        let values: Vec<_> = names.iter().map(|name| self.value(name)).collect();
                        for (path, json) in codec.write(field, &values, context) {
                            body.put(&path, json.into());
                        }
                    }
                }
                _ => {}
            }
        }
        for (of, shared) in &self.definition.shared {
            if let Some(entries) = self.entries(of, shared, kind, chosen) {
                body.put(&shared.write, Json::from(entries).into());
            }
        }
    }
}
