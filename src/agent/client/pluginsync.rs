//! Pluginsync: drivers from `lib/switchtender/definitions` of Puppet modules.
//!
//! The files of the device's environment are synchronized into the device's directory, checked, and
//! take precedence over the built-in ones. Definitions and the files of types, of which only names are
//! read, are downloaded once for all devices, and none is executed (`docs/reference/agent-protocol.md`, section 9). Files that the server no longer lists are removed.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use sha2::Digest as _;
use switchtender_devices::definitions::{self, DefinitionFile};
use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::driver::Registry;
use switchtender_devices::model::{RunsOn, type_file};
use switchtender_devices::names::TypeName;
use switchtender_devices::regular_file;
use tokio::sync::OnceCell;

use super::endpoint::{Endpoint, FileMetadata};
use crate::agent::device_file::{self, FileError, FileMode};
use crate::agent::http::RequestError;
use crate::agent::layout::Layout;
use crate::agent::run_log::RunLog;

const MOUNT: &str = "plugins";
const DEFINITIONS: &str = "switchtender/definitions";
const TYPES: &str = "puppet/type";

/// The definitions of the environment are not available.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    #[error("Could not retrieve definitions")]
    Request(#[source] RequestError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error("cannot read the synchronized definitions")]
    Read(#[source] std::io::Error),
    #[error("invalid definitions from the server: {0}")]
    Check(String),
}

/// The directory of the synchronized definitions of a device.
pub(crate) fn directory(layout: &Layout) -> PathBuf {
    library(layout).join(DEFINITIONS)
}

/// The directory of all synchronized files of a device.
fn library(layout: &Layout) -> PathBuf {
    layout.var.join("lib")
}

/// What was downloaded, by digest. Devices with equal files wait for one download.
#[derive(Debug, Default)]
pub(crate) struct Downloads {
    by_digest: Mutex<HashMap<String, Arc<OnceCell<String>>>>,
}

impl Downloads {
    /// The text with a digest; the first caller downloads it.
    async fn text<F>(
        &self,
        digest: &str,
        download: impl FnOnce() -> F,
    ) -> Result<String, PluginError>
    where
        F: Future<Output = Result<String, PluginError>>,
    {
        let cell = {
            let by_digest = self.by_digest.lock();
            let mut by_digest = by_digest.unwrap_or_else(std::sync::PoisonError::into_inner);
            Arc::clone(by_digest.entry(digest.to_owned()).or_default())
        };
        cell.get_or_try_init(download).await.cloned()
    }
}

/// Downloads new and changed files and removes the ones that the server does not list.
pub(crate) async fn sync(
    endpoint: &Endpoint<'_>,
    downloads: &Downloads,
    environment: &str,
    listed: Vec<FileMetadata>,
    layout: &Layout,
    log: &mut dyn RunLog,
) -> Result<(), PluginError> {
    let root = library(layout);
    let mut desired = BTreeMap::new();
    for FileMetadata { path, checksum } in listed {
        match PluginKind::of(&path) {
            Some(_) => {
                desired.insert(path, checksum);
            }
            None if path.starts_with(&format!("{DEFINITIONS}/")) && !path.ends_with(".rb") => log
                .warning(format!(
                    "Ignored plugin, because it is not a definition: {path}"
                )),
            // Ruby code other than types, and facts.
            None => {}
        }
    }
    for directory in [DEFINITIONS, TYPES] {
        for (path, file) in local_files(&root, &root.join(directory)) {
            if let Some(kind) = PluginKind::of(&path)
                && !desired.contains_key(&path)
            {
                device_file::remove(&file)?;
                kind.log(log, format!("Removed {kind} {path}"));
            }
        }
    }
    for (path, checksum) in desired {
        let Some(kind) = PluginKind::of(&path) else {
            continue;
        };
        let target = root.join(&path);
        let local = device_file::read(&target)?;
        if local.is_some_and(|text| digest(text.as_bytes()) == checksum) {
            continue;
        }
        let download = async || {
            let content = endpoint.content(MOUNT, &path, environment).await;
            String::from_utf8(content.map_err(PluginError::Request)?)
                .map_err(|_| PluginError::Check(format!("{path} is not UTF-8")))
        };
        let text = downloads.text(&checksum, download).await?;
        device_file::write(&target, &text, FileMode::WorldReadable)?;
        kind.log(log, format!("Downloaded {kind} {path}"));
    }
    Ok(())
}

/// A file that is synchronized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PluginKind {
    Definition,
    /// A type of a module. It is read as text, never executed.
    TypeFile,
}

impl std::fmt::Display for PluginKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            PluginKind::Definition => "definition",
            PluginKind::TypeFile => "type file",
        })
    }
}

