//! The sender of a request, from its cookie, token, proxy header or none of these.

mod workers;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use secrecy::SecretString;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::access_file::AccessFile;
use super::access_rules::{AccessRules, LocalUser};
use super::audit_log::{AuditEntry, AuditLog, AuditResult};
use super::client_address::{client_address, client_network};
use super::csrf::StoredCsrfKey;
use super::device_roles::DeviceRoles;
use super::oidc::{OidcError, ProviderUser};
use super::once_secrets::{LOGIN_CODE, OnceSecrets};
use super::password::{PasswordHash, hash_password};
use super::rate_limit::RateLimit;
use super::role::{ANONYMOUS, AuthMethod, LOCAL, OPERATOR, Principal, RESERVED_NAMES, Role};
use super::session::{SessionUser, Sessions, entry_digest};
use super::token::TokenText;
use crate::clock;
use crate::error_chain::chain;
use crate::history::{HistoryError, HistoryStore};
use crate::store::blocking_io;

/// Hashing a password takes 19 MiB: more than this number at once would be a means of attack.
const PASSWORD_CHECKS: usize = 2;

/// The longest name of a user, in bytes; `access add-user` permits fewer. Names are keys of limits.
const LONGEST_NAME: usize = 128;

/// Refused requests of one sender that are recorded.
const REFUSALS_PER_MINUTE: u32 = 10;

/// Settings of access control.
pub(crate) struct AccessOptions {
    /// The role of requests without credentials.
    pub(crate) anonymous: Option<Role>,
    /// Requests of one sender per minute.
    pub(crate) requests_per_minute: u32,
    /// Failed logins of a user from one network in a minute.
    pub(crate) logins_per_minute: u32,
    /// The digest of the settings of the provider, if there is one.
    pub(crate) provider: Option<String>,
}

impl Default for AccessOptions {
    fn default() -> Self {
        Self {
            anonymous: None,
            requests_per_minute: 1200,
            logins_per_minute: 10,
            provider: None,
        }
    }
}

/// What decisions are made from, beside the store.
pub(crate) struct AccessSources {
    pub(crate) file: AccessFile,
    pub(crate) audit: AuditLog,
    /// The token for programs on the same host.
    pub(crate) local_token: Option<TokenText>,
    pub(crate) options: AccessOptions,
}

/// Decides about requests.
pub(crate) struct AccessControl {
    file: AccessFile,
    pub(crate) audit: AuditLog,
    sessions: Sessions,
    pub(crate) once: OnceSecrets,
    csrf: StoredCsrfKey,
    /// Digest of the token for programs on the same host.
    local_token: Option<String>,
    anonymous: Option<Role>,
    provider: Option<String>,
    requests: RateLimit,
    logins: RateLimit,
    /// Refused requests that are recorded.
    refusals: RateLimit,
    /// Refused workers in both logs: they try again and again.
    worker_refusals: RateLimit,
    password_checks: Arc<Semaphore>,
    /// Is compared for unknown users, so that the time of a login does not depend on the user.
    no_password: PasswordHash,
}

/// What a request says about its sender.
pub(crate) struct RequestOrigin<'a> {
    /// The other end of the connection, which can be a proxy.
    pub(crate) peer: IpAddr,
    pub(crate) bearer: Option<&'a str>,
    pub(crate) session: Option<&'a str>,
    /// Reads the values of a header of the request.
    pub(crate) header: &'a (dyn Fn(&str) -> Vec<String> + Sync),
}

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Denied {
    #[error("a login or an API token is required")]
    NoCredentials,
    #[error("the API token is unknown or expired")]
    UnknownToken,
    /// A proxy that adds its header to that of the client.
    #[error("the request has the header {header} more than once")]
    TwoUsers { header: String },
    #[error("the request has neither a token nor a certificate of a worker")]
    NoWorkerProof,
    #[error("the token is that of no worker, or has expired")]
    UnknownWorker,
    #[error("no worker has a certificate for {}, or its access has expired", .names.join(", "))]
    UnknownCertificate { names: Vec<String> },
    #[error("the certificate of the worker is refused: {0}")]
    InvalidCertificate(String),
    #[error("user or password is wrong")]
    WrongPassword,
    #[error("the login code is invalid or expired")]
    WrongCode,
    #[error("{0}")]
    Provider(String),
    #[error("a local user has the name `{0}`: log in with its password")]
    TakenName(String),
    #[error("the user lacks the required role `{}`", .required.word())]
    Role { required: Role },
    #[error("the request comes from another site, or its page is too old")]
    Csrf,
    #[error("the login cannot be recorded in the audit log")]
    NotRecorded,
    #[error("too many requests")]
    TooMany { retry: Duration },
    /// It has the sessions.
    #[error("the store cannot be used: {0}")]
    NoStore(String),
}

