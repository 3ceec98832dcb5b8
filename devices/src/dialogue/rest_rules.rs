//! Rules of a platform's REST interface: login and errors, as data.

use serde_json::Value as Json;

use super::session_limits::SessionLimits;
use crate::document::{Item, Table};
use crate::operation::{Method, Precondition, Request};
use crate::pattern::Pattern;
use crate::read::field_path::{FieldPath, scalar_text};
use crate::secret::Text;

/// Rules of a platform's REST interface.
#[derive(Clone, Debug)]
pub(crate) struct RestRules {
    /// Default TCP port.
    pub(crate) port: u16,
    /// Maximum of concurrent requests.
    pub(crate) parallel: usize,
    /// Absolute limits.
    pub(crate) limits: SessionLimits,
    /// `None`: each request has user and password.
    pub(crate) token: Option<TokenRules>,
    /// Headers of each request, by name: media types and constants.
    pub(crate) headers: Vec<(String, String)>,
    /// Media type of bodies.
    pub(crate) content_type: String,
    /// Query parameters of each request.
    pub(crate) query: Vec<(String, String)>,
    /// Statuses of a busy device, which cause a retry.
    pub(crate) busy_status: Vec<u16>,
    /// Messages of a busy device, which cause a retry.
    pub(crate) busy: Vec<Pattern>,
    /// Statuses after which a write may be applied all the same: the front end gave up, or failed
    /// after it had passed the request on.
    pub(crate) unclear_status: Vec<u16>,
    /// Text with secrets; group 1 is the secret.
    pub(crate) secrets: Vec<Pattern>,
    /// Fields of an error's body with the message; the first that exists counts.
    pub(crate) message: Vec<FieldPath>,
    /// A field of each body that shows whether the request failed.
    pub(crate) in_body: Option<ResultField>,
    /// A code at the start of the message, which is moved to its end.
    pub(crate) code: Option<Pattern>,
    /// Messages with status 404 of an object that does not exist. Other answers with this status do
    /// not concern the object: the path is not registered, or the interface is not ready.
    pub(crate) absent: Vec<Pattern>,
    /// The request that saves the running configuration.
    pub(crate) save: Option<Request>,
}

/// The result of a request in the body of its answer.
#[derive(Clone, Debug)]
pub(crate) struct ResultField {
    path: FieldPath,
    /// Its values after success.
    ok: Vec<String>,
}

impl ResultField {
    /// Whether a body is that of a failed request. An empty body is not.
    pub(crate) fn is_failure(&self, body: &str) -> bool {
        if body.trim().is_empty() {
            return false;
        }
        let body: Json = serde_json::from_str(body).unwrap_or_default();
        let found = self.path.get(&body).and_then(scalar_text);
        !found.is_some_and(|found| self.ok.contains(&found))
    }
}

/// How each request sends the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TokenCarrier {
    /// Header or query parameter.
    pub(crate) name: String,
    pub(crate) is_query: bool,
    /// The text before the token: `Bearer `.
    pub(crate) prefix: String,
}

/// Authentication by a token.
#[derive(Clone, Debug)]
pub(crate) struct TokenRules {
    pub(crate) carrier: TokenCarrier,
    /// `None`: the token is a credential of the user.
    pub(crate) login: Option<TokenLogin>,
}

/// Login for a token.
#[derive(Clone, Debug)]
pub(crate) struct TokenLogin {
    /// Path of the login.
    pub(crate) path: String,
    /// Body of the login, with the placeholders `{user}`, `{password}` and `{login_provider}`.
    pub(crate) body: Vec<(String, String)>,
    /// The login also has an Authorization header with user and password.
    pub(crate) with_basic: bool,
    /// Path of the token in the answer.
    pub(crate) token: FieldPath,
    /// Path to delete at the end, with the placeholder `{token}`.
    pub(crate) logout: String,
    /// Default authentication provider.
    pub(crate) login_provider: String,
    /// Statuses of a login if the device has no tokens.
    pub(crate) unsupported_status: Vec<u16>,
}

impl RestRules {
    /// Reads `[connection]`, `[error]` and `[save]` from a platform's root table. Mistakes become
    /// findings of the table.
    pub(crate) fn read(root: &Table<'_>) -> Option<Self> {
        let connection = root.required_table("connection")?;
        let error = root.table("error");
        let rules = Self {
            port: connection
                .integer("port")
                .and_then(|port| u16::try_from(port).ok())
                .unwrap_or(443),
            parallel: connection
                .integer("parallel")
                .and_then(|count| usize::try_from(count).ok())
                .unwrap_or(1)
                .max(1),
            limits: SessionLimits::read(&connection),
            token: connection.table("token").and_then(|table| token(&table)),
            headers: headers(&connection),
            content_type: connection
                .string("content_type")
                .unwrap_or_else(|| "application/json".to_owned()),
            query: texts(&connection, "query"),
            busy_status: statuses(connection.get("busy_status")).unwrap_or_else(|| vec![503]),
            busy: connection.patterns("busy"),
            unclear_status: statuses(connection.get("unclear_status")).unwrap_or_default(),
            secrets: root.patterns("secrets"),
            message: error.as_ref().map(messages).unwrap_or_default(),
            in_body: error
                .as_ref()
                .and_then(|error| error.table("in_body"))
                .and_then(|table| result_field(&table)),
            code: error.as_ref().and_then(|error| error.pattern("code")),
            absent: error
                .as_ref()
                .map(|error| error.patterns("absent"))
                .unwrap_or_default(),
            save: root.table("save").and_then(|table| save(&table)),
        };
        connection.finish();
        if let Some(error) = error {
            error.finish();
        }
        Some(rules)
    }
}

