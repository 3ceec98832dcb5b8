//! Identifiers of findings that stay equal between runs, although lines move.

use std::collections::HashMap;

use sha2::{Digest as _, Sha256};

use super::Diagnostic;
use super::main_position::main_position;

/// The fingerprints of the findings of one report.
#[derive(Debug, Default)]
pub(super) struct Fingerprints {
    /// Equal findings are numbered, because readers drop the second of two equal fingerprints.
    seen: HashMap<String, usize>,
}

impl Fingerprints {
    /// The fingerprint of the next finding: a digest of its code, file and message, and a number.
    pub(super) fn next(&mut self, found: &Diagnostic) -> String {
        let mut digest = Sha256::new();
        let file = main_position(found).map_or("", |position| position.file);
        for part in [found.code, file, &found.message] {
            digest.update(part);
            digest.update([0]);
        }
        let digest = hex::encode(&digest.finalize()[..16]);
        let number = self.seen.entry(digest.clone()).or_default();
        *number += 1;
        format!("{digest}:{number}")
    }
}

#[cfg(test)]
mod tests {
    use super::super::ManifestPosition;
    use super::*;

    #[test]
    fn fingerprint_depends_on_code_file_and_message_only() {
        let at = |line: u64, message: &str| {
            let file = "site.pp".into();
            Diagnostic::error("cycle", message).in_manifest(Some(ManifestPosition { file, line }))
        };
        let of = |found: &Diagnostic| Fingerprints::default().next(found);
        assert_eq!(of(&at(1, "a")), of(&at(9, "a")));
        assert_ne!(of(&at(1, "a")), of(&at(1, "b")));
        let mut fingerprints = Fingerprints::default();
        assert_ne!(
            fingerprints.next(&at(1, "a")),
            fingerprints.next(&at(2, "a"))
        );
    }
}
