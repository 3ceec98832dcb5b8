//! The audit log: one JSON object per line, appended and synced to disk.
//!
//! Each line has the SHA-256 digest of the line before it, and a second file has the number of lines and
//! the digest of the last one. A changed or removed line is found unless both files are rewritten.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::role::Principal;
use crate::store::{self, StoreError, blocking_io};

/// Maximum size of a line, in bytes. Texts of requests are shortened before.
const MAX_LINE: u64 = 16 << 10;

/// Maximum length of a text of a request, in characters.
const MAX_TEXT: usize = 500;

/// The digest in the first line.
const FIRST: &str = "";

/// The version of the file about the end of the log.
const END_VERSION: u32 = 1;

/// The end of the log: what is known without reading it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct LogEnd {
    lines: usize,
    /// Digest of the last line.
    digest: String,
}

/// An error of the audit log.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AuditError {
    #[error("cannot {action} the audit log {path}")]
    Io {
        action: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{path}:{line}: the audit log was changed: {reason}")]
    Changed {
        path: PathBuf,
        line: usize,
        reason: &'static str,
    },
    #[error("lines were removed from the end of {path}: {found} of {expected} are left")]
    Removed {
        path: PathBuf,
        found: usize,
        expected: usize,
    },
    #[error("{end} is missing, so that lines removed from the end of {path} are not found")]
    NoEnd { path: PathBuf, end: PathBuf },
    #[error(transparent)]
    End(#[from] StoreError),
}

/// An action to record.
#[derive(Clone, Debug)]
pub(crate) struct AuditEntry {
    pub(crate) actor: String,
    /// How the actor was identified.
    pub(crate) method: String,
    /// Address of the sender.
    pub(crate) address: String,
    pub(crate) action: &'static str,
    /// The device, user or token.
    pub(crate) target: String,
    pub(crate) result: &'static str,
}

impl AuditEntry {
    /// A permitted action of a sender.
    pub(crate) fn of(
        principal: &Principal,
        address: &str,
        action: &'static str,
        target: impl Into<String>,
    ) -> Self {
        Self {
            actor: principal.name.clone(),
            method: format!("{:?}", principal.method).to_lowercase(),
            address: address.to_owned(),
            action,
            target: target.into(),
            result: "accepted",
        }
    }
}

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub(crate) struct StoredAuditEntry {
    #[schema(value_type = String, format = DateTime)]
    pub(crate) time: Timestamp,
    pub(crate) actor: String,
    pub(crate) method: String,
    pub(crate) address: String,
    pub(crate) action: String,
    pub(crate) target: String,
    pub(crate) result: String,
    /// Digest of the line before.
    pub(crate) previous: String,
}

/// The file.
#[derive(Clone, Debug)]
pub(crate) struct AuditLog {
    path: PathBuf,
}

impl AuditLog {
    pub(crate) fn at(path: PathBuf) -> Self {
        Self { path }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends an action. It is on disk when this returns.
    ///
    /// # Cancellation
    /// A line that has begun is completed.
    pub(crate) async fn append(
        &self,
        entry: AuditEntry,
        time: Timestamp,
    ) -> Result<(), AuditError> {
        let log = self.clone();
        blocking_io::run(move || log.append_blocking(&entry, time)).await
    }

    /// As [`Self::append`], for threads.
    pub(crate) fn append_blocking(
        &self,
        entry: &AuditEntry,
        time: Timestamp,
    ) -> Result<(), AuditError> {
        let failed = |source| self.failed("write", source);
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&self.path)
            .map_err(failed)?;
        // Other processes append, too: `switchtender access`. The lock ends with the file.
        file.lock().map_err(failed)?;
        let tail = Tail::read(&mut file).map_err(failed)?;
        let end: Option<LogEnd> = store::file::load(&self.end_path(), END_VERSION)?;
        // A log without the second file stays so: a new one would hide removed lines.
        let end = match end {
            None if tail.is_empty => Some(LogEnd::default()),
            end => end,
        };
        // After a crash, the log has one line more than the second file counts.
        let after_crash = end.as_ref().is_some_and(|end| {
            end.digest != tail.digest && tail.before.as_ref() == Some(&end.digest)
        });
        let previous = match &end {
            // Of a log that was changed, the digests differ from here on, too.
            Some(end) if end.digest != tail.digest && !after_crash => end.digest.clone(),
            _ => tail.digest,
        };
        let entry = StoredAuditEntry {
            time,
            actor: shortened(&entry.actor),
            method: shortened(&entry.method),
            address: shortened(&entry.address),
            action: entry.action.to_owned(),
            target: shortened(&entry.target),
            result: entry.result.to_owned(),
            previous,
        };
        let line = serde_json::to_string(&entry).expect("an entry is JSON");
        let separator = if tail.is_complete { "" } else { "\n" };
        let text = format!("{separator}{line}\n");
        file.write_all(text.as_bytes()).map_err(failed)?;
        file.sync_data().map_err(failed)?;
        if let Some(end) = end {
            let end = LogEnd {
                lines: end.lines + 1 + usize::from(after_crash),
                digest: digest(line.as_bytes()),
            };
            store::file::save(&self.end_path(), END_VERSION, &end)?;
        }
        Ok(())
    }

    /// The file about the end of the log.
    fn end_path(&self) -> PathBuf {
        self.path.with_extension("end")
    }

    /// The newest entries, newest first.
    pub(crate) fn newest(&self, count: usize) -> Result<Vec<StoredAuditEntry>, AuditError> {
        let failed = |source| self.failed("read", source);
        let Some(mut file) = self.open_to_read()? else {
            return Ok(Vec::new());
        };
        let size = file.metadata().map_err(failed)?.len();
        let length = MAX_LINE.min(1 << 10) * count as u64;
        let start = size.saturating_sub(length);
        file.seek(SeekFrom::Start(start)).map_err(failed)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let lines = bytes.split(|byte| *byte == b'\n').rev();
        let entries = lines.filter_map(|line| serde_json::from_slice(line).ok());
        Ok(entries.take(count).collect())
    }

    /// Checks that no line was changed or removed, and returns the number of lines. A log that was
    /// rewritten together with the file about its end is not found.
    pub(crate) fn check(&self) -> Result<usize, AuditError> {
        let failed = |source| self.failed("read", source);
        let file = self.open_to_read()?;
        if let Some(file) = &file {
            // A process can be between its two writes.
            file.lock_shared().map_err(failed)?;
        }
        let end: Option<LogEnd> = store::file::load(&self.end_path(), END_VERSION)?;
        let expected = end.as_ref().map_or(0, |end| end.lines);
        let Some(file) = file else {
            return match expected {
                0 => Ok(0),
                _ => Err(self.removed(0, expected)),
            };
        };
        let mut reader = BufReader::new(file);
        let (mut previous, mut count) = (FIRST.to_owned(), 0);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).map_err(failed)? > 0 {
            count += 1;
            let text = line.strip_suffix(b"\n").unwrap_or(&line);
            let changed = |reason| AuditError::Changed {
                path: self.path.clone(),
                line: count,
                reason,
            };
            // A line that a crash cut short is no entry; the next line has its digest.
            if let Ok(entry) = serde_json::from_slice::<StoredAuditEntry>(text)
                && entry.previous != previous
            {
                return Err(changed("the digest of the line before it differs"));
            }
            previous = digest(text);
            if let Some(end) = end.as_ref().filter(|end| end.lines == count)
                && end.digest != previous
            {
                return Err(changed("its digest differs from that of the last line"));
            }
            line.clear();
        }
        match end {
            None if count > 0 => Err(AuditError::NoEnd {
                path: self.path.clone(),
                end: self.end_path(),
            }),
            _ if count < expected => Err(self.removed(count, expected)),
            _ => Ok(count),
        }
    }

    fn removed(&self, found: usize, expected: usize) -> AuditError {
        AuditError::Removed {
            path: self.path.clone(),
            found,
            expected,
        }
    }

    fn open_to_read(&self) -> Result<Option<File>, AuditError> {
        match File::open(&self.path) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.failed("read", error)),
        }
    }

    fn failed(&self, action: &'static str, source: io::Error) -> AuditError {
        AuditError::Io {
            action,
            path: self.path.clone(),
            source,
        }
    }
}

