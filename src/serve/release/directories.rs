//! The releases in the state directory of a node: `releases/N` with the files, `releases/N.json` with their digests.
//!
//! A release appears with all its files or not at all. Each use verifies the files, so that a damaged one is
//! fetched again.

use std::collections::HashMap;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use switchtender_devices::format_version::FormatVersion;

use super::source::{ReadReleaseError, ReleaseSource};
use crate::history::releases::{Release, ReleaseNumber, content_digest};
use crate::store::StoreError;
use crate::store::blocking_io;
use crate::store::file::{self, Durability, state_version};

const VERSION: FormatVersion = state_version(1);

/// How many releases stay: runs in progress can have an earlier one.
const RECENT: usize = 3;

/// A release cannot be stored on the node.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreReleaseError {
    #[error(transparent)]
    Read(#[from] ReadReleaseError),
    #[error("`{0}` of the release does not have the content of its digest")]
    Digest(String),
    #[error("`{0}` is no path of a release")]
    Path(String),
    #[error("cannot store the release")]
    Directory(#[from] io::Error),
    #[error(transparent)]
    File(#[from] StoreError),
}

/// The directory of the releases.
#[derive(Clone, Debug)]
pub(super) struct ReleaseDirectories {
    root: PathBuf,
}

impl ReleaseDirectories {
    pub(super) fn below(state_dir: &Path) -> Self {
        Self {
            root: state_dir.join("releases"),
        }
    }

    /// The files of a release.
    pub(super) fn path(&self, number: ReleaseNumber) -> PathBuf {
        self.root.join(number.to_string())
    }

    fn list(&self, number: ReleaseNumber) -> PathBuf {
        self.root.join(format!("{number}.json"))
    }

    /// Stores a release, unless it is there. Contents of other releases are not read again.
    ///
    /// # Errors
    /// It cannot be read or written, or a content has another digest.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    pub(super) async fn store(
        &self,
        release: &Release,
        source: &dyn ReleaseSource,
    ) -> Result<(), StoreReleaseError> {
        if let Some(path) = release.files.keys().find(|path| !is_inside(path)) {
            return Err(StoreReleaseError::Path(path.clone()));
        }
        let (own, desired) = (self.clone(), release.clone());
        if blocking_io::run(move || own.is_stored(&desired)).await {
            return Ok(());
        }
        let own = self.clone();
        let known = Arc::new(blocking_io::run(move || own.contents()).await);
        let partial = self.root.join(format!("{}.partial", release.number));
        let (created, all) = (partial.clone(), release.clone());
        blocking_io::run(move || create_directories(&created, &all)).await?;
        for (path, sha256) in &release.files {
            let (known, digest) = (Arc::clone(&known), sha256.clone());
            let found = blocking_io::run(move || read_known(&known, &digest)).await;
            let content = match found {
                Some(content) => content,
                None => source.blob(sha256).await?,
            };
            if content_digest(&content) != *sha256 {
                return Err(StoreReleaseError::Digest(path.clone()));
            }
            let to = partial.join(path);
            blocking_io::run(move || file::replace(&to, &content, Durability::Process)).await?;
        }
        let (own, stored) = (self.clone(), release.clone());
        blocking_io::run(move || own.complete(&partial, &stored)).await
    }

    fn complete(&self, partial: &Path, release: &Release) -> Result<(), StoreReleaseError> {
        let path = self.path(release.number);
        remove(&path)?;
        file::save(&self.list(release.number), VERSION, release)?;
        Ok(fs::rename(partial, path)?)
    }

    /// Whether all files of a release are there.
    fn is_stored(&self, release: &Release) -> bool {
        let directory = self.path(release.number);
        release.files.iter().all(|(path, sha256)| {
            fs::read(directory.join(path)).is_ok_and(|content| content_digest(&content) == *sha256)
        })
    }

    /// The complete releases, newest first.
    pub(super) fn stored(&self) -> Vec<Release> {
        let mut stored = self.lists();
        stored.retain(|release| self.is_stored(release));
        stored
    }

    /// The releases with a list of their files, newest first.
    fn lists(&self) -> Vec<Release> {
        let entries = fs::read_dir(&self.root).into_iter().flatten().flatten();
        let mut lists: Vec<Release> = entries
            .filter_map(|entry| {
                let path = entry.path();
                path.extension().filter(|ending| *ending == "json")?;
                file::load(&path, VERSION).ok().flatten()
            })
            .collect();
        lists.sort_by_key(|release| std::cmp::Reverse(release.number));
        lists
    }

    /// The files of all releases by their digests.
    fn contents(&self) -> HashMap<String, PathBuf> {
        let lists = self.lists().into_iter();
        lists
            .flat_map(|release| {
                let directory = self.path(release.number);
                let files = release.files.into_iter();
                files.map(move |(path, sha256)| (sha256, directory.join(path)))
            })
            .collect()
    }

    /// Removes all releases except these.
    pub(super) fn remove_others(&self, used: &[ReleaseNumber]) -> io::Result<()> {
        let entries = match fs::read_dir(&self.root) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        let recent: Vec<ReleaseNumber> = {
            let lists = self.lists().into_iter().take(RECENT);
            lists.map(|release| release.number).collect()
        };
        for entry in entries {
            let path = entry?.path();
            let name = path.file_stem().and_then(|name| name.to_str());
            let number = name.and_then(|name| name.parse().ok()).map(ReleaseNumber);
            let is_partial = path.extension().is_some_and(|ending| ending == "partial");
            if is_partial
                || number.is_some_and(|number| !used.contains(&number) && !recent.contains(&number))
            {
                remove(&path)?;
            }
        }
        Ok(())
    }
}

/// Whether a path leads to a file below its directory.
fn is_inside(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    !path.is_empty() && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// Creates the directories of a release, for this user only, without what an earlier attempt has left.
fn create_directories(root: &Path, release: &Release) -> io::Result<()> {
    remove(root)?;
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700);
    builder.create(root)?;
    for path in release.files.keys() {
        if let Some(parent) = root.join(path).parent() {
            builder.create(parent)?;
        }
    }
    Ok(())
}

fn read_known(known: &HashMap<String, PathBuf>, sha256: &str) -> Option<Vec<u8>> {
    let content = fs::read(known.get(sha256)?).ok()?;
    (content_digest(&content) == sha256).then_some(content)
}

/// Removes a file or a directory, if there is one.
fn remove(path: &Path) -> io::Result<()> {
    let removed = if path.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Mutex;

    use super::*;

    /// Contents by digest, with the digests that were read.
    #[derive(Default)]
    struct Contents {
        contents: HashMap<String, Vec<u8>>,
        read: Mutex<usize>,
    }

    impl Contents {
        fn release(&mut self, number: i64, files: &[(&str, &str)]) -> Release {
            let digests = files.iter().map(|(path, content)| {
                let sha256 = content_digest(content.as_bytes());
                self.contents
                    .insert(sha256.clone(), content.as_bytes().to_vec());
                ((*path).to_owned(), sha256)
            });
            let files: BTreeMap<String, String> = digests.collect();
            Release {
                number: ReleaseNumber(number),
                files,
            }
        }

        fn take_read(&self) -> usize {
            std::mem::take(&mut self.read.lock().unwrap())
        }
    }

    #[async_trait::async_trait]
    impl ReleaseSource for Contents {
        async fn newest(
            &self,
            _newer_than: Option<ReleaseNumber>,
        ) -> Result<Option<Release>, ReadReleaseError> {
            Ok(None)
        }

        async fn blob(&self, sha256: &str) -> Result<Vec<u8>, ReadReleaseError> {
            *self.read.lock().unwrap() += 1;
            let content = self.contents.get(sha256).cloned();
            content.ok_or_else(|| ReadReleaseError("no content".into()))
        }
    }

    fn numbers(directories: &ReleaseDirectories) -> Vec<i64> {
        let stored = directories.stored();
        stored.iter().map(|release| release.number.0).collect()
    }

    #[tokio::test]
    async fn release_is_stored_once_with_verified_files() {
        let state = tempfile::tempdir().unwrap();
        let directories = ReleaseDirectories::below(state.path());
        let mut source = Contents::default();
        let files = [
            ("fleet.toml", "keep = \"1d\"\n"),
            ("state/device/sw1.yaml", "a: 1\n"),
        ];
        let one = source.release(1, &files);
        directories.store(&one, &source).await.unwrap();
        assert_eq!(source.take_read(), 2);
        directories.store(&one, &source).await.unwrap();
        assert_eq!(source.take_read(), 0);
        let two = source.release(2, &[files[0], ("state/device/sw1.yaml", "a: 2\n")]);
        directories.store(&two, &source).await.unwrap();
        assert_eq!(
            source.take_read(),
            1,
            "only the content that differs is read"
        );
        assert_eq!(numbers(&directories), [2, 1]);

        let damaged = directories.path(two.number).join("state/device/sw1.yaml");
        fs::write(&damaged, "a: 3\n").unwrap();
        assert_eq!(numbers(&directories), [1], "a damaged release is not used");
        directories.store(&two, &source).await.unwrap();
        assert_eq!(fs::read_to_string(&damaged).unwrap(), "a: 2\n");
        for number in [3, 4] {
            let next = source.release(number, &files);
            directories.store(&next, &source).await.unwrap();
        }
        directories.remove_others(&[ReleaseNumber(4)]).unwrap();
        assert_eq!(numbers(&directories), [4, 3, 2]);
        let entries = fs::read_dir(state.path().join("releases")).unwrap();
        assert_eq!(entries.count(), 6);
        directories
            .remove_others(&[ReleaseNumber(1), ReleaseNumber(2)])
            .unwrap();
        assert_eq!(numbers(&directories), [4, 3, 2]);
    }

    #[tokio::test]
    async fn release_with_wrong_content_or_path_does_not_appear() {
        let state = tempfile::tempdir().unwrap();
        let directories = ReleaseDirectories::below(state.path());
        let mut source = Contents::default();
        let other = source.release(1, &[("fleet.toml", "a"), ("inventory.toml", "b")]);
        let digest = content_digest(b"b");
        source.contents.insert(digest, b"c".to_vec());
        let error = directories.store(&other, &source).await.unwrap_err();
        assert!(matches!(error, StoreReleaseError::Digest(path) if path == "inventory.toml"));
        for path in ["../fleet.toml", "/etc/fleet.toml", "state/../../a", ""] {
            let outside = source.release(2, &[(path, "a")]);
            let error = directories.store(&outside, &source).await.unwrap_err();
            assert!(matches!(error, StoreReleaseError::Path(_)), "{path}");
        }
        assert_eq!(numbers(&directories), [0; 0]);
    }
}
