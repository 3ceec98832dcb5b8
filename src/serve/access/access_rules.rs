//! The content of `access.toml`: local users, API tokens, workers of the fleet and the trusted proxy. It has hashes and
//! no secret.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use jiff::Timestamp;
use regex::Regex;
use serde::{Deserialize, Serialize};
use switchtender_devices::diagnostic::Source;
use switchtender_devices::secret::MASK;

use super::device_roles::{DeviceLimit, DeviceRoles};
use super::password::PasswordHash;
use super::role::{RESERVED_NAMES, Role};
use super::token::deserialize_digest;
use super::worker_entry::{WorkerEntry, WorkerIdentity};

/// Why the content is invalid.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AccessRulesError {
    #[error("{path}:{line}:{column} is invalid: {reason}")]
    Syntax {
        path: PathBuf,
        line: usize,
        column: usize,
        /// Without values, which can be secrets.
        reason: String,
    },
    #[error("{path} has a user or a token `{name}`, which is a name of the program itself")]
    Reserved { path: PathBuf, name: String },
    #[error("{path}: the worker `{name}` {problem}")]
    Worker {
        path: PathBuf,
        name: String,
        problem: String,
    },
}

impl AccessRulesError {
    /// What to do next.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Reserved { .. } => Some("choose another name".to_owned()),
            Self::Syntax { .. } | Self::Worker { .. } => None,
        }
    }
}

/// The content of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AccessRules {
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) users: BTreeMap<String, LocalUser>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) tokens: BTreeMap<String, ApiToken>,
    /// The workers of the fleet by the names of their nodes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) workers: BTreeMap<String, WorkerEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) proxy: Option<TrustedProxy>,
}

/// A user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LocalUser {
    pub(crate) role: Role,
    /// The devices of the role. `None`: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) devices: Option<DeviceLimit>,
    /// `None`: the user is identified by the trusted proxy only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) password: Option<PasswordHash>,
}

impl LocalUser {
    pub(super) fn roles(&self) -> DeviceRoles {
        DeviceRoles::one(self.role, self.devices.clone())
    }
}

/// A token of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApiToken {
    pub(crate) role: Role,
    /// The devices of the role. `None`: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) devices: Option<DeviceLimit>,
    /// The user whose token it is, in [`AccessRules::users`]: no role of the token is wider. `None`: the token
    /// approves no plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) user: Option<String>,
    /// Digest of the token.
    #[serde(deserialize_with = "deserialize_digest")]
    pub(crate) sha256: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expires: Option<Timestamp>,
}

impl ApiToken {
    fn is_valid(&self, now: Timestamp) -> bool {
        self.expires.is_none_or(|end| now < end)
    }
}

/// A reverse proxy that names the addresses of its clients in `X-Forwarded-For`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TrustedProxy {
    /// The header with the name of the user. `None`: the proxy does not identify users.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) header: Option<String>,
    /// Addresses of the proxy. Both headers of other senders are ignored.
    pub(crate) addresses: Vec<IpAddr>,
    /// The role of users that are not in the file. `None`: they have no access.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) default_role: Option<Role>,
}

impl AccessRules {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// It is invalid. The message has no secret.
    pub(crate) fn parse(path: &Path, text: &str) -> Result<Self, AccessRulesError> {
        let rules: Self = toml::from_str(text).map_err(|error| {
            let source = Source::new("", text);
            let (line, column) = source.position(error.span().map_or(0, |span| span.start));
            AccessRulesError::Syntax {
                path: path.to_owned(),
                line,
                column,
                reason: masked(error.message()),
            }
        })?;
        rules.check_workers(path)?;
        let mut names = rules.users.keys().chain(rules.tokens.keys());
        match names.find(|name| RESERVED_NAMES.contains(&name.as_str())) {
            Some(name) => Err(AccessRulesError::Reserved {
                path: path.to_owned(),
                name: name.clone(),
            }),
            None => Ok(rules),
        }
    }

