//! Expressions that select devices: `sw[01-20], !sw7, role in (access, core), site != berlin`.
//!
//! The model is the label selector of Kubernetes, with names. Terms are separated by commas. A device is selected if it
//! has one of the names (without names: any), all labels, and none of the excluded names. Names and
//! values are texts, ranges, or patterns with `*`, `?`, `[…]` and `{a,b}`; in quotation marks they are texts only.
//!
//! Knows no inventory: what is compared is [`Selectable`]. Begin at [`DeviceSelection::parse`].

mod syntax;

use std::ops::Range;
use std::sync::Arc;

use foldhash::HashSet;
use globset::{GlobBuilder, GlobMatcher};
use switchtender_devices::diagnostic::{Diagnostic, Source};

use super::range;

/// A device that expressions are compared with.
pub(crate) trait Selectable {
    /// Its name and its certname.
    fn names(&self) -> [&str; 2];

    /// The value of a label; of `site` and `platform` also that of the setting.
    fn label(&self, key: &str) -> Option<&str>;
}

/// The value of a label; `own` is that of the label with this name, if there is one.
pub(crate) fn label<'d>(
    key: &str,
    own: Option<&'d String>,
    site: Option<&'d str>,
    platform: &'d str,
) -> Option<&'d str> {
    let setting = match key {
        "site" => site,
        "platform" => Some(platform),
        _ => None,
    };
    own.map(String::as_str).or(setting)
}

/// The selected devices. The default is all.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeviceSelection {
    /// Any of them.
    pub(super) names: Vec<TextPattern>,
    /// None of them.
    pub(super) excluded: Vec<TextPattern>,
    /// All of them.
    pub(super) labels: Vec<LabelTerm>,
}

/// A condition for a label: `role in (access, core)`, `site != berlin`.
#[derive(Clone, Debug)]
pub(crate) struct LabelTerm {
    pub(super) key: String,
    pub(super) values: Vec<TextPattern>,
    /// `!=` and `notin`: none of the values, which a device without the label has, too.
    pub(super) is_excluded: bool,
}

/// A text that is not an expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}, at character {} of `{text}`", self.character())]
pub(crate) struct TargetSyntaxError {
    pub(super) text: String,
    pub(super) span: Range<usize>,
    pub(super) problem: String,
}

impl TargetSyntaxError {
    /// The number of the character with the error, from 1.
    fn character(&self) -> usize {
        let before = self.text.get(..self.span.start).unwrap_or(&self.text);
        before.chars().count() + 1
    }

    /// A finding in an option with this name.
    pub(crate) fn finding(&self, option: &str) -> Diagnostic {
        let source = Source::new(option, self.text.as_str());
        Diagnostic::error("bad-target", self.problem.as_str()).at(&source, self.span.clone(), "")
    }
}

impl DeviceSelection {
    /// Parses an expression.
    ///
    /// # Errors
    /// It is not valid; the error has the position.
    pub(crate) fn parse(text: &str) -> Result<Self, TargetSyntaxError> {
        syntax::parse(text)
    }

    /// Parses several expressions, which are one.
    pub(crate) fn parse_all(texts: &[String]) -> Result<Self, TargetSyntaxError> {
        let mut all = Self::default();
        for text in texts {
            all.extend(Self::parse(text)?);
        }
        Ok(all)
    }

    /// Parses an expression of labels only, such as `role in (access, core)`.
    ///
    /// # Errors
    /// It is not valid, or has names.
    pub(crate) fn parse_labels(text: &str) -> Result<Self, TargetSyntaxError> {
        let labels = Self::parse(text)?;
        if labels.names.is_empty() && labels.excluded.is_empty() {
            return Ok(labels);
        }
        Err(TargetSyntaxError {
            text: text.to_owned(),
            span: 0..text.len(),
            problem: "expected a label, such as `role=access`".to_owned(),
        })
    }

    /// Adds the terms of another expression: any of all names, all labels, none of all excluded names.
    pub(crate) fn extend(&mut self, other: Self) {
        self.names.extend(other.names);
        self.excluded.extend(other.excluded);
        self.labels.extend(other.labels);
    }

    /// Whether a device is selected.
    pub(crate) fn matches(&self, device: &impl Selectable) -> bool {
        let has_name = |pattern: &TextPattern| {
            let names = device.names();
            names.into_iter().any(|name| pattern.matches(name))
        };
        (self.names.is_empty() || self.names.iter().any(has_name))
            && !self.excluded.iter().any(has_name)
            && self.labels.iter().all(|label| label.matches(device))
    }

    /// Whether the expression is one name without a pattern: it selects one device.
    pub(crate) fn is_one_name(&self) -> bool {
        let has_others = !self.excluded.is_empty() || !self.labels.is_empty();
        matches!(self.names.as_slice(), [name] if name.is_text()) && !has_others
    }

    /// Whether the expression has the name of the device itself, not a pattern.
    pub(crate) fn is_named(&self, device: &impl Selectable) -> bool {
        let mut names = self.names.iter();
        names.any(|name| name.is_text() && device.names().contains(&name.text.as_str()))
    }
}

impl LabelTerm {
    fn matches(&self, device: &impl Selectable) -> bool {
        let value = device.label(&self.key);
        let has_value = |value| self.values.iter().any(|one| one.matches(value));
        value.is_some_and(has_value) != self.is_excluded
    }
}

/// The names or values that a word stands for.
#[derive(Clone, Debug)]
pub(crate) struct TextPattern {
    /// As it is written, without quotation marks.
    pub(super) text: String,
    kind: PatternKind,
}

#[derive(Clone, Debug)]
enum PatternKind {
    Text,
    /// The texts of a range.
    Range(Arc<HashSet<String>>),
    Glob(GlobMatcher),
}

impl TextPattern {
    /// A text without a pattern.
    fn of_text(text: String) -> Self {
        let kind = PatternKind::Text;
        Self { text, kind }
    }

    fn parse(text: String) -> Result<Self, globset::Error> {
        let kind = if let Some(Ok(texts)) = range::expand(&text) {
            PatternKind::Range(Arc::new(texts.into_iter().collect()))
        } else if text.contains(['*', '?', '[', '{']) {
            PatternKind::Glob(GlobBuilder::new(&text).build()?.compile_matcher())
        } else {
            PatternKind::Text
        };
        Ok(Self { text, kind })
    }

    pub(super) fn is_text(&self) -> bool {
        matches!(self.kind, PatternKind::Text)
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        match &self.kind {
            PatternKind::Text => self.text == text,
            PatternKind::Range(texts) => texts.contains(text),
            PatternKind::Glob(glob) => glob.is_match(text),
        }
    }
}

#[cfg(test)]
mod tests;
