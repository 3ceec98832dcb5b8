//! JSON for sending: bodies with secrets.

use serde_json::Value as Json;

use crate::read::field_path::{FieldPath, PathStep, scalar_text};
use crate::secret::Text;

/// A request body: JSON with secret texts. Fields are in insertion order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Body {
    Plain(Json),
    /// A secret text, masked in output.
    Secret(Text),
    List(Vec<Body>),
    Object(Vec<(String, Body)>),
}

impl Body {
    pub(crate) fn object() -> Self {
        Body::Object(Vec::new())
    }

    /// Whether it is empty.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Body::Object(fields) if fields.is_empty())
    }

    /// Sets a field and creates the objects and arrays of its path. All other fields are preserved.
    pub(crate) fn put(&mut self, path: &FieldPath, value: Body) {
        *self.field_mut(path.steps()) = value;
    }

    /// Sets a field unless it exists.
    pub(crate) fn put_missing(&mut self, path: &FieldPath, value: Body) {
        if !self.has(path.steps()) {
            self.put(path, value);
        }
    }

    /// Removes a field, if it exists.
    pub(crate) fn remove(&mut self, path: &FieldPath) {
        let Some((PathStep::Name(last), parents)) = path.steps().split_last() else {
            return;
        };
        if self.has(path.steps()) {
            let parent = self.field_mut(parents);
            parent.fields_mut().retain(|(name, _)| name != last);
        }
    }

    /// This body at a path in another object.
    #[must_use]
    pub(crate) fn inside(self, path: &FieldPath) -> Self {
        let mut envelope = Body::object();
        envelope.put(path, self);
        envelope
    }

    /// The value at a path, taken out of the body.
    pub(crate) fn take(mut self, path: &FieldPath) -> Body {
        std::mem::replace(self.field_mut(path.steps()), Body::object())
    }

    fn field_mut(&mut self, steps: &[PathStep]) -> &mut Body {
        steps.iter().fold(self, |at, step| match step {
            PathStep::Name(name) => {
                let fields = at.fields_mut();
                let index = fields.iter().position(|(field, _)| field == name);
                let index = index.unwrap_or_else(|| {
                    fields.push((name.clone(), Body::object()));
                    fields.len() - 1
                });
                &mut fields[index].1
            }
            step => {
                let items = at.items_mut();
                let index = Self::index(items, step).unwrap_or_else(|| {
                    items.push(step.new_element().into());
                    items.len() - 1
                });
                &mut items[index]
            }
        })
    }

    /// Whether a path exists.
    fn has(&self, steps: &[PathStep]) -> bool {
        let Some((step, rest)) = steps.split_first() else {
            return true;
        };
        let next = match (self, step) {
            (Body::Plain(json), step) => {
                return step
                    .get(json)
                    .is_some_and(|next| Body::from(next.clone()).has(rest));
            }
            (Body::Object(fields), PathStep::Name(name)) => fields
                .iter()
                .find(|(field, _)| field == name)
                .map(|(_, value)| value),
            (Body::List(items), step) => Self::index(items, step).map(|index| &items[index]),
            _ => None,
        };
        next.is_some_and(|next| next.has(rest))
    }

    /// The index of the element that a step selects.
    fn index(items: &[Body], step: &PathStep) -> Option<usize> {
        match step {
            PathStep::Name(_) => None,
            PathStep::Index(index) => (*index < items.len()).then_some(*index),
            PathStep::Element { field, value } => items
                .iter()
                .position(|item| item.text_of(field).as_ref() == Some(value)),
        }
    }

    /// A plain field of an object as text.
    fn text_of(&self, field: &str) -> Option<String> {
        match self {
            Body::Plain(json) => scalar_text(json.get(field)?),
            Body::Object(fields) => match fields.iter().find(|(name, _)| name == field)? {
                (_, Body::Plain(json)) => scalar_text(json),
                _ => None,
            },
            Body::Secret(_) | Body::List(_) => None,
        }
    }

    /// The fields of an object; anything else becomes an object.
    fn fields_mut(&mut self) -> &mut Vec<(String, Body)> {
        match self {
            Body::Object(_) => {}
            Body::Plain(Json::Object(fields)) => {
                let fields = std::mem::take(fields).into_iter();
                *self = Body::Object(fields.map(|(name, json)| (name, json.into())).collect());
            }
            _ => *self = Body::object(),
        }
        match self {
            Body::Object(fields) => fields,
            _ => unreachable!("was just made an object"),
        }
    }

    /// The elements of a list; anything else becomes a list.
    fn items_mut(&mut self) -> &mut Vec<Body> {
        match self {
            Body::List(_) => {}
            Body::Plain(Json::Array(items)) => {
                let items = std::mem::take(items).into_iter();
                *self = Body::List(items.map(Body::from).collect());
            }
            _ => *self = Body::List(Vec::new()),
        }
        match self {
            Body::List(items) => items,
            _ => unreachable!("was just made a list"),
        }
    }

    /// All fields by dotted path, including nested ones.
    pub(crate) fn fields(&self) -> Vec<(String, Text)> {
        let Body::Object(fields) = self else {
            return vec![(String::new(), self.to_text())];
        };
        let of_one = |(name, value): &(String, Body)| -> Vec<(String, Text)> {
            let inner = value.fields().into_iter();
            inner
                .map(|(path, text)| match path.as_str() {
                    "" => (name.clone(), text),
                    path => (format!("{name}.{path}"), text),
                })
                .collect()
        };
        fields.iter().flat_map(of_one).collect()
    }

    /// The JSON text; secrets are escaped for JSON and masked in output.
    pub(crate) fn to_text(&self) -> Text {
        let mut text = Text::new();
        self.write(&mut text);
        text
    }

    fn write(&self, out: &mut Text) {
        match self {
            Body::Plain(json) => out.push(json.to_string()),
            Body::Secret(secret) => {
                out.push("\"");
                let quoted = Json::from(secret.reveal()).to_string();
                out.push_secret(&quoted[1..quoted.len() - 1]);
                out.push("\"");
            }
            Body::List(items) => {
                out.push("[");
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(",");
                    }
                    item.write(out);
                }
                out.push("]");
            }
            Body::Object(fields) => {
                out.push("{");
                for (index, (name, value)) in fields.iter().enumerate() {
                    if index > 0 {
                        out.push(",");
                    }
                    out.push(format!("{}:", Json::from(name.as_str())));
                    value.write(out);
                }
                out.push("}");
            }
        }
    }
}

