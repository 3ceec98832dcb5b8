//! The transcript of a session, for troubleshooting. Secrets are masked.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::error::SessionErrorKind;
use super::mask::Mask;
use crate::printable::escape;
use crate::secret_mask::SecretMask;

/// Writes sent (`>`) and received (`<`) lines to a file, and to the log at level trace.
pub(super) struct Transcript {
    file: Option<BufWriter<File>>,
    path: PathBuf,
    logged: bool,
    /// Received bytes of an incomplete line: a secret may span two reads.
    pending: Vec<u8>,
    secrets: SecretMask,
    /// Lines from the time before all secrets were known.
    held: Vec<(char, String)>,
}

impl Transcript {
    /// Opens the file for appending, readable for owner and group only. Without a path only the
    /// log is written. Nothing is written before `secrets` are complete, or the session ends.
    pub(crate) fn create(
        path: Option<&Path>,
        secrets: &SecretMask,
    ) -> Result<Self, SessionErrorKind> {
        let file = path
            .map(|path| {
                let mut options = File::options();
                options.append(true).create(true);
                #[cfg(unix)]
                std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o640);
                options
                    .open(path)
                    .map(BufWriter::new)
                    .map_err(|error| SessionErrorKind::File {
                        action: "cannot write the transcript",
                        path: path.to_owned(),
                        reason: error.to_string(),
                    })
            })
            .transpose()?;
        Ok(Self {
            file,
            path: path.unwrap_or(Path::new("")).to_owned(),
            logged: tracing::enabled!(tracing::Level::TRACE),
            pending: Vec::new(),
            secrets: secrets.clone(),
            held: Vec::new(),
        })
    }

    /// Whether anything is written.
    fn is_enabled(&self) -> bool {
        self.file.is_some() || self.logged
    }

    /// Records sent text.
    pub(crate) fn sent(&mut self, text: &str, mask: &Mask) {
        if !self.is_enabled() {
            return;
        }
        self.flush(mask);
        for line in mask.apply(text).split_terminator(['\r', '\n']) {
            self.write_line('>', line);
        }
    }

    pub(crate) fn received(&mut self, bytes: &[u8], mask: &Mask) {
        if !self.is_enabled() {
            return;
        }
        for byte in bytes {
            if *byte == b'\n' {
                self.flush(mask);
            } else {
                self.pending.push(*byte);
            }
        }
    }

    /// Records an event, such as an error.
    pub(crate) fn note(&mut self, note: &str, mask: &Mask) {
        self.flush(mask);
        self.write_line('#', &mask.apply(note));
    }

    fn flush(&mut self, mask: &Mask) {
        if self.pending.is_empty() {
            return;
        }
        let pending = std::mem::take(&mut self.pending);
        let text = String::from_utf8_lossy(&pending);
        self.write_line('<', mask.apply(&text).trim_end_matches('\r'));
    }

    fn write_line(&mut self, mark: char, text: &str) {
        if !self.is_enabled() {
            return;
        }
        self.held.push((mark, text.to_owned()));
        if self.secrets.is_complete() {
            self.write_held();
        }
    }

    fn write_held(&mut self) {
        for (mark, text) in std::mem::take(&mut self.held) {
            self.write_masked(mark, &self.secrets.apply(&text));
        }
    }

    fn write_masked(&mut self, mark: char, text: &str) {
        let text = escape(text);
        tracing::trace!("{mark} {text}");
        if let Some(file) = &mut self.file {
            let written = writeln!(file, "{mark} {text}");
            self.check(written);
        }
    }

    /// A full disk ends the transcript, not the session.
    fn check(&mut self, written: std::io::Result<()>) {
        if let Err(error) = written
            && self.file.take().is_some()
        {
            let path = self.path.display();
            tracing::warn!("the transcript is incomplete: cannot write {path}: {error}");
        }
    }
}

impl Drop for Transcript {
    fn drop(&mut self) {
        self.write_held();
        if let Some(file) = &mut self.file {
            let written = file.flush();
            self.check(written);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret_text::SecretText;

    #[test]
    fn transcript_masks_a_secret_that_spans_two_reads() {
        let directory = tempfile::tempdir().expect("made");
        let path = directory.path().join("log");
        let mut mask = Mask::default();
        mask.add("s3cret");
        let mut transcript =
            Transcript::create(Some(&path), &SecretMask::default()).expect("created");
        transcript.sent("enable\r", &mask);
        transcript.received(b"enable\r\nkey s3c", &mask);
        transcript.received(b"ret\r\ncore1#", &mask);
        transcript.sent("snmp-server community s3cret\r", &mask);
        drop(transcript);
        assert_eq!(
            std::fs::read_to_string(path).expect("written"),
            "> enable\n< enable\n< key ••••\n< core1#\n> snmp-server community ••••\n"
        );
    }

    #[test]
    fn transcript_waits_for_all_secrets() {
        let directory = tempfile::tempdir().expect("made");
        let read = |path: &Path| std::fs::read_to_string(path).expect("written");
        let (path, secrets) = (directory.path().join("log"), SecretMask::default());
        secrets.expect_more();
        let mask = Mask::new(&SecretText::default(), &secrets);
        let mut transcript = Transcript::create(Some(&path), &secrets).expect("created");
        transcript.sent("show version\r", &mask);
        transcript.received(b"location l4ter\r\n", &mask);
        assert_eq!(read(&path), "");
        secrets.add("l4ter");
        secrets.complete();
        transcript.received(b"sw1#\r\n", &mask);
        drop(transcript);
        assert_eq!(read(&path), "> show version\n< location ••••\n< sw1#\n");
        // A run without a catalog has no other secrets.
        secrets.expect_more();
        let mut transcript = Transcript::create(Some(&path), &secrets).expect("opened");
        transcript.received(b"l4ter\n", &mask);
        drop(transcript);
        assert!(read(&path).ends_with("< sw1#\n< ••••\n"));
    }
}
