//! Text for terminals and logs: the only type that human output accepts.
//!
//! Everything that is added is escaped, so that text from a device, a server or a catalog contains no
//! terminal sequence and no line end. Only the methods of [`TerminalText`] end lines and set colors.

mod style;

use std::fmt::{self, Display, Write as _};

use switchtender_devices::printable::EscapingWriter;

pub(crate) use style::Style;

/// Lines of text with colors of this program.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct TerminalText {
    text: String,
    colors: bool,
}

impl TerminalText {
    /// An empty text without colors.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// An empty text; `colors`: whether [`TerminalText::paint`] has an effect.
    pub(crate) fn with_colors(colors: bool) -> Self {
        Self {
            text: String::new(),
            colors,
        }
    }

    /// One complete line.
    pub(crate) fn of_line(content: impl Display) -> Self {
        let mut text = Self::new();
        text.line(content);
        text
    }

    /// Text of a renderer that escapes its input: lines, with sequences for colors. All other
    /// control characters are escaped.
    pub(crate) fn of_renderer(text: &str) -> Self {
        let mut lines = Self::new();
        for line in text.split_inclusive('\n') {
            let mut rest = line.strip_suffix('\n').unwrap_or(line);
            while let Some(at) = rest.find("\x1b[") {
                lines.add(&rest[..at]);
                let parameters = &rest[at + 2..];
                let end = parameters.find(|c: char| !c.is_ascii_digit() && c != ';');
                match end.filter(|end| parameters[*end..].starts_with('m')) {
                    Some(end) => {
                        lines.text.push_str(&rest[at..at + 2 + end + 1]);
                        rest = &parameters[end + 1..];
                    }
                    None => {
                        lines.add(&rest[at..at + 1]);
                        rest = &rest[at + 1..];
                    }
                }
            }
            lines.add(rest);
            if line.ends_with('\n') {
                lines.end_line();
            }
        }
        lines
    }

    /// Adds a part to the current line, escaped.
    pub(crate) fn add(&mut self, part: impl Display) -> &mut Self {
        // Writing to a string cannot fail.
        let _ = write!(EscapingWriter(&mut self.text), "{part}");
        self
    }

    /// Adds a part in a style.
    pub(crate) fn paint(&mut self, style: Style, part: impl Display) -> &mut Self {
        if self.colors {
            self.text.push_str(style.begin());
        }
        self.add(part);
        if self.colors {
            self.text.push_str(Style::END);
        }
        self
    }

    /// Ends the current line.
    pub(crate) fn end_line(&mut self) -> &mut Self {
        self.text.push('\n');
        self
    }

    /// Adds a complete line.
    pub(crate) fn line(&mut self, content: impl Display) -> &mut Self {
        self.add(content).end_line()
    }

    /// Adds the lines of a text, each behind a prefix: code, a configuration, a difference.
    pub(crate) fn block(&mut self, prefix: impl Display, text: &str) -> &mut Self {
        for line in text.lines() {
            self.add(&prefix).line(line);
        }
        self
    }

    /// Adds the lines of another text.
    pub(crate) fn append(&mut self, other: &TerminalText) -> &mut Self {
        self.text.push_str(&other.text);
        self
    }

    /// The same lines behind a prefix.
    #[must_use]
    pub(crate) fn indented(&self, prefix: &str) -> Self {
        let lines = self.text.split_inclusive('\n');
        Self {
            text: lines.map(|line| format!("{prefix}{line}")).collect(),
            colors: self.colors,
        }
    }

    /// The same lines in so many columns: longer ones are wrapped at blanks, with an indent. Commands and
    /// differences are wrapped behind commas, too; excerpts of files are left as they are.
    #[must_use]
    pub(crate) fn wrapped(&self, width: usize) -> Self {
        let mut text = String::with_capacity(self.text.len());
        for line in self.text.split_inclusive('\n') {
            wrap_line(line, width, &mut text);
        }
        Self {
            text,
            colors: self.colors,
        }
    }

