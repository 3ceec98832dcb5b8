//! Rules of a platform's REST interface: login and errors, as data.

mod candidate_rules;
mod control_request;
mod page_rules;
mod rest_keys;
mod session_outline;
mod task_rules;
mod transaction_rules;
mod version_rules;

use serde_json::{Map, Value as Json};

use super::sections::{RestSections, secret_texts};
use super::session_limits::SessionLimits;
use crate::document::{Table, read_value};
use crate::operation::{Method, Precondition, Request};
use crate::pattern::Pattern;
use crate::read::field_path::{FieldPath, scalar_text};
use crate::secret::Text;
use crate::secret_text::SecretText;

pub(crate) use candidate_rules::{RestCandidateKeys, RestCandidateRules, UserCandidateRules};
pub(crate) use page_rules::{MOST_PAGES, Page, PageKeys, PageRules, next_link};
pub(crate) use rest_keys::{
    BusySign, RequestKeys, RestConnectionKeys, RestErrorKeys, ResultFieldKeys, SaveKeys, TokenForm,
    TokenKeys, UploadHeader, UploadTypeKeys,
};
pub(crate) use task_rules::{TaskKeys, TaskRules, TaskState};
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
    /// Fields of the body of the login: texts, or one of `LOGIN_PLACEHOLDERS`.
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
    /// Reads the sections of a REST interface from a platform's root table. Mistakes become findings of
    /// the table.
    pub(crate) fn read(root: &Table<'_>) -> Option<Self> {
        let secrets = secret_texts(root);
        let connection = RestSections::connection(root).and_then(|item| item.table());
        let rules = connection.and_then(|table| {
            let limits = RestConnectionKeys::of(&table);
            let keys = RequestKeys::of(&table);
            table.finish();
            Self::of_requests(keys?, (&table, limits?.limits.into()), secrets)
        });
        let upload: Option<UploadTypeKeys> = read_value(RestSections::upload(root));
        let errors = RestSections::error(root);
        let in_body = errors
            .as_ref()
            .and_then(|item| item.table()?.table("in_body"));
        let errors: Option<RestErrorKeys> = read_value(errors);
        let result = errors.as_ref().and_then(|errors| errors.in_body.clone());
        let in_body = result.zip(in_body);
        let in_body = in_body.and_then(|(keys, table)| ResultField::new(keys, &table));
        let pages = RestSections::pages(root).and_then(|item| PageRules::read(&item));
        let tasks: Option<TaskKeys> = read_value(RestSections::tasks(root));
        let candidate = RestSections::candidate(root);
        let candidate = candidate.and_then(|item| RestCandidateRules::read(&item));
        let version = read_value(RestSections::version(root));
        let save: Option<SaveKeys> = read_value(RestSections::save(root));
        let mut rules = rules?;
        if let Some(errors) = errors {
            rules.message = errors.message;
            rules.code = errors.code;
            rules.absent = errors.absent;
        }
        if let Some(upload) = upload {
            let headers = upload.headers.into_iter();
            let headers = headers.map(|(name, UploadHeader(value))| (name.value, value));
            let (media_type, headers) = content_type(headers.collect());
            rules.upload_type = media_type.unwrap_or(rules.upload_type);
            rules.upload_headers = headers;
        }
        Some(Self {
            in_body,
            pages,
            tasks: tasks.map(TaskRules::from),
            candidate,
            version,
            save: save.map(save_request),
            ..rules
        })
    }

    /// The rules of requests, without those of their answers. `table` is their section.
    pub(crate) fn of_requests(
        keys: RequestKeys,
        (table, limits): (&Table<'_>, SessionLimits),
        secrets: SecretText,
    ) -> Option<Self> {
        let query = keys.query.into_iter();
        let headers = keys.headers.into_iter();
        let headers = headers.map(|(name, value)| (name.value, value)).collect();
        let (content_type, headers) = content_type(headers);
        check_headers(&headers, table);
        let (mut busy_status, mut busy) = (Vec::new(), Vec::new());
        for sign in keys.busy {
            match sign {
                BusySign::Status(status) => busy_status.push(status),
                BusySign::Message(pattern) => busy.push(pattern),
            }
        }
        if busy_status.is_empty() {
            busy_status.push(503);
        }
        let token = match keys.token {
            Some(token) => Some(TokenRules::new(token, &table.table("token")?)?),
            None => None,
        };
        Some(Self {
            port: keys.port,
            parallel: keys.parallel.max(1),
            limits,
            token,
            headers,
            content_type: content_type.unwrap_or_else(|| "application/json".to_owned()),
            query: query.map(|(name, value)| (name.value, value)).collect(),
            busy_status,
            busy,
            secrets,
            message: Vec::new(),
            in_body: None,
            code: None,
            absent: Vec::new(),
            upload_type: "application/octet-stream".to_owned(),
            upload_headers: Vec::new(),
            pages: None,
            tasks: None,
            candidate: None,
            version: None,
            save: None,
        })
    }
}