    /// Logs what the owner may not expect.
    pub(super) fn warn(&self) {
        let proxy = self.proxy.as_ref().filter(|proxy| proxy.header.is_some());
        if proxy.is_some_and(|proxy| proxy.addresses.iter().any(IpAddr::is_loopback)) {
            tracing::warn!(
                "access.toml trusts a proxy on this host: every local user can send its header and \
                 log in as any user"
            );
        }
    }

    /// The roles of a token: at most those of its user. `None`: there is no such user any more.
    pub(super) fn roles_of(&self, token: &ApiToken) -> Option<DeviceRoles> {
        let own = DeviceRoles::one(token.role, token.devices.clone());
        match &token.user {
            Some(user) => Some(own.at_most(self.users.get(user)?.roles())),
            None => Some(own),
        }
    }

    /// The token with this digest, unless it has expired.
    pub(super) fn token(&self, digest: &str, now: Timestamp) -> Option<(&String, &ApiToken)> {
        let mut tokens = self.tokens.iter();
        tokens.find(|(_, token)| token.sha256 == digest && token.is_valid(now))
    }

    /// The worker with the token of this digest, unless its access has expired.
    pub(super) fn worker(&self, digest: &str, now: Timestamp) -> Option<WorkerIdentity> {
        self.find_worker(now, |worker| worker.sha256.as_deref() == Some(digest))
    }

    /// The worker with a certificate for one of these names, unless its access has expired.
    pub(super) fn worker_of_names(
        &self,
        names: &[String],
        now: Timestamp,
    ) -> Option<WorkerIdentity> {
        self.find_worker(now, |worker| worker.has_certificate_of(names))
    }

    fn find_worker(
        &self,
        now: Timestamp,
        is_it: impl Fn(&WorkerEntry) -> bool,
    ) -> Option<WorkerIdentity> {
        let mut workers = self.workers.iter();
        let found = workers.find(|(_, worker)| is_it(worker) && worker.is_valid(now));
        found.map(|(node, worker)| WorkerIdentity {
            node: node.clone(),
            sites: worker.sites.clone(),
        })
    }

    pub(super) fn check_workers(&self, path: &Path) -> Result<(), AccessRulesError> {
        let mut names = BTreeMap::new();
        let mut workers = self.workers.iter();
        let found = workers.find_map(|(node, worker)| {
            if let Some(problem) = worker.problem() {
                return Some((node, problem.to_owned()));
            }
            let name = worker.certificate.as_ref()?.to_ascii_lowercase();
            let other = names.insert(name, node)?;
            Some((node, format!("has the same certificate as `{other}`")))
        });
        found.map_or(Ok(()), |(name, problem)| {
            Err(AccessRulesError::Worker {
                path: path.to_owned(),
                name: name.clone(),
                problem,
            })
        })
    }
}

/// A message without hashes and digests: a value can be in it.
fn masked(message: &str) -> String {
    static HASH: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\$argon2[^\s`\x22']*|[0-9a-fA-F]{32,}|swt_[\w-]+")
            .expect("the pattern is a constant")
    });
    let message = HASH.replace_all(message, MASK);
    message.lines().collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::access::TokenText;

    #[test]
    fn access_tokens_expire() {
        let mut rules = AccessRules::default();
        let token = ApiToken {
            role: Role::View,
            devices: None,
            user: None,
            sha256: TokenText::received("one").digest(),
            expires: Some("2026-01-01T00:00:00Z".parse().unwrap()),
        };
        let digest = token.sha256.clone();
        rules.tokens.insert("old".to_owned(), token);
        assert!(
            rules
                .token(&digest, "2025-12-31T23:59:59Z".parse().unwrap())
                .is_some()
        );
        assert!(
            rules
                .token(&digest, "2026-01-01T00:00:00Z".parse().unwrap())
                .is_none()
        );
    }
}