    /// Whether there is no text.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The text as it is written.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// The number of columns of a text without its sequences for colors.
fn columns(text: &str) -> usize {
    without_sequences(text).chars().count()
}

/// Adds a line, wrapped at blanks if it is too long. A word is never divided.
fn wrap_line(line: &str, width: usize, text: &mut String) {
    let content = line.trim_end_matches('\n');
    let visible = without_sequences(content);
    let trimmed = visible.trim_start();
    let indent = visible.len() - trimmed.len();
    let is_excerpt = trimmed.starts_with('|')
        || trimmed
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .starts_with(" | ");
    if is_excerpt || columns(content) <= width || indent + 20 > width {
        return text.push_str(line);
    }
    let is_code = trimmed.starts_with(['>', '+', '-', '@']);
    let further = indent + if is_code { 6 } else { 2 };
    let mut column = 0;
    for word in words(content, is_code) {
        let length = columns(word.trim_end());
        if column > further && column + length > width {
            let end = text.trim_end_matches(' ').len();
            text.truncate(end);
            text.push('\n');
            text.push_str(&" ".repeat(further));
            column = further;
        }
        text.push_str(word);
        column += columns(word);
    }
    text.push_str(&line[content.len()..]);
}

/// The words of a line with the blanks behind them. Commands in backticks are one word: they are copied. Code has
/// words behind commas, too: JSON has no blanks.
fn words(content: &str, is_code: bool) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    let mut before = ' ';
    content.split_inclusive(move |character| {
        is_quoted ^= character == '`';
        // The blanks in front of the line belong to its first word.
        let is_end = character == ' ' && before != ' ' && !is_quoted;
        before = character;
        is_end || is_code && character == ','
    })
}

/// A text without its sequences for colors.
fn without_sequences(text: &str) -> String {
    let mut visible = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\x1b[") {
        visible.push_str(&rest[..at]);
        let end = rest[at..].find('m').map_or(rest.len(), |end| at + end + 1);
        rest = &rest[end..];
    }
    visible + rest
}

impl fmt::Debug for TerminalText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use switchtender_devices::printable::is_printable;

    use super::*;

    /// The text without own line ends and colors.
    fn without_own_control(text: &str) -> String {
        text.replace('\n', "")
            .replace("\x1b[1;31m", "")
            .replace("\x1b[0m", "")
    }

    #[test]
    fn line_escapes_line_ends_of_messages() {
        let mut text = TerminalText::with_colors(true);
        text.add("sw1: ").paint(Style::BoldRed, "Error");
        text.line(": x\nsw2: Notice: done\u{1b}[2J");
        assert_eq!(
            text.as_str(),
            "sw1: \u{1b}[1;31mError\u{1b}[0m: x\\nsw2: Notice: done\\u{1b}[2J\n"
        );
    }

    #[test]
    fn block_prefixes_each_line() {
        let mut text = TerminalText::new();
        text.block("  | ", "a\r\nb\u{9b}\n");
        assert_eq!(text.as_str(), "  | a\n  | b\\u{9b}\n");
    }

    #[test]
    fn of_renderer_accepts_colors_only() {
        let text = TerminalText::of_renderer("\u{1b}[1;31mx\u{1b}[0m \u{1b}[2J\u{1b}]0;t\u{7}\ny");
        assert_eq!(
            text.as_str(),
            "\u{1b}[1;31mx\u{1b}[0m \\u{1b}[2J\\u{1b}]0;t\\u{7}\ny"
        );
    }

    #[test]
    fn wrapped_lines_break_at_blanks_and_are_indented() {
        let mut text = TerminalText::with_colors(true);
        text.add("sw1: ").paint(Style::BoldRed, "Error");
        text.line(": the device refused the login of admin");
        text.line("    > switchport trunk allowed vlan 1,2,3,4,5");
        text.line("  > {\"destination\":\"192.0.2.111:443\",\"pool\":\"web\"}");
        text.line("3 | a line of a file that is longer than others");
        assert_eq!(
            text.wrapped(30).as_str(),
            "sw1: \u{1b}[1;31mError\u{1b}[0m: the device refused\n  the login of admin\n    \
             > switchport trunk allowed\n          vlan 1,2,3,4,5\n  > \
             {\"destination\":\"192.0.2.111:443\",\n        \"pool\":\"web\"}\n\
             3 | a line of a file that is longer than others\n"
        );
        assert_eq!(text.wrapped(100), text);
        let hint = TerminalText::of_line("hint: run `ssh-keyscan -p 2201 192.0.2.1` and compare");
        assert_eq!(
            hint.wrapped(30).as_str(),
            "hint: run\n  `ssh-keyscan -p 2201 192.0.2.1`\n  and compare\n"
        );
    }

    proptest! {
        #[test]
        fn text_has_no_other_control_characters(part in any::<String>(), bytes in proptest::collection::vec(0_u8..=255, 0..80)) {
            let latin: String = bytes.iter().map(|byte| char::from(*byte)).collect();
            for part in [part, latin] {
                let mut text = TerminalText::with_colors(true);
                text.add(&part).paint(Style::BoldRed, &part).line(&part);
                prop_assert_eq!(text.as_str().matches('\n').count(), 1);
                text.block(&part, &part);
                prop_assert!(without_own_control(text.as_str()).chars().all(is_printable));
                let rendered = TerminalText::of_renderer(&part.replace("\u{1b}[", ""));
                prop_assert!(without_own_control(rendered.as_str()).chars().all(is_printable));
            }
        }
    }
}