/// The fixed headers, with the media type that the device shall return.
fn headers(connection: &Table<'_>) -> Vec<(String, String)> {
    let accept = connection.string("accept");
    let accept = accept.map(|media_type| ("Accept".to_owned(), media_type));
    let mut headers: Vec<_> = accept.into_iter().collect();
    headers.extend(texts(connection, "headers"));
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    let is_text = |c: char| c.is_ascii_graphic() || c == ' ';
    for (name, value) in &headers {
        if name.is_empty() || !name.chars().all(is_token) || !value.chars().all(is_text) {
            let message = format!("`{name}: {value}` is not an HTTP header");
            let span = connection.span.clone();
            connection.findings.error("header", span, message);
        }
    }
    headers
}

/// The texts of a table, by name.
fn texts(table: &Table<'_>, key: &str) -> Vec<(String, String)> {
    let entries = table.table(key);
    let entries = entries.iter().flat_map(Table::entries);
    entries
        .filter_map(|(name, _, item)| Some((name, item.string()?)))
        .collect()
}

fn messages(error: &Table<'_>) -> Vec<FieldPath> {
    let items = error.get("message").map(Item::one_or_more);
    let items = items.iter().flatten();
    items.filter_map(FieldPath::read).collect()
}

fn result_field(table: &Table<'_>) -> Option<ResultField> {
    let path = table.required("path");
    let ok = table.required("ok").and_then(|item| item.strings());
    table.finish();
    Some(ResultField {
        path: FieldPath::read(&path?)?,
        ok: ok?,
    })
}

fn token(table: &Table<'_>) -> Option<TokenRules> {
    let carrier = token_carrier(table);
    let login = match table.get("login") {
        Some(item) => Some(token_login(table, item.string()?)),
        None => None,
    };
    table.finish();
    Some(TokenRules {
        carrier: carrier?,
        login: match login {
            Some(login) => Some(login?),
            None => None,
        },
    })
}

/// `header` or `query`, and `value` with the placeholder `{token}` at its end.
fn token_carrier(table: &Table<'_>) -> Option<TokenCarrier> {
    let value = table.get("value");
    let prefix = match &value {
        None => String::new(),
        Some(item) => {
            let text = item.string()?;
            let prefix = text.strip_suffix("{token}").map(str::to_owned);
            if prefix.is_none() {
                item.error("token", "`value` must end with `{token}`");
            }
            prefix?
        }
    };
    match (table.string("header"), table.string("query")) {
        (Some(name), None) => Some(TokenCarrier {
            name,
            is_query: false,
            prefix,
        }),
        (None, Some(name)) => Some(TokenCarrier {
            name,
            is_query: true,
            prefix,
        }),
        _ => {
            let message = format!("[{}] requires either `header` or `query`", table.path);
            table.findings.error("token", table.span.clone(), message);
            None
        }
    }
}

fn token_login(table: &Table<'_>, path: String) -> Option<TokenLogin> {
    let token = table.required("token");
    let logout = table.required_string("logout");
    Some(TokenLogin {
        path,
        body: texts(table, "body"),
        with_basic: table.bool("with_basic").unwrap_or(false),
        login_provider: table.string("login_provider").unwrap_or_default(),
        unsupported_status: statuses(table.get("unknown_status")).unwrap_or_else(|| vec![404]),
        token: FieldPath::read(&token?)?,
        logout: logout?,
    })
}

fn save(table: &Table<'_>) -> Option<Request> {
    let path = table.required_string("path");
    let body = table.string("body");
    table.finish();
    Some(Request {
        method: Method::Post,
        path: path?,
        body: body.map(Text::plain),
        idempotent: true,
        precondition: Precondition::None,
    })
}

fn statuses(item: Option<Item<'_>>) -> Option<Vec<u16>> {
    let items = item?.list()?;
    let numbers = items.iter().filter_map(|item| {
        let number = item.integer()?;
        let status = u16::try_from(number).ok();
        if status.is_none() {
            item.error("bad-number", format!("{number} is not an HTTP status"));
        }
        status
    });
    Some(numbers.collect())
}
