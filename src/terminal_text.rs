//! Text for terminals and logs: the only type that human output accepts.
//!
//! Everything that is added is escaped, so that text from a device, a server or a catalog contains no
//! terminal sequence and no line end. Only the methods of [`TerminalText`] end lines and set colors.

use std::fmt::{self, Display, Write as _};

use switchtender_devices::printable::EscapingWriter;

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

    /// Adds a part in a color: the parameters of an SGR sequence, such as `1;31`.
    pub(crate) fn paint(&mut self, color: &'static str, part: impl Display) -> &mut Self {
        if self.colors {
            let _ = write!(self.text, "\x1b[{color}m");
        }
        self.add(part);
        if self.colors {
            self.text.push_str("\x1b[0m");
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

    /// Whether there is no text.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The text as it is written.
    pub fn as_str(&self) -> &str {
        &self.text
    }
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
        text.add("sw1: ").paint("1;31", "Error");
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

    proptest! {
        #[test]
        fn text_has_no_other_control_characters(part in any::<String>(), bytes in proptest::collection::vec(0_u8..=255, 0..80)) {
            let latin: String = bytes.iter().map(|byte| char::from(*byte)).collect();
            for part in [part, latin] {
                let mut text = TerminalText::with_colors(true);
                text.add(&part).paint("1;31", &part).line(&part);
                prop_assert_eq!(text.as_str().matches('\n').count(), 1);
                text.block(&part, &part);
                prop_assert!(without_own_control(text.as_str()).chars().all(is_printable));
                let rendered = TerminalText::of_renderer(&part.replace("\u{1b}[", ""));
                prop_assert!(without_own_control(rendered.as_str()).chars().all(is_printable));
            }
        }
    }
}
