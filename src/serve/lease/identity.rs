//! The identity of a node: its name, and what shows that a process is the successor of an ended one.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use super::protocol::PROTOCOL;
use crate::history::leases::NodeRecord;
use crate::history::schema::TABLES_VERSION;
use crate::serve::settings::FleetSettings;

/// The identity of the state directory: two processes on a host can have two of them.
const FILE: &str = "node-id";

/// The record of this process. Its state directory is locked: no other process has it on this boot of the host.
///
/// # Errors
/// The host has no name, or the state directory cannot be written.
pub(crate) fn node_record(
    settings: &FleetSettings,
    state_dir: &Path,
    is_hub: bool,
) -> io::Result<NodeRecord> {
    let name = match &settings.node {
        Some(name) => name.clone(),
        None => host_name()?,
    };
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    let id = directory_id(state_dir)?;
    // A copy of the directory has its file, but another inode.
    let directory = fs::metadata(state_dir)?;
    let (device, inode) = (directory.dev(), directory.ino());
    Ok(NodeRecord {
        name,
        boot: format!("{} {id} {device}:{inode}", boot.trim()),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        protocol: PROTOCOL,
        tables: TABLES_VERSION,
        sites: settings.sites.clone(),
        runs: settings.runs,
        is_hub,
        ..NodeRecord::default()
    })
}

fn host_name() -> io::Result<String> {
    let name = fs::read_to_string("/proc/sys/kernel/hostname")?;
    let name = name.trim().to_owned();
    if name.is_empty() || name == "(none)" {
        let text = "the host has no name: set `node` in [fleet]";
        return Err(io::Error::other(text));
    }
    Ok(name)
}

fn directory_id(state_dir: &Path) -> io::Result<String> {
    let path = state_dir.join(FILE);
    match fs::read_to_string(&path) {
        Ok(id) if !id.trim().is_empty() => return Ok(id.trim().to_owned()),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let id = format!("{:032x}", rand::random::<u128>());
    crate::store::create_dir(state_dir)?;
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&path)?;
    writeln!(file, "{id}")?;
    file.sync_all()?;
    Ok(id)
}

/// The load of the processors in percent.
pub(crate) fn load_percent() -> i64 {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: f64 = load
        .split_whitespace()
        .next()
        .and_then(|first| first.parse().ok())
        .unwrap_or_default();
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    (load * 100.0 / processors as f64) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identity_is_that_of_the_state_directory() {
        let one = tempfile::tempdir().unwrap();
        let two = tempfile::tempdir().unwrap();
        let settings = FleetSettings::default();
        let record = |directory: &Path| node_record(&settings, directory, true).unwrap();
        assert_eq!(record(one.path()), record(one.path()));
        let [file, copy] = [&one, &two].map(|directory| directory.path().join(FILE));
        fs::copy(file, copy).unwrap();
        assert_ne!(record(one.path()).boot, record(two.path()).boot, "a copy");
        assert!(!record(one.path()).name.is_empty());
    }
}
