//! Error responses of the management plane: status, message code and message.

use serde_json::{Value, json};

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    /// HTTP status.
    pub status: u16,
    /// The message, with its code in front if it has one.
    pub message: String,
    api_error: u64,
}

impl Refusal {
    fn new(status: u16, message: String, api_error: u64) -> Self {
        Refusal {
            status,
            message,
            api_error,
        }
    }

    /// The object does not exist.
    pub(super) fn not_found(title: &str, path: &str) -> Self {
        Refusal::new(
            404,
            format!("01020036:3: The requested {title} ({path}) was not found."),
            3,
        )
    }

    /// An object that the request references does not exist.
    pub(super) fn dangling(title: &str, path: &str) -> Self {
        Refusal::new(
            400,
            format!("01020036:3: The requested {title} ({path}) was not found."),
            3,
        )
    }

    /// The object already exists.
    pub(super) fn exists(title: &str, path: &str, partition: &str) -> Self {
        let message = format!(
            "01020066:3: The requested {title} ({path}) already exists in partition {partition}."
        );
        Refusal::new(409, message, 3)
    }

    /// The object is in use.
    pub(super) fn in_use(title: &str, path: &str, by_title: &str, by: &str) -> Self {
        let message = match title {
            "Node" => format!(
                "01070110:3: Node address '{path}' is referenced by a member of pool '{by}'."
            ),
            "Monitor" => format!("01070083:3: Monitor {path} is in use."),
            _ => format!(
                "01070265:3: The {title} ({path}) cannot be deleted because it is in use by a {by_title} ({by})."
            ),
        };
        Refusal::new(400, message, 3)
    }

    /// The partition is not empty.
    pub(super) fn not_empty(partition: &str) -> Self {
        let message = format!(
            "0107082a:3: All objects must be removed from a partition ({partition}) before the partition may be removed, type ID (973)"
        );
        Refusal::new(400, message, 3)
    }

    /// The wrapper of most configuration errors.
    pub(super) fn configuration(what: &str) -> Self {
        Refusal::new(400, format!("01070734:3: Configuration error: {what}"), 3)
    }

    /// A message with its own code.
    pub(super) fn coded(message: String) -> Self {
        Refusal::new(400, message, 3)
    }

    /// The field does not exist.
    pub(super) fn unknown_property(name: &str) -> Self {
        Refusal::new(400, format!("\"{name}\" unknown property"), 26_214_401)
    }

    /// The value of the field is invalid.
    pub(super) fn invalid_value(name: &str, value: &Value) -> Self {
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        Refusal::new(
            400,
            format!("invalid property value \"{}\":\"{value}\"", dashed(name)),
            26_214_401,
        )
    }

    /// A required field is missing.
    pub(super) fn missing(name: &str) -> Self {
        Refusal::new(
            400,
            format!(
                "one or more properties must be specified: \"{}\"",
                dashed(name)
            ),
            26_214_401,
        )
    }

    /// The body is not a JSON object.
    pub(super) fn body(why: &str) -> Self {
        Refusal::new(
            400,
            format!("Found invalid JSON body in the request. {why}"),
            1,
        )
    }

    /// The path does not exist.
    pub(super) fn no_such_uri(uri: &str) -> Self {
        Refusal::new(404, format!("Public URI path not registered: {uri}"), 0)
    }

    /// The method is not supported by the path.
    pub(super) fn method(method: &str, uri: &str) -> Self {
        Refusal::new(405, format!("{method} is not allowed for {uri}"), 0)
    }

    /// The request is not authorized.
    pub(super) fn unauthorized(why: &str) -> Self {
        Refusal::new(401, why.to_owned(), 0)
    }

    /// The daemons are busy.
    pub(super) fn unavailable() -> Self {
        Refusal::new(
            503,
            "There is an active asynchronous task executing.".to_owned(),
            32_964_609,
        )
    }

    /// A message without a code.
    pub(super) fn without_code(status: u16, message: String) -> Self {
        Refusal::new(status, message, 1)
    }

    /// The body of the response.
    pub(super) fn body_json(&self) -> Value {
        json!({"code": self.status, "message": self.message, "errorStack": [], "apiError": self.api_error})
    }
}

/// The name of a field on the command line, for example of `loadBalancingMode`.
fn dashed(name: &str) -> String {
    let mut text = String::new();
    for character in name.chars() {
        if character.is_ascii_uppercase() {
            text.push('-');
        }
        text.push(character.to_ascii_lowercase());
    }
    text
}
