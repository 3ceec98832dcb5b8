//! The table `[web]` of `serve.toml`.
//!
//! ```toml
//! [web]
//! server_names = ["proxy.example.net"]
//! url = "https://proxy.example.net:8440"
//! certificate = "tls/proxy.pem"
//! key = "tls/proxy.key"
//! client_ca_file = "tls/workers-ca.pem"
//!
//! [web.webhook.chat]
//! url = "https://chat.example.net/hook"
//! secret_file = "chat.secret"
//! events = ["failed", "drifted"]
//! ```

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use switchtender_devices::document::{Item, Table};

use super::tls::ServerTls;
use crate::serve::access::{OidcSettings, Role};
use crate::serve::settings::hidden_values::hide;
use crate::serve::tls_files::TlsFiles;

const BAD_VALUE: &str = "bad-value";

/// Settings of pages, API and webhooks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WebSettings {
    /// Host names of the server. Addresses and `localhost` need no entry.
    pub(crate) server_names: Vec<String>,
    /// The address of the pages in messages of webhooks.
    pub(crate) url: Option<String>,
    pub(crate) tls: Option<ServerTls>,
    /// Other addresses than loopback are permitted without TLS.
    pub(crate) plain_http: bool,
    /// The role of requests without a login.
    pub(crate) anonymous: Option<Role>,
    pub(crate) requests_per_minute: Option<u32>,
    pub(crate) webhooks: Vec<WebhookSettings>,
    /// The table `[oidc]`, beside `[web]`.
    pub(crate) oidc: Option<OidcSettings>,
}

/// A receiver of messages about runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WebhookSettings {
    pub(crate) name: String,
    pub(crate) url: String,
    /// The file with the key of the signature.
    pub(crate) secret_file: PathBuf,
    pub(crate) events: Vec<RunEventKind>,
}

/// What a run is reported for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RunEventKind {
    /// The run failed, or the device did not run.
    Failed,
    /// Resources differ that did not differ before.
    Drifted,
    /// The run changed the device.
    Changed,
}

impl RunEventKind {
    pub(crate) const ALL: [Self; 3] = [Self::Failed, Self::Drifted, Self::Changed];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Drifted => "drifted",
            Self::Changed => "changed",
        }
    }
}

impl WebSettings {
    /// Reads the table; relative paths begin at `directory`.
    pub(crate) fn read(table: &Table<'_>, directory: &Path) -> Self {
        let client_ca = table.get("client_ca_file");
        let client_ca_file = table.string("client_ca_file");
        let client_ca_file = client_ca_file.map(|path| directory.join(path));
        let files = TlsFiles::of_table(table, directory);
        if let (Some(item), None) = (client_ca, &files) {
            let text = "`client_ca_file` needs `certificate` and `key`: workers send certificates with TLS only";
            item.error(BAD_VALUE, text);
        }
        let tls = files.map(|files| ServerTls {
            files,
            client_ca_file,
        });
        let anonymous = table.get("anonymous").and_then(|item| Role::read(&item));
        let requests = table
            .get("requests_per_minute")
            .and_then(|item| count(&item));
        let mut webhooks = Vec::new();
        if let Some(table) = table.table("webhook") {
            for (name, _, item) in table.entries() {
                webhooks.extend(
                    item.table()
                        .and_then(|table| webhook(name, &table, directory)),
                );
            }
        }
        let settings = Self {
            server_names: table.strings("server_names").unwrap_or_default(),
            url: table.string("url"),
            tls,
            plain_http: table.bool("plain_http").unwrap_or_default(),
            anonymous,
            requests_per_minute: requests,
            webhooks,
            oidc: None,
        };
        table.finish();
        settings
    }

    /// Whether requests and cookies are encrypted, here or by the proxy in front.
    pub(crate) fn is_secure(&self) -> bool {
        self.tls.is_some()
            || self
                .url
                .as_ref()
                .is_some_and(|url| url.starts_with("https://"))
    }

    /// Why the server cannot listen on an address with these settings.
    pub(crate) fn problem_with(&self, address: SocketAddr) -> Option<String> {
        let is_public = !address.ip().is_loopback();
        if is_public && self.tls.is_none() && !self.plain_http {
            return Some(format!(
                "{address} is not a loopback address, and there is no TLS"
            ));
        }
        if is_public && self.oidc.is_some() && self.url.is_none() {
            return Some(format!(
                "{address} is not a loopback address, and `[oidc]` needs `url` in `[web]`"
            ));
        }
        (is_public && self.anonymous.is_some())
            .then(|| format!("{address} is not a loopback address, and `anonymous` is set"))
    }
}

