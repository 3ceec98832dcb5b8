//! What is read of devices after runs, and `[backup]`: also in files, and in Git.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use switchtender_devices::document::Table;

use super::values::BAD_VALUE;

/// When the running configuration of a device is read and stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ConfigurationReads {
    Never,
    /// After the first run, and after runs that made or found changes.
    #[default]
    Changes,
    Always,
}

impl FromStr for ConfigurationReads {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "never" => Ok(ConfigurationReads::Never),
            "changes" => Ok(ConfigurationReads::Changes),
            "always" => Ok(ConfigurationReads::Always),
            _ => Err(()),
        }
    }
}

/// Files with what is read of devices after runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BackupSettings {
    pub(crate) directory: PathBuf,
    /// Commit the files that have changed.
    pub(crate) commit: bool,
    /// Push after a commit.
    pub(crate) push: bool,
}

impl BackupSettings {
    /// Reads `[backup]`.
    pub(super) fn read(table: &Table<'_>, base: &Path, reads: ConfigurationReads) -> Self {
        let directory = table.string("directory");
        if directory.is_none() {
            table.missing("directory");
        }
        let commit = table.bool("commit").unwrap_or(false);
        let push = table.bool("push").unwrap_or(false);
        if push
            && !commit
            && let Some(item) = table.get("push")
        {
            item.error(BAD_VALUE, "`push` needs `commit = true`");
        }
        if reads == ConfigurationReads::Never
            && let Some(item) = table.get("directory")
        {
            let text = "[backup] has no files: `configurations` is \"never\"";
            item.error(BAD_VALUE, text);
        }
        table.finish();
        Self {
            directory: base.join(directory.unwrap_or_default()),
            commit,
            push,
        }
    }
}
