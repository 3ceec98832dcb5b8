//! Rules of a platform's REST interface: login and errors, as data.

mod candidate_rules;
mod control_request;
mod page_rules;
mod session_outline;
mod task_rules;
mod transaction_rules;
mod version_rules;

use serde_json::{Map, Value as Json};

use super::session_limits::SessionLimits;
use crate::document::word;
use crate::document::{Item, Table};
use crate::operation::{Method, Precondition, Request};
use crate::pattern::Pattern;
use crate::read::field_path::{FieldPath, scalar_text};
use crate::secret::Text;
use crate::secret_text::SecretText;

pub(crate) use candidate_rules::{RestCandidateRules, UserCandidateRules};
pub(crate) use page_rules::{MOST_PAGES, Page, PageRules, next_link};
pub(crate) use task_rules::{TaskRules, TaskState};
pub(crate) use transaction_rules::TransactionRules;
pub(crate) use version_rules::{CONFLICT, VersionRules};

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
    /// Where secrets stand in the text of the devices.
    pub(crate) secrets: SecretText,
    /// Fields of an error's body with the message; the first that exists counts.
    pub(crate) message: Vec<FieldPath>,
    /// A field of each body that shows whether the request failed.
    pub(crate) in_body: Option<ResultField>,
    /// A code at the start of the message, which is moved to its end.
    pub(crate) code: Option<Pattern>,
    /// Messages with status 404 of an object that does not exist. Other answers with this status do
    /// not concern the object: the path is not registered, or the interface is not ready.
    pub(crate) absent: Vec<Pattern>,
    /// Media type and further headers of files.
    pub(crate) upload_type: String,
    pub(crate) upload_headers: Vec<(String, String)>,
    /// How long lists are divided.
    pub(crate) pages: Option<PageRules>,
    /// How requests continue after their answer.
    pub(crate) tasks: Option<TaskRules>,
    /// How the configuration that requests change takes effect.
    pub(crate) candidate: Option<RestCandidateRules>,
    /// The number of the configuration that each write names.
    pub(crate) version: Option<VersionRules>,
    /// The request that saves the running configuration.
    pub(crate) save: Option<Request>,
}

/// The result of a request in the body of its answer.
#[derive(Clone, Debug)]
pub(crate) struct ResultField {
    path: FieldPath,
    /// Its values after success; `None`: any that no pattern of `failed` matches.
    ok: Option<Vec<String>>,
    /// Its values after a failure.
    failed: Vec<Pattern>,
}

impl ResultField {
    /// The body of the answer to a request that succeeds, and of one that fails.
    pub(crate) fn examples(&self) -> (Json, Json) {
        let (mut done, mut failed) = (Json::Object(Map::new()), Json::Object(Map::new()));
        if let Some(word) = self.ok.iter().flatten().next() {
            self.path.put(&mut done, word.as_str().into());
        }
        let patterns = self.failed.iter();
        let mut words = patterns.flat_map(|pattern| pattern.examples(&|_| None));
        let word = words.next().unwrap_or_else(|| "error".to_owned());
        self.path.put(&mut failed, word.into());
        (done, failed)
    }

    /// Whether a body is that of a failed request. An empty body is not.
    pub(crate) fn is_failure(&self, body: &str) -> bool {
        if body.trim().is_empty() {
            return false;
        }
        let body: Json = serde_json::from_str(body).unwrap_or_default();
        let found = self.path.get(&body).and_then(scalar_text);
        let is_ok = |found: &String| {
            let is_listed = self.ok.as_ref().is_none_or(|ok| ok.contains(found));
            is_listed && !self.failed.iter().any(|one| one.is_match(found))
        };
        found
            .as_ref()
            .map_or(self.ok.is_some(), |found| !is_ok(found))
    }
}

/// How each request sends the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TokenCarrier {
    pub(crate) kind: CarrierKind,
    /// Name of the header, query parameter or cookie.
    pub(crate) name: String,
    /// The text before the token: `Bearer `.
    pub(crate) prefix: String,
}

