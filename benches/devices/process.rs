//! Processes with their time, CPU time and memory, from `/proc` of Linux.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A process that ended well.
pub(crate) struct Finished {
    pub elapsed: Duration,
    /// Of all its threads, user and system.
    pub cpu: Duration,
    /// The most memory that was resident, in bytes, as far as it was seen.
    pub peak: u64,
}

/// Interval between two reads of a running process.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Where `/proc` has the times of user and system, counted from the state of the process.
const OWN: usize = 11;
/// The same of its children that have ended.
const CHILDREN: usize = 13;

/// Runs a command to its end.
///
/// # Panics
/// When it fails: there is nothing to measure then.
pub(crate) fn run(command: &mut Command) -> Finished {
    let before = of_children();
    let began = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .spawn()
        .expect("the program can be started");
    let mut peak = 0;
    // Another thread waits and measures the time; this one reads `/proc`.
    let id = child.id();
    let waiting = std::thread::spawn(move || {
        let status = child.wait().expect("a child can be waited for");
        (status, began.elapsed())
    });
    while !waiting.is_finished() {
        peak = peak.max(resident_peak(id).unwrap_or(0));
        std::thread::sleep(POLL_INTERVAL);
    }
    let (status, elapsed) = waiting.join().expect("waiting does not panic");
    assert!(status.success(), "{command:?} failed: {status}");
    Finished {
        elapsed,
        cpu: of_children() - before,
        peak,
    }
}

/// Ends a process as systemd does.
pub(crate) fn terminate(child: &mut Child) {
    let id = child.id().to_string();
    let _ = Command::new("kill").arg(&id).status();
    let ended = child.wait().expect("a child can be waited for");
    assert!(ended.success(), "the process failed: {ended}");
}

/// Processors' time that a process has used until now.
pub(crate) fn cpu(id: u32) -> Option<Duration> {
    times(&id.to_string(), OWN)
}

/// Processors' time that a process has used until now, with that of its children, also of those that have ended.
pub(crate) fn cpu_with_children(id: u32) -> Duration {
    let text = id.to_string();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let names = processes.filter_map(|process| process.file_name().into_string().ok());
    let children = names.filter(|child| parent(child).as_ref() == Some(&text));
    let living: Duration = children.filter_map(|child| times(&child, OWN)).sum();
    let own = times(&text, OWN).unwrap_or_default();
    own + times(&text, CHILDREN).unwrap_or_default() + living
}

fn parent(id: &str) -> Option<String> {
    let text = std::fs::read_to_string(of(id, "stat")).ok()?;
    let (_, fields) = text.rsplit_once(')')?;
    fields.split_whitespace().nth(1).map(str::to_owned)
}

/// Processors' time of all children that have ended.
fn of_children() -> Duration {
    times("self", CHILDREN).unwrap_or_default()
}

/// Two times beside each other that `/proc` tells of a process.
fn times(id: &str, from: usize) -> Option<Duration> {
    /// Of the kernel's clock that `/proc` tells in; the same on all machines.
    const TICKS_PER_SECOND: f64 = 100.0;
    let text = std::fs::read_to_string(of(id, "stat")).ok()?;
    // The name in parentheses may hold anything; after it come state (field 3) and the rest.
    let (_, fields) = text.rsplit_once(')')?;
    let mut times = fields.split_whitespace().skip(from);
    let mut ticks = || times.next()?.parse::<f64>().ok();
    Some(Duration::from_secs_f64(
        (ticks()? + ticks()?) / TICKS_PER_SECOND,
    ))
}

/// The most memory of a process that was resident until now, in bytes.
pub(crate) fn resident_peak(id: u32) -> Option<u64> {
    let text = std::fs::read_to_string(of(&id.to_string(), "status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib * 1024)
}

fn of(id: &str, file: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{id}/{file}"))
}
