//! Patterns of definitions: checked on loading, compiled on first use.
//!
//! Most commands load all definitions and use few of their patterns, and compilation is expensive.
//! Invalid patterns are rejected on loading. A pattern that could exceed the size limit is compiled
//! at once.

mod example;

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use regex::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};
use regex_syntax::hir::{Class, Hir, HirKind};

/// Maximum compiled size, in bytes.
const SIZE: usize = 10 << 20;

/// A regular expression that is compiled on first use. Clones share the compiled form.
#[derive(Clone)]
pub struct Pattern(Arc<LazyRegex>);

struct LazyRegex {
    text: String,
    /// The names of the groups; `None` for a group without a name.
    groups: Vec<Option<String>>,
    compiled: OnceLock<Regex>,
}

impl Pattern {
    /// # Errors
    /// The pattern is invalid, or its compiled form is too large.
    pub fn new(text: &str) -> Result<Self, regex::Error> {
        let parsed = regex_syntax::parse(text).ok();
        let compiled = OnceLock::new();
        if parsed
            .as_ref()
            .is_none_or(|parsed| size(parsed) >= SIZE / 2)
        {
            let _ = compiled.set(compile(text)?);
        }
        let mut groups = Vec::new();
        if let Some(parsed) = &parsed {
            collect_groups(parsed, &mut groups);
        }
        Ok(Self(Arc::new(LazyRegex {
            text: text.to_owned(),
            groups,
            compiled,
        })))
    }

    /// The source text.
    pub fn as_str(&self) -> &str {
        &self.0.text
    }

    /// The number of groups, without that of the complete match.
    pub(crate) fn group_count(&self) -> usize {
        self.0.groups.len()
    }

    /// The names of groups that have one.
    pub(crate) fn group_names(&self) -> impl Iterator<Item = &str> {
        self.0.groups.iter().filter_map(Option::as_deref)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.text == other.0.text
    }
}

impl Eq for Pattern {}

impl Deref for Pattern {
    type Target = Regex;

    fn deref(&self) -> &Regex {
        let compiled = || compile(&self.0.text).expect("it was parsed, and its size is bounded");
        self.0.compiled.get_or_init(compiled)
    }
}

/// A set of patterns that are matched together, in the time of one. Compiled like [`Pattern`].
#[derive(Clone, Default)]
pub(crate) struct Patterns(Arc<LazyRegexSet>);

#[derive(Default)]
struct LazyRegexSet {
    patterns: Vec<Pattern>,
    compiled: OnceLock<RegexSet>,
}

impl Patterns {
    /// Whether any pattern matches.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        !self.0.patterns.is_empty() && self.compiled().is_match(text)
    }

    /// The index of the first pattern that matches.
    pub(crate) fn first_match(&self, text: &str) -> Option<usize> {
        // Most texts match none, and this check is cheaper than finding the index.
        if !self.is_match(text) {
            return None;
        }
        self.compiled().matches(text).into_iter().next()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Pattern> {
        self.0.patterns.iter()
    }

    fn compiled(&self) -> &RegexSet {
        let LazyRegexSet { patterns, compiled } = self.0.as_ref();
        compiled.get_or_init(|| {
            let texts = patterns.iter().map(Pattern::as_str);
            RegexSetBuilder::new(texts)
                .size_limit(SIZE * patterns.len())
                .build()
                .expect("each was parsed, and its size is bounded")
        })
    }
}

impl FromIterator<Pattern> for Patterns {
    fn from_iter<I: IntoIterator<Item = Pattern>>(patterns: I) -> Self {
        Self(Arc::new(LazyRegexSet {
            patterns: patterns.into_iter().collect(),
            compiled: OnceLock::new(),
        }))
    }
}

impl fmt::Debug for Patterns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.0.patterns).finish()
    }
}

/// The source text.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pattern({:?})", self.as_str())
    }
}

fn compile(text: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(text).size_limit(SIZE).build()
}

