//! `[vault]`: the server of HashiCorp Vault or OpenBao that has secrets.

use std::path::PathBuf;

use switchtender_devices::document::{Item, Table};
use switchtender_devices::http::{Url, sends_in_clear};

use super::file_context::FileContext;
use super::secret_source::SecretSource;

/// The server, and the login there.
#[derive(Clone, Debug)]
pub(crate) struct VaultSettings {
    /// Without a slash at its end.
    pub(crate) address: String,
    pub(crate) namespace: Option<String>,
    /// CA certificates instead of those of the system.
    pub(crate) ca_file: Option<PathBuf>,
    pub(crate) login: VaultLogin,
}

/// How a token is obtained.
#[derive(Clone, Debug)]
pub(crate) enum VaultLogin {
    Token(SecretSource),
    AppRole {
        /// The path of the login method.
        mount: String,
        role_id: SecretSource,
        secret_id: SecretSource,
    },
}

impl VaultSettings {
    /// The secrets of the login, with their keys.
    pub(crate) fn secrets(&self) -> Vec<(&'static str, &SecretSource)> {
        match &self.login {
            VaultLogin::Token(token) => vec![("token", token)],
            VaultLogin::AppRole {
                role_id, secret_id, ..
            } => vec![("role_id", role_id), ("secret_id", secret_id)],
        }
    }

    /// The environment variables of the login.
    pub(crate) fn environment_variables(&self) -> impl Iterator<Item = &str> {
        let sources = self.secrets().into_iter();
        sources.filter_map(|(_, source)| match source {
            SecretSource::Env(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// Reads the table.
    pub(super) fn read(table: &Table<'_>, file: &FileContext<'_>) -> Option<Self> {
        let address = table.get("address");
        if address.is_none() {
            table.missing("address");
        }
        let address = address.and_then(|item| read_address(&item));
        let namespace = table.string("namespace");
        let ca_file = table.string("ca_file").map(|path| file.path(&path));
        let (token, app_role) = (table.get("token"), table.get("approle"));
        if let (Some(_), Some(item)) = (&token, &app_role) {
            item.error("vault-login", "`token` and `approle` cannot be combined");
        }
        let login = match (app_role, token) {
            (Some(item), _) => item.table().and_then(|table| read_app_role(&table, file)),
            (None, Some(item)) => reference(&item, file).map(VaultLogin::Token),
            (None, None) => Some(VaultLogin::Token(SecretSource::Env(
                "VAULT_TOKEN".to_owned(),
            ))),
        };
        table.finish();
        Some(Self {
            address: address?,
            namespace,
            ca_file,
            login: login?,
        })
    }
}

fn read_app_role(table: &Table<'_>, file: &FileContext<'_>) -> Option<VaultLogin> {
    let mount = table.string("mount");
    let [role_id, secret_id] = ["role_id", "secret_id"].map(|key| {
        let item = table.get(key);
        if item.is_none() {
            table.missing(key);
        }
        item
    });
    // The identifier of a role is no secret.
    let role_id = role_id.and_then(|item| SecretSource::read(&item, file));
    let secret_id = secret_id.and_then(|item| reference(&item, file));
    table.finish();
    Some(VaultLogin::AppRole {
        mount: mount.unwrap_or_else(|| "approle".to_owned()),
        role_id: role_id?,
        secret_id: secret_id?,
    })
}

/// A source that is not the secret itself, and not Vault.
fn reference(item: &Item<'_>, file: &FileContext<'_>) -> Option<SecretSource> {
    if !item.is_table() {
        item.findings.hide(item.span.clone());
    }
    match SecretSource::read(item, file)? {
        SecretSource::Literal(_) | SecretSource::Vault { .. } => {
            item.findings.error_with_help(
                "secret-source",
                item.span.clone(),
                format!("`{}` must be a reference to a secret outside of Vault", item.path),
                "write { file = \"path\" }, { env = \"VARIABLE\" }, { credential = \"name\" } or { command = [\"program\"] }",
            );
            None
        }
        source => Some(source),
    }
}

fn read_address(item: &Item<'_>) -> Option<String> {
    let text = item.string()?;
    let problem = match Url::parse(&text) {
        Ok(url) if !matches!(url.scheme(), "http" | "https") || !url.has_host() => {
            "is not an https URL"
        }
        Ok(url) if sends_in_clear(&url) => "has no encryption and is not on this host",
        Ok(url) if url.password().is_some() || !url.username().is_empty() => "has a login",
        Ok(_) => return Some(text.trim_end_matches('/').to_owned()),
        Err(_) => "is not an https URL",
    };
    item.findings.error_with_help(
        "vault-address",
        item.span.clone(),
        format!("`{}` {problem}", item.path),
        "write the URL of the server: \"https://vault.example.com:8200\"",
    );
    None
}
