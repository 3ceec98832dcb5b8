//! The table `[oidc]` of `serve.toml`: a provider of OpenID Connect, and the roles of its users.
//!
//! ```toml
//! [oidc]
//! issuer = "https://login.example.net/realms/network"
//! client_id = "switchtender"
//! client_secret = { file = "oidc.secret" }
//! scopes = ["profile", "groups"]
//! role_claim = "groups"
//!
//! [oidc.role.network-admins]      # a value of the claim
//! role = "admin"
//!
//! [oidc.role.berlin]
//! role = "apply"
//! devices = "site = berlin"
//! ```

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use switchtender_devices::document::{Item, Table};
use switchtender_devices::http::Url;

use super::device_roles::{DeviceLimit, DeviceRole, DeviceRoles};
use super::role::Role;
use crate::inventory::FileContext;
use crate::inventory::secret_source::SecretSource;

const BAD_VALUE: &str = "bad-value";

/// The claim with the name of a user.
const USER_CLAIM: &str = "preferred_username";

/// The claim with the groups of a user.
const ROLE_CLAIM: &str = "groups";

/// A provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OidcSettings {
    /// As it is written: the provider names itself by the same text.
    pub(crate) issuer: String,
    pub(crate) client_id: String,
    /// `None`: a public client, which PKCE protects.
    pub(crate) client_secret: Option<SecretSource>,
    /// `None`: the CA certificates of the system.
    pub(crate) ca_file: Option<PathBuf>,
    /// Beside `openid`.
    pub(crate) scopes: Vec<String>,
    pub(crate) user_claim: String,
    pub(crate) role_claim: String,
    /// Values of the claim with their roles.
    pub(crate) roles: Vec<(String, DeviceRole)>,
}

impl OidcSettings {
    /// Reads the table; relative paths begin at `directory`. `None`: it has errors.
    pub(crate) fn read(table: &Table<'_>, directory: &Path) -> Option<Self> {
        let required = |key: &str| {
            let value = table.get(key);
            if value.is_none() {
                table.missing(key);
            }
            value
        };
        let issuer = required("issuer").and_then(|item| issuer(&item));
        let client_id = required("client_id").and_then(|item| item.string());
        let secret = table.get("client_secret");
        let secret = secret.map(|item| client_secret(&item, directory));
        let ca_file = table.file_path("ca_file", directory);
        let mut roles = Vec::new();
        match table.table("role") {
            None => table.missing("role"),
            Some(tables) => {
                for (value, _, item) in tables.entries() {
                    let role = item.table().and_then(|table| device_role(&table));
                    roles.extend(role.map(|role| (value, role)));
                }
            }
        }
        let settings = Self {
            issuer: issuer?,
            client_id: client_id?,
            client_secret: secret.flatten(),
            ca_file,
            scopes: table.strings("scopes").unwrap_or_default(),
            user_claim: (table.string("user_claim")).unwrap_or_else(|| USER_CLAIM.to_owned()),
            role_claim: (table.string("role_claim")).unwrap_or_else(|| ROLE_CLAIM.to_owned()),
            roles,
        };
        table.finish();
        Some(settings)
    }

    /// Whether the secret of the client is in Vault.
    pub(crate) fn needs_vault(&self) -> bool {
        matches!(self.client_secret, Some(SecretSource::Vault { .. }))
    }

    /// The digest of what decides about users and their roles: sessions of before it was changed end.
    pub(crate) fn digest(&self) -> String {
        let client = (&self.issuer, &self.client_id);
        let rules = (&self.user_claim, &self.role_claim, &self.roles);
        hex::encode(Sha256::digest(format!("{client:?} {rules:?}")))
    }

    /// Reads a table without errors.
    #[cfg(test)]
    pub(crate) fn of_text(text: &str, directory: &Path) -> Self {
        use switchtender_devices::diagnostic::Source;
        use switchtender_devices::document::{self, Findings};
        let source = Source::new("serve.toml", text);
        let findings = Findings::new(&source);
        let read = document::read(&findings, |root| Self::read(root, directory));
        read.expect("the table is valid")
    }

    /// The roles of a user with these claims. `None`: there is none.
    pub(crate) fn roles_of(&self, claims: &Map<String, Value>) -> Option<DeviceRoles> {
        let values: Vec<&str> = match claim(claims, &self.role_claim) {
            Some(Value::String(value)) => vec![value],
            Some(Value::Array(values)) => values.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let roles = self.roles.iter();
        let found = roles.filter(|(value, _)| values.contains(&value.as_str()));
        DeviceRoles::of(found.map(|(_, role)| role.clone()).collect())
    }

    /// The name of a user with these claims.
    pub(crate) fn name_of<'a>(&self, claims: &'a Map<String, Value>) -> Option<&'a str> {
        claim(claims, &self.user_claim)?.as_str()
    }
}

