//! Files that an import must not overwrite: those with changes that no commit has.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Those of these files that are not committed, if their directory is in a Git work tree.
pub(super) fn uncommitted(directory: &Path, files: &[PathBuf]) -> Vec<String> {
    if files.is_empty() {
        return Vec::new();
    }
    let output = Command::new("git")
        .arg("-C")
        .arg(directory)
        .args(["status", "--porcelain", "-z", "--untracked-files=all", "--"])
        .args(files)
        .output();
    let Ok(output) = output else {
        return Vec::new();
    };
    // Without a work tree, there are no commits to compare with.
    if !output.status.success() {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let entries = text.split('\0').filter_map(|entry| entry.get(3..));
    entries
        .filter(|path| !path.is_empty())
        .map(str::to_owned)
        .collect()
}
