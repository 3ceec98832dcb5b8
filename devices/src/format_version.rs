//! Versions of the files that the program reads again, and of those that users write for it.
//!
//! A file of another version is refused with its name, its version and what to do. The program never
//! converts, replaces or deletes it.

/// The version of a format of files.
#[derive(Clone, Copy, Debug)]
pub struct FormatVersion {
    /// Is in each file.
    pub number: u32,
    /// What to do with a file of another version, in the imperative.
    pub advice: &'static str,
}

/// A file has another version. The name of the file is in the outer error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it has version {found}, and this program reads version {supported}: {advice}")]
pub struct OtherVersion {
    /// The version of the file.
    pub found: i64,
    supported: u32,
    advice: &'static str,
}

impl FormatVersion {
    /// Checks the version of a file.
    ///
    /// # Errors
    /// The file has another version.
    pub fn check(self, found: impl Into<i64>) -> Result<(), OtherVersion> {
        let found = found.into();
        if found == i64::from(self.number) {
            return Ok(());
        }
        Err(OtherVersion {
            found,
            supported: self.number,
            advice: self.advice,
        })
    }
}
