//! The objects of a type and the requests that change them, without their meaning: for a mock.

use serde_json::json;
use switchtender_outline::{
    FieldShape, JsonPath, ListLevel, ObjectEffect, ObjectRequest, ObjectShape, RequestShape,
    RestInterface,
};

use super::definition::{
    KeyRule, MembersRule, ObjectMove, RequestTarget, RestDefinition, RestLocation, UnsetRule,
};
use super::order::FIRST;
use super::read_requests::{collections, with_kind};
use super::template::{BodyField, TextTemplate};
use super::write::leaf_path;
use crate::operation::Method;
use crate::operation::outline::{PathPart, request_shape, text_shape};
use crate::read::field_path::FieldPath;

/// The name of a member in the path of its requests.
const MEMBER: &str = "member";

impl RestDefinition {
    /// Adds the objects of the type to the answers of an interface, which exist already.
    pub(super) fn add_objects(&self, interface: &mut RestInterface) {
        for collection in collections(self) {
            let kinds = self.kinds.as_ref();
            let kind = collection.kind.zip(kinds);
            let kind = kind.and_then(|(kind, kinds)| kinds.kinds.get(kind)?.path.as_deref());
            let of_kind = |template: &TextTemplate| match kind {
                Some(kind) => TextTemplate::parse(&with_kind(template, kind)),
                None => Ok(template.clone()),
            };
            self.add_lists(&collection.read, interface);
            let Ok(object) = of_kind(&self.instance.object) else {
                continue;
            };
            let mut shapes = vec![self.object_shape(&collection.read, &object)];
            shapes.extend(self.member_shapes(&shapes[0]));
            for shape in shapes {
                add(shape, &mut interface.objects);
            }
            self.add_accepted(interface);
        }
    }

    /// Adds the lists of the objects, which are empty, to an answer.
    fn add_lists(&self, read: &str, interface: &mut RestInterface) {
        let rule = &self.instance;
        let mut answers = interface.answers.iter_mut();
        let Some(answer) = answers.find(|answer| answer.name == read) else {
            return;
        };
        if answer.content.is_null() {
            answer.content = json!({});
        }
        let Some(rows) = &rule.rows else {
            rule.location.get_or_insert(&mut answer.content);
            return;
        };
        let list = rows
            .outermost()
            .location()
            .get_or_insert(&mut answer.content);
        if !list.is_array() && !list.is_object() {
            let is_map = rows.depth() == 0 && rule.is_map();
            *list = if is_map { json!({}) } else { json!([]) };
        }
        if rows.depth() == 0 {
            answer.rows = Some(rows.outermost().location().outline());
        }
    }

    /// The objects of the type, with the path of one.
    fn object_shape(&self, read: &str, object: &TextTemplate) -> ObjectShape {
        let rule = &self.instance;
        let levels = rule.rows.iter().flat_map(|rows| {
            let levels = rows.levels().enumerate();
            let written = rows.depth() + 1 - rule.parent_levels;
            let levels = levels.take(written);
            levels.map(|(index, level)| (rows.depth() - index, level))
        });
        let lists = levels.map(|(up, level)| {
            let keys = rule.key.iter().filter(|key| key.up == up);
            ListLevel {
                at: level.location().outline(),
                keys: keys.map(key_shape).collect(),
            }
        });
        let alternatives = self.alternatives();
        let outlines = |fields: &Vec<FieldPath>| fields.iter().map(FieldPath::outline).collect();
        let shared = self.shared.values();
        let shared = shared.map(|shared| (shared.write.outline(), shared.read.outline()));
        let members = self.members().filter(|members| members.own.is_some());
        let members = members.map(|members| (members.write.outline(), members.read.outline()));
        let moved = shared
            .chain(members)
            .filter(|(written, read)| written != read);
        ObjectShape {
            answer: read.to_owned(),
            lists: lists.collect(),
            at: rule.location.outline(),
            envelope: rule.envelope.outline(),
            requests: self.object_requests(object),
            exclusive: alternatives.iter().map(outlines).collect(),
            moved: moved.collect(),
        }
    }