/// The part of a request with the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CarrierKind {
    Header,
    Query,
    Cookie,
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
    /// Fields of the body of the login: texts, or one of [`LOGIN_PLACEHOLDERS`].
    pub(crate) body: Vec<(FieldPath, String)>,
    /// The login also has an Authorization header with user and password.
    pub(crate) with_basic: bool,
    /// The body is an HTML form instead of JSON.
    pub(crate) is_form: bool,
    /// Path of the token in the answer; `None`: it is in the cookie.
    pub(crate) token: Option<FieldPath>,
    /// A second token of the login: the cookie with it, and the header of requests.
    pub(crate) csrf: Option<(String, String)>,
    /// Path of the logout, with the placeholder `{token}`; `None`: the token remains valid.
    pub(crate) logout: Option<String>,
    /// `DELETE` or `POST`.
    pub(crate) logout_method: Method,
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
        let upload = root.table("upload");
        let upload_type = upload
            .as_ref()
            .and_then(|table| table.string("content_type"));
        let upload_headers = upload
            .as_ref()
            .map(|table| texts(table, "headers", &["size", "last"]));
        if let Some(table) = &upload {
            table.finish();
        }
        let error = root.table("error");
        let secrets = SecretText::new(root.patterns("secrets"));
        let rules = Self {
            message: error
                .as_ref()
                .map(|error| paths(error, "message"))
                .unwrap_or_default(),
            in_body: error
                .as_ref()
                .and_then(|error| error.table("in_body"))
                .and_then(|table| result_field(&table)),
            code: error.as_ref().and_then(|error| error.pattern("code")),
            absent: error
                .as_ref()
                .map(|error| error.patterns("absent"))
                .unwrap_or_default(),
            upload_type: upload_type.unwrap_or_else(|| "application/octet-stream".to_owned()),
            upload_headers: upload_headers.unwrap_or_default(),
            pages: root
                .table("pages")
                .and_then(|table| PageRules::read(&table)),
            tasks: root
                .table("tasks")
                .and_then(|table| TaskRules::read(&table)),
            candidate: root
                .table("candidate")
                .and_then(|table| RestCandidateRules::read(&table)),
            version: root
                .table("version")
                .and_then(|table| VersionRules::read(&table)),
            save: root.table("save").and_then(|table| save(&table)),
            ..Self::of_requests(&connection, SessionLimits::read(&connection), secrets)
        };
        connection.finish();
        if let Some(error) = error {
            error.finish();
        }
        Some(rules)
    }
}

impl RestRules {
    /// The keys of a table that all requests share. The caller finishes the table.
    pub(crate) fn of_requests(
        table: &Table<'_>,
        limits: SessionLimits,
        secrets: SecretText,
    ) -> Self {
        Self {
            port: table
                .integer("port")
                .and_then(|port| u16::try_from(port).ok())
                .unwrap_or(443),
            parallel: table
                .integer("parallel")
                .and_then(|count| usize::try_from(count).ok())
                .unwrap_or(1)
                .max(1),
            limits,
            token: table.table("token").and_then(|table| token(&table)),
            headers: headers(table),
            content_type: table
                .string("content_type")
                .unwrap_or_else(|| "application/json".to_owned()),
            query: texts(table, "query", &[]),
            busy_status: statuses(table.get("busy_status")).unwrap_or_else(|| vec![503]),
            busy: table.patterns("busy"),
            secrets,
            message: Vec::new(),
            in_body: None,
            code: None,
            absent: Vec::new(),
            upload_type: String::new(),
            upload_headers: Vec::new(),
            pages: None,
            tasks: None,
            candidate: None,
            version: None,
            save: None,
        }
    }
}