impl From<HistoryError> for Denied {
    fn from(error: HistoryError) -> Self {
        Self::NoStore(chain(&error))
    }
}

/// The result of a login.
pub(crate) struct Login {
    pub(crate) session: TokenText,
    pub(crate) user: String,
}

impl AccessControl {
    pub(crate) fn new(sources: AccessSources, history: &HistoryStore) -> Self {
        let minute = Duration::from_secs(60);
        let options = sources.options;
        Self {
            file: sources.file,
            audit: sources.audit,
            sessions: Sessions::of(history.clone()),
            once: OnceSecrets::of(history.clone()),
            csrf: StoredCsrfKey::of(history.clone()),
            local_token: sources.local_token.as_ref().map(TokenText::digest),
            anonymous: options.anonymous,
            provider: options.provider,
            requests: RateLimit::new(options.requests_per_minute, minute),
            logins: RateLimit::new(options.logins_per_minute, minute),
            refusals: RateLimit::new(REFUSALS_PER_MINUTE, minute),
            worker_refusals: RateLimit::new(1, minute),
            password_checks: Arc::new(Semaphore::new(PASSWORD_CHECKS)),
            no_password: hash_password(&SecretString::from(TokenText::random().expose())),
        }
    }

    /// The sender of a request; `Ok(None)` if it has no credentials.
    pub(crate) async fn principal(
        &self,
        origin: &RequestOrigin<'_>,
        now: Instant,
        time: Timestamp,
    ) -> Result<Option<Principal>, Denied> {
        let found = self.identify(origin, time).await;
        let sender = match &found {
            Ok(Some(principal)) if principal.method != AuthMethod::Anonymous => principal.key(),
            _ => format!("address {}", client_network(self.client(origin))),
        };
        match self.requests.acquire(&sender, now) {
            Ok(()) => found,
            Err(retry) => Err(Denied::TooMany { retry }),
        }
    }

    /// The address of the client: that of the connection, or what a trusted proxy says.
    pub(crate) fn client(&self, origin: &RequestOrigin<'_>) -> IpAddr {
        let rules = self.file.rules();
        let trusted = rules.proxy.as_ref().map(|proxy| proxy.addresses.as_slice());
        let forwarded = (origin.header)("x-forwarded-for");
        let forwarded = forwarded.iter().map(String::as_str);
        client_address(origin.peer, forwarded, trusted.unwrap_or_default())
    }

    async fn identify(
        &self,
        origin: &RequestOrigin<'_>,
        time: Timestamp,
    ) -> Result<Option<Principal>, Denied> {
        let rules = self.file.rules();
        if let Some(token) = origin.bearer {
            let digest = TokenText::received(token).digest();
            let principal = |name: &str, roles, method| Principal {
                name: name.to_owned(),
                roles,
                method,
                person: None,
                csrf_token: String::new(),
            };
            if self.local_token.as_ref() == Some(&digest) {
                let roles = DeviceRoles::everywhere(Role::Admin);
                return Ok(Some(principal(LOCAL, roles, AuthMethod::Local)));
            }
            let (name, token) = rules.token(&digest, time).ok_or(Denied::UnknownToken)?;
            let roles = rules.roles_of(token).ok_or(Denied::UnknownToken)?;
            return Ok(Some(Principal {
                person: token.user.clone(),
                ..principal(name, roles, AuthMethod::Token)
            }));
        }
        if let Some(principal) = of_proxy(&rules, origin)? {
            let csrf_token = self
                .csrf
                .token(&format!("proxy {}", principal.name))
                .await?;
            return Ok(Some(Principal {
                csrf_token,
                ..principal
            }));
        }
        if let Some(secret) = origin.session {
            let secret = TokenText::received(secret);
            let user = self.sessions.user(&secret, time).await?;
            if let Some(user) =
                user.and_then(|user| KnownUser::of(&rules, self.provider.as_ref(), user))
            {
                return Ok(Some(Principal {
                    name: user.name,
                    roles: user.roles,
                    person: user.person,
                    method: AuthMethod::Session,
                    csrf_token: self
                        .csrf
                        .token(&format!("session {}", secret.digest()))
                        .await?,
                }));
            }
        }
        let Some(role) = self.anonymous else {
            return Ok(None);
        };
        Ok(Some(Principal {
            name: ANONYMOUS.to_owned(),
            roles: DeviceRoles::everywhere(role),
            person: None,
            method: AuthMethod::Anonymous,
            csrf_token: self.csrf.token(ANONYMOUS).await?,
        }))
    }

