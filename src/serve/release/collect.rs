//! The files of a directory that are published: those that its settings name. No other file leaves the directory.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use switchtender_devices::regular_file;

use super::inputs::RELEASE_ACCESS;
use crate::serve::settings::{CatalogPath, RELEASE_SETTINGS, ServeSettings};

/// Maximum size of a file in bytes: in Base64, it is an answer of a hub to a worker.
const LARGEST: u64 = 40 << 20;

/// A file cannot be published.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CollectError {
    #[error("{path} is outside of {directory}, which is published")]
    Outside { path: PathBuf, directory: PathBuf },
    #[error("the name of {0} is not UTF-8")]
    Name(PathBuf),
    #[error("cannot read {path}")]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// The files of a release, by path in it.
#[derive(Debug)]
pub(crate) struct ReleaseFiles<'a> {
    directory: &'a Path,
    files: BTreeMap<String, Vec<u8>>,
}

impl<'a> ReleaseFiles<'a> {
    /// The files that settings name, and the users and tokens.
    ///
    /// # Errors
    /// One cannot be read, or is not in the directory.
    pub(crate) fn collect(
        directory: &'a Path,
        settings: &ServeSettings,
    ) -> Result<Self, CollectError> {
        let files = BTreeMap::new();
        let mut release = Self { directory, files };
        release.add(&directory.join(RELEASE_SETTINGS))?;
        for path in [&directory.join(RELEASE_ACCESS), &settings.inventory] {
            if path.exists() {
                release.add(path)?;
            }
        }
        if let Some(definitions) = &settings.definitions {
            release.add_below(definitions, None)?;
        }
        for catalog in settings.catalog_paths() {
            match catalog {
                CatalogPath::Catalogs(path) => release.add_below(path, Some("json"))?,
                CatalogPath::State(path) => release.add_below(path, Some("yaml"))?,
            }
        }
        Ok(release)
    }

    /// Adds a file. Returns its content.
    ///
    /// # Errors
    /// It cannot be read, or is not in the directory.
    pub(crate) fn add(&mut self, path: &Path) -> Result<&[u8], CollectError> {
        let below = self.path_below(path)?;
        if self.files.contains_key(&below) {
            return Ok(&self.files[&below]);
        }
        let failed = |source| CollectError::Read {
            path: path.to_owned(),
            source,
        };
        let file = fs::canonicalize(path).map_err(failed)?;
        let directory = fs::canonicalize(self.directory).map_err(failed)?;
        // A link to a file of the user could lead to a secret.
        if !file.starts_with(directory) {
            return Err(self.outside(path));
        }
        let open = regular_file::open(&file, LARGEST).map_err(failed)?;
        let content = regular_file::read_open(open, LARGEST).map_err(failed)?;
        Ok(self.files.entry(below).or_insert(content))
    }

    /// Adds the files of a directory with an ending. Hidden files are not published.
    fn add_below(&mut self, directory: &Path, ending: Option<&str>) -> Result<(), CollectError> {
        self.path_below(directory)?;
        let failed = |source| CollectError::Read {
            path: directory.to_owned(),
            source,
        };
        for entry in fs::read_dir(directory).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            let has_ending =
                ending.is_none_or(|ending| path.extension().is_some_and(|one| one == ending));
            if name.is_some_and(|name| name.starts_with('.')) {
                continue;
            }
            if path.is_dir() {
                self.add_below(&path, ending)?;
            } else if has_ending {
                self.add(&path)?;
            }
        }
        Ok(())
    }

    /// Whether a path begins at the directory. Others are absolute: files that each node has.
    pub(crate) fn is_relative(&self, path: &Path) -> bool {
        path.starts_with(self.directory)
    }

    /// The path in the release.
    fn path_below(&self, path: &Path) -> Result<String, CollectError> {
        let below = path.strip_prefix(self.directory);
        let below = below.map_err(|_| self.outside(path))?;
        let mut normal = PathBuf::new();
        for part in below.components() {
            match part {
                Component::Normal(name) => normal.push(name),
                Component::ParentDir if normal.pop() => {}
                Component::CurDir => {}
                _ => return Err(self.outside(path)),
            }
        }
        let text = normal.to_str();
        text.map(str::to_owned)
            .ok_or_else(|| CollectError::Name(path.to_owned()))
    }

    fn outside(&self, path: &Path) -> CollectError {
        CollectError::Outside {
            path: path.to_owned(),
            directory: self.directory.to_owned(),
        }
    }

    /// The contents by path.
    pub(crate) fn files(&self) -> &BTreeMap<String, Vec<u8>> {
        &self.files
    }

    pub(crate) fn into_files(self) -> BTreeMap<String, Vec<u8>> {
        self.files
    }
}

#[cfg(test)]
mod tests {
    use switchtender_devices::diagnostic::Source;

    use super::*;

    fn write(directory: &Path, path: &str) {
        let path = directory.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }

    fn collect(directory: &Path, settings: &str) -> Result<Vec<String>, CollectError> {
        let source = Source::new(RELEASE_SETTINGS, settings);
        let settings = ServeSettings::parse(&source, directory).unwrap();
        let files = ReleaseFiles::collect(directory, &settings)?;
        Ok(files.into_files().into_keys().collect())
    }

    #[test]
    fn files_that_the_settings_name_are_published() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        for path in [
            "fleet.toml",
            "access.toml",
            "inventory.toml",
            "history.db",
            "secrets/snmp",
            "state/common.yaml",
            "state/device/sw1.yaml",
            "state/device/.sw1.yaml.swp",
            "state/README.md",
            "catalogs/lb1.json",
            "unused/sw1.json",
            "definitions/models/a.toml",
        ] {
            write(root, path);
        }
        let settings = "definitions = \"definitions\"\n[defaults]\nstate = \"./state\"\n\
                        [device.\"lb*\"]\ncatalog = \"catalogs\"\n";
        assert_eq!(
            collect(root, settings).unwrap(),
            [
                "access.toml",
                "catalogs/lb1.json",
                "definitions/models/a.toml",
                "fleet.toml",
                "inventory.toml",
                "state/common.yaml",
                "state/device/sw1.yaml",
            ]
        );
    }

    #[test]
    fn files_outside_of_the_directory_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("net");
        write(&root, "fleet.toml");
        write(directory.path(), "inventory.toml");
        write(directory.path(), "other/sw1.yaml");
        fs::create_dir(root.join("state")).unwrap();
        let link = root.join("state/sw1.yaml");
        std::os::unix::fs::symlink(directory.path().join("other/sw1.yaml"), link).unwrap();
        for settings in [
            "inventory = \"../inventory.toml\"\n",
            "[defaults]\nstate = \"../other\"\n",
            "[defaults]\nstate = \"state\"\n",
        ] {
            let error = collect(&root, settings).unwrap_err();
            assert!(matches!(error, CollectError::Outside { .. }), "{error}");
        }
    }
}
