//! Whether others on this machine can read a file that holds secrets.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;

/// The mode bits that let others in, if any are set.
pub fn readable_by_others(file: &File) -> io::Result<Option<u32>> {
    let metadata = file.metadata()?;
    let mode = metadata.mode() & 0o7777;
    // Only what stays on disk counts: a pipe (`/dev/fd/63`) is read once, by us.
    Ok((metadata.is_file() && mode & 0o077 != 0).then_some(mode))
}
