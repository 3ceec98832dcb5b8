//! Masks secrets in text from a device.

use crate::dialogue::Protocol;
use crate::secret::{MASK, Text};
use crate::secret_mask::{SecretMask, is_maskable};
use crate::secret_text::SecretText;

/// The secrets used with a device, and the positions of others.
#[derive(Clone, Default)]
pub(super) struct Mask {
    positions: SecretText,
    secrets: SecretMask,
    /// Commands with a secret that is too short to be masked elsewhere, and their masked forms: a
    /// device echoes them.
    commands: Vec<(String, String)>,
}

impl Mask {
    pub(crate) fn new(positions: &SecretText, secrets: &SecretMask) -> Self {
        Self {
            positions: positions.clone(),
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
        self.positions.apply(&self.secrets.apply(&masked))
    }
}

/// Text from a device for a file, without these secrets as words and without those that its platform declares.
pub fn mask_device_text(protocol: &Protocol, secrets: &SecretMask, text: &str) -> String {
    protocol.secrets().apply(&secrets.apply_to_words(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Pattern;

    #[test]
    fn mask_finds_unknown_secrets_by_their_position() {
        let patterns = vec![Pattern::new(r"^voucher (\S+)").unwrap()];
        let mut mask = Mask::new(&SecretText::new(patterns), &SecretMask::default());
        mask.add("used");
        assert_eq!(
            mask.apply("voucher theirs\r\n key 7 theirs\r\nname used\r\n"),
            "voucher ••••\r\n key 7 ••••\r\nname ••••\r\n"
        );
        assert_eq!(
            mask.apply(r#"[{"password":"ab"},{"password":"bc"}]"#),
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
