//! Requests of a REST interface as patterns.

use serde_json::Value as Json;

use super::JsonPath;

/// Requests of one kind. Named groups of the patterns are the names of objects.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestShape {
    /// `GET`, `POST` …
    pub verb: String,
    /// Pattern of the whole path, without parameters. The names in it are encoded.
    pub path: String,
    /// Parameters with patterns of their decoded values.
    pub parameters: Vec<(String, String)>,
    /// Fields of the body.
    pub fields: Vec<(JsonPath, FieldShape)>,
    /// Names in the path with `~` in place of `/`.
    pub tilde_names: Vec<String>,
}

/// A field in the body of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldShape {
    /// It has this value.
    Value(Json),
    /// Its text matches this pattern.
    Text(String),
}
