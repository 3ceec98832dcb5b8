//! Masks secrets in text from a device.

use crate::dialogue::Protocol;
use crate::pattern::Pattern;
use crate::secret::{MASK, Text};
use crate::secret_mask::{SecretMask, is_maskable};

/// The secrets used with a device, and patterns for lines with other secrets.
#[derive(Clone, Default)]
pub(super) struct Mask {
    /// Lines with secrets; group 1 is the secret.
    patterns: Vec<Pattern>,
    secrets: SecretMask,
    /// Commands with a secret that is too short to be masked elsewhere, and their masked forms: a
    /// device echoes them.
    commands: Vec<(String, String)>,
}

impl Mask {
    pub(crate) fn new(patterns: &[Pattern], secrets: &SecretMask) -> Self {
        Self {
            patterns: patterns.to_vec(),
            secrets: secrets.clone(),
            commands: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, secret: &str) {
        self.secrets.add(secret);
    }

    pub(crate) fn add_all(&mut self, text: &Text) {
        let mut has_short = false;
        for secret in text.secrets() {
            has_short |= !is_maskable(secret.trim());
            self.add(secret);
        }
        let masked = text.to_string();
        // A text that is only a secret is the answer to a prompt without echo.
        if has_short && masked.trim() != MASK {
            let command = text.reveal().trim().to_owned();
            if !self.commands.iter().any(|(other, _)| *other == command) {
                self.commands.push((command, masked.trim().to_owned()));
            }
        }
    }

    /// The text with its secrets masked.
    pub(crate) fn apply(&self, text: &str) -> String {
        let masked = self
            .commands
            .iter()
            .fold(text.to_owned(), |text, (command, masked)| {
                text.replace(command, masked)
            });
        self.apply_to_lines(&self.secrets.apply(&masked))
    }

    fn apply_to_lines(&self, text: &str) -> String {
        let lines = text
            .split_inclusive('\n')
            .map(|line| self.apply_patterns(line));
        lines.collect()
    }

    fn apply_patterns(&self, line: &str) -> String {
        let (text, end) = line.split_at(line.trim_end_matches(['\r', '\n']).len());
        let mut text = text.to_owned();
        for pattern in &self.patterns {
            let mut groups: Vec<_> = pattern
                .captures_iter(&text)
                .filter_map(|found| Some(found.get(1)?.range()))
                .collect();
            // From the end, so that earlier ranges stay valid.
            groups.reverse();
            for range in groups {
                text.replace_range(range, MASK);
            }
        }
        text + end
    }
}

/// Text from a device for a file, without these secrets as words and without those that its platform declares.
pub fn mask_device_text(protocol: &Protocol, secrets: &SecretMask, text: &str) -> String {
    Mask::new(protocol.secrets(), secrets).apply_to_lines(&secrets.apply_to_words(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mask_finds_unknown_secrets_by_pattern() {
        let patterns = [r"^key (\S+)", r#""password":"([^"]*)""#].map(|p| Pattern::new(p).unwrap());
        let mut mask = Mask::new(&patterns, &SecretMask::default());
        mask.add("used");
        assert_eq!(
            mask.apply("key theirs\r\n key word used\r\nkey used\r\n"),
            "key ••••\r\n key word ••••\r\nkey ••••\r\n"
        );
        assert_eq!(
            mask.apply(r#"[{"password":"a"},{"password":"bc"}]"#),
            r#"[{"password":"••••"},{"password":"••••"}]"#
        );
    }

    #[test]
    fn a_short_secret_is_masked_in_its_command_only() {
        let mut mask = Mask::default();
        let mut command = Text::plain("key 7 ");
        command.push_secret("abc");
        mask.add_all(&command);
        mask.add_all(&Text::secret("pw"));
        assert_eq!(
            mask.apply("sw1(config)#key 7 abc\r\nabc pw"),
            "sw1(config)#key 7 ••••\r\nabc pw"
        );
    }
}
