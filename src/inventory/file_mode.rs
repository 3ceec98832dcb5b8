//! Check of file modes for files with secrets.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;

/// The mode, if group or others can access the file.
pub(crate) fn readable_by_others(file: &File) -> io::Result<Option<u32>> {
    let metadata = file.metadata()?;
    let mode = metadata.mode() & 0o7777;
    // Only regular files count. A pipe (`/dev/fd/63`) is read once, by this process.
    Ok((metadata.is_file() && mode & 0o077 != 0).then_some(mode))
}
