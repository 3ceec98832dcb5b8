//! Excerpts of a text with a mark.
//!
//! A catalog is one line of many kilobytes, so a long line is cut to a window that contains the mark. `…`
//! stands for the rest.

use std::ops::Range;

use switchtender_devices::printable::escape;
use switchtender_devices::secret::MASK;

use super::Source;

/// Maximum length of a line that is not cut.
const MAX_LINE: usize = 120;
/// Characters before and after the mark in a cut line.
const BEFORE: usize = 40;
const AFTER: usize = 40;
/// Maximum length of a mark in a cut line.
const MARK: usize = 80;
/// Bytes before and after the start of the mark that are searched for the ends of the line.
const SEARCHED_BYTES: usize = 1024;

/// A line or a window of it, with the mark.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Excerpt {
    /// From 1, in the text.
    pub(crate) line: usize,
    /// From 1, in characters, in the line.
    pub(crate) column: usize,
    pub(crate) text: String,
    /// Byte range in `text`.
    pub(crate) mark: Range<usize>,
    /// The line is not cut.
    pub(crate) is_complete: bool,
}

impl Excerpt {
    /// The excerpt, which begins at an offset of the source, with masks of one length in place of what the
    /// source hides. Quotes around a hidden text remain.
    fn masked(self, source: &Source, begin: usize) -> Self {
        let mut text = String::new();
        let (mut start, mut end) = (self.mark.start, self.mark.end);
        let mut at = 0;
        for hidden in source.hidden() {
            let from = hidden.start.saturating_sub(begin).max(at);
            let to = hidden.end.saturating_sub(begin).min(self.text.len());
            let Some(inner) = self.text.get(from..to).filter(|inner| !inner.is_empty()) else {
                continue;
            };
            let from = from + inner.len() - inner.trim_start_matches('"').len();
            let to = to - (inner.len() - inner.trim_end_matches('"').len());
            if from >= to {
                continue;
            }
            text.push_str(&self.text[at..from]);
            let mask_start = text.len();
            text.push_str(MASK);
            let moved = |offset: usize, original: usize, within: usize| match original {
                original if original <= from => offset,
                original if original < to => within,
                original => text.len() + original - to,
            };
            start = moved(start, self.mark.start, mask_start);
            end = moved(end, self.mark.end, text.len());
            at = to;
        }
        text.push_str(&self.text[at..]);
        Self {
            text,
            mark: start..end,
            ..self
        }
    }

    /// The excerpt with its text escaped for a terminal. Tabs remain; the renderer prints spaces.
    pub(crate) fn escaped(self) -> Self {
        let escaped = |text: &str| {
            let parts: Vec<_> = text.split('\t').map(escape).collect();
            parts.join("\t")
        };
        let (start, end) = (self.mark.start, self.mark.end);
        let (start, end) = (
            escaped(&self.text[..start]).len(),
            escaped(&self.text[..end]).len(),
        );
        Self {
            text: escaped(&self.text),
            mark: start..end,
            ..self
        }
    }
}

/// The line of the start of a span, cut to a window if it is long. A span over several lines is
/// marked to the end of its first line.
pub(crate) fn excerpt(source: &Source, span: &Range<usize>) -> Excerpt {
    let text = source.text.as_str();
    let start = boundary(text, span.start);
    let end = boundary(text, span.end.max(start));
    let (line, column) = source.position(start);
    // A line can have megabytes: only the part near the mark is searched for its ends.
    let first = boundary(text, start.saturating_sub(SEARCHED_BYTES));
    let last = boundary(text, start.saturating_add(SEARCHED_BYTES));
    let begin = text[first..start].rfind('\n').map(|at| first + at + 1);
    let end_of_line = text[start..last].find('\n').map(|at| start + at);
    let begins_before = begin.is_none() && first > 0;
    let ends_after = end_of_line.is_none() && last < text.len();
    let line_start = begin.unwrap_or(first);
    let line_text = &text[line_start..end_of_line.unwrap_or(last)];
    let line_text = line_text.trim_end_matches('\r');
    let mark_start = start - line_start;
    let mark_end = end
        .saturating_sub(line_start)
        .clamp(mark_start.min(line_text.len()), line_text.len());
    let mark_start = mark_start.min(mark_end);

    if !begins_before && !ends_after && is_at_most(line_text, MAX_LINE) {
        return Excerpt {
            line,
            column,
            text: line_text.to_owned(),
            mark: mark_start..mark_end,
            is_complete: true,
        }
        .masked(source, line_start);
    }
    let window_start = offset_before(line_text, mark_start, BEFORE);
    let marked = offset_after(line_text, mark_start, MARK).min(mark_end);
    let window_end = offset_after(line_text, marked, AFTER);
    let mut window = Excerpt {
        line,
        column,
        mark: mark_start - window_start..marked - window_start,
        text: line_text[window_start..window_end].to_owned(),
        is_complete: false,
    }
    .masked(source, line_start + window_start);
    if begins_before || window_start > 0 {
        window.text.insert(0, '…');
        window.mark.start += '…'.len_utf8();
        window.mark.end += '…'.len_utf8();
    }
    if ends_after || window_end < line_text.len() {
        window.text.push('…');
    }
    window
}