impl From<Json> for Body {
    fn from(json: Json) -> Self {
        Body::Plain(json)
    }
}

/// Whether two JSON values are equivalent: numbers may be text, and some text fields return
/// trailing spaces.
pub(crate) fn equivalent(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::String(a), Json::String(b)) => a.trim_end() == b.trim_end(),
        (Json::String(text), Json::Number(number)) | (Json::Number(number), Json::String(text)) => {
            text.trim() == number.to_string()
        }
        (Json::String(text), Json::Bool(truth)) | (Json::Bool(truth), Json::String(text)) => {
            text.trim() == truth.to_string()
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn path(text: &str) -> FieldPath {
        text.parse().expect("a path")
    }

    #[test]
    fn body_of_an_object_preserves_what_is_not_set() {
        let object = json!({"routes": [{"terminal": true, "handle": [{"handler": "x", "up": 1}]}], "a": 1, "b": 2});
        let mut body = Body::from(object);
        body.put(&path("routes[0].handle[handler=x].up"), json!(2).into());
        body.put(&path("routes[1].terminal"), json!(false).into());
        body.remove(&path("a"));
        body.remove(&path("c.d"));
        assert_eq!(
            body.inside(&path("m:list[0]")).to_text().reveal(),
            r#"{"m:list":[{"routes":[{"terminal":true,"handle":[{"handler":"x","up":2}]},{"terminal":false}],"b":2}]}"#
        );
    }

    #[test]
    fn json_escapes_a_secret_for_the_device_and_masks_it_in_messages() {
        let mut body = Body::object();
        body.put(&path("username"), json!("probe").into());
        body.put(&path("auth.password"), Body::Secret("a\"b\\".into()));
        body.put(&path("auth.tries"), json!(3).into());
        let text = body.to_text();
        assert_eq!(
            text.reveal(),
            r#"{"username":"probe","auth":{"password":"a\"b\\","tries":3}}"#
        );
        assert_eq!(
            text.to_string(),
            r#"{"username":"probe","auth":{"password":"••••","tries":3}}"#
        );
    }
}
