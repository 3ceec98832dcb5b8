//! Refusals in the words of the management plane: a status, a message code, and what is wrong.

use serde_json::{Value, json};

/// Why a request was not carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// HTTP status.
    pub status: u16,
    /// The whole message, with its code in front where it has one.
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

    /// The object itself is not there.
    pub fn not_found(title: &str, path: &str) -> Self {
        Refusal::new(
            404,
            format!("01020036:3: The requested {title} ({path}) was not found."),
            3,
        )
    }

    /// Something that the request names is not there.
    pub fn dangling(title: &str, path: &str) -> Self {
        Refusal::new(
            400,
            format!("01020036:3: The requested {title} ({path}) was not found."),
            3,
        )
    }

    /// It is there already.
    pub fn exists(title: &str, path: &str, partition: &str) -> Self {
        let message = format!(
            "01020066:3: The requested {title} ({path}) already exists in partition {partition}."
        );
        Refusal::new(409, message, 3)
    }

    /// Something else needs it.
    pub fn in_use(title: &str, path: &str, by_title: &str, by: &str) -> Self {
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

    /// A partition has objects in it.
    pub fn not_empty(partition: &str) -> Self {
        let message = format!(
            "0107082a:3: All objects must be removed from a partition ({partition}) before the partition may be removed, type ID (973)"
        );
        Refusal::new(400, message, 3)
    }

    /// The wrapper around most complaints about configuration.
    pub fn configuration(what: &str) -> Self {
        Refusal::new(400, format!("01070734:3: Configuration error: {what}"), 3)
    }

    /// A message with its own code.
    pub fn coded(message: String) -> Self {
        Refusal::new(400, message, 3)
    }

    /// No such field.
    pub fn unknown_property(name: &str) -> Self {
        Refusal::new(400, format!("\"{name}\" unknown property"), 26_214_401)
    }

    /// The field does not take that.
    pub fn invalid_value(name: &str, value: &Value) -> Self {
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        Refusal::new(
            400,
            format!("invalid property value \"{}\":\"{value}\"", dashed(name)),
            26_214_401,
        )
    }

    /// A field is missing.
    pub fn missing(name: &str) -> Self {
        Refusal::new(
            400,
            format!(
                "one or more properties must be specified: \"{}\"",
                dashed(name)
            ),
            26_214_401,
        )
    }

    /// The body is no JSON object.
    pub fn body(why: &str) -> Self {
        Refusal::new(
            400,
            format!("Found invalid JSON body in the request. {why}"),
            1,
        )
    }

    /// Nothing lives at that address.
    pub fn no_such_uri(uri: &str) -> Self {
        Refusal::new(404, format!("Public URI path not registered: {uri}"), 0)
    }

    /// The verb means nothing there.
    pub fn method(method: &str, uri: &str) -> Self {
        Refusal::new(405, format!("{method} is not allowed for {uri}"), 0)
    }

    /// Nobody is logged in.
    pub fn unauthorized(why: &str) -> Self {
        Refusal::new(401, why.to_owned(), 0)
    }

    /// The daemons are busy.
    pub fn unavailable() -> Self {
        Refusal::new(
            503,
            "There is an active asynchronous task executing.".to_owned(),
            32_964_609,
        )
    }

    /// A refusal without a message code.
    pub fn plain(status: u16, message: String) -> Self {
        Refusal::new(status, message, 1)
    }

    /// The body of the response.
    pub fn body_json(&self) -> Value {
        json!({"code": self.status, "message": self.message, "errorStack": [], "apiError": self.api_error})
    }
}

/// `loadBalancingMode` as the command line calls it.
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
