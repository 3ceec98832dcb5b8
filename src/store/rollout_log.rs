//! The log of a rollout: its batches and the results of its devices, so that it can be resumed.
//!
//! Layout: `<root>/rollouts/<run>.jsonl`, one JSON object per line. The first line is the [`RolloutPlan`];
//! a line for each device follows when the device has ended. After a crash, the last line may be
//! incomplete; its device is then run again.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use switchtender_devices::format_version::{FormatVersion, OtherVersion};
use switchtender_devices::names::DeviceName;

use super::{Store, create_dir, file};

const VERSION: FormatVersion = FormatVersion {
    number: 1,
    advice: "begin the rollout again, without --resume",
};

/// The batches of a rollout, and the options that stop it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RolloutPlan {
    pub(crate) batches: Vec<Vec<String>>,
    /// A number or a percentage.
    pub(crate) max_failures: Option<String>,
    /// A shell command.
    pub(crate) check: Option<String>,
}

/// The result of a device.
#[derive(Debug, Serialize, Deserialize)]
struct DeviceLine {
    device: String,
    succeeded: bool,
}

#[derive(Serialize, Deserialize)]
struct FirstLine {
    version: u32,
    #[serde(flatten)]
    plan: RolloutPlan,
}

/// An error of reading or writing the log of a rollout.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RolloutLogError {
    #[error("cannot {action} {path}")]
    Io {
        action: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{path} is damaged in line {line}")]
    Damaged {
        path: PathBuf,
        line: usize,
        #[source]
        source: serde_json::Error,
    },
    #[error("cannot use {path}")]
    Version {
        path: PathBuf,
        #[source]
        version: OtherVersion,
    },
    #[error("there is no rollout `{run}` in {dir}")]
    Unknown { run: String, dir: PathBuf },
}

/// The log of a rollout, open for writing.
#[derive(Debug)]
pub(crate) struct RolloutLog {
    run: String,
    path: PathBuf,
    file: File,
}

impl RolloutLog {
    /// Creates a log. `run` is the wanted name; a number is appended if there is such a log.
    pub(crate) fn create(
        store: &Store,
        run: &str,
        plan: &RolloutPlan,
    ) -> Result<Self, RolloutLogError> {
        let dir = directory(store);
        create_dir(&dir).map_err(failed("create", &dir))?;
        for attempt in 1.. {
            let run = match attempt {
                1 => run.to_owned(),
                _ => format!("{run}-{attempt}"),
            };
            let path = log_path(store, &run);
            let mut options = OpenOptions::new();
            let file = match options
                .create_new(true)
                .append(true)
                .mode(0o600)
                .open(&path)
            {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                opened => opened.map_err(failed("create", &path))?,
            };
            let log = Self { run, path, file };
            let plan = plan.clone();
            log.write(&FirstLine {
                version: VERSION.number,
                plan,
            })?;
            return Ok(log);
        }
        unreachable!("there are fewer logs than numbers")
    }

    /// Opens the log of a run to continue it. Returns its plan without the devices that succeeded.
    pub(crate) fn resume(store: &Store, run: &str) -> Result<(Self, RolloutPlan), RolloutLogError> {
        let path = log_path(store, run);
        let unknown = || RolloutLogError::Unknown {
            run: run.to_owned(),
            dir: directory(store),
        };
        if run.contains('/') {
            return Err(unknown());
        }
        let text = match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(unknown()),
            read => read.map_err(failed("read", &path))?,
        };
        let plan = remaining(&text, &path)?;
        let mut options = OpenOptions::new();
        let file = options.append(true).open(&path);
        let mut log = Self {
            run: run.to_owned(),
            file: file.map_err(failed("open", &path))?,
            path,
        };
        if !text.ends_with('\n') {
            let ended = log.file.write_all(b"\n");
            ended.map_err(failed("write", &log.path))?;
        }
        Ok((log, plan))
    }

    /// The name of the run, for `--resume`.
    pub(crate) fn run(&self) -> &str {
        &self.run
    }

    /// Adds the result of a device.
    pub(crate) fn append(
        &self,
        device: &DeviceName,
        succeeded: bool,
    ) -> Result<(), RolloutLogError> {
        let device = device.to_string();
        self.write(&DeviceLine { device, succeeded })
    }

    fn write(&self, line: &impl Serialize) -> Result<(), RolloutLogError> {
        let mut text = serde_json::to_string(line).expect("a line of the log is JSON");
        text.push('\n');
        let written = (&self.file).write_all(text.as_bytes());
        written.map_err(failed("write", &self.path))
    }
}