    /// Checks user and password. The audit log has every login that was checked. Failures are limited per
    /// user and network of the client: nobody excludes a user who has another address.
    pub(crate) async fn login(
        &self,
        user: &str,
        password: SecretString,
        address: IpAddr,
        now: Instant,
        time: Timestamp,
    ) -> Result<Login, Denied> {
        let user = &user[..user.floor_char_boundary(LONGEST_NAME)];
        let sender = format!("{} user {user}", client_network(address));
        let limit = self.logins.acquire(&sender, now);
        limit.map_err(|retry| Denied::TooMany { retry })?;
        let rules = self.file.rules();
        let entry = rules.users.get(user).filter(|user| user.password.is_some());
        let stored = entry.and_then(|user| user.password.clone());
        let hash = stored.unwrap_or_else(|| self.no_password.clone());
        let permit = Arc::clone(&self.password_checks).acquire_owned().await;
        let is_correct = blocking_io::run(move || {
            let _permit = permit;
            hash.is_hash_of(&password)
        })
        .await;
        let entry = entry.filter(|_| is_correct);
        if entry.is_some() {
            self.logins.give_back(&sender);
        }
        self.record_login(user, address, time, entry.is_some())
            .await?;
        let entry = entry_digest(entry.ok_or(Denied::WrongPassword)?);
        let name = user.to_owned();
        let user = SessionUser::Local { name, entry };
        self.open_session(&user, address, time).await
    }

    /// Exchanges a code for a session.
    pub(crate) async fn login_with_code(
        &self,
        code: &str,
        address: IpAddr,
        now: Instant,
        time: Timestamp,
    ) -> Result<Login, Denied> {
        let code = TokenText::received(code);
        let is_valid = self.once.take(LOGIN_CODE, &code, time).await?.is_some();
        if !is_valid {
            // A valid code is not limited: wrong passwords from its address do not exclude the operator.
            let sender = format!("{} code", client_network(address));
            let limit = self.logins.acquire(&sender, now);
            limit.map_err(|retry| Denied::TooMany { retry })?;
        }
        self.record_login(OPERATOR, address, time, is_valid).await?;
        if is_valid {
            self.open_session(&SessionUser::Operator, address, time)
                .await
        } else {
            Err(Denied::WrongCode)
        }
    }

    /// Opens a session for the answer of the provider. The audit log has each.
    pub(crate) async fn login_of_provider(
        &self,
        found: Result<ProviderUser, OidcError>,
        address: IpAddr,
        now: Instant,
        time: Timestamp,
    ) -> Result<Login, Denied> {
        let found = found.map_err(|error| Denied::Provider(error.to_string()));
        let found = found.and_then(|user| {
            let name = user.name.clone();
            if self.file.rules().users.contains_key(&name) || RESERVED_NAMES.contains(&&*name) {
                return Err(Denied::TakenName(name));
            }
            Ok(user)
        });
        match found {
            Ok(user) => {
                self.record_login(&user.name, address, time, true).await?;
                let settings = self.provider.clone().unwrap_or_default();
                let user = SessionUser::Provider { user, settings };
                self.open_session(&user, address, time).await
            }
            Err(denied) => {
                let sender = format!("{} provider", client_network(address));
                let limit = self.logins.acquire(&sender, now);
                limit.map_err(|retry| Denied::TooMany { retry })?;
                let actor = match &denied {
                    Denied::TakenName(name) => name,
                    _ => "",
                };
                self.record_login(actor, address, time, false).await?;
                Err(denied)
            }
        }
    }

    /// Opens a session after its login is recorded. A second entry says that the store did not take it.
    async fn open_session(
        &self,
        user: &SessionUser,
        address: IpAddr,
        time: Timestamp,
    ) -> Result<Login, Denied> {
        let name = match user {
            SessionUser::Operator => OPERATOR,
            SessionUser::Local { name, .. } => name,
            SessionUser::Provider { user, .. } => &user.name,
        };
        match self.sessions.open(user, time).await {
            Ok(session) => Ok(Login {
                user: name.to_owned(),
                session,
            }),
            Err(error) => {
                let failed = login_entry(name, address, time, AuditResult::Failed);
                self.record(failed).await;
                Err(error.into())
            }
        }
    }

