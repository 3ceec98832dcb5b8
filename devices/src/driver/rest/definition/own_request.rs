//! A request of its own for a value of an attribute, such as the one that disables an object.

use std::fmt;

use serde_json::Value as Json;

use crate::driver::rest::template::{BodyField, TextTemplate};
use crate::operation::{Method, Request};
use crate::read::field_path::FieldPath;

/// `{ verb, path, body }`, with placeholders for attributes.
#[derive(Clone, Debug)]
pub(crate) struct OwnRequest {
    pub(crate) method: Method,
    pub(crate) path: TextTemplate,
    pub(crate) body: Vec<(FieldPath, BodyField)>,
}

impl OwnRequest {
    /// Whether a request is this one for the object with these values.
    pub(in crate::driver::rest) fn is(
        &self,
        request: &Request,
        values: &dyn Fn(&str) -> Option<String>,
    ) -> bool {
        is_request((self.method, &self.path, &self.body), request, values)
    }
}

/// Whether a request has this method, path and body for the object with these values.
pub(in crate::driver::rest) fn is_request(
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
