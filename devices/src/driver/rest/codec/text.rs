//! Texts that devices return in another form than they received.

/// Normalizes a multi-line text: line ends are `\n`; blank lines at both ends and spaces at the end
/// are removed.
pub(crate) fn block(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let lines: Vec<_> = text.split('\n').collect();
    let blank = |line: &&str| line.trim().is_empty();
    let first = lines.iter().position(|line| !blank(line)).unwrap_or(0);
    let last = lines.iter().rposition(|line| !blank(line)).unwrap_or(0);
    lines[first..=last].join("\n").trim_end().to_owned()
}

/// Normalizes a script as [`block`] does, without comments after its last command.
pub(crate) fn rule(text: &str) -> String {
    let text = block(text);
    let lines: Vec<_> = text.split('\n').collect();
    let is_command = |line: &&str| {
        let line = line.trim_start();
        !line.is_empty() && !line.starts_with('#')
    };
    match lines.iter().rposition(is_command) {
        Some(last) => lines[..=last].join("\n").trim_end().to_owned(),
        // Nothing but comments.
        None => text,
    }
}

/// Normalizes a text: control characters are escaped exactly once and trailing spaces are removed.
/// Line ends become `\r` and `\n`, and doubled backslashes before such letters become one.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text.trim_end_matches(' ').chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\r' => out.push_str("\\r"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\\' if rest.peek() == Some(&'\\') => {
                rest.next();
                match rest.peek() {
                    Some('r' | 'n' | 't') => out.push('\\'),
                    _ => out.push_str("\\\\"),
                }
            }
            other => out.push(other),
        }
    }
    out
}

/// Digits without leading zeros. Another text is unchanged.
pub(crate) fn decimal(text: &str) -> String {
    let number = text.trim().parse::<i64>();
    number.map_or_else(|_| text.to_owned(), |number| number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_ignores_surrounding_blank_lines_and_line_ends() {
        let desired = "when HTTP_REQUEST {\n  pool x\n}";
        for text in [
            desired,
            "\n\nwhen HTTP_REQUEST {\r\n  pool x\r\n}\r\n",
            "when HTTP_REQUEST {\n  pool x\n}   \n \n",
        ] {
            assert_eq!(block(text), desired);
        }
        assert_eq!(block("\n  indented\n"), "  indented");
        assert_eq!(block(""), "");
    }

    #[test]
    fn rule_ignores_comments_at_its_end() {
        let desired = "# head\nwhen HTTP_REQUEST {\n  # inside\n}";
        for text in [
            desired,
            "# head\nwhen HTTP_REQUEST {\n  # inside\n}\n\n# when X {\n#  old\n# }\n",
        ] {
            assert_eq!(rule(text), desired);
        }
        assert_eq!(rule("# only\n"), "# only");
    }

    #[test]
    fn text_ignores_the_level_of_escaping() {
        let desired = r"GET / HTTP/1.1\r\n\r\n";
        for text in [
            desired,
            "GET / HTTP/1.1\r\n\r\n",
            r"GET / HTTP/1.1\\r\\n\\r\\n",
            r"GET / HTTP/1.1\r\n\r\n ",
        ] {
            assert_eq!(escaped(text), desired, "{text}");
        }
        assert_eq!(escaped(r"a\\b"), r"a\\b");
        assert_eq!(escaped(&escaped(r"a\\\\rb")), escaped(r"a\\\\rb"));
    }
}
