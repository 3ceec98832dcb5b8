//! Messages in Puppet's reports: a list.

use std::borrow::Cow;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::catalog::Level;
use crate::clock::puppet_times;
use crate::transaction::{LogEntry, LogKind};

/// A message. Its tags begin with its level.
#[derive(Serialize, Deserialize)]
pub(crate) struct PuppetLog<'a> {
    level: Level,
    message: Cow<'a, str>,
    #[serde(default)]
    source: Cow<'a, str>,
    #[serde(default)]
    tags: Vec<Arc<str>>,
    #[serde(with = "puppet_times")]
    time: Timestamp,
    file: Option<Arc<str>>,
    line: Option<u64>,
}

pub(super) fn serialize<S: Serializer>(
    logs: &[Arc<LogEntry>],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(logs.iter().map(|entry| PuppetLog::from(&**entry)))
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Cow<'static, [Arc<LogEntry>]>, D::Error> {
    let logs: Vec<PuppetLog<'_>> = Vec::deserialize(deserializer)?;
    let logs = logs.into_iter();
    Ok(logs.map(|log| Arc::new(log.into_entry())).collect())
}

impl<'a> From<&'a LogEntry> for PuppetLog<'a> {
    fn from(entry: &'a LogEntry) -> Self {
        let level = entry.level.to_string().into();
        Self {
            level: entry.level,
            message: Cow::Borrowed(&entry.message),
            source: Cow::Borrowed(&entry.source),
            tags: std::iter::once(level)
                .chain(entry.tags.iter().cloned())
                .collect(),
            time: entry.time,
            file: entry.file.clone(),
            line: entry.line,
        }
    }
}

impl PuppetLog<'_> {
    fn into_entry(self) -> LogEntry {
        LogEntry {
            level: self.level,
            source: self.source.into_owned(),
            message: self.message.into_owned(),
            time: self.time,
            file: self.file,
            line: self.line,
            tags: self.tags.into_iter().skip(1).collect(),
            kind: LogKind::Other,
        }
    }
}
