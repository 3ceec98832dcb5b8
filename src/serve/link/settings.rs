//! The keys of `[fleet]` in `serve.toml` that make a process a worker.
//!
//! ```toml
//! [fleet]
//! node = "ber-1"
//! sites = ["berlin"]
//! join = ["https://hub1.example.net:8440", "https://hub2.example.net:8440"]
//! token = { file = "worker.token" }   # of `switchtender access add-worker`
//! # certificate = "worker.pem"        # instead of a token, with `key`
//! # key = "worker.key"
//! # ca_file = "ca.pem"                # default: the CA certificates of the system
//! ```

use std::path::{Path, PathBuf};

use switchtender_devices::document::{Item, Table};
use switchtender_devices::http::{Url, sends_in_clear};

use crate::inventory::FileContext;
use crate::inventory::secret_source::SecretSource;
use crate::serve::tls_files::TlsFiles;

const BAD_VALUE: &str = "bad-value";

/// The hubs of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JoinSettings {
    /// In the order of preference.
    pub(crate) hubs: Vec<String>,
    pub(crate) credential: WorkerCredential,
    /// `None`: the CA certificates of the system.
    pub(crate) ca_file: Option<PathBuf>,
}

/// What a worker proves its name with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WorkerCredential {
    Token(SecretSource),
    Certificate(TlsFiles),
}

impl JoinSettings {
    /// Reads the keys of the table `[fleet]`; relative paths begin at `directory`. `None`: the process is no worker, or
    /// they have errors.
    pub(crate) fn read(table: &Table<'_>, directory: &Path) -> Option<Self> {
        let Some(join) = table.get("join") else {
            for key in ["token", "certificate", "key", "ca_file"] {
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
        let ca_file = table.file_path("ca_file", directory);
        let credential = WorkerCredential::read(table, directory)?;
        if matches!(credential, WorkerCredential::Certificate(_))
            && let Some(plain) = hubs.iter().find(|hub| hub.starts_with("http:"))
        {
            let text =
                format!("`{plain}` has no TLS, which a certificate needs: write an https URL");
            join.error(BAD_VALUE, text);
            return None;
        }
        if hubs.is_empty() {
            join.error(BAD_VALUE, "it names no hub");
            return None;
        }
        Some(Self {
            hubs,
            credential,
            ca_file,
        })
    }
}

impl WorkerCredential {
    /// Reads `token`, or `certificate` and `key`.
    fn read(table: &Table<'_>, directory: &Path) -> Option<Self> {
        let has_certificate = table.get("certificate").or(table.get("key")).is_some();
        match table.get("token") {
            Some(token) if has_certificate => {
                let text = "a worker has either `token` or `certificate`: remove one of them";
                token.error(BAD_VALUE, text);
                None
            }
            Some(token) => Some(Self::Token(reference(&token, directory)?)),
            None if has_certificate => {
                Some(Self::Certificate(TlsFiles::of_table(table, directory)?))
            }
            None => {
                table.missing("token");
                None
            }
        }
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
        let token_file = WorkerCredential::Token(SecretSource::File(file));
        assert_eq!(settings.credential, token_file);
        let certificate = "certificate = \"w.pem\"\nkey = \"w.key\"\n";
        let (settings, messages) = read(&format!("join = [\"https://hub.test\"]\n{certificate}"));
        let WorkerCredential::Certificate(files) = settings.expect(&messages).credential else {
            panic!("{messages}");
        };
        assert_eq!(files.certificate, Path::new("/etc/switchtender/w.pem"));
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
            (certificate.to_owned(), "needs `join`"),
            (
                format!("join = [\"https://hub.test\"]\n{certificate}{token}"),
                "either `token` or `certificate`",
            ),
            (
                "join = [\"https://hub.test\"]\ncertificate = \"w.pem\"\n".to_owned(),
                "key",
            ),
            (
                format!("join = [\"http://127.0.0.1:1\"]\n{certificate}"),
                "has no TLS",
            ),
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