/// The plan without the devices that succeeded last.
fn remaining(text: &str, path: &Path) -> Result<RolloutPlan, RolloutLogError> {
    let damaged = |line, source| RolloutLogError::Damaged {
        path: path.to_owned(),
        line,
        source,
    };
    let mut lines = text.lines().enumerate();
    let first = lines.next().map_or("", |(_, line)| line);
    let found = file::version_of(first).map_err(|error| damaged(1, error))?;
    let checked = VERSION.check(found);
    checked.map_err(|version| RolloutLogError::Version {
        path: path.to_owned(),
        version,
    })?;
    let first: FirstLine = serde_json::from_str(first).map_err(|error| damaged(1, error))?;
    let mut results = std::collections::HashMap::new();
    for (index, line) in lines {
        match serde_json::from_str::<DeviceLine>(line) {
            Ok(DeviceLine { device, succeeded }) => {
                results.insert(device, succeeded);
            }
            // A crash while a line was written.
            Err(error) if error.is_eof() => {}
            Err(error) => return Err(damaged(index + 1, error)),
        }
    }
    let mut plan = first.plan;
    for batch in &mut plan.batches {
        batch.retain(|device| results.get(device) != Some(&true));
    }
    plan.batches.retain(|batch| !batch.is_empty());
    Ok(plan)
}

impl Store {
    /// The logs of rollouts that were not written to since some time.
    pub(crate) fn rollouts_before(&self, limit: Timestamp) -> io::Result<Vec<PathBuf>> {
        let entries = match std::fs::read_dir(directory(self)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            read => read?,
        };
        let mut old = Vec::new();
        for entry in entries {
            let entry = entry?;
            let written = entry.metadata()?.modified()?;
            if Timestamp::try_from(written).is_ok_and(|written| written < limit) {
                old.push(entry.path());
            }
        }
        old.sort();
        Ok(old)
    }
}

fn directory(store: &Store) -> PathBuf {
    store.root().join("rollouts")
}

fn log_path(store: &Store, run: &str) -> PathBuf {
    directory(store).join(format!("{run}.jsonl"))
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> RolloutLogError {
    move |source| RolloutLogError::Io {
        action,
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error_chain::chain;

    fn plan() -> RolloutPlan {
        RolloutPlan {
            batches: vec![vec!["a".to_owned()], vec!["b".to_owned(), "c".to_owned()]],
            max_failures: Some("10%".to_owned()),
            check: Some("true".to_owned()),
        }
    }

    fn name(text: &str) -> DeviceName {
        DeviceName::parse(text).unwrap()
    }

    #[test]
    fn resume_leaves_out_devices_that_succeeded() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::at(dir.path());
        let log = RolloutLog::create(&store, "r", &plan()).unwrap();
        for (device, succeeded) in [("a", true), ("b", false), ("c", true)] {
            log.append(&name(device), succeeded).unwrap();
        }
        let (_, rest) = RolloutLog::resume(&store, "r").unwrap();
        let batches = vec![vec!["b".to_owned()]];
        assert_eq!(rest, RolloutPlan { batches, ..plan() });
    }

    #[test]
    fn resume_survives_a_line_that_is_not_complete() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::at(dir.path());
        let log = RolloutLog::create(&store, "r", &plan()).unwrap();
        (&log.file).write_all(b"{\"device\":\"a\",\"succ").unwrap();
        let (log, rest) = RolloutLog::resume(&store, "r").unwrap();
        assert_eq!(rest, plan());
        log.append(&name("a"), true).unwrap();
        let (_, rest) = RolloutLog::resume(&store, "r").unwrap();
        assert_eq!(rest.batches, plan().batches[1..]);
    }

    #[test]
    fn create_never_replaces_a_log() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::at(dir.path());
        let names = [1, 2].map(|_| {
            let log = RolloutLog::create(&store, "r", &plan()).unwrap();
            log.run().to_owned()
        });
        assert_eq!(names, ["r", "r-2"]);
    }

    #[test]
    fn resume_names_what_is_wrong() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::at(dir.path());
        for run in ["other", "../r", "a/b"] {
            let error = RolloutLog::resume(&store, run).unwrap_err().to_string();
            assert!(error.starts_with("there is no rollout `"), "{error}");
        }
        let log = RolloutLog::create(&store, "r", &plan()).unwrap();
        (&log.file).write_all(b"{}\n").unwrap();
        let error = RolloutLog::resume(&store, "r").unwrap_err().to_string();
        assert!(error.ends_with("r.jsonl is damaged in line 2"), "{error}");
        std::fs::write(&log.path, "{\"version\":9,\"devices\":[]}\n").unwrap();
        let error = chain(&RolloutLog::resume(&store, "r").unwrap_err());
        assert!(error.contains("r.jsonl: it has version 9"), "{error}");
    }
}
