//! Finds keys and values of a YAML file with their positions.

use super::{YamlEntry, YamlKind};

/// Finds the entries of a text.
pub(super) struct YamlReader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> YamlReader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The entries of a map in lines, from the current line on.
    pub(super) fn block(&mut self, indent: usize) -> Vec<YamlEntry> {
        let mut entries = Vec::new();
        while let Some((start, own)) = self.content_line(self.at) {
            if own != indent || self.text[start..].starts_with(['-', '{', '[']) {
                break;
            }
            self.at = start;
            let Some(key) = self.key() else {
                break;
            };
            entries.push(self.entry(key, start, indent));
        }
        entries
    }

    /// The position and the indent of the next line with content.
    fn content_line(&self, from: usize) -> Option<(usize, usize)> {
        let mut at = from;
        while at < self.text.len() {
            let line = self.text[at..].lines().next().unwrap_or_default();
            let content = line.trim_start();
            if !content.is_empty() && !content.starts_with('#') && content != "---" {
                let indent = line.len() - content.len();
                return Some((at + indent, indent));
            }
            at += line.len() + 1;
        }
        None
    }

    /// A key with its colon.
    fn key(&mut self) -> Option<String> {
        let rest = &self.text[self.at..];
        let (key, length) = if rest.starts_with(['"', '\'']) {
            let length = quoted_length(rest);
            (unquoted(&rest[..length]), length)
        } else {
            let line = rest.lines().next()?;
            let colon = line.match_indices(':').find(|(at, _)| {
                let after = line[at + 1..].chars().next();
                after.is_none_or(|c| c.is_whitespace() || matches!(c, ',' | '}'))
            });
            let length = colon?.0;
            (line[..length].trim_end().to_owned(), length)
        };
        let after = &rest[length..];
        let blanks = after.len() - after.trim_start_matches(' ').len();
        if !after[blanks..].starts_with(':') {
            return None;
        }
        self.at += length + blanks + 1;
        Some(key)
    }

    /// An entry of a map in lines, after its key.
    fn entry(&mut self, key: String, start: usize, indent: usize) -> YamlEntry {
        let line = self.text[self.at..].lines().next().unwrap_or_default();
        let line_end = self.at + line.len();
        let content = line.trim_start();
        let value_start = self.at + line.len() - content.len();
        let has_value = !content.is_empty() && !content.starts_with('#');
        let mut entry = YamlEntry {
            key,
            span: start..self.at,
            value: self.at..self.at,
            entries: Vec::new(),
            kind: YamlKind::Other,
        };
        if has_value && content.starts_with('{') {
            self.at = value_start;
            (entry.entries, entry.kind) = (self.flow(), YamlKind::Flow);
            entry.value = value_start..self.at;
            entry.span.end = self.at;
            self.at = self.next_line(self.at);
            return entry;
        }
        if has_value {
            let comment = comment_start(content).unwrap_or(content.len());
            let end = value_start + content[..comment].trim_end().len();
            let last = self.deeper_end(line_end, indent).unwrap_or(end);
            entry.value = value_start..last.max(end);
        } else if let Some((next, deeper)) = self.content_line(line_end + 1)
            && (deeper > indent || (deeper == indent && self.text[next..].starts_with("- ")))
        {
            self.at = line_end + 1;
            entry.entries = self.block(deeper);
            let last = match entry.entries.last() {
                Some(last) => {
                    entry.kind = YamlKind::Block(deeper);
                    last.span.end
                }
                // A list.
                None => self.list_end(line_end, indent),
            };
            entry.value = next..last;
        }
        entry.span.end = entry.value.end.max(entry.span.end);
        self.at = self.next_line(entry.span.end);
        entry
    }

    /// The end of the lines after a position that have a deeper indent.
    fn deeper_end(&self, line_end: usize, indent: usize) -> Option<usize> {
        self.end_of_lines(line_end, |_, own| own > indent)
    }

    /// The end of a list below a key.
    fn list_end(&self, line_end: usize, indent: usize) -> usize {
        let is_item = |text: &str, own| own > indent || (own == indent && text.starts_with('-'));
        self.end_of_lines(line_end, is_item).unwrap_or(line_end)
    }

    fn end_of_lines(
        &self,
        line_end: usize,
        is_part: impl Fn(&str, usize) -> bool,
    ) -> Option<usize> {
        let mut end = None;
        let mut at = line_end + 1;
        while let Some((start, own)) = self.content_line(at) {
            let line = self.text[start..].lines().next().unwrap_or_default();
            if !is_part(line, own) {
                break;
            }
            let comment = comment_start(line).unwrap_or(line.len());
            end = Some(start + line[..comment].trim_end().len());
            at = start + line.len() + 1;
        }
        end
    }

    fn next_line(&self, at: usize) -> usize {
        let found = self.text[at..].find('\n');
        found.map_or(self.text.len(), |found| at + found + 1)
    }

    /// The entries of a map in braces, from its brace on.
    fn flow(&mut self) -> Vec<YamlEntry> {
        let mut entries = Vec::new();
        self.at += 1;
        loop {
            self.skip_blanks();
            match self.text[self.at..].chars().next() {
                Some(',') => self.at += 1,
                Some('}') => {
                    self.at += 1;
                    return entries;
                }
                None => return entries,
                Some(_) => {}
            }
            self.skip_blanks();
            let start = self.at;
            let Some(key) = self.key() else {
                self.skip_value();
                if self.at == start {
                    self.at = self.text.len().min(self.at + 1);
                }
                continue;
            };
            let colon = self.at;
            self.skip_blanks();
            let value = self.at;
            let mut entry = YamlEntry {
                key,
                span: start..colon,
                value: colon..colon,
                entries: Vec::new(),
                kind: YamlKind::Other,
            };
            if self.text[self.at..].starts_with('{') {
                (entry.entries, entry.kind) = (self.flow(), YamlKind::Flow);
                entry.value = value..self.at;
            } else {
                self.skip_value();
                let end = value + self.text[value..self.at].trim_end().len();
                if end > value {
                    entry.value = value..end;
                }
            }
            entry.span.end = entry.value.end;
            entries.push(entry);
        }
    }

    /// Blanks, line ends and comments.
    fn skip_blanks(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            let blanks = rest.len() - rest.trim_start().len();
            self.at += blanks;
            if !self.text[self.at..].starts_with('#') {
                return;
            }
            self.at = self.next_line(self.at);
        }
    }

    /// A value in braces, until the comma or brace after it.
    fn skip_value(&mut self) {
        let mut depth = 0;
        while let Some(c) = self.text[self.at..].chars().next() {
            match c {
                '"' | '\'' => {
                    self.at += quoted_length(&self.text[self.at..]);
                    continue;
                }
                '[' | '{' => depth += 1,
                ']' | '}' if depth > 0 => depth -= 1,
                ',' | '}' if depth == 0 => return,
                _ => {}
            }
            self.at += c.len_utf8();
        }
    }
}

/// The length of a text in quotation marks at the beginning.
fn quoted_length(text: &str) -> usize {
    let mut chars = text.char_indices();
    let Some((_, quote)) = chars.next() else {
        return 0;
    };
    let mut is_escaped = false;
    for (at, c) in chars {
        if is_escaped {
            is_escaped = false;
        } else if c == '\\' && quote == '"' {
            is_escaped = true;
        } else if c == quote {
            return at + c.len_utf8();
        }
    }
    text.len()
}

fn unquoted(text: &str) -> String {
    if text.starts_with('"') {
        let read = serde_json::from_str(text);
        return read.unwrap_or_else(|_| text.trim_matches('"').to_owned());
    }
    text.trim_matches('\'').replace("''", "'")
}

/// Where a comment begins in a line.
pub(super) fn comment_start(line: &str) -> Option<usize> {
    let mut quote = None;
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        match quote {
            Some(open) if c == open && before != '\\' => quote = None,
            Some(_) => {}
            None if matches!(c, '"' | '\'') && !before.is_alphanumeric() => quote = Some(c),
            None if c == '#' && before.is_whitespace() => return Some(at),
            None => {}
        }
        before = c;
    }
    None
}
