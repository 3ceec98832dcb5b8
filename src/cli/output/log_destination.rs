//! Destinations of the messages of device runs: `--logdest`, as in `puppet device`.
//!
//! `console`, `syslog`, or files: text, `.json` (a list), `.jsonl` (an object per line); several
//! separated by commas.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use switchtender_devices::names::DeviceName;

use crate::catalog::Level;
use crate::cli::exit::{CommandError, eprint_notice, eprint_text, escape_json, print};
use crate::cli::output::view::{DeviceFailure, DeviceSummary, FinishedDevice, View};
use crate::clock::{self, puppet_time};
use crate::fleet::device_run::DeviceEvent;
use crate::syslog::{self, Facility, Syslog};
use crate::terminal_text::{Style, TerminalText};
use crate::transaction::{LogEntry, LogKind, RunEvent};

/// All destinations of one process: the view of `device`.
pub(crate) struct LogDestinations {
    level: Level,
    all: Vec<OpenLog>,
}

/// A destination with its name.
struct OpenLog {
    name: String,
    destination: LogDestination,
    /// A message was lost, and a notice was printed.
    has_lost: bool,
}

impl OpenLog {
    /// Prints a notice about the first error, so that a full disk does not stop a run.
    fn check(&mut self, result: std::io::Result<()>) {
        if let Err(error) = result
            && !std::mem::replace(&mut self.has_lost, true)
        {
            let name = &self.name;
            eprint_notice(&format!(
                "warning: cannot write all messages to {name}: {error}"
            ));
        }
    }
}

enum LogDestination {
    Console {
        colored: bool,
    },
    Syslog(Syslog),
    Text(File),
    Lines(File),
    /// `count` entries are in the list so far.
    List {
        file: File,
        count: usize,
    },
}

impl LogDestinations {
    /// Opens the destinations. Messages below `level` are dropped.
    pub(crate) fn open(
        names: &[String],
        level: Level,
        colored: bool,
    ) -> Result<Self, CommandError> {
        let all = names
            .iter()
            .map(|name| {
                Ok::<_, CommandError>(OpenLog {
                    name: name.clone(),
                    destination: LogDestination::open(name, colored)?,
                    has_lost: false,
                })
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { level, all })
    }
}

impl View for LogDestinations {
    fn event(&mut self, device: &DeviceName, event: &DeviceEvent) {
        let (DeviceEvent::Run(RunEvent::Log(entry)) | DeviceEvent::Error(entry)) = event else {
            return;
        };
        if entry.level >= self.level {
            for log in &mut self.all {
                let result = log.destination.write(device, entry);
                log.check(result);
            }
        }
    }

    fn device(&mut self, device: &FinishedDevice) {
        // Other errors come as events.
        if let Err(DeviceFailure::Task(error)) = &device.result {
            let entry = LogEntry {
                level: Level::Err,
                message: error.to_string(),
                source: "Puppet".to_owned(),
                tags: Arc::default(),
                time: clock::timestamp(),
                file: None,
                line: None,
                kind: LogKind::Other,
            };
            self.event(&device.device, &DeviceEvent::Error(Arc::new(entry)));
        }
    }

    /// Ends the lists.
    fn end(&mut self, _all: &[DeviceSummary]) -> Result<(), CommandError> {
        for log in &mut self.all {
            if let LogDestination::List { file, count } = &mut log.destination {
                let result = file.write_all(if *count == 0 { b"[]\n" } else { b"\n]\n" });
                log.check(result);
            }
        }
        Ok(())
    }
}

impl LogDestination {
    fn open(name: &str, colored: bool) -> Result<Self, CommandError> {
        let failed = |error: std::io::Error| {
            CommandError::new(format!("cannot log to {name}"))
                .with_source(error)
                .hint("use console, syslog or the path of a file for --logdest")
        };
        match name {
            "console" => Ok(Self::Console { colored }),
            "syslog" => {
                let log = Syslog::open(Path::new(syslog::SOCKET)).map_err(failed)?;
                Ok(Self::Syslog(log))
            }
            path => {
                let list = Path::new(path)
                    .extension()
                    .is_some_and(|extension| extension == "json");
                let file = File::options()
                    .create(true)
                    .append(!list)
                    .write(true)
                    .truncate(list)
                    .open(path)
                    .map_err(failed)?;
                Ok(if list {
                    Self::List { file, count: 0 }
                } else if path.ends_with(".jsonl") {
                    Self::Lines(file)
                } else {
                    Self::Text(file)
                })
            }
        }
    }

    fn write(&mut self, device: &DeviceName, entry: &LogEntry) -> std::io::Result<()> {
        let text = render_line(entry);
        match self {
            Self::Console { colored } => {
                let color = match entry.level {
                    level if level >= Level::Err => Style::BoldRed,
                    Level::Warning => Style::BoldYellow,
                    _ => Style::Green,
                };
                let mut line = TerminalText::with_colors(*colored);
                line.paint(color, name(entry.level))
                    .line(format_args!(": {device}: {text}"));
                if entry.level >= Level::Warning {
                    eprint_text(&line);
                } else {
                    print(&line);
                }
                Ok(())
            }
            Self::Syslog(log) => {
                let text = format!("({device}) {text}");
                log.send(Facility::Daemon, severity(entry.level), &text)
            }
            Self::Text(file) => {
                let time = puppet_time(entry.time);
                let line = TerminalText::of_line(format_args!(
                    "{time} {} ({}): {device}: {text}",
                    entry.source, entry.level
                ));
                file.write_all(line.as_str().as_bytes())
            }
            Self::Lines(file) => {
                writeln!(file, "{}", escape_json(&object(device, entry).to_string()))
            }
            Self::List { file, count } => {
                let before = if *count == 0 { "[\n" } else { ",\n" };
                *count += 1;
                write!(
                    file,
                    "{before}{}",
                    escape_json(&object(device, entry).to_string())
                )
            }
        }
    }
}

/// The message, with its source unless it is `Puppet`.
fn render_line(entry: &LogEntry) -> String {
    match entry.source.as_str() {
        "Puppet" => entry.message.clone(),
        source => format!("{source}: {}", entry.message),
    }
}

fn object(device: &DeviceName, entry: &LogEntry) -> serde_json::Value {
    json!({
        "time": puppet_time(entry.time), "device": device.as_str(), "level": entry.level.to_string(),
        "source": entry.source, "message": entry.message, "file": entry.file.as_deref(), "line": entry.line,
    })
}

/// The level as Puppet prints it on the console.
fn name(level: Level) -> &'static str {
    match level {
        Level::Debug => "Debug",
        Level::Info => "Info",
        Level::Notice => "Notice",
        Level::Warning => "Warning",
        _ => "Error",
    }
}

/// Severity of syslog.
fn severity(level: Level) -> u8 {
    match level {
        Level::Debug => 7,
        Level::Info => 6,
        Level::Notice => 5,
        Level::Warning => 4,
        Level::Err => 3,
        Level::Crit => 2,
        Level::Alert => 1,
        Level::Emerg => 0,
    }
}
