//! Taking known secrets out of text that a device printed.

use crate::secret::{MASK, Text};

/// The secrets that have been used with a device.
#[derive(Clone, Default)]
pub(super) struct Mask {
    /// Longest first, so that no rest of one stays behind a shorter one.
    secrets: Vec<String>,
}

impl Mask {
    pub fn add(&mut self, secret: &str) {
        for line in secret
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
        {
            if !self.secrets.iter().any(|known| known == line) {
                self.secrets.push(line.to_owned());
            }
        }
        self.secrets
            .sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    }

    pub fn add_all(&mut self, text: &Text) {
        for secret in text.secrets() {
            self.add(secret);
        }
    }

    /// The text without the secrets.
    pub fn apply(&self, text: &str) -> String {
        self.secrets
            .iter()
            .fold(text.to_owned(), |text, secret| text.replace(secret, MASK))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_taken_out_wherever_they_stand() {
        let mut mask = Mask::default();
        mask.add("s3cret");
        mask.add("s3cret-longer");
        mask.add("");
        assert_eq!(
            mask.apply("key s3cret-longer, s3cret and s3crets"),
            "key ••••, •••• and ••••s"
        );
    }
}
