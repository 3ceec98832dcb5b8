//! Releases: the inputs of a fleet as they were published, with the contents of their files by digest.
//!
//! A release never changes. Its number is one more than that of the release before, and two releases that follow
//! each other differ. Whoever changes a device records the release, so that no node applies an older one.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rusqlite::params;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::leases::NodeRecord;
use super::sql::{OptionalRow as _, Row};
use super::time_column::{milliseconds, time};
use super::{HistoryError, HistoryReader, HistoryWriter, RunId};
use crate::git::GitRevision;

/// The number of a release.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    utoipa::ToSchema,
)]
#[serde(transparent)]
pub(crate) struct ReleaseNumber(pub(crate) i64);

impl std::fmt::Display for ReleaseNumber {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(formatter)
    }
}

/// What is published.
#[derive(Clone, Debug)]
pub(crate) struct NewRelease {
    /// The contents of the files, by path in the release.
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    /// The user.
    pub(crate) publisher: String,
    /// The commit of the directory. `None`: it is in no Git work tree.
    pub(crate) revision: Option<GitRevision>,
    pub(crate) published: Timestamp,
}

/// A release with the SHA-256 of each file, in hexadecimal, by path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Release {
    pub(crate) number: ReleaseNumber,
    pub(crate) files: BTreeMap<String, String>,
}

/// A release in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub(crate) struct ReleaseEntry {
    pub(crate) number: ReleaseNumber,
    pub(crate) published: Timestamp,
    pub(crate) publisher: String,
    /// The commit that it was published from.
    pub(crate) revision: Option<GitRevision>,
    pub(crate) files: u32,
    /// The size of its files.
    pub(crate) bytes: u64,
    /// Devices that were last changed with it.
    pub(crate) devices: u32,
    /// The nodes that have loaded it.
    pub(crate) nodes: Vec<String>,
}

impl ReleaseEntry {
    /// The size of its files, rounded up.
    pub(crate) fn kibibytes(&self) -> u64 {
        self.bytes.div_ceil(1024)
    }
}

/// What publishing did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Published {
    New(ReleaseNumber),
    /// The newest release has the same content.
    Same(ReleaseNumber),
}

/// The SHA-256 of a content, in hexadecimal.
pub(crate) fn content_digest(content: &[u8]) -> String {
    hex::encode(Sha256::digest(content))
}

const COLUMNS: &str = "number, published, publisher, source_commit, source_is_modified,
    (SELECT count(*) FROM release_file WHERE release_file.release = number) AS files,
    (SELECT coalesce(sum(length(body)), 0) FROM release_file JOIN blob USING (sha256)
     WHERE release_file.release = number) AS bytes,
    (SELECT count(*) FROM device WHERE device.release = number) AS devices";

impl HistoryReader<'_> {
    /// The number of the newest release.
    pub(crate) fn newest_release(&self) -> Result<Option<ReleaseNumber>, HistoryError> {
        let newest = "SELECT max(number) FROM release";
        let mut select = self.connection.prepare_cached(newest)?;
        select.query_row([], |row| {
            Ok(row.get::<_, Option<i64>>(0)?.map(ReleaseNumber))
        })
    }

    /// A release. `None`: it does not exist, or was removed.
    pub(crate) fn release(&self, number: ReleaseNumber) -> Result<Option<Release>, HistoryError> {
        let mut select = (self.connection)
            .prepare_cached("SELECT path, sha256 FROM release_file WHERE release = ?1")?;
        let files: Vec<(String, String)> =
            select.query_all([number.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok((!files.is_empty()).then(|| Release {
            number,
            files: files.into_iter().collect(),
        }))
    }

    /// All releases, newest first.
    pub(crate) fn releases(&self) -> Result<Vec<ReleaseEntry>, HistoryError> {
        let query = format!("SELECT {COLUMNS} FROM release ORDER BY number DESC");
        let mut select = self.connection.prepare_cached(&query)?;
        let mut releases: Vec<ReleaseEntry> = select.query_all([], entry)?;
        for node in self.loaded_releases()? {
            let mut of_node = releases.iter_mut();
            let found = of_node.find(|release| Some(release.number.0) == node.release);
            if let Some(found) = found {
                found.nodes.push(node.name);
            }
        }
        Ok(releases)
    }

    /// The nodes that take part in the fleet, with the releases that they have loaded.
    fn loaded_releases(&self) -> Result<Vec<NodeRecord>, HistoryError> {
        let mut select = self
            .connection
            .prepare_cached("SELECT record FROM node WHERE NOT is_evicted ORDER BY name")?;
        let records: Vec<String> = select.query_all([], |row| row.get(0))?;
        // A later version can have other records.
        let nodes = records.iter();
        let nodes = nodes.filter_map(|record| serde_json::from_str::<NodeRecord>(record).ok());
        Ok(nodes.filter(|node| !node.is_stopped).collect())
    }

    /// Whether a file of a release other than the one with this path has a content.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn is_in_a_file_beside(
        &self,
        sha256: &str,
        path: &str,
    ) -> Result<bool, HistoryError> {
        let mut select = self
            .connection
            .prepare_cached("SELECT count(*) FROM release_file WHERE sha256 = ?1 AND path <> ?2")?;
        let count: i64 = select.query_row([sha256, path], |row| row.get(0))?;
        Ok(count > 0)
    }

    /// The content with a digest.
    pub(crate) fn blob(&self, sha256: &str) -> Result<Option<Vec<u8>>, HistoryError> {
        let mut select =
            (self.connection).prepare_cached("SELECT body FROM blob WHERE sha256 = ?1")?;
        select.query_row([sha256], |row| row.get(0)).optional()
    }
}

