//! Check of file modes for files with secrets or commands.

use std::fmt;
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

/// A file that group or others can write. Its commands would be theirs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WritableFile {
    name: String,
    mode: u32,
}

impl WritableFile {
    /// `mode`: that of [`readable_by_others`].
    pub(crate) fn new(name: &str, mode: Option<u32>) -> Option<Self> {
        let mode = mode.filter(|mode| mode & 0o022 != 0)?;
        Some(Self {
            name: name.to_owned(),
            mode,
        })
    }

    /// The action for the user.
    pub(crate) fn help(&self) -> String {
        format!("`chmod go-w {}`", self.name)
    }
}

impl fmt::Display for WritableFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "other users can write {} (mode {:04o})",
            self.name, self.mode
        )
    }
}