/// The fixed headers, with the media type that the device shall return.
fn headers(connection: &Table<'_>) -> Vec<(String, String)> {
    let accept = connection.string("accept");
    let accept = accept.map(|media_type| ("Accept".to_owned(), media_type));
    let mut headers: Vec<_> = accept.into_iter().collect();
    headers.extend(texts(connection, "headers", &[]));
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

/// The texts of a table, by name, with these placeholders.
fn texts(table: &Table<'_>, key: &str, placeholders: &[&str]) -> Vec<(String, String)> {
    let entries = table.table(key);
    let entries = entries.iter().flat_map(Table::entries);
    entries
        .filter_map(|(name, _, item)| Some((name, item.string_with(placeholders)?)))
        .collect()
}

/// The path, or the paths, of a key.
pub(super) fn paths(table: &Table<'_>, key: &str) -> Vec<FieldPath> {
    let items = table.get(key).map(Item::one_or_more);
    let items = items.iter().flatten();
    items.filter_map(FieldPath::read).collect()
}

fn result_field(table: &Table<'_>) -> Option<ResultField> {
    let path = table.required("path");
    let ok = table.strings("ok");
    let failed = table.patterns("failed");
    if ok.is_none() && failed.is_empty() {
        table.missing("ok");
    }
    table.finish();
    Some(ResultField {
        path: FieldPath::read(&path?)?,
        ok,
        failed,
    })
}

fn token(table: &Table<'_>) -> Option<TokenRules> {
    let carrier = token_carrier(table);
    let kind = carrier.as_ref().map(|carrier| carrier.kind);
    let login = match table.get("login") {
        Some(item) => Some(token_login(table, item.string()?, kind)),
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

/// `header`, `query` or `cookie`, and `value` with the placeholder `{token}` at its end.
fn token_carrier(table: &Table<'_>) -> Option<TokenCarrier> {
    let value = table.get("value");
    let prefix = match &value {
        None => String::new(),
        Some(item) => {
            let text = item.string_with(&["token"])?;
            let prefix = text.strip_suffix("{token}").map(str::to_owned);
            if prefix.is_none() {
                item.error("token", "`value` must end with `{token}`");
            }
            prefix?
        }
    };
    let kinds = [
        ("header", CarrierKind::Header),
        ("query", CarrierKind::Query),
        ("cookie", CarrierKind::Cookie),
    ];
    let names = kinds.map(|(key, kind)| Some((kind, table.string(key)?)));
    let mut names = names.into_iter().flatten();
    match (names.next(), names.next()) {
        (Some((kind, name)), None) => Some(TokenCarrier { kind, name, prefix }),
        _ => {
            let message = format!(
                "[{}] requires one of `header`, `query` and `cookie`",
                table.path
            );
            table.findings.error("token", table.span.clone(), message);
            None
        }
    }
}

fn token_login(
    table: &Table<'_>,
    path: String,
    carrier: Option<CarrierKind>,
) -> Option<TokenLogin> {
    let token = match carrier {
        Some(CarrierKind::Cookie) => table.get("token"),
        _ => table.required("token"),
    };
    let token = match token {
        Some(item) => Some(FieldPath::read(&item)?),
        None if carrier == Some(CarrierKind::Cookie) => None,
        None => return None,
    };
    let csrf = table.table("csrf").and_then(|csrf| {
        let (cookie, header) = (
            csrf.required_string("cookie"),
            csrf.required_string("header"),
        );
        csrf.finish();
        Some((cookie?, header?))
    });
    let verbs = [("DELETE", Method::Delete), ("POST", Method::Post)];
    let verb = table
        .get("logout_verb")
        .and_then(|item| word(&item, &verbs));
    Some(TokenLogin {
        path,
        body: login_fields(table),
        with_basic: table.bool("with_basic").unwrap_or(false),
        login_provider: table.string("login_provider").unwrap_or_default(),
        unsupported_status: statuses(table.get("unknown_status")).unwrap_or_else(|| vec![404]),
        is_form: table.bool("form").unwrap_or(false),
        token,
        csrf,
        logout: table
            .get("logout")
            .and_then(|item| item.string_with(&["token"])),
        logout_method: verb.unwrap_or(Method::Delete),
    })
}

/// The placeholders of a login. Each is the whole text of a field.
const LOGIN_PLACEHOLDERS: [&str; 3] = ["user", "password", "login_provider"];

fn login_fields(table: &Table<'_>) -> Vec<(FieldPath, String)> {
    let body = table.table("body");
    let Some(body) = body else {
        return Vec::new();
    };
    let fields = body.entries().into_iter();
    let fields = fields.filter_map(|(name, span, item)| {
        let is_placeholder = |word: &str| item.as_str() == Some(&format!("{{{word}}}"));
        let text = if LOGIN_PLACEHOLDERS.iter().any(|word| is_placeholder(word)) {
            item.string_with(&LOGIN_PLACEHOLDERS)
        } else {
            item.string()
        };
        Some((FieldPath::read_key(&body, &name, &span)?, text?))
    });
    fields.collect()
}

fn save(table: &Table<'_>) -> Option<Request> {
    let path = table.required_string("path");
    let body = table.string("body");
    table.finish();
    Some(Request {
        method: Method::Post,
        path: path?,
        body: body.map(Text::plain),
        abridged: None,
        is_file: false,
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
