//! A terminal emulation: turns received bytes into lines and the current line.
//!
//! Backspace, carriage return and "erase to end of line" act as on a terminal. A horizontally
//! scrolled echo or an erased pager marker becomes the visible text. Other control sequences are
//! dropped.

/// A terminal with one current line.
#[derive(Debug, Default)]
pub(super) struct Screen {
    line: Vec<u8>,
    cursor: usize,
    /// Bytes received since the last line end, also those that are not visible.
    bytes: usize,
    /// The line was blanked; trailing spaces are padding.
    padded: bool,
    escape: Escape,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Escape {
    #[default]
    None,
    /// After ESC.
    Started,
    /// After ESC `[`, with the first parameter.
    Control(u16),
    /// Within a string (title and the like), up to BEL or ESC `\`.
    String,
}

/// Longer lines are truncated, to limit memory.
const LINE_LIMIT: usize = 1 << 20;

impl Screen {
    /// Consumes bytes up to the end of a line and returns that line.
    pub(crate) fn take_line(&mut self, bytes: &mut &[u8]) -> Option<String> {
        loop {
            let text = self.append(bytes);
            *bytes = &bytes[text..];
            self.bytes += text;
            let (byte, rest) = bytes.split_first()?;
            *bytes = rest;
            self.bytes += 1;
            let line = self.put(*byte);
            if line.is_some() {
                self.bytes = 0;
                return line;
            }
        }
    }

    /// Fast path: appends the leading text of the bytes if the cursor is at the end of the line.
    /// Returns the number of consumed bytes.
    fn append(&mut self, bytes: &[u8]) -> usize {
        if self.escape != Escape::None || self.cursor < self.line.len() {
            return 0;
        }
        let text = bytes.iter().position(|byte| !is_text(*byte));
        let text = text.unwrap_or(bytes.len());
        let text = text.min(LINE_LIMIT.saturating_sub(self.line.len()));
        self.line.extend_from_slice(&bytes[..text]);
        self.cursor += text;
        text
    }

    fn put(&mut self, byte: u8) -> Option<String> {
        match self.escape {
            Escape::Started => self.after_escape(byte),
            Escape::Control(parameter) => self.in_control(parameter, byte),
            Escape::String => match byte {
                0x07 => self.escape = Escape::None,
                0x1b => self.escape = Escape::Started,
                _ => {}
            },
            Escape::None => match byte {
                0x1b => self.escape = Escape::Started,
                b'\n' => return Some(self.take()),
                b'\r' => self.cursor = 0,
                0x08 => self.cursor = self.cursor.saturating_sub(1),
                text if is_text(text) => self.print(text),
                _ => {}
            },
        }
        None
    }

    /// Bytes received since the last line end.
    pub(crate) fn bytes_without_line_end(&self) -> usize {
        self.bytes
    }

    /// The current line, which has no end yet.
    pub(crate) fn current(&self) -> String {
        decode(&self.line)
    }

    /// Length of the current line in bytes.
    pub(crate) fn current_len(&self) -> usize {
        self.line.len()
    }

    /// Removes the current line.
    pub(crate) fn clear(&mut self) {
        self.line.clear();
        self.cursor = 0;
        self.padded = false;
    }

    /// Blanks the current line and leaves the cursor in place, as pagers that move back over their
    /// marker expect.
    pub(crate) fn blank(&mut self) {
        self.line.fill(b' ');
        self.padded = true;
    }

    fn take(&mut self) -> String {
        let mut text = decode(&self.line);
        if self.padded {
            text.truncate(text.trim_end().len());
        }
        self.clear();
        text
    }

    fn print(&mut self, byte: u8) {
        if self.cursor < self.line.len() {
            self.line[self.cursor] = byte;
        } else if self.line.len() < LINE_LIMIT {
            self.line.push(byte);
        } else {
            return;
        }
        self.cursor += 1;
    }

