//! Sends requests of their own for values of an attribute, each after the request of the object.

use super::definition::{OwnRequest, RestDefinition};
use super::writer::RequestWriter;
use crate::change::ChangeKind;
use crate::driver::implementation::RenderError;
use crate::driver::json_body::Body;
use crate::operation::{Operation, Request};
use crate::value::{Name, Value};

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
