//! The audit log: one JSON object per line, appended and synced to disk before the action that it records.
//!
//! Each entry also goes to the journal of the host. A user who can write the file can change it: the journal, or a
//! log daemon, makes copies on other hosts.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::role::Principal;
use crate::store::blocking_io;
use crate::syslog::{self, Facility, Syslog};

/// Maximum length of a text of a request, in characters.
const MAX_TEXT: usize = 500;

/// Bytes that are read at once.
const CHUNK: u64 = 64 << 10;

/// Chunks that are copied at once.
const CHUNKS: u64 = 16;

/// The severity `info` of syslog.
const INFO: u8 = 6;

/// An error of the audit log.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} the audit log {path}")]
pub(crate) struct AuditError {
    action: &'static str,
    path: PathBuf,
    #[source]
    source: io::Error,
}

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub(crate) struct AuditEntry {
    #[schema(value_type = String, format = DateTime)]
    pub(crate) time: Timestamp,
    pub(crate) actor: String,
    /// How the actor was identified.
    pub(crate) method: String,
    /// Address of the sender.
    pub(crate) address: String,
    pub(crate) action: String,
    /// The device, user or token.
    pub(crate) target: String,
    pub(crate) result: AuditResult,
}

/// What became of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AuditResult {
    /// It was permitted, and began.
    Accepted,
    Refused,
    /// It was permitted, and the process could not do it.
    Failed,
}

impl AuditResult {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Refused => "refused",
            Self::Failed => "failed",
        }
    }
}

impl AuditEntry {
    /// A permitted action of a sender.
    pub(crate) fn new(principal: &Principal, address: &str, action: &str, time: Timestamp) -> Self {
        Self {
            time,
            actor: principal.name.clone(),
            method: format!("{:?}", principal.method).to_lowercase(),
            address: address.to_owned(),
            action: action.to_owned(),
            target: String::new(),
            result: AuditResult::Accepted,
        }
    }

    #[must_use]
    pub(crate) fn target(self, target: &str) -> Self {
        Self {
            target: target.to_owned(),
            ..self
        }
    }

    #[must_use]
    pub(crate) fn result(self, result: AuditResult) -> Self {
        Self { result, ..self }
    }

    /// Texts of requests can be long.
    fn shortened(self) -> Self {
        Self {
            actor: shortened(&self.actor),
            method: shortened(&self.method),
            address: shortened(&self.address),
            target: shortened(&self.target),
            ..self
        }
    }
}

/// The entries that are shown: those that have all that is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AuditFilter {
    pub(crate) since: Option<Timestamp>,
    pub(crate) until: Option<Timestamp>,
    pub(crate) actor: Option<String>,
    pub(crate) action: Option<String>,
}

impl AuditFilter {
    fn accepts(&self, entry: &AuditEntry) -> bool {
        self.since.is_none_or(|since| entry.time >= since)
            && self.until.is_none_or(|until| entry.time <= until)
            && (self.actor.as_ref()).is_none_or(|actor| *actor == entry.actor)
            && (self.action.as_ref()).is_none_or(|action| *action == entry.action)
    }
}

/// The file.
#[derive(Clone, Debug)]
pub(crate) struct AuditLog {
    path: PathBuf,
    /// The socket of the journal.
    journal: PathBuf,
}

impl AuditLog {
    pub(crate) fn at(path: PathBuf) -> Self {
        Self {
            path,
            journal: syslog::SOCKET.into(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends an action. It is on disk when this returns.
    ///
    /// # Cancellation
    /// A line that has begun is completed.
    pub(crate) async fn append(&self, entry: AuditEntry) -> Result<(), AuditError> {
        let log = self.clone();
        blocking_io::run(move || log.append_blocking(entry)).await
    }

    /// As [`Self::append`], for threads.
    pub(crate) fn append_blocking(&self, entry: AuditEntry) -> Result<(), AuditError> {
        let line = serde_json::to_string(&entry.shortened()).expect("an entry is JSON");
        self.write(&line)
            .map_err(|source| self.failed("write", source))?;
        // A host without a journal has the file only.
        let journal = Syslog::open(&self.journal);
        let _ =
            journal.and_then(|log| log.send(Facility::AuthPriv, INFO, &format!("audit {line}")));
        Ok(())
    }

    fn write(&self, line: &str) -> io::Result<()> {
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&self.path)?;
        // Other processes append, too: `switchtender access`. The lock ends with the file.
        file.lock()?;
        // A line that a crash cut short ends here.
        let separator = if ends_with_line(&mut file)? { "" } else { "\n" };
        file.write_all(format!("{separator}{line}\n").as_bytes())?;
        file.sync_data()
    }

    /// The newest entries of a filter, newest first. The file is read from its end.
    pub(crate) fn newest(
        &self,
        filter: &AuditFilter,
        count: usize,
    ) -> Result<Vec<AuditEntry>, AuditError> {
        let found = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            opened => opened.and_then(|mut file| newest_of(&mut file, filter, count)),
        };
        found.map_err(|source| self.failed("read", source))
    }

    /// The entries after a place in bytes, and the place after them. A shorter file is a new one, from its start.
    pub(crate) fn after(&self, position: u64) -> Result<(Vec<AuditEntry>, u64), AuditError> {
        let found = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((Vec::new(), 0)),
            opened => opened.and_then(|file| entries_after(file, position)),
        };
        found.map_err(|source| self.failed("read", source))
    }

