//! `device.conf` and its credentials files: the devices of `switchtender device`.
//!
//! [`mod@file`] reads the sections; [`DeviceSection::connection`] makes one of them a [`ConnectionSettings`], from a
//! legacy URL ([`legacy_url`]) or a credentials file ([`credentials`], written in [`hocon`]),
//! checked against the attributes of its type ([`schema`]). An error in `device.conf` rejects the
//! file; an error in the credentials of one device affects that device only. Accepted input:
//! `docs/reference/agent-protocol.md`, section 2.

mod credentials;
mod file;
pub(crate) mod hocon;
mod legacy_url;
mod schema;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use secrecy::SecretString;
use switchtender_devices::diagnostic::{Diagnostic, Source};
use switchtender_devices::driver::Registry;
use switchtender_devices::names::PlatformName;
use switchtender_devices::regular_file;
use switchtender_devices::secret_url;
use switchtender_devices::session::connect_params::ConnectParams;

use super::inventory::{SavePolicy, Secrets};

pub(crate) use credentials::CredentialsReaders;
pub(crate) use file::DeviceSection;
pub(crate) use file::parse;

/// The connection parameters of a section.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionSettings {
    /// The platform whose driver is used, `cisco_ios`.
    pub(crate) platform: PlatformName,
    pub(crate) target: ConnectParams,
    /// The URL without secrets, for logs and the report.
    pub(crate) redacted_url: String,
    /// When the configuration is saved.
    pub(crate) save: SavePolicy,
    /// Driver options (`transaction`).
    pub(crate) options: Vec<(String, String)>,
    /// Warnings about the section, such as disabled checks.
    pub(crate) warnings: ConnectionWarnings,
}

/// Warnings about a section.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConnectionWarnings {
    pub(crate) of_section: Vec<Diagnostic>,
    /// Those that a session reports itself.
    pub(crate) of_session: Vec<Diagnostic>,
}

/// Context for reading the credentials of a section.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResolveContext<'a> {
    /// Reads secrets from other sources.
    pub(crate) secrets: &'a Secrets,
    /// `$vardir/devices/NAME`, for known hosts and transcripts.
    pub(crate) device_dir: &'a Path,
    /// Users who are allowed to read credentials files.
    pub(crate) readers: CredentialsReaders,
    /// The definitions, for the platforms of types. `None`: types are platforms by their own name.
    pub(crate) definitions: Option<&'a Registry>,
}

/// Reads `device.conf`; a missing file has no devices.
///
/// # Errors
/// All errors of the file, with their lines.
pub(crate) fn load(path: &Path) -> Result<Vec<DeviceSection>, Vec<Diagnostic>> {
    match regular_file::read_text(path, regular_file::LARGEST) {
        Ok(text) => parse(&path.display().to_string(), &text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(vec![Diagnostic::error(
            "device-conf-unreadable",
            format!("Cannot read {}; cannot serve: {error}", path.display()),
        )]),
    }
}

/// Reads a file, or all `*.conf` files of a directory in the order of their names.
pub(crate) fn load_all(path: &Path) -> Result<Vec<DeviceSection>, Vec<Diagnostic>> {
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
    let mut entries: Vec<DeviceSection> = Vec::new();
    let mut found = Vec::new();
    for file in files {
        match load(&file) {
            Ok(more) => {
                for entry in more {
                    match entries.iter().find(|first| first.name == entry.name) {
                        Some(first) => found.push(file::duplicate(first, &entry)),
                        None => entries.push(entry),
                    }
                }
            }
            Err(errors) => found.extend(errors),
        }
    }
    if found.is_empty() {
        Ok(entries)
    } else {
        Err(found)
    }
}

impl DeviceSection {
    /// Reads the credentials, resolves secrets and validates all attributes.
    ///
    /// # Errors
    /// All errors of this device, without values.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    pub(crate) async fn connection(
        &self,
        context: ResolveContext<'_>,
    ) -> Result<ConnectionSettings, Vec<Diagnostic>> {
        let at_url = |diagnostic: Diagnostic| {
            vec![diagnostic.at(&self.url.source, self.url.span.clone(), "")]
        };
        let url = self.url_text();
        let (supplied, legacy) = match url.split_once(':') {
            Some(("file", path)) => {
                let path = PathBuf::from(format!("/{}", path.trim_start_matches('/')));
                let supplied = credentials::read(&self.name, &path, context, &|diagnostic| {
                    diagnostic.at(&self.url.source, self.url.span.clone(), "")
                })
                .await?;
                (supplied, false)
            }
            Some((scheme @ ("ssh" | "https"), _))
                if schema::takes_url(&self.kind, scheme, context) =>
            {
                (
                    legacy_url::read(url, &self.url).map_err(|found| at_url(*found))?,
                    true,
                )
            }
            Some(("telnet", _)) => {
                return Err(at_url(
                    Diagnostic::error("device-url", "telnet is not supported")
                        .help("use ssh: telnet sends passwords in clear text"),
                ));
            }
            _ => {
                return Err(at_url(
                    Diagnostic::error(
                        "device-url",
                        format!(
                            "Unexpected url '{}' found. Only file:/// URLs for configuration supported at the moment.",
                            secret_url::redact(url)
                        ),
                    )
                    .help(format!("use `file:///PATH` for type {}", self.kind)),
                ));
            }
        };
        schema::connection(self, supplied, legacy, context)
    }
}

/// An attribute of a connection as written, with its position.
struct RawAttribute {
    key: String,
    key_mark: hocon::Mark,
    mark: hocon::Mark,
    value: RawAttributeValue,
}

enum RawAttributeValue {
    Bool(bool),
    Integer(i64),
    Text(SecretString),
    /// A type that no attribute accepts.
    Other(&'static str),
}

/// All attributes of a section, with their file.
struct RawAttributes {
    values: Vec<RawAttribute>,
    source: Arc<Source>,
}