/// A claim; a name with dots is also a path into objects, such as `realm_access.roles`.
fn claim<'a>(claims: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    claims.get(name).or_else(|| {
        let (first, rest) = name.split_once('.')?;
        claim(claims.get(first)?.as_object()?, rest)
    })
}

fn issuer(item: &Item<'_>) -> Option<String> {
    let text = item.string()?;
    let is_safe = text.parse::<Url>().is_ok_and(|url| {
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let address = host.parse::<std::net::IpAddr>();
        let is_local = host == "localhost" || address.is_ok_and(|address| address.is_loopback());
        url.scheme() == "https" || (url.scheme() == "http" && is_local)
    });
    if !is_safe {
        item.error(BAD_VALUE, format!("`{text}` is not an https URL"));
    }
    is_safe.then_some(text)
}

fn client_secret(item: &Item<'_>, directory: &Path) -> Option<SecretSource> {
    let file = FileContext {
        base: directory,
        text: "",
    };
    let source = SecretSource::read(item, &file)?;
    if !matches!(source, SecretSource::Literal(_)) {
        return Some(source);
    }
    item.findings.hide(item.span.clone());
    let text = "`client_secret` is in clear text: write `{ file = \"oidc.secret\" }`";
    item.error("secret-source", text);
    None
}

fn device_role(table: &Table<'_>) -> Option<DeviceRole> {
    let role = table.get("role");
    if role.is_none() {
        table.missing("role");
    }
    let role = role.and_then(|item| Role::read(&item));
    let devices = table.get("devices").map(|item| DeviceLimit::read(&item));
    table.finish();
    let devices = match devices {
        None => None,
        // An invalid limit is not the role for all devices.
        Some(limit) => Some(limit?),
    };
    Some(DeviceRole {
        role: role?,
        devices,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use switchtender_devices::diagnostic::Source;
    use switchtender_devices::document::{self, Findings};

    use super::*;

    const PROVIDER: &str = "issuer = \"https://login.test\"\nclient_id = \"switchtender\"\n";

    fn read(text: &str) -> Result<OidcSettings, String> {
        let source = Source::new("serve.toml", text);
        let findings = Findings::new(&source);
        let settings = document::read(&findings, |root| {
            OidcSettings::read(root, Path::new("/etc/switchtender"))
        });
        let list = findings.into_list();
        let messages: Vec<String> = list.into_iter().map(|found| found.message).collect();
        settings
            .filter(|_| messages.is_empty())
            .ok_or(messages.join("\n"))
    }

    #[test]
    fn oidc_roles_are_those_of_all_values_of_the_claim() {
        let settings = read(&format!(
            "{PROVIDER}[role.admins]\nrole = \"admin\"\n[role.berlin]\nrole = \"apply\"\n\
             devices = \"site = berlin\"\n[role.all]\nrole = \"view\"\n"
        ));
        let settings = settings.unwrap();
        let roles = |claims: Value| settings.roles_of(claims.as_object().unwrap());
        let both = roles(json!({"groups": ["berlin", "all", "others"]})).unwrap();
        assert_eq!(
            (both.highest(), both.of_fleet()),
            (Role::Apply, Some(Role::View))
        );
        let one = roles(json!({"groups": "admins"})).unwrap();
        assert_eq!(one.of_fleet(), Some(Role::Admin));
        assert_eq!(roles(json!({"groups": ["others"]})), None);
        assert_eq!(roles(json!({"groups": {"admins": true}})), None);
        assert_eq!(roles(json!({})), None);
        let nested = OidcSettings {
            role_claim: "realm_access.roles".to_owned(),
            ..settings
        };
        let claims = json!({"realm_access": {"roles": ["admins"]}});
        assert!(nested.roles_of(claims.as_object().unwrap()).is_some());
    }

    #[test]
    fn oidc_settings_reject_what_would_be_unsafe() {
        let role = "[role.a]\nrole = \"view\"\n";
        for (text, expected) in [
            ("client_id = \"a\"\n".to_owned() + role, "issuer"),
            (PROVIDER.to_owned(), "role"),
            (PROVIDER.replace("https", "http") + role, "not an https URL"),
            (
                format!("{PROVIDER}client_secret = \"s3cret\"\n{role}"),
                "in clear text",
            ),
            (
                format!("{PROVIDER}[role.a]\nrole = \"root\"\n"),
                "`root` is not one of",
            ),
            (
                format!("{PROVIDER}{role}devices = \"site in (\"\n"),
                "expected",
            ),
        ] {
            let found = read(&text).unwrap_err();
            assert!(found.contains(expected), "{text}: {found}");
            assert!(!found.contains("s3cret"), "{found}");
        }
        let local = PROVIDER.replace("https://login.test", "http://127.0.0.1:8080");
        assert!(read(&(local + role)).is_ok());
    }
}
