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
        /// Media type of answers.
        accept: Option<String>,
        /// Headers of all requests.
        headers: Named<String>,
        /// Media type of bodies.
        content_type: String = "application/json".to_owned(),
        /// Parameters of all requests.
        query: Named<String>,
        /// Statuses after which a request that can be repeated is sent again.
        busy_status: Vec<u16> = vec![503],
        /// Patterns of messages after which such a request is sent again.
        busy: Vec<Pattern>,
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
        /// Path of the logout, with `{token}`.
        logout: Option<LogoutPath> where [TokenForm::Login],
        /// Method of the logout.
        logout_verb: LogoutVerb where [TokenForm::Login] = LogoutVerb(Method::Delete),
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
        /// Media type of files.
        content_type: String = "application/octet-stream".to_owned(),
        /// Headers, with `{size}` and `{last}`.
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
