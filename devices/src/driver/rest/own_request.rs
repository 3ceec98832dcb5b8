//! Requests of their own for values of an attribute, such as the one that disables an object. Each is
//! sent after the request of the object.

use std::fmt;

use serde_json::Value as Json;

use super::definition::RestDefinition;
use super::template::{BodyField, TextTemplate};
use super::toml::{body, required_template};
use super::writer::RequestWriter;
use crate::change::ChangeKind;
use crate::document::{Table, word};
use crate::driver::implementation::RenderError;
use crate::driver::json_body::Body;
use crate::operation::{Method, Operation, Request};
use crate::read::field_path::FieldPath;
use crate::value::{Name, Value};

/// `{ verb, path, body }`, with placeholders for attributes.
#[derive(Clone, Debug)]
pub(crate) struct OwnRequest {
    pub(crate) method: Method,
    pub(crate) path: TextTemplate,
    pub(crate) body: Vec<(FieldPath, BodyField)>,
}

impl OwnRequest {
    pub(super) fn load(table: &Table<'_>) -> Option<Self> {
        let verbs = [
            ("POST", Method::Post),
            ("PUT", Method::Put),
            ("PATCH", Method::Patch),
            ("DELETE", Method::Delete),
        ];
        let verb = table.required("verb").and_then(|item| word(&item, &verbs));
        let path = required_template(table, "path");
        let body = body(table, "body");
        table.finish();
        Some(Self {
            method: verb?,
            path: path?,
            body,
        })
    }

    /// Whether a request is this one for the object with these values.
    pub(super) fn is(&self, request: &Request, values: &dyn Fn(&str) -> Option<String>) -> bool {
        is_request((self.method, &self.path, &self.body), request, values)
    }
}

/// Whether a request has this method, path and body for the object with these values.
pub(super) fn is_request(
    (method, path, body): (Method, &TextTemplate, &[(FieldPath, BodyField)]),
    request: &Request,
    values: &dyn Fn(&str) -> Option<String>,
) -> bool {
    let sent = request.body.as_ref();
    let sent: Option<Json> = sent.and_then(|body| serde_json::from_str(&body.reveal()).ok());
    let path = path.fill(values);
    method == request.method
        && path.is_ok_and(|path| path == request.path)
        && sent.unwrap_or_default() == filled(body, values)
}

/// The JSON of a body, without fields whose placeholders have no value.
fn filled(fields: &[(FieldPath, BodyField)], values: &dyn Fn(&str) -> Option<String>) -> Json {
    let mut body = Json::Null;
    for (path, field) in fields {
        let json = match field {
            BodyField::Constant(json) => Some(json.clone()),
            BodyField::Text(template) => template.fill(values).ok().map(|text| {
                let number = text.parse::<i64>().ok().filter(|_| template.is_number());
                number.map_or_else(|| text.into(), Json::from)
            }),
        };
        if let Some(json) = json {
            path.put(&mut body, json);
        }
    }
    body
}

/// For `driver explain`.
impl fmt::Display for OwnRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)?;
        let fields = self.body.iter().map(|(path, field)| match field {
            BodyField::Text(template) => format!("\"{path}\": \"{template}\""),
            BodyField::Constant(json) => format!("\"{path}\": {json}"),
        });
        let fields: Vec<String> = fields.collect();
        if fields.is_empty() {
            Ok(())
        } else {
            write!(f, " {{{}}}", fields.join(", "))
        }
    }
}

impl RestDefinition {
    /// The value of an object after a request of its own, with the attribute.
    pub(super) fn value_of_request(
        &self,
        request: &Request,
        values: &dyn Fn(&str) -> Option<String>,
    ) -> Option<(&Name, &str)> {
        self.attributes.iter().find_map(|(name, rule)| {
            let mut requests = rule.requests.iter();
            let (value, _) = requests.find(|(_, own)| own.is(request, values))?;
            Some((name, value.as_str()))
        })
    }
}

impl RequestWriter<'_> {
    /// The request of its own for the desired value of an attribute.
    pub(super) fn own_request(&self, name: &str) -> Option<&OwnRequest> {
        let rule = self.definition.attributes.get(name)?;
        let value = self.change.desired.attributes.get(name)?.scalar_text()?;
        rule.requests.get(&value)
    }

    /// The requests of their own for selected attributes. A new object has no value that could be unset.
    pub(super) fn own_requests(
        &self,
        chosen: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<Operation>, RenderError> {
        let creates = self.change.kind == ChangeKind::Create;
        let names = self.model.attributes.keys().filter(|name| chosen(name));
        let mut operations = Vec::new();
        for name in names {
            let Some(own) = self.own_request(name) else {
                continue;
            };
            if creates && self.is_absent(name) {
                continue;
            }
            let path = self.fill(&own.path, None)?;
            let path = self.definition.checked_path(path)?;
            let mut body = Body::object();
            self.put_body(&mut body, &own.body, None)?;
            let body = (!body.is_empty()).then_some(body);
            operations.push(self.request(vec![name.clone()], own.method, path, body));
        }
        Ok(operations)
    }

    /// Whether the desired value of an attribute is that of a missing field.
    fn is_absent(&self, name: &str) -> bool {
        let rule = self.definition.attributes.get(name);
        let absent = rule.and_then(|rule| rule.location.absent());
        let desired = self.change.desired.attributes.get(name);
        absent.is_some() && desired.and_then(Value::scalar_text) == absent
    }
}