/// The media type in headers, and the others.
fn content_type(headers: Vec<(String, String)>) -> (Option<String>, Vec<(String, String)>) {
    let is_type = |(name, _): &(String, String)| name.eq_ignore_ascii_case("Content-Type");
    let (types, others): (Vec<_>, Vec<_>) = headers.into_iter().partition(is_type);
    let mut types = types.into_iter();
    (types.next().map(|(_, value)| value), others)
}

/// Reports what cannot be an HTTP header.
fn check_headers(headers: &[(String, String)], table: &Table<'_>) {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    let is_text = |c: char| c.is_ascii_graphic() || c == ' ';
    for (name, value) in headers {
        if name.is_empty() || !name.chars().all(is_token) || !value.chars().all(is_text) {
            let message = format!("`{name}: {value}` is not an HTTP header");
            let span = table.span.clone();
            table.findings.error("header", span, message);
        }
    }
}

impl ResultField {
    fn new(keys: ResultFieldKeys, table: &Table<'_>) -> Option<Self> {
        if keys.ok.is_none() && keys.failed.is_empty() {
            table.missing("ok");
            return None;
        }
        Some(Self {
            path: keys.path,
            ok: keys.ok,
            failed: keys.failed,
        })
    }
}

impl TokenRules {
    fn new(keys: TokenKeys, table: &Table<'_>) -> Option<Self> {
        let form = match keys.login {
            Some(_) => TokenForm::Login,
            None => TokenForm::Credential,
        };
        TokenKeys::KEYS.check(form, table);
        let kinds = [
            (keys.header.clone(), CarrierKind::Header),
            (keys.query.clone(), CarrierKind::Query),
            (keys.cookie.clone(), CarrierKind::Cookie),
        ];
        let names = kinds.into_iter();
        let mut names = names.filter_map(|(name, kind)| Some((name?, kind)));
        let (Some((name, kind)), None) = (names.next(), names.next()) else {
            let path = &table.path;
            let message = format!("[{path}] requires one of `header`, `query` and `cookie`");
            table.findings.error("token", table.span.clone(), message);
            return None;
        };
        let prefix = keys.value.clone().map(|text| text.0).unwrap_or_default();
        let carrier = TokenCarrier { kind, name, prefix };
        if keys.login.is_some() && keys.token.is_none() && kind != CarrierKind::Cookie {
            table.missing("token");
            return None;
        }
        let logout_method = keys.logout.as_ref().map(|logout| logout.method);
        let login = keys.login.map(|path| TokenLogin {
            path,
            body: keys.body.0,
            with_basic: keys.with_basic,
            is_form: keys.form,
            token: keys.token,
            csrf: keys.csrf.map(|csrf| (csrf.cookie, csrf.header)),
            logout: keys.logout.map(|logout| logout.path),
            logout_method: logout_method.unwrap_or(Method::Delete),
            login_provider: keys.login_provider,
            unsupported_status: keys.unknown_status,
        });
        Some(Self { carrier, login })
    }
}

fn save_request(keys: SaveKeys) -> Request {
    Request {
        method: Method::Post,
        path: keys.path,
        body: keys.body.map(Text::plain),
        abridged: None,
        is_file: false,
        idempotent: true,
        precondition: Precondition::None,
    }
}
