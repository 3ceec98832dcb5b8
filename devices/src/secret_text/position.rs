//! Where a sensitive attribute stands in the lines of a type.

use std::ops::Range;

use super::blocks::Blocks;
use super::command::is_keyword;
use super::names::is_small_number;
use crate::pattern::Pattern;

/// The position of sensitive attributes in a line, by its template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SecretPosition {
    /// The headers of the blocks around the line, outermost first.
    headers: Vec<Pattern>,
    /// The line; all named groups are secrets.
    pub(super) pattern: Pattern,
    /// The groups are elements of a tuple, among them numbers of keys.
    is_tuple: bool,
}

/// The words that remove a line or restore its default.
const REMOVALS: &str = "no|default|undo|unset|delete|set";

/// The group of the words behind the secret.
const REST: &str = "rest";

impl SecretPosition {
    /// From patterns of headers, and of a line up to the secret, behind a blank. `negation` is the
    /// word of the platform for the removal of lines. `None` if the patterns are too large.
    pub(crate) fn new(
        headers: &[String],
        line: &str,
        negation: &str,
        is_tuple: bool,
    ) -> Option<Self> {
        let line = line.strip_prefix(" +").unwrap_or(line);
        let negation = format!("^(?:(?:{REMOVALS}|{}) +)?", regex::escape(negation));
        let headers = headers.iter().map(|header| {
            let header = header.strip_prefix('^').unwrap_or(header);
            let header = header.strip_prefix(" +").unwrap_or(header);
            // Further words of a header are not understood.
            let header = header.strip_suffix(" *$").unwrap_or(header);
            Pattern::new(&format!("^{header}(?: .*)?$")).ok()
        });
        Some(Self {
            headers: headers.collect::<Option<_>>()?,
            pattern: Pattern::new(&format!("(?i){negation}{line}(?<{REST}> .*)?$")).ok()?,
            is_tuple,
        })
    }

    /// Adds the secrets of a line. An indented line without blocks, as in a transcript, is that of any block, and a
    /// small number in it is the number of a key.
    pub(super) fn secrets(
        &self,
        (line, is_indented): (&str, bool),
        blocks: &Blocks<'_>,
        found: &mut Vec<Range<usize>>,
    ) {
        let is_in_block = blocks.innermost().is_some() || !is_indented;
        let is_below = || {
            let mut outer = blocks.inner_first();
            let mut headers = self.headers.iter().rev();
            headers.all(|header| outer.next().is_some_and(|line| header.is_match(line)))
        };
        if is_in_block && !is_below() {
            return;
        }
        let Some(captures) = self.pattern.captures(line) else {
            return;
        };
        // In a line that goes on, a small number can be a form that no template has.
        let may_be_number = self.is_tuple
            || (!is_in_block && !self.headers.is_empty())
            || captures.name(REST).is_some();
        for name in self.pattern.group_names().filter(|name| *name != REST) {
            let Some(secret) = captures.name(name) else {
                continue;
            };
            let range = secret.range();
            // The words before the secret are the form of it.
            let is_found =
                |other: &Range<usize>| range.start <= other.start && range.end == other.end;
            let is_number = may_be_number && is_small_number(secret.as_str());
            // `md5` of `authentication md5 key-string`, beside `authentication {secret}`.
            let is_keyword = captures.name(REST).is_some() && is_keyword(secret.as_str());
            if !is_number && !is_keyword && !found.iter().any(is_found) {
                found.push(range);
            }
        }
    }
}
