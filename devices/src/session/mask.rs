//! Masks secrets in text from a device.

use crate::pattern::Pattern;

use crate::secret::{MASK, Text};

/// The secrets used with a device, and patterns for lines with other secrets.
#[derive(Clone, Default)]
pub(super) struct Mask {
    /// Lines with secrets; group 1 is the secret.
    patterns: Vec<Pattern>,
    /// Longest first, so that a shorter secret does not mask only part of a longer one.
    secrets: Vec<String>,
}

impl Mask {
    pub(crate) fn new(patterns: &[Pattern]) -> Self {
        Self {
            patterns: patterns.to_vec(),
            secrets: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, secret: &str) {
        for line in secret
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
        {
            if !self.secrets.iter().any(|secret| secret == line) {
                self.secrets.push(line.to_owned());
            }
        }
        self.secrets
            .sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    }

    pub(crate) fn add_all(&mut self, text: &Text) {
        for secret in text.secrets() {
            self.add(secret);
        }
    }

    /// The text with its secrets masked.
    pub(crate) fn apply(&self, text: &str) -> String {
        let masked = self
            .secrets
            .iter()
            .fold(text.to_owned(), |text, secret| text.replace(secret, MASK));
        if self.patterns.is_empty() {
            return masked;
        }
        let lines = masked
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
            for place in groups {
                text.replace_range(place, MASK);
            }
        }
        text + end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mask_finds_unknown_secrets_by_pattern() {
        let patterns = [r"^key (\S+)", r#""password":"([^"]*)""#].map(|p| Pattern::new(p).unwrap());
        let mut mask = Mask::new(&patterns);
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
    fn mask_replaces_every_occurrence_of_a_secret() {
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
