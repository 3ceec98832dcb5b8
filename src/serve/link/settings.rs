//! The keys of `[fleet]` in `serve.toml` that make a process a worker.
//!
//! ```toml
//! [fleet]
//! node = "ber-1"
//! sites = ["berlin"]
//! join = ["https://hub1.example.net:8440", "https://hub2.example.net:8440"]
//! token = { file = "worker.token" }   # of `switchtender access add-worker`
//! # ca_file = "ca.pem"                # default: the CA certificates of the system
//! ```

use std::path::{Path, PathBuf};

use switchtender_devices::document::{Item, Table};
use switchtender_devices::http::{Url, sends_in_clear};

use crate::inventory::FileContext;
use crate::inventory::secret_source::SecretSource;

const BAD_VALUE: &str = "bad-value";

/// The hubs of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JoinSettings {
    /// In the order of preference.
    pub(crate) hubs: Vec<String>,
    pub(crate) token: SecretSource,
    /// `None`: the CA certificates of the system.
    pub(crate) ca_file: Option<PathBuf>,
}

impl JoinSettings {
    /// Reads the keys of the table `[fleet]`; relative paths begin at `directory`. `None`: the process is no worker, or
    /// they have errors.
    pub(crate) fn read(table: &Table<'_>, directory: &Path) -> Option<Self> {
        let Some(join) = table.get("join") else {
            for key in ["token", "ca_file"] {
                if let Some(item) = table.get(key) {
                    item.error(BAD_VALUE, format!("`{key}` needs `join`"));
                }
            }
            return None;
        };
        let hubs: Vec<String> = join
            .strings()?
            .iter()
            .filter_map(|url| hub(&join, url))
            .collect();
        let ca_file = table.string("ca_file").map(|path| directory.join(path));
        let Some(token) = table.get("token") else {
            table.missing("token");
            return None;
        };
        let token = reference(&token, directory)?;
        if hubs.is_empty() {
            join.error(BAD_VALUE, "it names no hub");
            return None;
        }
        Some(Self {
            hubs,
            token,
            ca_file,
        })
    }
}

/// An address that a token can be sent to.
fn hub(item: &Item<'_>, text: &str) -> Option<String> {
    let url = text.parse::<Url>().ok();
    let is_safe = url.is_some_and(|url| {
        ["https", "http"].contains(&url.scheme()) && url.has_host() && !sends_in_clear(&url)
    });
    if !is_safe {
        item.error(BAD_VALUE, format!("`{text}` is not an https URL"));
    }
    is_safe.then(|| text.trim_end_matches('/').to_owned())
}

/// The source of the token.
fn reference(item: &Item<'_>, directory: &Path) -> Option<SecretSource> {
    let file = FileContext {
        base: directory,
        text: "",
    };
    let source = SecretSource::read(item, &file)?;
    let refused = match source {
        SecretSource::Literal(_) => {
            item.findings.hide(item.span.clone());
            "`token` is in clear text: write `{ file = \"worker.token\" }`"
        }
        // The inventory with the address of Vault comes over the link.
        SecretSource::Vault { .. } => {
            "`token` cannot be in Vault: write `{ file = \"worker.token\" }`"
        }
        source => return Some(source),
    };
    item.error("secret-source", refused);
    None
}

#[cfg(test)]
mod tests {
    use switchtender_devices::diagnostic::Source;
    use switchtender_devices::document::{self, Findings};

    use super::*;

    fn read(text: &str) -> (Option<JoinSettings>, String) {
        let source = Source::new("serve.toml", text);
        let findings = Findings::new(&source);
        let settings = document::read(&findings, |root| {
            let settings = JoinSettings::read(root, Path::new("/etc/switchtender"));
            root.finish();
            settings
        });
        let list = findings.into_list().into_iter();
        let messages: Vec<String> = list.map(|found| found.message).collect();
        (settings, messages.join("\n"))
    }

    #[test]
    fn hubs_are_reached_with_tls_and_a_token_that_is_no_text() {
        let token = "token = { file = \"worker.token\" }\n";
        let (settings, messages) = read(&format!("join = [\"https://hub.test/\"]\n{token}"));
        let settings = settings.expect(&messages);
        assert_eq!(settings.hubs, ["https://hub.test"]);
        let file = PathBuf::from("/etc/switchtender/worker.token");
        assert_eq!(settings.token, SecretSource::File(file));
        for (text, expected) in [
            (
                "join = [\"http://hub.test\"]\n".to_owned() + token,
                "not an https URL",
            ),
            (
                "join = [\"hub.test\"]\n".to_owned() + token,
                "not an https URL",
            ),
            ("join = []\n".to_owned() + token, "names no hub"),
            ("join = [\"https://hub.test\"]\n".to_owned(), "token"),
            (token.to_owned(), "needs `join`"),
            (
                "join = [\"https://hub.test\"]\ntoken = \"s3cret\"\n".to_owned(),
                "in clear text",
            ),
        ] {
            let (settings, messages) = read(&text);
            assert!(messages.contains(expected), "{text}: {messages}");
            assert!(!messages.contains("s3cret"), "{messages}");
            assert!(settings.is_none() || !messages.is_empty());
        }
    }
}
