//! Rules of a platform's REST interface: login and errors, as data.

use super::session_limits::SessionLimits;
use crate::document::{Item, Table};
use crate::operation::{Method, Request};
use crate::pattern::Pattern;
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
    /// Statuses of a busy device, which cause a retry.
    pub(crate) busy_status: Vec<u16>,
    /// Messages of a busy device, which cause a retry.
    pub(crate) busy: Vec<Pattern>,
    /// Statuses after which a write may be applied all the same: the front end gave up, or failed
    /// after it had passed the request on.
    pub(crate) unclear_status: Vec<u16>,
    /// Text with secrets; group 1 is the secret.
    pub(crate) secrets: Vec<Pattern>,
    /// Field of an error's body with the message.
    pub(crate) message: String,
    /// A code at the start of the message, which is moved to its end.
    pub(crate) code: Option<Pattern>,
    /// Messages with status 404 of an object that does not exist. Other answers with this status do
    /// not concern the object: the path is not registered, or the interface is not ready.
    pub(crate) absent: Vec<Pattern>,
    /// The request that saves the running configuration.
    pub(crate) save: Option<Request>,
}

/// Login for a token.
#[derive(Clone, Debug)]
pub(crate) struct TokenRules {
    /// Path of the login.
    pub(crate) login: String,
    /// Body of the login, with the placeholders `{user}`, `{password}` and `{login_provider}`.
    pub(crate) body: Vec<(String, String)>,
    /// The login also has an Authorization header with user and password.
    pub(crate) with_basic: bool,
    /// Dotted path of the token in the answer.
    pub(crate) token: String,
    /// Header for the token.
    pub(crate) header: String,
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
            busy_status: statuses(connection.get("busy_status")).unwrap_or_else(|| vec![503]),
            busy: connection.patterns("busy"),
            unclear_status: statuses(connection.get("unclear_status")).unwrap_or_default(),
            secrets: root.patterns("secrets"),
            message: error
                .as_ref()
                .and_then(|error| error.string("message"))
                .unwrap_or_else(|| "message".to_owned()),
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

fn token(table: &Table<'_>) -> Option<TokenRules> {
    let login = table.required_string("login");
    let body = table.table("body").map(|body| {
        let entries = body.entries().into_iter();
        entries
            .filter_map(|(key, _, item)| Some((key, item.string()?)))
            .collect()
    });
    let token = table.required_string("token");
    let header = table.required_string("header");
    let logout = table.required_string("logout");
    let rules = TokenRules {
        body: body.unwrap_or_default(),
        with_basic: table.bool("with_basic").unwrap_or(false),
        login_provider: table.string("login_provider").unwrap_or_default(),
        unsupported_status: statuses(table.get("unknown_status")).unwrap_or_else(|| vec![404]),
        login: login?,
        token: token?,
        header: header?,
        logout: logout?,
    };
    table.finish();
    Some(rules)
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
