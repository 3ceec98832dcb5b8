//! Context of the requests of a change: the change, the answers and the rendered paths.

use std::sync::Arc;

use serde_json::Value as Json;

use super::definition::RestDefinition;
use super::lookups::Lookups;
use super::objects::find;
use super::template::{BodyField, TextTemplate, UnfilledHole};
use crate::change::Change;
use crate::driver::implementation::RenderError;
use crate::driver::json_body::Body;
use crate::model::TypeModel;
use crate::operation::{Action, Method, Operation, Precondition, Request};
use crate::read::State;
use crate::read::field_path::FieldPath;
use crate::value::{Name, Value};

pub(super) struct RequestWriter<'a> {
    pub(crate) definition: &'a RestDefinition,
    pub(crate) model: &'a TypeModel,
    pub(crate) change: &'a Change,
    pub(crate) lookups: Arc<Lookups>,
    pub(crate) state: &'a State,
}

impl RequestWriter<'_> {
    pub(super) fn request(
        &self,
        attributes: Vec<Name>,
        method: Method,
        path: String,
        body: Option<Body>,
    ) -> Operation {
        let creates = method != Method::Delete && attributes == [Name::from("ensure")];
        Operation {
            attributes,
            action: Action::Request(Request {
                method,
                path,
                body: body.map(|body| body.to_text()),
                abridged: None,
                is_file: false,
                // A repeated creation fails; all other requests are idempotent.
                idempotent: method != Method::Post && !creates,
                precondition: Precondition::None,
            }),
        }
    }

    /// A text with the values after the change.
    pub(super) fn fill(
        &self,
        template: &TextTemplate,
        member: Option<&str>,
    ) -> Result<String, RenderError> {
        self.fill_from(template, member, &|name| self.value(name))
    }

    fn fill_from(
        &self,
        template: &TextTemplate,
        member: Option<&str>,
        value: &dyn Fn(&str) -> Option<Value>,
    ) -> Result<String, RenderError> {
        template
            .fill(|name| match name {
                "kind" if self.definition.kinds.is_some() => self.kind_path(),
                "member" => member.map(str::to_owned),
                _ => value(name)?.scalar_text(),
            })
            .map_err(|UnfilledHole(name)| {
                error(&name, &format!("has no value; `{template}` requires it"))
            })
    }

    /// The path of the kind of the object.
    fn kind_path(&self) -> Option<String> {
        let kind = self.definition.kind_of(&self.change.desired.attributes);
        let current = || {
            let current = self.change.current.as_ref()?;
            self.definition.kind_of(&current.attributes)
        };
        kind.or_else(current)
            .and_then(|(_, kind)| kind.path.clone())
    }

    /// The path of a request with one further placeholder.
    pub(super) fn fill_with(
        &self,
        template: &TextTemplate,
        (own, value): (&str, Option<String>),
    ) -> Result<String, RenderError> {
        let desired = &self.change.desired.attributes;
        let path = template.fill(|name| {
            if name == own {
                value.clone()
            } else {
                desired.get(name).and_then(Value::scalar_text)
            }
        });
        let path = path.map_err(|UnfilledHole(name)| {
            error(&name, &format!("has no value; `{template}` requires it"))
        })?;
        self.definition.checked_path(path)
    }

    /// Sets the fields of a body. Empty texts are omitted, except numbers, and so are fields for
    /// attributes that the resource does not set.
    pub(super) fn put_body(
        &self,
        body: &mut Body,
        fields: &[(FieldPath, BodyField)],
        member: Option<&str>,
    ) -> Result<(), RenderError> {
        for (path, field) in fields {
            let json = match field {
                BodyField::Constant(json) => json.clone(),
                BodyField::Text(template) if template.holes().any(|hole| self.is_unset(hole)) => {
                    continue;
                }
                BodyField::Text(template) => {
                    let text = self.fill(template, member)?;
                    match text.parse::<i64>() {
                        Ok(number) if template.is_number() => number.into(),
                        Err(_) if template.is_number() => {
                            let name = template.holes().next().unwrap_or_default();
                            return Err(error(name, &format!("`{text}` is not a number")));
                        }
                        _ if text.is_empty() => continue,
                        _ => text.into(),
                    }
                }
            };
            body.put(path, json.into());
        }
        Ok(())
    }

    /// Whether an attribute has no value.
    fn is_unset(&self, name: &str) -> bool {
        self.model.attributes.contains_key(name) && self.value(name).is_none()
    }

    /// The path of a request.
    pub(super) fn path(
        &self,
        template: &TextTemplate,
        member: Option<&str>,
    ) -> Result<String, RenderError> {
        let path = self.fill(template, member)?;
        self.definition.checked_path(path)
    }

    /// The path of the object, with the values that it has before the change.
    pub(super) fn object_path(&self, template: &TextTemplate) -> Result<String, RenderError> {
        let current = self.change.current.as_ref();
        let path = self.fill_from(template, None, &|name| {
            let current = current.filter(|_| !self.definition.instance.is_key(name));
            let known = current.and_then(|current| current.attributes.get(name));
            known.cloned().or_else(|| self.value(name))
        })?;
        self.definition.checked_path(path)
    }

    pub(super) fn name(&self) -> &str {
        let key = self.definition.instance.key_attribute();
        let value = self.change.desired.attributes.get(key);
        value.and_then(Value::as_str).unwrap_or_default()
    }

    /// The desired value of an attribute, otherwise the current one.
    pub(super) fn value(&self, name: &str) -> Option<Value> {
        let current = self.change.current.as_ref();
        self.change
            .desired
            .attributes
            .get(name)
            .or_else(|| current?.attributes.get(name))
            .cloned()
    }

    pub(super) fn current_object(&self) -> Option<&Json> {
        let desired = &self.change.desired.attributes;
        let found = find(self.definition, self.model, desired, self.state).ok()??;
        Some(found.object)
    }
}

impl RestDefinition {
    /// The path, unless a name in it is `.` or `..`, which would lead to another object.
    pub(super) fn checked_path(&self, path: String) -> Result<String, RenderError> {
        let mut segments = path.split('/');
        match segments.find(|segment| matches!(*segment, "." | "..")) {
            Some(segment) => {
                let key = self.instance.key_attribute();
                Err(error(key, &format!("cannot be `{segment}` in a path")))
            }
            None => Ok(path),
        }
    }
}

pub(super) fn error(attribute: &str, message: &str) -> RenderError {
    RenderError::new(attribute, message)
}
