//! The peer's inventory: `device.conf` and the credentials files it points to.
//!
//! [`file`] reads the sections; [`Entry::connection`] makes one of them a [`Connection`], from a
//! legacy URL ([`legacy_url`]) or a credentials file ([`credentials`], written in [`hocon`]),
//! checked against the attributes of its type ([`schema`]). A mistake in `device.conf` refuses the
//! file; a mistake in one device's credentials is that device's alone. What is accepted:
//! `docs/reference/agent-protocol.md`, section 2.

mod credentials;
mod file;
pub mod hocon;
mod legacy_url;
mod schema;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use secrecy::SecretString;
use switchtender_devices::diagnostic::{Diagnostic, Source};
use switchtender_devices::driver::Registry;
use switchtender_devices::session::connect_params::ConnectParams;

use super::inventory::{SavePolicy, Secrets};

pub use credentials::Readers;
pub use file::{Entry, parse};

/// How a device is reached, from its entry.
#[derive(Clone, Debug)]
pub struct Connection {
    /// The platform whose driver is used, `cisco_ios`.
    pub platform: String,
    pub target: ConnectParams,
    /// Where the device is, without secrets: for logs and the report.
    pub shown_url: String,
    /// When the configuration is saved.
    pub save: SavePolicy,
    /// Settings of the platform that are not about the connection (`transaction`).
    pub options: Vec<(String, String)>,
    /// What people should know about the entry, such as checks that it turns off.
    pub warnings: Vec<Diagnostic>,
}

/// What a device's entry needs from its surroundings.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// Looks up secrets that are kept elsewhere.
    pub secrets: &'a Secrets,
    /// `$vardir/devices/NAME`, for known hosts and transcripts.
    pub device_dir: &'a Path,
    /// Who may be able to read credentials.
    pub readers: Readers,
    /// The definitions, for the platforms of types. `None`: types are platforms by their own name.
    pub definitions: Option<&'a Registry>,
}

/// Reads `device.conf`; a missing file means no devices.
///
/// # Errors
/// All mistakes of the file, each with its line.
pub fn load(path: &Path) -> Result<Vec<Entry>, Vec<Diagnostic>> {
    match std::fs::read_to_string(path) {
        Ok(text) => parse(&path.display().to_string(), &text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(vec![Diagnostic::error(
            "device-conf-unreadable",
            format!("Cannot read {}; cannot serve: {error}", path.display()),
        )]),
    }
}

/// Reads several files: a file as it is, of a directory all `*.conf` in order of their names.
pub fn load_all(path: &Path) -> Result<Vec<Entry>, Vec<Diagnostic>> {
    if !path.is_dir() {
        return load(path);
    }
    let mut files: Vec<PathBuf> = std::fs::read_dir(path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| {
            vec![Diagnostic::error(
                "device-conf-unreadable",
                format!("cannot read {}: {error}", path.display()),
            )]
        })?
        .into_iter()
        .map(|entry| entry.path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "conf")
        })
        .collect();
    files.sort();
    let mut entries: Vec<Entry> = Vec::new();
    let mut found = Vec::new();
    for file in files {
        match load(&file) {
            Ok(more) => {
                for entry in more {
                    match entries.iter().find(|known| known.name == entry.name) {
                        Some(first) => found.push(file::duplicate(first, &entry)),
                        None => entries.push(entry),
                    }
                }
            }
            Err(mistakes) => found.extend(mistakes),
        }
    }
    if found.is_empty() {
        Ok(entries)
    } else {
        Err(found)
    }
}

impl Entry {
    /// Resolves the entry: reads the credentials, fetches secrets, checks everything together.
    ///
    /// # Errors
    /// All mistakes of this device. None of them shows a value.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    pub async fn connection(
        &self,
        around: Surroundings<'_>,
    ) -> Result<Connection, Vec<Diagnostic>> {
        let at_url = |diagnostic: Diagnostic| {
            vec![diagnostic.at(&self.url.source, self.url.span.clone(), "")]
        };
        let url = self.url_text();
        let (given, legacy) = match url.split_once(':') {
            Some(("file", path)) => {
                let path = PathBuf::from(format!("/{}", path.trim_start_matches('/')));
                let given = credentials::read(&self.name, &path, around, &|diagnostic| {
                    diagnostic.at(&self.url.source, self.url.span.clone(), "")
                })
                .await?;
                (given, false)
            }
            Some((scheme @ ("ssh" | "https"), _))
                if schema::takes_url(&self.kind, scheme, around) =>
            {
                (
                    legacy_url::read(url, &self.url).map_err(|found| at_url(*found))?,
                    true,
                )
            }
            Some(("telnet", _)) => {
                return Err(at_url(
                    Diagnostic::error("device-url", "telnet is not supported")
                        .help("it sends passwords in clear text; use ssh"),
                ));
            }
            _ => {
                return Err(at_url(
                    Diagnostic::error(
                        "device-url",
                        format!(
                            "Unexpected url '{}' found. Only file:/// URLs for configuration supported at the moment.",
                            legacy_url::shown(url)
                        ),
                    )
                    .help(format!("type {} takes `file:///PATH`", self.kind)),
                ));
            }
        };
        schema::connection(self, given, legacy, around)
    }
}

/// A value that was given for a connection, with its place for findings.
struct Given {
    key: String,
    key_mark: hocon::Mark,
    mark: hocon::Mark,
    value: GivenValue,
}

enum GivenValue {
    Bool(bool),
    Integer(i64),
    Text(SecretString),
    /// Anything that no attribute takes, by its kind.
    Other(&'static str),
}

/// All that was given, and where from.
struct GivenAll {
    values: Vec<Given>,
    source: Arc<Source>,
}
