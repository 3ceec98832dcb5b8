//! Real devices and programs that tests need and that a machine may lack.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Command;

use crate::stderr_note;

/// Whether a test is skipped, aloud, because something is missing.
///
/// # Panics
/// If something is missing and `SWITCHTENDER_REQUIRE_PEERS` is set.
pub fn skips(missing: Option<String>) -> bool {
    let Some(missing) = missing else {
        return false;
    };
    assert!(
        std::env::var_os("SWITCHTENDER_REQUIRE_PEERS").is_none(),
        "{missing}"
    );
    stderr_note::print(&format!("skipped: {missing}"));
    true
}

/// The reason why these programs cannot be used, if there is one. `script` installs them.
pub fn missing_programs(script: &str, programs: &[&str]) -> Option<String> {
    let found = |name: &str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path)
            .chain(["/usr/sbin".into(), "/usr/lib/frr".into()])
            .any(|dir| dir.join(name).exists())
    };
    let name = programs.iter().find(|name| !found(name))?;
    Some(format!(
        "there is no {name} (tests/real-peers/{script} install)"
    ))
}

/// The reason why a peer that needs these programs, root and a network namespace cannot start.
pub fn missing_for_host(script: &str, programs: &[&str]) -> Option<String> {
    if let Some(missing) = missing_programs(script, programs) {
        return Some(missing);
    }
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
    if !is_root {
        return Some("only root can start peers".to_owned());
    }
    let own = Command::new("unshare").args(["--net", "true"]).output();
    if !own.is_ok_and(|output| output.status.success()) {
        return Some("network namespaces cannot be made here".to_owned());
    }
    None
}

/// The reason why a test cannot use Puppet's compiler.
pub fn missing_puppet() -> Option<String> {
    missing_programs("puppetserver.sh", &["puppet"])
}

/// The reason why a test cannot use the Resource API of Puppet.
pub fn missing_resource_api() -> Option<String> {
    let require = Command::new("ruby")
        .args(["-e", "require 'puppet/resource_api'"])
        .output();
    let is_installed = require.is_ok_and(|output| output.status.success());
    let missing = "there is no Resource API (tests/real-peers/puppetserver.sh install)";
    (!is_installed).then(|| missing.to_owned())
}

/// The reason why a test cannot use Puppet Server.
pub fn missing_puppetserver() -> Option<String> {
    let is_installed = Path::new("/usr/share/puppetserver/puppetserver.jar").exists();
    let missing = "there is no Puppet Server (tests/real-peers/puppetserver.sh install)";
    (!is_installed).then(|| missing.to_owned())
}