impl PluginKind {
    /// The kind of the file at a path below the mount; `None`: it is not synchronized.
    fn of(path: &str) -> Option<Self> {
        let below = |directory: &str| path.strip_prefix(directory)?.strip_prefix('/');
        if below(DEFINITIONS).is_some_and(is_definition_path) {
            return Some(PluginKind::Definition);
        }
        let name = below(TYPES)?.strip_suffix(".rb")?;
        let is_name = !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        is_name.then_some(PluginKind::TypeFile)
    }

    /// A module has one definition and dozens of types.
    fn log(self, log: &mut dyn RunLog, message: String) {
        match self {
            PluginKind::Definition => log.notice(message),
            PluginKind::TypeFile => log.info(message),
        }
    }
}

/// Whether the path is a definition below the directory.
fn is_definition_path(path: &str) -> bool {
    path.ends_with(".toml")
        && path.split('/').all(|part| {
            !part.is_empty()
                && !part.starts_with('.')
                && part
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
        })
}

fn digest(content: &[u8]) -> String {
    format!("{{sha256}}{}", hex::encode(sha2::Sha256::digest(content)))
}

/// The files of the directory with their relative paths.
fn local_files(root: &Path, dir: &Path) -> Vec<(String, PathBuf)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(local_files(root, &path));
        } else if let Some(below) = path.strip_prefix(root).ok().and_then(Path::to_str) {
            files.push((below.to_owned(), path));
        }
    }
    files.sort();
    files
}

/// Loaded definitions, shared by devices with the same files.
#[derive(Debug, Default)]
pub(crate) struct Definitions {
    loaded: Mutex<HashMap<String, Arc<Registry>>>,
}

/// The built-in definitions, loaded on first use.
fn built_in() -> Arc<Registry> {
    static SHIPPED: OnceLock<Arc<Registry>> = OnceLock::new();
    Arc::clone(SHIPPED.get_or_init(|| Arc::new(Registry::shipped())))
}

impl Definitions {
    /// The definitions of a device: the synchronized ones take precedence over the built-in ones.
    /// Types of modules without `apply_to_device` are host types.
    pub(crate) fn of(&self, layout: &Layout) -> Result<Arc<Registry>, PluginError> {
        let root = directory(layout);
        let files = if root.is_dir() {
            definitions::from_directory(&root).map_err(PluginError::Read)?
        } else {
            Vec::new()
        };
        let host_types = host_types(layout);
        if files.is_empty() && host_types.is_empty() {
            return Ok(built_in());
        }
        let key = cache_key(&files, &host_types);
        let mut loaded = self
            .loaded
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(registry) = loaded.get(&key) {
            return Ok(Arc::clone(registry));
        }
        let registry =
            Registry::load(&files).map_err(|found| PluginError::Check(render_findings(&found)))?;
        let registry = Arc::new(registry.with_host_types(host_types));
        loaded.insert(key, Arc::clone(&registry));
        Ok(registry)
    }
}

/// The types of synchronized modules that hosts apply. Unreadable files declare none.
fn host_types(layout: &Layout) -> BTreeSet<TypeName> {
    let root = library(layout);
    local_files(&root, &root.join(TYPES))
        .iter()
        .filter(|(path, _)| PluginKind::of(path) == Some(PluginKind::TypeFile))
        .filter_map(|(_, file)| regular_file::read_text(file, regular_file::LARGEST).ok())
        .flat_map(|text| type_file::declared_types(&text))
        .filter(|declared| declared.runs_on == RunsOn::Host)
        .map(|declared| declared.name)
        .collect()
}

fn cache_key(files: &[DefinitionFile], host_types: &BTreeSet<TypeName>) -> String {
    let mut hash = sha2::Sha256::new();
    let files = files
        .iter()
        .flat_map(|file| [file.path.as_str(), &file.source.text]);
    for part in files.chain(host_types.iter().map(TypeName::as_str)) {
        hash.update(part.len().to_be_bytes());
        hash.update(part);
    }
    hex::encode(hash.finalize())
}

/// The first findings in one line, with their places.
fn render_findings(found: &[Diagnostic]) -> String {
    let mut texts: Vec<String> = found
        .iter()
        .take(5)
        .map(|found| match found.labels.first() {
            Some(label) => {
                let (line, _) = label.source.position(label.span.start);
                format!("{}:{line}: {}", label.source.name, found.message)
            }
            None => found.message.clone(),
        })
        .collect();
    if found.len() > 5 {
        texts.push(format!("and {} more", found.len() - 5));
    }
    texts.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_definition_path_rejects_other_files_and_directories() {
        for (path, expected) in [
            ("models/network_vlan.toml", true),
            ("cisco_ios/platform.toml", true),
            ("../../etc/passwd.toml", false),
            ("a/../b.toml", false),
            ("/etc/x.toml", false),
            ("a/.hidden.toml", false),
            ("puppet/type/x.rb", false),
            ("a b.toml", false),
            ("", false),
        ] {
            assert_eq!(is_definition_path(path), expected, "{path}");
        }
    }
}