    fn object_requests(&self, object: &TextTemplate) -> Vec<ObjectRequest> {
        let rule = &self.instance;
        let mut requests = Vec::new();
        let mut add = |request: RequestShape, effect: ObjectEffect| {
            requests.push(ObjectRequest { request, effect });
        };
        // A parent is written with its objects; it has its own type.
        let is_object = rule.parent_levels == 0;
        if let Some(create) = rule.create.as_ref().filter(|_| is_object) {
            let path = rule.path_of(&create.target);
            let fields = create.needs.iter().filter_map(|name| {
                match self
                    .attributes
                    .get(name.as_str())?
                    .location
                    .fields()
                    .as_slice()
                {
                    [field] => Some(field.path.outline()),
                    _ => None,
                }
            });
            let required = fields.collect();
            add(
                shape(create.method, path, &create.frame),
                ObjectEffect::Create { required },
            );
        }
        let update = &rule.update;
        let effect = if update.is_complete {
            ObjectEffect::Replace
        } else {
            ObjectEffect::Merge
        };
        let path = match &update.target {
            RequestTarget::Object => object,
            target => rule.path_of(target),
        };
        let names = self.names_in_body();
        let fields: Vec<_> = update.frame.iter().cloned().chain(names).collect();
        add(shape(update.method, path, &fields), effect);
        if let Some(remove) = rule.remove.as_ref().filter(|_| is_object) {
            let path = remove.path.as_ref().unwrap_or(object);
            let request = shape(remove.method, path, &remove.body);
            add(request, ObjectEffect::Remove);
        }
        for rule in self.attributes.values() {
            for (value, request) in &rule.requests {
                let effect = value_effect(&rule.location, value);
                add(shape(request.method, &request.path, &request.body), effect);
            }
        }
        if rule.has_etag {
            add(shape(Method::Get, object, &[]), ObjectEffect::Read);
        }
        for (_, field) in self.fields() {
            if field.unset == Some(UnsetRule::Delete) {
                let leaf = leaf_path("", &field.path);
                let parts: Vec<_> = object.parts().chain([PathPart::Literal(&leaf)]).collect();
                let effect = ObjectEffect::RemoveField(field.path.outline());
                add(request_shape(Method::Delete, &parts), effect);
            }
        }
        for rule in self.attributes.values() {
            if let RestLocation::Order(order) = &rule.location
                && let ObjectMove::Requests {
                    method,
                    after,
                    before,
                } = &order.moves
            {
                let other = other_name(after, self.instance.key_attribute());
                for (path, other, is_before) in [(after, other, false), (before, FIRST, true)] {
                    let other = other.to_owned();
                    let effect = ObjectEffect::Move { other, is_before };
                    add(shape(*method, path, &[]), effect);
                }
            }
        }
        requests
    }

    /// The names of an object in the body of a change at another path.
    fn names_in_body(&self) -> Vec<(FieldPath, BodyField)> {
        let rule = &self.instance;
        if matches!(rule.update.target, RequestTarget::Object) {
            return Vec::new();
        }
        let fields = rule.update.fields.iter();
        let fields = fields.map(|(path, field)| (rule.envelope.join(path), field.clone()));
        fields.collect()
    }

    fn members(&self) -> impl Iterator<Item = &MembersRule> {
        let rules = self.attributes.values();
        rules.filter_map(|rule| match &rule.location {
            RestLocation::Members(members) => Some(members.as_ref()),
            _ => None,
        })
    }

