//! Taking known secrets out of text that a device printed.

use crate::pattern::Pattern;

use crate::secret::{MASK, Text};

/// The secrets that have been used with a device, and how to see those of others.
#[derive(Clone, Default)]
pub(super) struct Mask {
    /// Lines with secrets; group 1 is the secret.
    patterns: Vec<Pattern>,
    /// Longest first, so that no rest of one stays behind a shorter one.
    secrets: Vec<String>,
}

impl Mask {
    pub fn new(patterns: &[Pattern]) -> Self {
        Self {
            patterns: patterns.to_vec(),
            secrets: Vec::new(),
        }
    }

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
        let known = self
            .secrets
            .iter()
            .fold(text.to_owned(), |text, secret| text.replace(secret, MASK));
        if self.patterns.is_empty() {
            return known;
        }
        let lines = known
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
            // From the end, so that the places before stay where they are.
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
    fn secrets_of_others_are_known_by_their_lines() {
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