    fn failed(&self, action: &'static str, source: io::Error) -> AuditError {
        AuditError {
            action,
            path: self.path.clone(),
            source,
        }
    }
}

fn ends_with_line(file: &mut File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

fn newest_of(file: &mut File, filter: &AuditFilter, count: usize) -> io::Result<Vec<AuditEntry>> {
    let mut found = Vec::new();
    let mut start = file.seek(SeekFrom::End(0))?;
    // The end of a line that begins before `start`.
    let mut rest = Vec::new();
    while start > 0 && found.len() < count {
        let size = CHUNK.min(start);
        start -= size;
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        file.take(size).read_to_end(&mut bytes)?;
        bytes.append(&mut rest);
        let complete = match bytes.iter().position(|byte| *byte == b'\n') {
            _ if start == 0 => 0,
            Some(end) => end + 1,
            None => bytes.len(),
        };
        let lines = bytes[complete..].split(|byte| *byte == b'\n').rev();
        // A line that a crash cut short is no entry.
        let entries = lines.filter_map(|line| serde_json::from_slice(line).ok());
        let missing = count - found.len();
        found.extend(entries.filter(|entry| filter.accepts(entry)).take(missing));
        bytes.truncate(complete);
        rest = bytes;
    }
    Ok(found)
}

/// Complete lines of at most some chunks, and the place after them.
fn entries_after(mut file: File, position: u64) -> io::Result<(Vec<AuditEntry>, u64)> {
    let length = file.seek(SeekFrom::End(0))?;
    let mut start = if position > length { 0 } else { position };
    loop {
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        (&file).take(CHUNKS * CHUNK).read_to_end(&mut bytes)?;
        let Some(last) = bytes.iter().rposition(|byte| *byte == b'\n') else {
            return Ok((Vec::new(), start));
        };
        start += last as u64 + 1;
        let lines = bytes[..last].split(|byte| *byte == b'\n');
        let entries: Vec<AuditEntry> = lines
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect();
        // Lines that a crash cut short are no entries.
        if !entries.is_empty() {
            return Ok((entries, start));
        }
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::net::UnixDatagram;

    use super::*;

    fn entry(actor: &str, action: &str, target: &str) -> AuditEntry {
        AuditEntry {
            time: "2026-01-01T00:00:00Z".parse().unwrap(),
            actor: actor.to_owned(),
            method: "session".to_owned(),
            address: "127.0.0.1".to_owned(),
            action: action.to_owned(),
            target: target.to_owned(),
            result: AuditResult::Accepted,
        }
    }

    fn log(dir: &tempfile::TempDir) -> AuditLog {
        AuditLog {
            path: dir.path().join("audit.jsonl"),
            journal: dir.path().join("journal"),
        }
    }

    fn targets(log: &AuditLog, filter: &AuditFilter, count: usize) -> Vec<String> {
        let newest = log.newest(filter, count).unwrap().into_iter();
        newest.map(|entry| entry.target).collect()
    }

    #[test]
    fn audit_log_has_entries_newest_first() {
        let dir = tempfile::tempdir().unwrap();
        let log = log(&dir);
        let all = AuditFilter::default();
        assert!(targets(&log, &all, 2).is_empty());
        let forged = "sw2\n{\"actor\": \"forged\"}";
        for target in ["sw1", forged, "sw3"] {
            log.append_blocking(entry("alice", "run", target)).unwrap();
        }
        assert_eq!(targets(&log, &all, 2), ["sw3", forged]);
        assert_eq!(targets(&log, &all, 9), ["sw3", forged, "sw1"]);
    }

    #[test]
    fn audit_log_is_filtered_by_time_user_and_action() {
        let dir = tempfile::tempdir().unwrap();
        let log = log(&dir);
        let time =
            |hour: i32| -> Timestamp { format!("2026-01-01T{hour:02}:00:00Z").parse().unwrap() };
        for hour in 0..6 {
            let actor = ["alice", "bob"][usize::from(hour % 2 == 1)];
            let action = ["plan", "apply"][usize::from(hour > 2)];
            let entry = AuditEntry {
                time: time(hour),
                ..entry(actor, action, &hour.to_string())
            };
            log.append_blocking(entry).unwrap();
        }
        let filter = AuditFilter::default();
        let since = AuditFilter {
            since: Some(time(2)),
            ..filter.clone()
        };
        let until = AuditFilter {
            until: Some(time(4)),
            ..since.clone()
        };
        let bob = AuditFilter {
            actor: Some("bob".to_owned()),
            ..since.clone()
        };
        let plans = AuditFilter {
            action: Some("plan".to_owned()),
            ..since.clone()
        };
        assert_eq!(targets(&log, &since, 9), ["5", "4", "3", "2"]);
        assert_eq!(targets(&log, &until, 9), ["4", "3", "2"]);
        assert_eq!(targets(&log, &bob, 9), ["5", "3"]);
        assert_eq!(targets(&log, &plans, 9), ["2"]);
    }

    #[test]
    fn audit_log_of_many_chunks_is_read_from_its_end() {
        let dir = tempfile::tempdir().unwrap();
        let log = log(&dir);
        let line = |number: usize| {
            let target = format!("{number} {}", "ä".repeat(number % 400));
            serde_json::to_string(&entry("alice", "run", &target)).unwrap() + "\n"
        };
        let text: String = (0..1000).map(line).collect();
        assert!(text.len() as u64 > 3 * CHUNK);
        fs::write(log.path(), text).unwrap();
        let all = targets(&log, &AuditFilter::default(), 2000);
        let numbers = all.iter().map(|text| text.split_once(' ').unwrap().0);
        let expected: Vec<String> = (0..1000).rev().map(|number| number.to_string()).collect();
        assert!(numbers.eq(expected));
    }

    #[test]
    fn audit_log_is_copied_from_a_position_on() {
        let dir = tempfile::tempdir().unwrap();
        let log = log(&dir);
        assert_eq!(log.after(0).unwrap(), (Vec::new(), 0));
        for target in ["sw1", "sw2"] {
            log.append_blocking(entry("alice", "run", target)).unwrap();
        }
        let (both, end) = log.after(0).unwrap();
        assert_eq!(both.len(), 2);
        assert_eq!(log.after(end).unwrap(), (Vec::new(), end));
        // A line that is not complete waits.
        let mut file = OpenOptions::new().append(true).open(log.path()).unwrap();
        file.write_all(b"{\"time\"").unwrap();
        assert_eq!(log.after(end).unwrap(), (Vec::new(), end));
        log.append_blocking(entry("bob", "plan", "sw3")).unwrap();
        let (new, _) = log.after(end).unwrap();
        assert_eq!(new, [entry("bob", "plan", "sw3")]);
        // Another file under the same name.
        let (all, _) = log.after(1 << 40).unwrap();
        assert_eq!(all.len(), 3);
    }

    #[test]
    fn audit_log_continues_after_a_line_that_a_crash_cut_short() {
        let dir = tempfile::tempdir().unwrap();
        let log = log(&dir);
        for target in ["sw1", "sw2"] {
            log.append_blocking(entry("alice", "run", target)).unwrap();
        }
        let text = fs::read_to_string(log.path()).unwrap();
        fs::write(log.path(), &text[..text.len() - 20]).unwrap();
        log.append_blocking(entry("alice", "run", "sw3")).unwrap();
        assert_eq!(targets(&log, &AuditFilter::default(), 9), ["sw3", "sw1"]);
    }

    #[test]
    fn audit_log_goes_to_the_journal_and_shortens_long_texts() {
        let dir = tempfile::tempdir().unwrap();
        let log = log(&dir);
        let journal = UnixDatagram::bind(&log.journal).unwrap();
        let long = entry("alice", "run", &"ä".repeat(100_000));
        log.append_blocking(long).unwrap();
        let line = fs::read_to_string(log.path()).unwrap();
        assert!(line.len() < 2000, "{line}");
        let mut message = [0; 4096];
        let size = journal.recv(&mut message).unwrap();
        let message = String::from_utf8_lossy(&message[..size]).into_owned();
        let process = std::process::id();
        let expected = format!("<86>switchtender[{process}]: audit {}", line.trim_end());
        assert_eq!(message, expected);
    }
}
