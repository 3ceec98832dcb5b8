//! Access to the proxy process: who sends a request, and what is permitted.
//!
//! A request has a session cookie, an API token, the header of a trusted proxy, or nothing. A session begins with a
//! password, a login code, or at a provider of OpenID Connect. Users and
//! tokens are in `access.toml` with hashes only. A decision never depends on the page that asks for it:
//! each route requires one [`Role`], and [`DeviceRoles`] say for which devices a sender has it.

mod access_file;
mod access_paths;
mod access_rules;
mod audit_log;
mod authenticate;
mod client_address;
mod csrf;
mod device_roles;
mod oidc;
mod oidc_settings;
mod once_secrets;
mod password;
mod rate_limit;
mod role;
mod session;
mod token;
mod worker_entry;

pub(crate) use access_file::{AccessError, AccessFile};
pub(crate) use access_paths::AccessPaths;
pub(crate) use access_rules::{AccessRules, ApiToken, LocalUser};
pub(crate) use audit_log::{AuditEntry, AuditError, AuditFilter, AuditLog, AuditResult};
pub(crate) use authenticate::{
    AccessControl, AccessOptions, AccessSources, Denied, Login, RequestOrigin,
};
pub(crate) use client_address::client_network;
pub(crate) use csrf::is_same_origin;
pub(crate) use device_roles::{DeviceLimit, DeviceRoles};
pub(crate) use oidc::{
    CALLBACK, LOGIN_LIMIT, LoginContext, OidcError, OidcProvider, OidcSetupError, ProviderAnswer,
};
pub(crate) use oidc_settings::OidcSettings;
pub(crate) use once_secrets::OnceSecrets;
pub(crate) use password::hash_password;
pub(crate) use role::{AuthMethod, Principal, RESERVED_NAMES, Role};
pub(crate) use session::SESSION_LIMIT;
pub(crate) use token::TokenText;
pub(crate) use worker_entry::{WorkerEntry, WorkerIdentity, WorkerProof};
