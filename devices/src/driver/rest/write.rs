//! Converts a change to requests: as few as possible, in the order that the device accepts.
//!
//! An object is created by one request with all attributes. It is changed by one request with the
//! fields that differ, or with the complete object, and one request for each field that is deleted
//! and each member that is added, changed or removed. Attributes that the catalog does not have are
//! not changed.

use std::sync::Arc;

use serde_json::Value as Json;

use super::canonical::canonical;
use super::codec::ObjectContext;
use super::definition::{
    CreateOnly, CreateRule, FieldRule, MemberPaths, MembersRule, RequestTarget, RestAttributeRule,
    RestDefinition, RestLocation, UnsetRule,
};
use super::field::state_fields;
use super::lookups::{Lookups, partition};
use super::writer::{RequestWriter, error};
use crate::change::{Change, ChangeKind};
use crate::driver::implementation::RenderError;
use crate::driver::json_body::Body;
use crate::operation::{Action, Method, Operation, Precondition};
use crate::read::State;
use crate::read::field_path::{FieldPath, PathStep};
use crate::read::parents::encode_segment;
use crate::secret::Text;
use crate::value::{Name, Value};

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
    writer.check_places()?;
    if let Some(document) = &definition.instance.document {
        writer.check_update()?;
        return writer.write_document(document);
    }
    if definition.instance.parent_levels > 0 {
        writer.check_update()?;
        return writer.write_parent();
    }
    let current = change.current.as_ref();
    match change.kind {
        ChangeKind::Create if current.is_some_and(|one| one.is_inactive("ensure")) => {
            writer.activate()
        }
        ChangeKind::Create => writer.create(),
        ChangeKind::Update => writer.update(),
        ChangeKind::Remove => writer.remove(),
    }
}

