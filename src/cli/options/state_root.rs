//! The state directory of a command without `--state-dir`.

use std::path::PathBuf;

use crate::cli::exit::CommandError;
use crate::store::Store;

/// The default state directory.
pub(crate) fn state_root() -> Result<PathBuf, CommandError> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let root = rustix::process::geteuid().is_root();
    Store::default_root(variable, root)
        .ok_or_else(|| CommandError::new("no state directory").hint("pass one as --state-dir"))
}