/// The end of the file.
struct Tail {
    /// Digest of the last line.
    digest: String,
    /// Digest of the line before the last one.
    before: Option<String>,
    /// The last line ends with a line break.
    is_complete: bool,
    is_empty: bool,
}

impl Tail {
    fn read(file: &mut File) -> io::Result<Self> {
        let size = file.seek(SeekFrom::End(0))?;
        if size == 0 {
            return Ok(Self {
                digest: FIRST.to_owned(),
                before: None,
                is_complete: true,
                is_empty: true,
            });
        }
        let start = size.saturating_sub(2 * MAX_LINE);
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let is_complete = bytes.ends_with(b"\n");
        let text = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        let mut lines = text.rsplit(|byte| *byte == b'\n');
        let last = lines.next().unwrap_or_default();
        let before = match lines.next() {
            Some(before) => Some(digest(before)),
            None if start == 0 => Some(FIRST.to_owned()),
            None => None,
        };
        Ok(Self {
            digest: digest(last),
            before,
            is_complete,
            is_empty: false,
        })
    }
}

fn digest(line: &[u8]) -> String {
    hex::encode(Sha256::digest(line))
}

/// A text of a request, which can be long.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn entry(target: &str) -> AuditEntry {
        AuditEntry {
            actor: "alice".to_owned(),
            method: "session".to_owned(),
            address: "127.0.0.1".to_owned(),
            action: "run",
            target: target.to_owned(),
            result: "accepted",
        }
    }

    fn log(dir: &tempfile::TempDir, targets: &[&str]) -> AuditLog {
        let log = AuditLog::at(dir.path().join("audit.jsonl"));
        let time = "2026-01-01T00:00:00Z".parse().unwrap();
        for target in targets {
            log.append_blocking(&entry(target), time).unwrap();
        }
        log
    }

    #[test]
    fn audit_log_has_entries_newest_first() {
        let dir = tempfile::tempdir().unwrap();
        let log = log(&dir, &["sw1", "sw2\n{\"actor\": \"forged\"}", "sw3"]);
        let newest = log.newest(2).unwrap();
        let targets: Vec<&str> = newest.iter().map(|entry| entry.target.as_str()).collect();
        assert_eq!(targets, ["sw3", "sw2\n{\"actor\": \"forged\"}"]);
        assert_eq!(log.check().unwrap(), 3);
        assert_eq!(AuditLog::at(dir.path().join("none")).check().unwrap(), 0);
    }

    #[test]
    fn audit_log_check_finds_changed_and_removed_lines() {
        let dir = tempfile::tempdir().unwrap();
        let log = log(&dir, &["sw1", "sw2", "sw3"]);
        let text = fs::read_to_string(log.path()).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for changed in [
            text.replace("sw1", "sw9"),
            format!("{}\n{}\n", lines[0], lines[2]),
            format!("{}\n{}\n", lines[1], lines[2]),
        ] {
            fs::write(log.path(), &changed).unwrap();
            let error = log.check().unwrap_err();
            assert!(matches!(error, AuditError::Changed { .. }), "{changed}");
        }
    }

    #[test]
    fn audit_log_check_finds_a_changed_or_removed_end() {
        let dir = tempfile::tempdir().unwrap();
        let written = log(&dir, &["sw1", "sw2", "sw3"]);
        let text = fs::read_to_string(written.path()).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let two = format!("{}\n{}\n", lines[0], lines[1]);
        for changed in [text.replace("sw3", "sw9"), two.clone(), String::new()] {
            fs::write(written.path(), &changed).unwrap();
            let error = written.check().unwrap_err();
            assert!(
                matches!(
                    error,
                    AuditError::Changed { line: 3, .. } | AuditError::Removed { expected: 3, .. }
                ),
                "{error}"
            );
        }
        fs::remove_file(written.path()).unwrap();
        let error = written.check().unwrap_err().to_string();
        assert!(error.ends_with("0 of 3 are left"), "{error}");
        // An entry after the removal does not hide it.
        fs::write(written.path(), &two).unwrap();
        assert!(log(&dir, &["sw4", "sw5"]).check().is_err());
        fs::write(written.path(), &text).unwrap();
        fs::remove_file(written.end_path()).unwrap();
        let error = log(&dir, &["sw4"]).check().unwrap_err();
        assert!(matches!(error, AuditError::NoEnd { .. }), "{error}");
    }

    #[test]
    fn audit_log_continues_after_a_line_that_a_crash_cut_short() {
        let dir = tempfile::tempdir().unwrap();
        let written = log(&dir, &["sw1"]);
        let end = fs::read(written.end_path()).unwrap();
        log(&dir, &["sw2"]);
        let text = fs::read_to_string(written.path()).unwrap();
        fs::write(written.path(), &text[..text.len() - 20]).unwrap();
        fs::write(written.end_path(), end).unwrap();
        assert_eq!(written.check().unwrap(), 2);
        let log = log(&dir, &["sw3"]);
        assert_eq!(log.check().unwrap(), 3);
        let targets: Vec<String> = (log.newest(10).unwrap().into_iter())
            .map(|entry| entry.target)
            .collect();
        assert_eq!(targets, ["sw3", "sw1"]);
    }

    #[test]
    fn audit_log_shortens_long_texts() {
        let dir = tempfile::tempdir().unwrap();
        let log = log(&dir, &["ä".repeat(100_000).as_str(), "sw2"]);
        assert_eq!(log.check().unwrap(), 2);
        assert!(fs::metadata(log.path()).unwrap().len() < 2 * MAX_LINE);
    }
}
