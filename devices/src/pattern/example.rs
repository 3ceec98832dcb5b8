//! Texts that match a pattern, for examples and checks.

use regex_syntax::hir::{Class, Hir, HirKind};

use super::Pattern;

/// Number of variants that [`Pattern::examples`] makes.
const VARIANTS: usize = 4;

impl Pattern {
    /// Short texts that match the pattern, the shortest first. `group` is the text of a named group;
    /// `None` for any text.
    pub(crate) fn examples(&self, group: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
        let Ok(parsed) = regex_syntax::parse(self.as_str()) else {
            return Vec::new();
        };
        let mut examples = Vec::new();
        for variant in 0..VARIANTS {
            let mut text = String::new();
            write(&parsed, variant, group, &mut text);
            if self.is_match(&text) && !examples.contains(&text) {
                examples.push(text);
            }
        }
        examples
    }
}

fn write(part: &Hir, variant: usize, group: &dyn Fn(&str) -> Option<String>, text: &mut String) {
    match part.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.push_str(&String::from_utf8_lossy(&literal.0)),
        HirKind::Class(class) => text.extend(character(class, variant)),
        HirKind::Repetition(repetition) => {
            let most = repetition.max.unwrap_or(u32::MAX);
            let more = u32::try_from(variant).unwrap_or(0);
            for _ in 0..repetition.min.saturating_add(more).min(most) {
                write(&repetition.sub, variant, group, text);
            }
        }
        HirKind::Capture(capture) => match capture.name.as_deref().and_then(group) {
            Some(value) => text.push_str(&value),
            None => write(&capture.sub, variant, group, text),
        },
        HirKind::Concat(parts) => {
            for part in parts {
                write(part, variant, group, text);
            }
        }
        HirKind::Alternation(parts) => write(&parts[variant % parts.len()], variant, group, text),
    }
}

/// A character of a class, a printable one if it has any.
fn character(class: &Class, variant: usize) -> Option<char> {
    let printable = ('a'..='z')
        .chain('0'..='9')
        .chain('A'..='Z')
        .chain(' '..='~');
    let ranges: Vec<(char, char)> = match class {
        Class::Unicode(class) => {
            let ranges = class.ranges().iter();
            ranges.map(|range| (range.start(), range.end())).collect()
        }
        Class::Bytes(class) => {
            let ranges = class.ranges().iter();
            ranges
                .map(|range| (char::from(range.start()), char::from(range.end())))
                .collect()
        }
    };
    let is_in = |character: &char| {
        let mut ranges = ranges.iter();
        ranges.any(|(start, end)| (start..=end).contains(&character))
    };
    let found: Vec<char> = printable.filter(is_in).take(VARIANTS).collect();
    match found.as_slice() {
        [] => ranges.first().map(|(start, _)| *start),
        found => Some(found[variant % found.len()]),
    }
}

#[cfg(test)]
mod tests {
    use crate::pattern::Pattern;

    fn examples(pattern: &str) -> Vec<String> {
        let pattern = Pattern::new(pattern).unwrap();
        pattern.examples(&|name| (name == "name").then(|| "sw1".to_owned()))
    }

    #[test]
    fn examples_match_their_pattern() {
        assert_eq!(examples(r"^version "), ["version "]);
        assert_eq!(examples(r"(?<name>\S+)\(config\)# ?")[0], "sw1(config)#");
        assert_eq!(examples(r"<(?<name>[\w.-]+)>"), ["<sw1>"]);
        assert_eq!(
            examples(r"^% ?(invalid|bad)"),
            ["%invalid", "% bad", "% invalid"]
        );
        assert_eq!(examples(r"[^\s\S]"), [""; 0]);
    }
}