fn boundary(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn is_at_most(text: &str, characters: usize) -> bool {
    text.chars().nth(characters).is_none()
}

/// The offset that many characters before `from`.
fn offset_before(text: &str, from: usize, characters: usize) -> usize {
    text[..from]
        .char_indices()
        .rev()
        .nth(characters - 1)
        .map_or(0, |(at, _)| at)
}

/// The offset that many characters after `from`.
fn offset_after(text: &str, from: usize, characters: usize) -> usize {
    text[from..]
        .char_indices()
        .nth(characters)
        .map_or(text.len(), |(at, _)| from + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(found: &Excerpt) -> &str {
        &found.text[found.mark.clone()]
    }

    #[test]
    fn excerpt_of_a_short_line_is_complete() {
        let source = Source::new("x", "a = 1\nbee = 2\r\n");
        let found = excerpt(&source, &(6..9));
        assert_eq!((found.line, found.column), (2, 1));
        assert_eq!(found.text, "bee = 2");
        assert_eq!(marked(&found), "bee");
    }

    #[test]
    fn excerpt_of_a_long_line_is_a_window() {
        let text = format!("{}HERE{}", "ü".repeat(7000), "é".repeat(7000));
        let start = text.find("HERE").unwrap();
        let found = excerpt(&Source::new("x", text), &(start..start + 4));
        assert_eq!((found.line, found.column), (1, 7001));
        assert_eq!(
            found.text,
            format!("…{}HERE{}…", "ü".repeat(40), "é".repeat(40))
        );
        assert_eq!(marked(&found), "HERE");
    }

    #[test]
    fn excerpt_of_a_long_mark_is_cut() {
        let source = Source::new("x", "y".repeat(1000));
        let found = excerpt(&source, &(0..1000));
        assert_eq!(found.text, format!("{}…", "y".repeat(120)));
        assert_eq!(marked(&found).len(), 80);
    }

    #[test]
    fn masked_excerpt_has_masks_of_one_length_and_the_right_mark() {
        let text = r#"{"a": "s3cret", "b": "x", "c": "longer-s3cret"}"#;
        let range = |word: &str| {
            let start = text.find(word).unwrap();
            start..start + word.len()
        };
        let source =
            Source::new("x", text).redacted(&[range(r#""s3cret""#), range("longer-s3cret")]);
        for (word, mark) in [
            (r#""a""#, r#""a""#),
            (r#""b""#, r#""b""#),
            (r#""s3cret""#, r#""••••""#),
            ("longer-s3cret", "••••"),
        ] {
            let found = excerpt(&source, &range(word));
            assert_eq!(found.text, r#"{"a": "••••", "b": "x", "c": "••••"}"#);
            assert_eq!(marked(&found), mark);
        }
    }

    #[test]
    fn escaped_excerpt_has_the_same_mark() {
        let source = Source::new("x", "a\t\u{1b} = HERE\u{9b}");
        let found = excerpt(&source, &(6..11)).escaped();
        assert_eq!(found.text, "a\t\\u{1b} = HERE\\u{9b}");
        assert_eq!(marked(&found), "HERE");
    }

    #[test]
    fn excerpt_accepts_invalid_spans() {
        let source = Source::new("x", "[a]\nb = 'ü'\n");
        assert_eq!(marked(&excerpt(&source, &(0..8))), "[a]");
        assert_eq!(excerpt(&source, &(500..600)).line, 3);
        assert_eq!(marked(&excerpt(&source, &(9..10))), "");
        let empty = excerpt(&Source::new("x", ""), &(0..0));
        assert_eq!((empty.line, empty.column, empty.text.as_str()), (1, 1, ""));
    }
}