fn entry(row: &Row<'_>) -> rusqlite::Result<ReleaseEntry> {
    let commit: Option<String> = row.get("source_commit")?;
    let is_modified = row.get("source_is_modified")?;
    Ok(ReleaseEntry {
        number: ReleaseNumber(row.get("number")?),
        published: time(row, "published")?,
        publisher: row.get("publisher")?,
        revision: commit.map(|commit| GitRevision {
            commit,
            is_modified,
        }),
        files: row.get("files")?,
        bytes: row.get::<_, i64>("bytes")?.unsigned_abs(),
        devices: row.get("devices")?,
        nodes: Vec::new(),
    })
}

impl HistoryWriter<'_> {
    /// Publishes a release, unless the newest one has the same content.
    pub(crate) fn publish(&self, release: &NewRelease) -> Result<Published, HistoryError> {
        let files: Vec<(&String, String, &Vec<u8>)> = (release.files.iter())
            .map(|(path, body)| (path, content_digest(body), body))
            .collect();
        let digest = release_digest(&files);
        let mut select = (self.connection)
            .prepare_cached("SELECT number, digest FROM release ORDER BY number DESC LIMIT 1")?;
        let newest = select.query_row([], |row| Ok((row.get(0)?, row.get(1)?)));
        let newest: Option<(i64, String)> = newest.optional()?;
        if let Some((number, known)) = &newest
            && *known == digest
        {
            return Ok(Published::Same(ReleaseNumber(*number)));
        }
        let number = newest.map_or(1, |(number, _)| number + 1);
        let revision = release.revision.as_ref();
        self.connection.execute(
            "INSERT INTO release
                 (number, digest, published, publisher, source_commit, source_is_modified)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                number,
                digest,
                milliseconds(release.published),
                release.publisher,
                revision.map(|revision| &revision.commit),
                revision.is_some_and(|revision| revision.is_modified),
            ],
        )?;
        let mut add_blob = self.connection.prepare_cached(
            "INSERT INTO blob (sha256, body) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        )?;
        let mut add_file = self.connection.prepare_cached(
            "INSERT INTO release_file (release, path, sha256) VALUES (?1, ?2, ?3)",
        )?;
        for (path, sha256, body) in &files {
            add_blob.execute(params![sha256, body])?;
            add_file.execute(params![number, path, sha256])?;
        }
        Ok(Published::New(ReleaseNumber(number)))
    }

    /// Records that a device is changed with a release; `None`: with files of the process. Returns the newer one
    /// that it was changed with before: then nothing is recorded, and the device must not be changed.
    pub(crate) fn use_release(
        &self,
        device: &str,
        release: Option<ReleaseNumber>,
    ) -> Result<Option<ReleaseNumber>, HistoryError> {
        let number = release.map(|release| release.0);
        let mut select = (self.connection)
            .prepare_cached("SELECT release FROM device WHERE name = ?1 AND release > ?2")?;
        let newer = select.query_row(params![device, number.unwrap_or_default()], |row| {
            row.get(0).map(ReleaseNumber)
        });
        let newer = newer.optional()?;
        if newer.is_none() && number.is_some() {
            let update = "UPDATE device SET release = ?2 WHERE name = ?1";
            let mut update = self.connection.prepare_cached(update)?;
            update.execute(params![device, number])?;
        }
        Ok(newer)
    }

    /// Records the release of the inputs of a run.
    pub(crate) fn set_run_release(
        &self,
        run: RunId,
        release: Option<ReleaseNumber>,
    ) -> Result<(), HistoryError> {
        let update = "UPDATE run SET release = ?2 WHERE id = ?1";
        let mut update = self.connection.prepare_cached(update)?;
        update.execute(params![run.0, release.map(|release| release.0)])?;
        Ok(())
    }

    /// Removes releases that no stored run, device or node has; the newest stays.
    pub(super) fn remove_unused_releases(&self) -> Result<(), HistoryError> {
        self.connection.execute(
            "DELETE FROM release WHERE number < (SELECT max(number) FROM release)
                 AND NOT EXISTS (SELECT 1 FROM run WHERE run.release = number)
                 AND NOT EXISTS (SELECT 1 FROM device WHERE device.release = number)
                 AND CAST(number AS TEXT) NOT IN (
                     SELECT coalesce(CAST(json_extract(record, '$.release') AS TEXT), '')
                     FROM node)",
            [],
        )?;
        self.connection.execute(
            "DELETE FROM blob
             WHERE NOT EXISTS (SELECT 1 FROM release_file WHERE release_file.sha256 = blob.sha256)",
            [],
        )?;
        Ok(())
    }
}

fn release_digest(files: &[(&String, String, &Vec<u8>)]) -> String {
    let mut digest = Sha256::new();
    for (path, sha256, _) in files {
        digest.update(path);
        digest.update([0]);
        digest.update(sha256);
        digest.update([0]);
    }
    hex::encode(digest.finalize())
}