fn collect_groups(part: &Hir, found: &mut Vec<Option<String>>) {
    match part.kind() {
        HirKind::Empty | HirKind::Look(_) | HirKind::Literal(_) | HirKind::Class(_) => {}
        HirKind::Repetition(repetition) => collect_groups(&repetition.sub, found),
        HirKind::Capture(capture) => {
            found.push(capture.name.as_deref().map(str::to_owned));
            collect_groups(&capture.sub, found);
        }
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            for part in parts {
                collect_groups(part, found);
            }
        }
    }
}

/// An upper bound of the compiled size, in bytes. A character or a range of characters requires
/// several states; a repetition multiplies them.
fn size(part: &Hir) -> usize {
    const STATE: usize = 64;
    match part.kind() {
        HirKind::Empty | HirKind::Look(_) => STATE,
        HirKind::Literal(literal) => STATE * literal.0.len(),
        HirKind::Class(Class::Unicode(class)) => STATE * (8 + 4 * class.ranges().len()),
        HirKind::Class(Class::Bytes(class)) => STATE * (1 + class.ranges().len()),
        HirKind::Repetition(repetition) => {
            let copies = repetition.max.unwrap_or(repetition.min).max(1) as usize + 1;
            size(&repetition.sub).saturating_mul(copies)
        }
        HirKind::Capture(capture) => size(&capture.sub).saturating_add(2 * STATE),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().map(size).fold(STATE, usize::saturating_add)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_that_does_not_compile_is_refused() {
        for text in [
            "(",
            "[z-a]",
            r"\p{NoSuchThing}",
            r"(?-u:\xff)",
            r"\w{1000}{1000}",
            r"(?:\w{100}){100}",
            "a{4294967296}",
        ] {
            assert!(Pattern::new(text).is_err(), "{text}");
        }
    }

    #[test]
    fn pattern_names_its_groups() {
        let cases: [(&str, &[&str]); 3] = [
            ("a", &[]),
            (r"(?<vlan>\d+)(?:,(\d+))*|all", &["vlan"]),
            ("(?<outer>a(?<inner>b)?){2}", &["outer", "inner"]),
        ];
        for (text, expected) in cases {
            let pattern = Pattern::new(text).unwrap();
            let names: Vec<&str> = pattern.group_names().collect();
            assert_eq!(names, expected, "{text}");
            assert_eq!(pattern.group_count(), pattern.captures_len() - 1, "{text}");
            assert!(pattern.capture_names().flatten().eq(names), "{text}");
        }
    }

    #[test]
    fn pattern_of_any_size_compiles() {
        for text in [
            "",
            ".*",
            r"\w{20}",
            r"(?:\w{1,9},){1,9}",
            r"\d{1,1000}",
            r"(?i)[^\s\W]{60}",
        ] {
            let pattern = Pattern::new(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(pattern.as_str(), text);
        }
    }

    #[test]
    fn pattern_set_returns_the_first_match() {
        let texts = ["^a", "(?i)b$", r"(?x) \d\d  # two digits"];
        let patterns: Patterns = texts
            .map(|text| Pattern::new(text).unwrap())
            .into_iter()
            .collect();
        let cases = [
            ("ab", Some(0)),
            ("xB", Some(1)),
            ("x12b", Some(1)),
            ("x12", Some(2)),
            ("x1", None),
        ];
        for (text, expected) in cases {
            assert_eq!(patterns.first_match(text), expected, "{text}");
            assert_eq!(patterns.is_match(text), expected.is_some(), "{text}");
        }
        assert!(!Patterns::default().is_match(""));
    }

    #[test]
    fn pattern_compiles_once_for_all_clones() {
        let pattern = Pattern::new(r"^vlan (\d+)$").unwrap();
        let other = pattern.clone();
        assert_eq!(pattern.group_count(), 1);
        assert!(pattern.0.compiled.get().is_none());
        assert!(other.is_match("vlan 10"));
        assert!(pattern.0.compiled.get().is_some());
    }
}
