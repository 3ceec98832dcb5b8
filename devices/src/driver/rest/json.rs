//! JSON for reading and sending: dotted paths into objects, and bodies with secrets.

use std::fmt;

use serde_json::{Map, Value as Json};

use crate::secret::Text;

/// The path of a field in an object: `sflow.pollInterval`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldPath(Vec<String>);

impl FieldPath {
    pub(crate) fn new(dotted: &str) -> Self {
        Self(dotted.split('.').map(str::to_owned).collect())
    }

    /// The field's value, unless it is missing or `null`.
    pub(crate) fn get<'a>(&self, object: &'a Json) -> Option<&'a Json> {
        self.0
            .iter()
            .try_fold(object, |at, step| at.get(step))
            .filter(|value| !value.is_null())
    }

    /// Sets the field and creates the objects of its path.
    pub(crate) fn put(&self, object: &mut Json, value: Json) {
        let mut at = object;
        for step in &self.0 {
            if !at.is_object() {
                *at = Json::Object(Map::new());
            }
            at = at
                .as_object_mut()
                .expect("was just made an object")
                .entry(step.clone())
                .or_insert(Json::Null);
        }
        *at = value;
    }

    /// Removes the field.
    pub(crate) fn remove(&self, object: &mut Json) {
        let Some((last, parents)) = self.0.split_last() else {
            return;
        };
        let parent = parents.iter().try_fold(object, |at, step| at.get_mut(step));
        if let Some(Json::Object(fields)) = parent {
            fields.shift_remove(last);
        }
    }

    pub(crate) fn steps(&self) -> &[String] {
        &self.0
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("."))
    }
}

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

    /// Sets a field and creates the objects of its path.
    pub(crate) fn put(&mut self, path: &FieldPath, value: Body) {
        self.put_steps(path.steps(), value);
    }

    fn put_steps(&mut self, steps: &[String], value: Body) {
        let Some((step, rest)) = steps.split_first() else {
            *self = value;
            return;
        };
        if !matches!(self, Body::Object(_)) {
            *self = Body::object();
        }
        let Body::Object(fields) = self else {
            unreachable!("was just made an object")
        };
        let at = match fields.iter().position(|(name, _)| name == step) {
            Some(at) => at,
            None => {
                fields.push((step.clone(), Body::object()));
                fields.len() - 1
            }
        };
        fields[at].1.put_steps(rest, value);
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

    #[test]
    fn fields_are_found_and_put_by_their_dotted_path() {
        let mut object = json!({"sflow": {"pollInterval": 10}, "gone": null});
        assert_eq!(
            FieldPath::new("sflow.pollInterval").get(&object),
            Some(&json!(10))
        );
        assert_eq!(FieldPath::new("gone").get(&object), None);
        assert_eq!(FieldPath::new("sflow.x.y").get(&object), None);
        FieldPath::new("sflow.samplingRate").put(&mut object, json!(5));
        FieldPath::new("a.b").put(&mut object, json!(true));
        assert_eq!(
            object,
            json!({"sflow": {"pollInterval": 10, "samplingRate": 5}, "gone": null, "a": {"b": true}})
        );
    }

    #[test]
    fn json_escapes_a_secret_for_the_device_and_masks_it_in_messages() {
        let mut body = Body::object();
        body.put(&FieldPath::new("username"), json!("probe").into());
        body.put(
            &FieldPath::new("auth.password"),
            Body::Secret("a\"b\\".into()),
        );
        body.put(&FieldPath::new("auth.tries"), json!(3).into());
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
