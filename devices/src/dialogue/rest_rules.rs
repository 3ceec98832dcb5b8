//! How a platform's REST interface is logged in to and how it words its errors, as data.

use crate::document::{Item, Table};
use crate::operation::{Method, Request};
use crate::pattern::Pattern;
use crate::secret::Text;

/// How one platform's REST interface behaves.
#[derive(Clone, Debug)]
pub struct RestRules {
    /// TCP port where the inventory names none.
    pub port: u16,
    /// Requests at once that the device bears.
    pub parallel: usize,
    /// `None`: user and password go with every request.
    pub token: Option<TokenRules>,
    /// Answers of these statuses are worth another try.
    pub busy_status: Vec<u16>,
    /// So are errors in these words.
    pub busy: Vec<Pattern>,
    /// Text with secrets, whoever set them; group 1 is the secret.
    pub secrets: Vec<Pattern>,
    /// Field of an error's body that has the words for people.
    pub message: String,
    /// A code in front of these words, put behind them.
    pub code: Option<Pattern>,
    /// Makes the running configuration permanent.
    pub save: Option<Request>,
}

/// Logging in for a token.
#[derive(Clone, Debug)]
pub struct TokenRules {
    pub login: String,
    /// Body of the login; `{user}`, `{password}` and `{login_provider}` stand for their values.
    pub body: Vec<(String, String)>,
    /// User and password also go into the header of the login.
    pub with_basic: bool,
    /// Dotted path to the token in the answer.
    pub token: String,
    /// Header that carries it.
    pub header: String,
    /// Path to delete at the end; `{token}` stands for the token.
    pub logout: String,
    pub login_provider: String,
    /// Statuses of a login that mean "I know no tokens".
    pub unsupported_status: Vec<u16>,
}

impl RestRules {
    /// Reads `[connection]`, `[error]` and `[save]` from a platform's root table. Mistakes are
    /// collected in the table's findings.
    pub fn read(root: &Table<'_>) -> Option<Self> {
        let Some(connection) = root.table("connection") else {
            root.missing("connection");
            return None;
        };
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
            token: connection.table("token").and_then(|table| token(&table)),
            busy_status: statuses(connection.get("busy_status")).unwrap_or_else(|| vec![503]),
            busy: patterns(connection.get("busy")),
            secrets: patterns(root.get("secrets")),
            message: error
                .as_ref()
                .and_then(|error| error.string("message"))
                .unwrap_or_else(|| "message".to_owned()),
            code: error
                .as_ref()
                .and_then(|error| error.get("code"))
                .and_then(|item| pattern(&item)),
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
            item.error("bad-number", format!("{number} is not a status"));
        }
        status
    });
    Some(numbers.collect())
}

fn patterns(item: Option<Item<'_>>) -> Vec<Pattern> {
    let items = item.and_then(|item| item.list()).unwrap_or_default();
    items.iter().filter_map(pattern).collect()
}

fn pattern(item: &Item<'_>) -> Option<Pattern> {
    let text = item.string()?;
    let compiled = Pattern::new(&text);
    if compiled.is_err() {
        item.error("bad-pattern", format!("`{}` is not a pattern", item.path));
    }
    compiled.ok()
}
