//! Sends the request of a refresh.

use serde_json::Value as Json;

use super::definition::{RefreshRequest, RestDefinition};
use super::template::{TextTemplate, UnfilledHole};
use super::writer::error;
use crate::driver::implementation::RenderError;
use crate::driver::json_body::Body;
use crate::operation::{Action, Method, Operation, Precondition, Request};
use crate::value::{Attributes, Value};

impl RefreshRequest {
    /// The operations, given the attributes of the resource. The request is never repeated.
    pub(crate) fn operations(
        &self,
        definition: &RestDefinition,
        attributes: &Attributes,
    ) -> Result<Vec<Operation>, RenderError> {
        let fill = |template: &TextTemplate| {
            let text = template.fill(|name| attributes.get(name).and_then(Value::scalar_text));
            text.map_err(|UnfilledHole(name)| {
                error(&name, &format!("has no value; `{template}` requires it"))
            })
        };
        let mut body = Body::object();
        for (field, template) in &self.body {
            body.put(field, Json::from(fill(template)?).into());
        }
        let request = Request {
            method: Method::Post,
            path: definition.checked_path(fill(&self.path)?)?,
            body: (!body.is_empty()).then(|| body.to_text()),
            abridged: None,
            is_file: false,
            idempotent: false,
            precondition: Precondition::None,
        };
        Ok(vec![Operation {
            attributes: Vec::new(),
            action: Action::Request(request),
        }])
    }
}
