//! The keys of `[connection]`, `[upload]`, `[error]` and `[save]` of a REST interface.

use crate::dialogue::session_limits::LimitKeys;
use crate::document::{
    Item, KeyValue, Named, SectionForm, ValueShape, keys, text_with, word_values,
};
use crate::operation::Method;
use crate::pattern::Pattern;
use crate::read::field_path::FieldPath;

keys! {
    /// Connection of a REST interface.
    pub(crate) struct RestConnectionKeys {
        /// Absolute limits.
        limits: Option<LimitKeys>,
    }
}

keys! {
    /// What all requests have in common.
    pub(crate) struct RequestKeys {
        /// Default TCP port.
        port: u16 = 443,
        /// Maximum of concurrent requests.
        parallel: usize = 1,
        /// Authentication by a token.
        token: Option<TokenKeys>,
        /// Headers of all requests. `Content-Type` is that of requests with a body, by default
        /// `application/json`.
        headers: Named<String>,
        /// Parameters of all requests.
        query: Named<String>,
        /// Patterns of messages, and statuses (by default 503), after which a request that can be repeated is
        /// sent again.
        busy: Vec<BusySign>,
    }
}

/// Where a token comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenForm {
    Login,
    Credential,
}

impl SectionForm for TokenForm {
    const FORMS: &'static [(Self, &'static str)] = &[
        (Self::Login, "`login`"),
        (Self::Credential, "a token of the user"),
    ];
}

keys! {
    /// Authentication by a token.
    pub(crate) struct TokenKeys at TokenForm {
        /// Header with the token.
        header: Option<String>,
        /// Parameter with the token.
        query: Option<String>,
        /// Cookie with the token.
        cookie: Option<String>,
        /// Form of the token, `Bearer {token}`.
        value: Option<TokenText>,
        /// Path of the login; without it, the token is a credential of the user.
        login: Option<String>,
        /// Fields of that request.
        body: LoginFields where [TokenForm::Login],
        /// The body is an HTML form.
        form: bool where [TokenForm::Login],
        /// That request has user and password in its header, too.
        with_basic: bool where [TokenForm::Login],
        /// Path of the token in the answer.
        token: Option<FieldPath> where [TokenForm::Login],
        /// A second token of the login.
        csrf: Option<CsrfKeys> where [TokenForm::Login],
        /// Path of the logout, with `{token}`, or its request.
        logout: Option<LogoutForm> where [TokenForm::Login],
        /// Default provider of the login.
        login_provider: String where [TokenForm::Login] = String::new(),
        /// Statuses of devices without tokens.
        unknown_status: Vec<u16> where [TokenForm::Login] = vec![404],
    }
}

keys! {
    /// A second token of a login.
    pub(crate) struct CsrfKeys {
        /// Cookie of the answer with it.
        cookie: String,
        /// Header of requests that has it.
        header: String,
    }
}

/// A sign that the device is busy.
#[derive(Clone, Debug)]
pub(crate) enum BusySign {
    Status(u16),
    Message(Pattern),
}

impl KeyValue for BusySign {
    fn declare(shape: &ValueShape) {
        u16::declare(shape);
        Pattern::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        match item.as_str() {
            Some(_) => item.pattern().map(Self::Message),
            None => u16::read(item).map(Self::Status),
        }
    }
}

/// The request of a logout.
#[derive(Clone, Debug)]
pub(crate) struct LogoutForm {
    pub(super) method: Method,
    pub(super) path: String,
}

keys! {
    /// The request of a logout.
    pub(crate) struct LogoutKeys {
        /// Method of the logout, `DELETE` or `POST`.
        verb: LogoutVerb,
        /// Path of the logout, with `{token}`.
        path: LogoutPath,
    }
}

impl KeyValue for LogoutForm {
    fn declare(shape: &ValueShape) {
        LogoutPath::declare(shape);
        LogoutKeys::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        let (method, path) = if item.is_table() {
            let keys = LogoutKeys::read(item)?;
            (keys.verb.0, keys.path)
        } else {
            (Method::Delete, LogoutPath::read(item)?)
        };
        let path = path.0;
        Some(Self { method, path })
    }
}

/// The method of a logout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogoutVerb(pub(super) Method);

word_values!(LogoutVerb {
    "DELETE" => LogoutVerb(Method::Delete),
    "POST" => LogoutVerb(Method::Post),
});

/// The text before a token, in a text that ends with `{token}`.
#[derive(Clone, Debug)]
pub(crate) struct TokenText(pub(super) String);

impl KeyValue for TokenText {
    fn declare(shape: &ValueShape) {
        String::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        let text = item.string_with(&["token"])?;
        let prefix = text.strip_suffix("{token}");
        if prefix.is_none() {
            item.error("token", "`value` must end with `{token}`");
        }
        prefix.map(|prefix| Self(prefix.to_owned()))
    }
}

/// The fields of a login.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoginFields(pub(super) Vec<(FieldPath, String)>);

/// The placeholders of a login. Each is the whole text of a field.
const LOGIN_PLACEHOLDERS: [&str; 3] = ["user", "password", "login_provider"];

impl KeyValue for LoginFields {
    fn declare(shape: &ValueShape) {
        Named::<String>::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        let table = item.table()?;
        let fields = table.entries().into_iter().map(|(name, span, item)| {
            let is_placeholder = |word: &str| item.as_str() == Some(&format!("{{{word}}}"));
            let text = if LOGIN_PLACEHOLDERS.iter().any(|word| is_placeholder(word)) {
                item.string_with(&LOGIN_PLACEHOLDERS)
            } else {
                item.string()
            };
            FieldPath::read_key(&table, &name, &span).zip(text)
        });
        let fields: Vec<Option<_>> = fields.collect();
        fields.into_iter().collect::<Option<_>>().map(Self)
    }

    fn absent() -> Option<Self> {
        Some(Self::default())
    }
}

keys! {
    /// How files are sent.
    pub(crate) struct UploadTypeKeys {
        /// Headers of files, with `{size}` and `{last}`. `Content-Type` is by default
        /// `application/octet-stream`.
        headers: Named<UploadHeader>,
    }
}

text_with! {
    /// A header of a file.
    pub(crate) struct UploadHeader("size", "last");
}

text_with! {
    /// The path of a logout.
    pub(crate) struct LogoutPath("token");
}

keys! {
    /// Errors of a REST interface.
    pub(crate) struct RestErrorKeys {
        /// Paths of the error message in a body.
        message: Vec<FieldPath>,
        /// Field that shows an error, whatever the status is.
        in_body: Option<ResultFieldKeys>,
        /// Pattern of the error code, which moves to the end of the message.
        code: Option<Pattern>,
        /// Patterns of messages about an object that does not exist.
        absent: Vec<Pattern>,
    }
}

keys! {
    /// A field that shows whether a request failed.
    pub(crate) struct ResultFieldKeys {
        /// Path of the field.
        path: FieldPath,
        /// Its values without an error.
        ok: Option<Vec<String>>,
        /// Patterns of its values with an error.
        failed: Vec<Pattern>,
    }
}

keys! {
    /// The request that saves the configuration.
    pub(crate) struct SaveKeys {
        /// Path of the `POST` that saves.
        path: String,
        /// Body of that request.
        body: Option<String>,
    }
}
