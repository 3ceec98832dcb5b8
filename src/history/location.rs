//! Where a history is: a file of SQLite, or a database of PostgreSQL.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

use super::server_address::{ServerAddress, ServerAddressError};

/// Where a history is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StoreLocation {
    File(PathBuf),
    Server(Box<ServerAddress>),
}

impl StoreLocation {
    /// The place that a setting or an option names; a relative path begins at `directory`.
    ///
    /// # Errors
    /// The text is an address, and has an error.
    pub(crate) fn parse(text: &OsStr, directory: &Path) -> Result<Self, ServerAddressError> {
        match text.to_str().filter(|text| ServerAddress::is_meant(text)) {
            Some(text) => Ok(Self::Server(Box::new(ServerAddress::parse(text)?))),
            None => Ok(Self::File(directory.join(text))),
        }
    }

    /// The place for a process with another current directory.
    pub(crate) fn absolute(&self) -> String {
        let path = self.file().and_then(|path| std::path::absolute(path).ok());
        path.map_or_else(|| self.to_string(), |path| path.display().to_string())
    }

    /// The file, if it is one.
    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Server(_) => None,
        }
    }
}

impl fmt::Display for StoreLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(formatter),
            Self::Server(address) => address.fmt(formatter),
        }
    }
}