    fn after_escape(&mut self, byte: u8) {
        self.escape = match byte {
            b'[' => Escape::Control(0),
            b']' | b'P' | b'_' | b'^' => Escape::String,
            // Intermediates ("ESC ( B") are followed by one more byte.
            b' '..=b'/' => Escape::Started,
            _ => Escape::None,
        };
    }

    fn in_control(&mut self, parameter: u16, byte: u8) {
        match byte {
            b'0'..=b'9' => {
                let digit = u16::from(byte - b'0');
                self.escape = Escape::Control(parameter.saturating_mul(10).saturating_add(digit));
            }
            b' '..=b'?' => {}
            _ => {
                self.escape = Escape::None;
                match byte {
                    b'K' if parameter == 0 => self.line.truncate(self.cursor),
                    b'K' if parameter == 2 => self.line.fill(b' '),
                    b'D' => {
                        let columns = usize::from(parameter.max(1));
                        self.cursor = self.cursor.saturating_sub(columns);
                    }
                    b'C' => {
                        let columns = usize::from(parameter.max(1));
                        self.cursor = (self.cursor + columns).min(self.line.len());
                    }
                    b'G' => {
                        let column = usize::from(parameter.max(1)) - 1;
                        self.cursor = column.min(self.line.len());
                    }
                    _ => {}
                }
            }
        }
    }
}

/// Whether a byte is text or part of a UTF-8 character.
fn is_text(byte: u8) -> bool {
    matches!(byte, b'\t' | b' '..=0x7e | 0x80..)
}

/// Devices print UTF-8 or, the older ones, Latin-1.
fn decode(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(bytes: &[u8]) -> Vec<String> {
        let mut screen = Screen::default();
        let mut lines = put(&mut screen, bytes);
        lines.push(screen.current());
        lines
    }

    fn put(screen: &mut Screen, mut bytes: &[u8]) -> Vec<String> {
        std::iter::from_fn(|| screen.take_line(&mut bytes)).collect()
    }

    #[test]
    fn screen_renders_bytes_as_a_terminal() {
        let cases: [(&str, &[u8], &[&str]); 10] = [
            ("line ends", b"a\r\nb\r\r\nc\nd", &["a", "b", "c", "d"]),
            ("nulls and bells", b"a\0\0b\x07", &["ab"]),
            ("colors", b"\x1b[7m--More--\x1b[m", &["--More--"]),
            ("keypad", b"\x1b[?1h\x1b=\rtext", &["text"]),
            ("overwritten", b"abc\rxy", &["xyc"]),
            ("erased", b"abcdef\r\x1b[Kxy", &["xy"]),
            ("typed over", b"prompt# shox\x08w", &["prompt# show"]),
            (
                "scrolled horizontally",
                b"r1(config)#snmp-server loc\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08$location here\x1b[K",
                &["r1(config)#$location here"],
            ),
            ("title", b"\x1b]0;title\x07text", &["text"]),
            ("latin-1", b"Z\xfcrich", &["Z\u{fc}rich"]),
        ];
        for (name, bytes, expected) in cases {
            assert_eq!(show(bytes), expected, "{name}");
            let mut screen = Screen::default();
            let pieces = bytes.chunks(1);
            let mut lines: Vec<_> = pieces.flat_map(|byte| put(&mut screen, byte)).collect();
            lines.push(screen.current());
            assert_eq!(lines, expected, "{name}, byte by byte");
        }
    }

    #[test]
    fn screen_removes_a_pager_marker() {
        let erasures: [&[u8]; 4] = [
            b"\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08          \x08\x08\x08\x08\x08\x08\x08\x08\x08\x08 ip address\r\n",
            b"\r          \r ip address\r\n",
            b"\r\x1b[K ip address\r\n",
            b"\r ip address\r\n",
        ];
        for rest in erasures {
            let mut screen = Screen::default();
            assert_eq!(put(&mut screen, b" --More-- "), [""; 0]);
            screen.blank();
            assert_eq!(put(&mut screen, rest), [" ip address"]);
        }
    }
}
