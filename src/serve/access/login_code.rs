//! Codes for one login without a password: the operator of the host opens a link with one.
//!
//! A code is a file with its digest, which only the owner of the state directory can write.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use switchtender_devices::format_version::FormatVersion;

use super::token::TokenText;
use crate::store::file::state_version;
use crate::store::{self, StoreError};

/// A code is valid for this time.
const VALID: SignedDuration = SignedDuration::from_mins(10);

const VERSION: FormatVersion = state_version(1);

#[derive(Serialize, Deserialize)]
struct StoredCode {
    digest: String,
    expires: Timestamp,
}

/// The file of the one code that is valid.
pub(crate) struct LoginCodeFile {
    path: PathBuf,
}

impl LoginCodeFile {
    pub(crate) fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// Creates a code; an earlier one becomes invalid.
    pub(crate) fn create(&self, now: Timestamp) -> Result<TokenText, StoreError> {
        let code = TokenText::random();
        let stored = StoredCode {
            digest: code.digest(),
            expires: now + VALID,
        };
        store::file::save(&self.path, VERSION, &stored)?;
        Ok(code)
    }

    /// Whether the code is valid. It is invalid from then on.
    pub(super) fn redeem(&self, code: &TokenText, now: Timestamp) -> bool {
        let stored = read(&self.path);
        let is_valid =
            stored.is_some_and(|stored| stored.digest == code.digest() && now <= stored.expires);
        // Of two requests at once, one removes the file.
        is_valid && fs::remove_file(&self.path).is_ok()
    }
}

fn read(path: &Path) -> Option<StoredCode> {
    match store::file::load(path, VERSION) {
        Ok(stored) => stored,
        Err(error) => {
            tracing::warn!("{}", crate::error_chain::chain(&error));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn login_code_is_valid_once_and_for_ten_minutes() {
        let dir = tempfile::tempdir().unwrap();
        let codes = LoginCodeFile::at(dir.path().join("login.code"));
        let start: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        assert!(!codes.redeem(&TokenText::random(), start));
        let code = codes.create(start).unwrap();
        assert!(!codes.redeem(&TokenText::random(), start));
        assert!(codes.redeem(&code, start + VALID));
        assert!(!codes.redeem(&code, start));
        let late = codes.create(start).unwrap();
        assert!(!codes.redeem(&late, start + VALID + SignedDuration::from_secs(1)));
        let replaced = codes.create(start).unwrap();
        codes.create(start).unwrap();
        assert!(!codes.redeem(&replaced, start));
    }
}
