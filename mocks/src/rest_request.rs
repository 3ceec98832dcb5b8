//! Requests of a REST interface, and the shapes that they have.

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;
use regex::Regex;
use serde_json::Value;
use switchtender_outline::{FieldShape, JsonPath, RequestShape};

use crate::json_path::{Locate as _, scalar};
use crate::shape_pattern::{InvalidShape, compile};

/// A request.
#[derive(Debug, Clone, Default)]
pub(crate) struct RestRequest {
    pub(crate) verb: String,
    /// Without parameters.
    pub(crate) path: String,
    /// In the order of the request, decoded.
    pub(crate) parameters: Vec<(String, String)>,
    /// `null` without a body, or for a body that is not JSON.
    pub(crate) body: Value,
}

/// The names in a request.
pub(crate) type RequestNames = BTreeMap<String, String>;

/// A shape with compiled patterns.
#[derive(Debug, Clone)]
pub(crate) struct CompiledRequest {
    verb: String,
    path: Regex,
    parameters: Vec<(String, Regex)>,
    fields: Vec<(JsonPath, CompiledField)>,
    tilde_names: Vec<String>,
}

#[derive(Debug, Clone)]
enum CompiledField {
    Value(Value),
    Text(Regex),
}

impl RestRequest {
    pub(crate) fn new(verb: &str, target: &str, body: Value) -> Self {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let parameters = form_urlencoded::parse(query.as_bytes());
        Self {
            verb: verb.to_owned(),
            path: path.to_owned(),
            parameters: parameters.into_owned().collect(),
            body,
        }
    }

    /// The value of a parameter.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        let mut found = self.parameters.iter().filter(|(own, _)| own == name);
        found.next().map(|(_, value)| value.as_str())
    }
}

impl CompiledRequest {
    pub(crate) fn new(shape: &RequestShape) -> Result<Self, InvalidShape> {
        let parameters = shape.parameters.iter();
        let fields = shape.fields.iter();
        Ok(Self {
            verb: shape.verb.clone(),
            path: exact(&shape.path)?,
            parameters: parameters
                .map(|(name, pattern)| Ok((name.clone(), exact(pattern)?)))
                .collect::<Result<_, InvalidShape>>()?,
            fields: fields
                .map(|(path, field)| {
                    let field = match field {
                        FieldShape::Value(value) => CompiledField::Value(value.clone()),
                        FieldShape::Text(pattern) => CompiledField::Text(exact(pattern)?),
                    };
                    Ok((path.clone(), field))
                })
                .collect::<Result<_, InvalidShape>>()?,
            tilde_names: shape.tilde_names.clone(),
        })
    }

    /// Of two shapes that match, the one with more parts is meant.
    pub(crate) fn precision(&self) -> usize {
        let constants = self.fields.iter();
        let constants = constants.filter(|(_, field)| matches!(field, CompiledField::Value(_)));
        self.parameters.len() + self.fields.len() + constants.count()
    }

    /// The names in a request of this shape; `None` for another request. Other parameters must be
    /// those that all requests can have.
    pub(crate) fn names(&self, request: &RestRequest, common: &[String]) -> Option<RequestNames> {
        if self.verb != request.verb {
            return None;
        }
        let is_known = |name: &String| {
            common.contains(name) || self.parameters.iter().any(|(own, _)| own == name)
        };
        if !request.parameters.iter().all(|(name, _)| is_known(name)) {
            return None;
        }
        let mut names = RequestNames::new();
        let found = self.path.captures(&request.path)?;
        for name in self.path.capture_names().flatten() {
            let Some(text) = found.name(name) else {
                continue;
            };
            let text = percent_decode_str(text.as_str()).decode_utf8_lossy();
            let has_tildes = self.tilde_names.iter().any(|one| one == name);
            let text = if has_tildes {
                text.replace('~', "/")
            } else {
                text.into_owned()
            };
            names.insert(name.to_owned(), text);
        }
        for (parameter, pattern) in &self.parameters {
            add_names(pattern, request.parameter(parameter)?, &mut names)?;
        }
        for (path, field) in &self.fields {
            let value = path.get(&request.body)?;
            match field {
                CompiledField::Value(expected) => (value == expected).then_some(())?,
                CompiledField::Text(pattern) => add_names(pattern, &scalar(value)?, &mut names)?,
            }
        }
        Some(names)
    }
}

/// Names of objects differ in case.
fn exact(pattern: &str) -> Result<Regex, InvalidShape> {
    compile(&format!("(?-i){pattern}"))
}

/// Adds the names in a text; `None` if it does not match.
fn add_names(pattern: &Regex, text: &str, names: &mut RequestNames) -> Option<()> {
    let found = pattern.captures(text)?;
    for name in pattern.capture_names().flatten() {
        if let Some(text) = found.name(name) {
            names.insert(name.to_owned(), text.as_str().to_owned());
        }
    }
    Some(())
}
