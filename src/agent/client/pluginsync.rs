//! Pluginsync: drivers from `lib/switchtender/definitions` of Puppet modules.
//!
//! The files of the device's environment are synchronized into the device's directory, checked, and
//! take precedence over the built-in ones. Only definition files are downloaded, and none is
//! executed (`docs/reference/agent-protocol.md`, section 9). Files that the server no longer lists are removed.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use sha2::Digest as _;
use switchtender_devices::definitions::{self, DefinitionFile};
use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::driver::Registry;

use super::endpoint::{Endpoint, FileMetadata};
use crate::agent::device_file::{self, FileError, FileMode};
use crate::agent::http::RequestError;
use crate::agent::layout::Layout;
use crate::agent::run_log::RunLog;

const MOUNT: &str = "plugins";
const DEFINITIONS: &str = "switchtender/definitions";

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
    layout.var.join("lib").join(DEFINITIONS)
}

/// Downloads new and changed definitions and removes the ones that the server does not list.
pub(crate) async fn sync(
    endpoint: &Endpoint<'_>,
    environment: &str,
    listed: Vec<FileMetadata>,
    layout: &Layout,
    log: &mut dyn RunLog,
) -> Result<(), PluginError> {
    let root = directory(layout);
    let mut wanted = BTreeMap::new();
    for FileMetadata { path, checksum } in listed {
        let Some(path) = path
            .strip_prefix(DEFINITIONS)
            .and_then(|path| path.strip_prefix('/'))
        else {
            continue; // Ruby plugins and facts.
        };
        if is_definition_path(path) {
            wanted.insert(path.to_owned(), checksum);
        } else {
            log.warning(format!(
                "Ignored plugin, because it is not a definition: {DEFINITIONS}/{path}"
            ));
        }
    }
    for (path, file) in local_files(&root, &root) {
        if !wanted.contains_key(&path) {
            device_file::remove(&file)?;
            log.notice(format!("Removed definition {path}"));
        }
    }
    for (path, checksum) in wanted {
        let target = root.join(&path);
        let local = device_file::read(&target)?;
        if local.is_some_and(|text| digest(text.as_bytes()) == checksum) {
            continue;
        }
        let content = endpoint
            .content(MOUNT, &format!("{DEFINITIONS}/{path}"), environment)
            .await
            .map_err(PluginError::Request)?;
        let text = String::from_utf8(content)
            .map_err(|_| PluginError::Check(format!("{path} is not UTF-8")))?;
        device_file::write(&target, &text, FileMode::WorldReadable)?;
        log.notice(format!("Downloaded definition {path}"));
    }
    Ok(())
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
    pub(crate) fn of(&self, layout: &Layout) -> Result<Arc<Registry>, PluginError> {
        let root = directory(layout);
        if !root.is_dir() {
            return Ok(built_in());
        }
        let files = definitions::from_directory(&root).map_err(PluginError::Read)?;
        if files.is_empty() {
            return Ok(built_in());
        }
        let key = cache_key(&files);
        let mut loaded = self
            .loaded
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(registry) = loaded.get(&key) {
            return Ok(Arc::clone(registry));
        }
        let registry =
            Registry::load(&files).map_err(|found| PluginError::Check(render_findings(&found)))?;
        let registry = Arc::new(registry);
        loaded.insert(key, Arc::clone(&registry));
        Ok(registry)
    }
}

fn cache_key(files: &[DefinitionFile]) -> String {
    let mut hash = sha2::Sha256::new();
    for file in files {
        for part in [&file.path, &file.source.text] {
            hash.update(part.len().to_be_bytes());
            hash.update(part);
        }
    }
    format!("{:?}", hash.finalize())
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