impl RequestWriter<'_> {
    fn create(&self) -> Result<Vec<Operation>, RenderError> {
        let definition = self.definition;
        let Some(create) = &definition.instance.create else {
            let message = match definition.instance.singleton {
                Some(_) => "the device has exactly one, which cannot be created",
                None => "such objects cannot be created",
            };
            return Err(error("ensure", message));
        };
        let body = self.new_object(create)?;
        let path = definition.instance.path_of(&create.target);
        let mut body = body.inside(&definition.instance.envelope);
        self.put_body(&mut body, &create.frame, None)?;
        let path = self.path(path, None)?;
        let mut operation = self.request(vec!["ensure".into()], create.method, path, Some(body));
        if definition.instance.has_etag && matches!(create.target, RequestTarget::Object) {
            require(&mut operation, Precondition::Missing);
        }
        let mut operations =
            self.uploads(&|name| self.change.desired.attributes.contains_key(name))?;
        operations.push(operation);
        operations
            .extend(self.own_requests(&|name| self.change.desired.attributes.contains_key(name))?);
        operations.extend(self.move_object()?);
        Ok(operations)
    }

    /// Activates the object, and sends what differs from the values that it would have.
    fn activate(&self) -> Result<Vec<Operation>, RenderError> {
        let differs = |name: &Name| {
            let current = self.change.current.as_ref();
            let actual = current.and_then(|current| current.attributes.get(name));
            let desired = self.change.desired.attributes.get(name);
            name != "ensure"
                && actual.map(Value::unwrap_sensitive) != desired.map(Value::unwrap_sensitive)
        };
        let names = self.change.attributes.iter();
        let change = Change {
            kind: ChangeKind::Update,
            attributes: names.filter(|name| differs(name)).cloned().collect(),
            ..self.change.clone()
        };
        let writer = RequestWriter {
            change: &change,
            lookups: Arc::clone(&self.lookups),
            ..*self
        };
        let mut operations = writer.update()?;
        let path = self.path(&self.definition.instance.object, None)?;
        let is_sent = operations.first().is_some_and(|first| {
            matches!(&first.action, Action::Request(request) if request.path == path && request.method != Method::Delete)
        });
        if !is_sent {
            let body = Some(Body::object());
            let first = self.request(vec!["ensure".into()], Method::Patch, path, body);
            operations.insert(0, first);
        }
        for operation in &mut operations {
            operation.attributes = vec!["ensure".into()];
        }
        Ok(operations)
    }

    /// A new object with all attributes.
    pub(super) fn new_object(&self, create: &CreateRule) -> Result<Body, RenderError> {
        let definition = self.definition;
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
        match &create.body {
            Some(fields) => self.put_body(&mut body, fields, None)?,
            None => self.put_key(&mut body),
        }
        for (path, json) in kind.iter().flat_map(|(_, kind)| &kind.marks) {
            body.put(path, json.clone().into());
        }
        self.put_fields(&mut body, &|name| {
            self.change.desired.attributes.contains_key(name)
        });
        for (name, members, _) in self.members() {
            let list = self
                .desired_members(name, members)
                .iter()
                .map(|member| self.member_body(members, member))
                .collect::<Result<Vec<_>, _>>()?;
            if !list.is_empty() {
                body.put(&members.write, Body::List(list));
            }
        }
        Ok(body)
    }

    /// Sets the fields of the key.
    fn put_key(&self, body: &mut Body) {
        for key in self
            .definition
            .instance
            .key
            .iter()
            .filter(|key| key.up == 0)
        {
            let value = self.change.desired.attributes.get(&key.attribute);
            if let (Some(field), Some(value)) = (&key.field, value) {
                let json = match value.unwrap_sensitive() {
                    Value::Integer(number) => Json::from(*number),
                    other => Json::from(other.scalar_text()),
                };
                body.put(field, json.into());
            }
        }
    }

    /// Refuses a change of attributes that a device sets only at the creation.
    fn check_update(&self) -> Result<(), RenderError> {
        if self.change.kind != ChangeKind::Update {
            return Ok(());
        }
        let definition = self.definition;
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
            let create_only = definition
                .attributes
                .get(name)
                .map_or(CreateOnly::Nothing, |rule| rule.create_only);
            let is_fixed = match create_only {
                CreateOnly::Nothing => false,
                CreateOnly::Value => true,
                CreateOnly::Field => {
                    let current = self.change.current.as_ref();
                    current.is_none_or(|current| !current.attributes.contains_key(name))
                }
            };
            if chooses_kind || is_fixed {
                return Err(error(name, NOT_CHANGEABLE));
            }
        }
        Ok(())
    }

    fn update(&self) -> Result<Vec<Operation>, RenderError> {
        self.check_update()?;
        let definition = self.definition;
        let differs = |name: &str| self.change.attributes.iter().any(|one| one == name);
        let object = self.object_path(&definition.instance.object)?;
        let mut operations = self.uploads(&differs)?;
        for (name, path) in self.left_fields() {
            let path = leaf_path(&object, path);
            operations.push(self.request(vec![name.clone()], Method::Delete, path, None));
        }
        let members: Vec<&str> = self.members().map(|(name, ..)| name).collect();
        let deleted = self.deleted_fields();
        let carried: Vec<Name> = self
            .change
            .attributes
            .iter()
            .filter(|name| !members.contains(&name.as_str()) && !self.is_position(name))
            .filter(|name| !deleted.iter().any(|(deleted, _)| deleted == name))
            .filter(|name| self.own_request(name).is_none())
            .cloned()
            .collect();
        let update = &definition.instance.update;
        let mut body = match self.current_object() {
            Some(object) if update.is_complete => self.current_body(object),
            _ => Body::object(),
        };
        self.put_fields(&mut body, &|name| carried.iter().any(|one| one == name));
        if let Some(inactive) = &definition.inactive {
            inactive.clear(&mut body, &FieldPath::default());
            let rules = carried
                .iter()
                .filter_map(|name| definition.attributes.get(name));
            for path in rules.flat_map(RestAttributeRule::paths) {
                inactive.clear(&mut body, path);
            }
        }
        if !carried.is_empty() && !body.is_empty() {
            self.put_body(&mut body, &update.fields, None)?;
            let mut body = body.inside(&definition.instance.envelope);
            self.put_body(&mut body, &update.frame, None)?;
            let path = self.object_path(definition.instance.path_of(&update.target))?;
            let mut operation = self.request(carried, update.method, path, Some(body));
            self.require_unchanged(&mut operation);
            operations.push(operation);
        }
        for (name, path) in deleted {
            let path = leaf_path(&object, path);
            operations.push(self.request(vec![name.clone()], Method::Delete, path, None));
        }
        operations.extend(self.own_requests(&differs)?);
        for (name, members, own) in self.members() {
            if differs(name) {
                operations.extend(self.change_members(name, members, own)?);
            }
        }
        operations.extend(self.move_object()?);
        Ok(operations)
    }

    fn remove(&self) -> Result<Vec<Operation>, RenderError> {
        let Some(removal) = &self.definition.instance.remove else {
            let message = match self.definition.instance.singleton {
                Some(_) => "the device has exactly one, which cannot be removed",
                None => "such objects cannot be removed",
            };
            return Err(error("ensure", message));
        };
        let path = removal.path.as_ref();
        let path = self.object_path(path.unwrap_or(&self.definition.instance.object))?;
        let mut body = Body::object();
        self.put_body(&mut body, &removal.body, None)?;
        let body = (!body.is_empty()).then_some(body);
        let mut operation = self.request(vec!["ensure".into()], removal.method, path, body);
        self.require_unchanged(&mut operation);
        let mut operations = Vec::new();
        if removal.members_first {
            for (name, members, own) in self.members() {
                operations.extend(self.remove_members(name, members, own)?);
            }
        }
        operations.push(operation);
        Ok(operations)
    }

    /// The object as it was read, with its secrets masked in output.
    pub(super) fn current_body(&self, object: &Json) -> Body {
        let mut body = Body::from(object.clone());
        let sensitive = |name: &Name| {
            let attribute = self.model.attributes.get(name);
            attribute.is_some_and(|attribute| attribute.sensitive)
        };
        for (_, field) in self.definition.fields().filter(|(name, _)| sensitive(name)) {
            if let Some(secret) = field.path.get(object).and_then(Json::as_str) {
                body.put(&field.path, Body::Secret(secret.into()));
            }
        }
        body
    }

    /// Requires that the object is as it was read, if the type has entity tags.
    fn require_unchanged(&self, operation: &mut Operation) {
        if self.definition.instance.has_etag
            && let Some(object) = self.current_object()
        {
            require(operation, Precondition::Unchanged(object.clone()));
        }
    }

    /// The differing attributes whose desired value is written by a `DELETE` of their field.
    fn deleted_fields(&self) -> Vec<(&Name, &FieldPath)> {
        let names = self.change.attributes.iter();
        let fields = names.filter_map(|name| {
            let field = self.field(&self.definition.attributes.get(name)?.location)?;
            let unset = self.unset(name, field)?;
            (unset == UnsetRule::Delete).then_some((name, &field.path))
        });
        fields.collect()
    }

    /// How the field is written, if the desired value is that of a missing field.
    pub(super) fn unset(&self, name: &str, rule: &FieldRule) -> Option<UnsetRule> {
        let absent = rule.absent.as_ref()?;
        let absent = canonical(self.definition, self.model, name, absent, None);
        let value = self.value(name)?;
        rule.unset
            .filter(|_| *value.unwrap_sensitive() == *absent.unwrap_sensitive())
    }

    /// The requests that upload the files of selected attributes.
    fn uploads(&self, chosen: &dyn Fn(&str) -> bool) -> Result<Vec<Operation>, RenderError> {
        let mut operations = Vec::new();
        for (name, rule) in &self.definition.attributes {
            let value = self.change.desired.attributes.get(name);
            let (RestLocation::Upload(upload), Some(value)) = (&rule.location, value) else {
                continue;
            };
            let content = value.unwrap_sensitive().scalar_text();
            let Some(content) = content.filter(|_| chosen(name)) else {
                continue;
            };
            let path = self.path(&upload.path, None)?;
            let mut operation = self.request(vec![name.clone()], Method::Post, path, None);
            if let Action::Request(request) = &mut operation.action {
                request.abridged = Some(Text::plain(format!("({} bytes)", content.len())));
                request.body = Some(if self.model.attributes[name].sensitive {
                    Text::secret(content)
                } else {
                    Text::plain(content)
                });
                request.is_file = true;
                // The device has the same file afterwards.
                request.idempotent = true;
            }
            operations.push(operation);
        }
        Ok(operations)
    }

    fn is_position(&self, name: &str) -> bool {
        let rule = self.definition.attributes.get(name);
        rule.is_some_and(|rule| matches!(rule.location, RestLocation::Order(_)))
    }

    /// The members with requests of their own.
    fn members(&self) -> impl Iterator<Item = (&str, &MembersRule, &MemberPaths)> {
        let rules = self.definition.attributes.iter();
        rules.filter_map(|(name, rule)| match &rule.location {
            RestLocation::Members(members) => {
                Some((name.as_str(), members.as_ref(), members.own.as_ref()?))
            }
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
            if !self.definition.has(name, kind) || self.own_request(name).is_some() {
                continue;
            }
            match &rule.location {
                location @ (RestLocation::Field(_) | RestLocation::Chosen(_))
                    if chosen(name) || self.moves(location) =>
                {
                    self.put_field(body, name, location);
                }
                RestLocation::Choice(choice) if chosen(name) => {
                    self.put_choice(body, name, choice);
                }
                RestLocation::Upload(upload) if chosen(name) => {
                    if let Ok(value) = self.fill(&upload.value, None) {
                        body.put(&upload.field, Json::from(value).into());
                    }
                }
                RestLocation::Members(members) if chosen(name) && members.own.is_none() => {
                    body.put(&members.write, self.members_body(name, members));
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

/// Sets the precondition of a request.
fn require(operation: &mut Operation, precondition: Precondition) {
    if let Action::Request(request) = &mut operation.action {
        request.precondition = precondition;
    }
}

/// The path of a field below that of its object.
pub(super) fn leaf_path(object: &str, field: &FieldPath) -> String {
    let steps = field.steps().iter().map(|step| match step {
        PathStep::Name(name) => encode_segment(name),
        PathStep::Index(index) => index.to_string(),
        PathStep::Element { value, .. } => encode_segment(value),
    });
    let steps: Vec<String> = steps.collect();
    format!("{object}/{}", steps.join("/"))
}