fn webhook(name: String, table: &Table<'_>, directory: &Path) -> Option<WebhookSettings> {
    let required = |key: &str| {
        let value = table.string(key);
        if value.is_none() {
            table.missing(key);
        }
        value
    };
    let (url, secret) = (required("url"), required("secret_file"));
    hide(table, "url");
    let events = table.get("events").and_then(|item| events(&item));
    table.finish();
    Some(WebhookSettings {
        name,
        url: url?,
        secret_file: directory.join(secret?),
        events: events.unwrap_or_else(|| vec![RunEventKind::Failed]),
    })
}

fn events(item: &Item<'_>) -> Option<Vec<RunEventKind>> {
    let words = item.strings()?;
    let find = |word: &String| {
        let found = RunEventKind::ALL
            .into_iter()
            .find(|kind| kind.word() == word);
        if found.is_none() {
            let text = format!("`{word}` is not one of `failed`, `drifted` and `changed`");
            item.error(BAD_VALUE, text);
        }
        found
    };
    words.iter().map(find).collect()
}

fn count(item: &Item<'_>) -> Option<u32> {
    let number = item.integer()?;
    let found = u32::try_from(number).ok().filter(|number| *number > 0);
    if found.is_none() {
        item.error(BAD_VALUE, format!("`{number}` is not a positive number"));
    }
    found
}

#[cfg(test)]
mod tests {
    use switchtender_devices::diagnostic::Source;
    use switchtender_devices::document::{self, Findings};

    use super::*;

    fn read(text: &str) -> Result<WebSettings, Vec<String>> {
        let source = Source::new("serve.toml", text);
        let findings = Findings::new(&source);
        let settings = document::read(&findings, |root| {
            WebSettings::read(root, Path::new("/etc/switchtender"))
        });
        let list = findings.into_list();
        if list.is_empty() {
            Ok(settings)
        } else {
            Err(list.into_iter().map(|found| found.message).collect())
        }
    }

    #[test]
    fn web_settings_have_webhooks_and_absolute_paths() {
        let text = "certificate = \"a.pem\"\nkey = \"/b.key\"\nanonymous = \"view\"\n\
                    [webhook.chat]\nurl = \"https://one.test\"\nsecret_file = \"chat.secret\"\n\
                    events = [\"drifted\"]\n";
        let settings = read(text).unwrap();
        let tls = settings.tls.as_ref().unwrap();
        let certificate = Path::new("/etc/switchtender/a.pem");
        assert_eq!(tls.files.certificate, certificate);
        assert_eq!(tls.files.key, Path::new("/b.key"));
        assert_eq!(tls.client_ca_file, None);
        assert_eq!(settings.anonymous, Some(Role::View));
        let webhook = &settings.webhooks[0];
        assert_eq!(webhook.name, "chat");
        assert_eq!(
            webhook.secret_file,
            Path::new("/etc/switchtender/chat.secret")
        );
        assert_eq!(webhook.events, [RunEventKind::Drifted]);
        assert!(settings.is_secure());
    }

    #[test]
    fn web_settings_reject_invalid_values() {
        for (text, expected) in [
            ("certificate = \"a.pem\"", "key"),
            ("client_ca_file = \"a.pem\"", "needs `certificate`"),
            ("anonymous = \"root\"", "`root` is not one of"),
            ("requests_per_minute = 0", "not a positive number"),
            ("server_name = [\"a\"]", "server_name"),
            ("[webhook.a]\nurl = \"x\"", "secret_file"),
            (
                "[webhook.a]\nurl = \"x\"\nsecret_file = \"s\"\nevents = [\"all\"]",
                "`all` is not",
            ),
        ] {
            let found = read(text).unwrap_err().join("\n");
            assert!(found.contains(expected), "{text}: {found}");
        }
    }

    #[test]
    fn web_settings_refuse_public_addresses_without_tls_or_login() {
        let public: SocketAddr = "0.0.0.0:8440".parse().unwrap();
        let loopback: SocketAddr = "127.0.0.1:8440".parse().unwrap();
        let settings = read("").unwrap();
        assert_eq!(settings.problem_with(loopback), None);
        assert!(
            settings
                .problem_with(public)
                .unwrap()
                .contains("there is no TLS")
        );
        let plain = read("plain_http = true").unwrap();
        assert_eq!(plain.problem_with(public), None);
        let anonymous = read("plain_http = true\nanonymous = \"view\"").unwrap();
        assert!(
            anonymous
                .problem_with(public)
                .unwrap()
                .contains("`anonymous` is set")
        );
        assert_eq!(anonymous.problem_with(loopback), None);
    }
}