    /// The members of the objects with requests of their own.
    fn member_shapes(&self, object: &ObjectShape) -> Vec<ObjectShape> {
        let members = self.members().filter_map(|members| {
            let own = members.own.as_ref()?;
            let list = ListLevel {
                at: object.at.join(&members.read.outline()),
                keys: vec![(MEMBER.to_owned(), Some(members.key.outline()))],
            };
            let alternatives = members
                .fields
                .values()
                .filter_map(RestLocation::alternatives);
            let exclusive =
                alternatives.map(|fields| fields.iter().map(FieldPath::outline).collect());
            let required = Vec::new();
            let requests = [
                (
                    Method::Post,
                    &own.collection,
                    ObjectEffect::Create { required },
                ),
                (Method::Patch, &own.object, ObjectEffect::Merge),
                (Method::Put, &own.object, ObjectEffect::Replace),
                (Method::Delete, &own.object, ObjectEffect::Remove),
            ];
            let requests = requests
                .into_iter()
                .map(|(method, path, effect)| ObjectRequest {
                    request: shape(method, path, &[]),
                    effect,
                });
            let lists = object.lists.iter().cloned().chain([list]);
            Some(ObjectShape {
                answer: object.answer.clone(),
                lists: lists.collect(),
                requests: requests.collect(),
                exclusive: exclusive.collect(),
                ..ObjectShape::default()
            })
        });
        members.collect()
    }

    /// Adds the requests that change no object.
    fn add_accepted(&self, interface: &mut RestInterface) {
        let rules = self.attributes.values();
        let uploads = rules.filter_map(|rule| match &rule.location {
            RestLocation::Upload(upload) => Some(&upload.path),
            _ => None,
        });
        let refresh = self.refresh.iter().map(|refresh| &refresh.path);
        for path in uploads.chain(refresh) {
            let request = shape(Method::Post, path, &[]);
            if !interface.accepted.contains(&request) {
                interface.accepted.push(request);
            }
        }
    }
}

/// What a request of its own for a value does with the object.
fn value_effect(location: &RestLocation, value: &str) -> ObjectEffect {
    let set = match location {
        RestLocation::States(states) => states.get(value).map(|state| state.set.clone()),
        location => location.field_format().map(|field| {
            let mapped = field.map.iter().find(|(name, _)| name == value);
            let json = mapped.map_or_else(|| value.into(), |(_, json)| json.clone());
            vec![(field.path.clone(), json)]
        }),
    };
    let set = set.unwrap_or_default();
    match (location.field_format(), location.absent()) {
        (Some(field), Some(absent)) if absent == value => {
            ObjectEffect::RemoveField(field.path.outline())
        }
        _ => ObjectEffect::SetFields(
            set.into_iter()
                .map(|(path, json)| (path.outline(), json))
                .collect(),
        ),
    }
}

fn key_shape(key: &KeyRule) -> (String, Option<JsonPath>) {
    let field = key.field.as_ref().map(FieldPath::outline);
    (key.attribute.clone(), field)
}

/// The name in a path that is not the one of the object.
fn other_name<'a>(path: &'a TextTemplate, own: &str) -> &'a str {
    let mut names = path.holes();
    names.find(|name| *name != own).unwrap_or_default()
}

/// The requests with a path, and with these fields in their bodies.
fn shape(method: Method, path: &TextTemplate, frame: &[(FieldPath, BodyField)]) -> RequestShape {
    let fields = frame.iter().map(|(path, field)| {
        let field = match field {
            BodyField::Constant(value) => FieldShape::Value(value.clone()),
            BodyField::Text(text) => text_shape(&text.parts().collect::<Vec<_>>()),
        };
        (path.outline(), field)
    });
    RequestShape {
        fields: fields.collect(),
        ..request_shape(method, &path.parts().collect::<Vec<_>>())
    }
}

/// Adds objects, or their requests to the same objects of another type.
fn add(shape: ObjectShape, all: &mut Vec<ObjectShape>) {
    let is_same = |other: &&mut ObjectShape| {
        (&other.answer, &other.lists, &other.at) == (&shape.answer, &shape.lists, &shape.at)
            && other.envelope == shape.envelope
    };
    match all.iter_mut().find(is_same) {
        None => all.push(shape),
        Some(other) => {
            for request in shape.requests {
                if !other.requests.contains(&request) {
                    other.requests.push(request);
                }
            }
            other.exclusive.extend(shape.exclusive);
            other.moved.extend(shape.moved);
        }
    }
}