    /// Ends a session.
    pub(crate) async fn logout(&self, session: &str) -> Result<(), Denied> {
        let secret = TokenText::received(session);
        Ok(self.sessions.close(&secret).await?)
    }

    /// A login that cannot be recorded does not happen.
    async fn record_login(
        &self,
        user: &str,
        address: IpAddr,
        time: Timestamp,
        is_correct: bool,
    ) -> Result<(), Denied> {
        let result = if is_correct {
            AuditResult::Accepted
        } else {
            AuditResult::Refused
        };
        if self.record(login_entry(user, address, time, result)).await {
            Ok(())
        } else {
            Err(Denied::NotRecorded)
        }
    }

    /// Records a request of a sender without the required role or CSRF token. Few per minute are
    /// recorded: the sender cannot fill the disk.
    pub(crate) async fn record_refused(
        &self,
        principal: &Principal,
        address: IpAddr,
        target: &str,
    ) {
        let now = clock::instant();
        if self.refusals.acquire(&principal.key(), now).is_ok() {
            let address = address.to_string();
            let entry = AuditEntry::new(principal, &address, "request", clock::timestamp());
            let entry = entry.target(target).result(AuditResult::Refused);
            self.record(entry).await;
        }
    }

    /// Records an action without an effect. Returns false if it is not in the log, which is logged.
    pub(crate) async fn record(&self, entry: AuditEntry) -> bool {
        let appended = self.audit.append(entry).await;
        if let Err(error) = &appended {
            tracing::error!("{}", chain(error));
        }
        appended.is_ok()
    }
}

fn login_entry(user: &str, address: IpAddr, time: Timestamp, result: AuditResult) -> AuditEntry {
    AuditEntry {
        time,
        actor: user.to_owned(),
        method: "login".to_owned(),
        address: address.to_string(),
        action: "login".to_owned(),
        target: String::new(),
        result,
    }
}

/// The user of a session.
struct KnownUser {
    name: String,
    roles: DeviceRoles,
    person: Option<String>,
}

impl KnownUser {
    /// `None`: a user who was removed or changed since the login.
    fn of(rules: &AccessRules, provider: Option<&String>, user: SessionUser) -> Option<Self> {
        match user {
            SessionUser::Operator => Some(Self {
                name: OPERATOR.to_owned(),
                roles: DeviceRoles::everywhere(Role::Admin),
                person: None,
            }),
            SessionUser::Local { name, entry } => {
                let current = rules.users.get(&name)?;
                (entry_digest(current) == entry).then(|| Self {
                    roles: current.roles(),
                    person: Some(name.clone()),
                    name,
                })
            }
            SessionUser::Provider { user, settings } => {
                // A local user with the same name can have been added.
                let is_local = rules.users.contains_key(&user.name);
                (provider == Some(&settings) && !is_local).then(|| Self {
                    name: user.name,
                    roles: user.roles,
                    person: Some(format!("provider {}", user.subject)),
                })
            }
        }
    }
}

/// The user that a trusted proxy names, without a CSRF token.
fn of_proxy(rules: &AccessRules, origin: &RequestOrigin<'_>) -> Result<Option<Principal>, Denied> {
    let Some(proxy) = &rules.proxy else {
        return Ok(None);
    };
    let peer = origin.peer.to_canonical();
    let is_proxy = (proxy.addresses.iter()).any(|address| address.to_canonical() == peer);
    let header = proxy.header.as_ref().filter(|_| is_proxy);
    let Some(header) = header else {
        return Ok(None);
    };
    let mut names = (origin.header)(header);
    if names.len() > 1 {
        let header = header.clone();
        return Err(Denied::TwoUsers { header });
    }
    let Some(name) = names.pop().filter(|name| !name.is_empty()) else {
        return Ok(None);
    };
    let user = rules.users.get(&name).map(LocalUser::roles);
    let principal = |roles| Principal {
        roles,
        method: AuthMethod::Proxy,
        person: Some(name.clone()),
        csrf_token: String::new(),
        name: name.clone(),
    };
    let default = proxy.default_role.map(DeviceRoles::everywhere);
    Ok(user.or(default).map(principal))
}

#[cfg(test)]
mod tests;
