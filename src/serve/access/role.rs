//! Roles, and the user or program that sends a request.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use switchtender_devices::document::Item;

use super::device_roles::DeviceRoles;

/// What a user or a token may do. Each role includes the ones before it.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    ValueEnum,
    utoipa::ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    /// Pages and API without changes
    View,
    /// Plans of devices
    Plan,
    /// Runs of devices; pause and resume
    Apply,
    /// The audit log
    Admin,
}

impl Role {
    /// Reads a role of the settings.
    pub(crate) fn read(item: &Item<'_>) -> Option<Self> {
        let text = item.string()?;
        let roles = [Self::View, Self::Plan, Self::Apply, Self::Admin];
        let found = roles.into_iter().find(|role| role.word() == text);
        if found.is_none() {
            let text = format!("`{text}` is not one of `view`, `plan`, `apply` and `admin`");
            item.error("bad-value", text);
        }
        found
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::View => "view",
            Self::Plan => "plan",
            Self::Apply => "apply",
            Self::Admin => "admin",
        }
    }
}

/// The user of logins with a code.
pub(super) const OPERATOR: &str = "operator";

/// The program on the same host that reads the local token.
pub(super) const LOCAL: &str = "local";

/// The sender of requests without credentials.
pub(super) const ANONYMOUS: &str = "anonymous";

/// The names of senders that are in no file. Users and tokens have others: the audit log has only names.
pub(crate) const RESERVED_NAMES: [&str; 3] = [OPERATOR, LOCAL, ANONYMOUS];

/// How the sender of a request was identified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AuthMethod {
    Session,
    Token,
    /// The token that programs of the same user on this host read.
    Local,
    Proxy,
    /// No login is required.
    Anonymous,
}

/// The sender of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Principal {
    pub(crate) name: String,
    pub(crate) roles: DeviceRoles,
    pub(crate) method: AuthMethod,
    /// The person who sends it. `None`: a program, or the operator of the host, who can be anybody.
    pub(super) person: Option<String>,
    /// What pages send back with requests that have side effects. Programs have none.
    pub(crate) csrf_token: String,
}

impl Principal {
    /// The sender among all others, for limits and keys of requests: a user and a token may have one name.
    pub(crate) fn key(&self) -> String {
        let kind = match self.method {
            AuthMethod::Token => "token",
            AuthMethod::Local => "local",
            AuthMethod::Anonymous => "anonymous",
            AuthMethod::Session | AuthMethod::Proxy => "user",
        };
        format!("{kind} {}", self.name)
    }

    /// The person who sends it. Only persons approve plans.
    pub(crate) fn person(&self) -> Option<String> {
        self.person.clone()
    }

    /// Whether it is a program of the same user on this host.
    pub(crate) fn is_local(&self) -> bool {
        self.method == AuthMethod::Local
    }

    /// Whether a browser adds the credentials to requests of other sites.
    pub(crate) fn needs_csrf_token(&self) -> bool {
        !matches!(self.method, AuthMethod::Token | AuthMethod::Local)
    }
}
