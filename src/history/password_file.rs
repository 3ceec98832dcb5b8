//! A file with passwords in the format of psql: `HOST:PORT:DATABASE:USER:PASSWORD`.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use secrecy::{ExposeSecret as _, SecretString};

use super::HistoryError;

/// The lines of a file.
pub(super) struct PasswordFile {
    text: SecretString,
}

impl PasswordFile {
    /// Reads a file, which only its owner may read.
    pub(super) fn read(path: &Path) -> Result<Self, HistoryError> {
        let failed =
            |text: &str| HistoryError::Address(format!("cannot use {}: {text}", path.display()));
        let found = std::fs::metadata(path).map_err(|error| failed(&error.to_string()))?;
        if found.permissions().mode() & 0o077 != 0 {
            return Err(failed("others may read it; run `chmod 600`"));
        }
        let text = std::fs::read_to_string(path).map_err(|error| failed(&error.to_string()))?;
        Ok(Self { text: text.into() })
    }

    /// The password of the first line for a host, port, database and user.
    pub(super) fn password(&self, desired: &[&str; 4]) -> Option<String> {
        self.text.expose_secret().lines().find_map(|line| {
            let fields = fields(line)?;
            let (password, keys) = fields.split_last()?;
            let mut pairs = keys.iter().zip(desired);
            pairs
                .all(|(key, desired)| key == "*" || key == desired)
                .then(|| password.clone())
        })
    }
}

/// The five fields of a line; a backslash is before a colon or a backslash.
fn fields(line: &str) -> Option<Vec<String>> {
    if line.starts_with('#') {
        return None;
    }
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ':' if fields.len() < 5 => fields.push(String::new()),
            '\\' => fields.last_mut()?.extend(letters.next()),
            other => fields.last_mut()?.push(other),
        }
    }
    (fields.len() == 5).then_some(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_has_the_password() {
        let text = "# a comment\ndb:5432:st:u:p\\:q\\\\\n*:*:*:other:x:y\n";
        let file = PasswordFile { text: text.into() };
        let of = |host, user| file.password(&[host, "5432", "st", user]);
        assert_eq!(of("db", "u").as_deref(), Some("p:q\\"));
        assert_eq!(of("db", "other").as_deref(), Some("x:y"));
        assert_eq!(of("other", "u"), None);
    }
}
