//! Drivers that Puppet modules carry: `lib/switchtender/definitions` of the device's environment.
//!
//! They are synced into the device's own directory, checked like any definition, and used before
//! the built-in ones. Only definition files are fetched, and nothing that is fetched is ever
//! executed (`docs/reference/agent-protocol.md`, section 9). Files that the server no longer lists go.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use sha2::Digest as _;
use switchtender_devices::definitions::{self, DefinitionFile};
use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::driver::Registry;

use super::endpoint::{Endpoint, FileMetadata};
use crate::agent::http::RequestError;
use crate::agent::layout::{self, FileError, Layout, Readers};
use crate::agent::run_log::RunLog;

const MOUNT: &str = "plugins";
const BELOW: &str = "switchtender/definitions";

/// Why a device cannot use the definitions of its environment.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    #[error("Could not retrieve definitions")]
    Request(#[source] RequestError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error("cannot read the synced definitions")]
    Read(#[source] std::io::Error),
    #[error("the synced definitions are not usable: {0}")]
    Check(String),
}

/// Where the definitions of a device are.
pub fn directory(layout: &Layout) -> PathBuf {
    layout.var.join("lib").join(BELOW)
}

/// Brings the device's directory to what the server has listed of its modules.
pub async fn sync(
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
            .strip_prefix(BELOW)
            .and_then(|path| path.strip_prefix('/'))
        else {
            continue; // For the peer and for hosts.
        };
        if acceptable(path) {
            wanted.insert(path.to_owned(), checksum);
        } else {
            log.warning(format!(
                "Not fetched, because it is no definition: {BELOW}/{path}"
            ));
        }
    }
    for (path, known) in local(&root, &root) {
        if !wanted.contains_key(&path) {
            layout::remove(&known)?;
            log.notice(format!("Removed definition {path}"));
        }
    }
    for (path, checksum) in wanted {
        let target = root.join(&path);
        let known = layout::read(&target)?;
        if known.is_some_and(|text| digest(text.as_bytes()) == checksum) {
            continue;
        }
        let content = endpoint
            .content(MOUNT, &format!("{BELOW}/{path}"), environment)
            .await
            .map_err(PluginError::Request)?;
        let text = String::from_utf8(content)
            .map_err(|_| PluginError::Check(format!("{path} is not UTF-8")))?;
        layout::write(&target, &text, Readers::Everyone)?;
        log.notice(format!("Fetched definition {path}"));
    }
    Ok(())
}

/// A path below the directory that names a definition and leads nowhere else.
fn acceptable(path: &str) -> bool {
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

/// The files of the directory, by path below it.
fn local(root: &Path, dir: &Path) -> Vec<(String, PathBuf)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(local(root, &path));
        } else if let Some(below) = path.strip_prefix(root).ok().and_then(Path::to_str) {
            files.push((below.to_owned(), path));
        }
    }
    files.sort();
    files
}

/// Definitions in use, shared by all devices that have the same.
#[derive(Debug, Default)]
pub struct Definitions {
    loaded: Mutex<HashMap<String, Arc<Registry>>>,
}

/// The built-in definitions, read at the first need.
fn shipped() -> Arc<Registry> {
    static SHIPPED: OnceLock<Arc<Registry>> = OnceLock::new();
    Arc::clone(SHIPPED.get_or_init(|| Arc::new(Registry::shipped())))
}

impl Definitions {
    /// The definitions of a device: the synced ones before the built-in ones.
    pub fn of(&self, layout: &Layout) -> Result<Arc<Registry>, PluginError> {
        let root = directory(layout);
        if !root.is_dir() {
            return Ok(shipped());
        }
        let files = definitions::from_directory(&root).map_err(PluginError::Read)?;
        if files.is_empty() {
            return Ok(shipped());
        }
        let key = key(&files);
        let mut loaded = self
            .loaded
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(registry) = loaded.get(&key) {
            return Ok(Arc::clone(registry));
        }
        let registry = Registry::load(&files).map_err(|found| PluginError::Check(told(&found)))?;
        let registry = Arc::new(registry);
        loaded.insert(key, Arc::clone(&registry));
        Ok(registry)
    }
}

fn key(files: &[DefinitionFile]) -> String {
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
fn told(found: &[Diagnostic]) -> String {
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
    fn only_definitions_are_fetched_and_only_into_the_directory() {
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
            assert_eq!(acceptable(path), expected, "{path}");
        }
    }
}
