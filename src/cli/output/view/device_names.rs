//! Lists of names, and texts, in lines of a terminal.

/// Maximum number of columns.
const WIDTH: usize = 80;

/// Words after a heading, separated by commas, in lines of at most 80 columns.
pub(crate) fn wrapped(heading: &str, words: &[String]) -> Vec<String> {
    let mut lines = vec![heading.to_owned()];
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        let comma = if words.peek().is_some() { "," } else { "" };
        let line = lines.last_mut().expect("there is a line");
        let length = line.chars().count() + 1 + word.chars().count() + comma.len();
        if length <= WIDTH {
            line.push_str(&format!(" {word}{comma}"))
        } else {
            lines.push(format!("  {word}{comma}"))
        }
    }
    lines
}

/// The words of a text in lines of at most 80 columns. They begin with `first`, then with `further`.
pub(crate) fn wrapped_text(first: &str, further: &str, text: &str) -> Vec<String> {
    let mut lines = vec![first.to_owned()];
    let mut is_begin = true;
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is a line");
        if is_begin || line.chars().count() + 1 + word.chars().count() <= WIDTH {
            if !is_begin {
                line.push(' ');
            }
            line.push_str(word);
        } else {
            lines.push(format!("{further}{word}"));
        }
        is_begin = false;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapped_text_has_an_indent() {
        let text = "word ".repeat(30);
        let lines = wrapped_text("  ", "    ", &text);
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0].len(), 76);
        assert!(lines[1].starts_with("    word word"), "{lines:#?}");
    }

    #[test]
    fn wrapped_lines_have_at_most_80_columns() {
        let words: Vec<String> = (0..40).map(|number| format!("device-{number}")).collect();
        let lines = wrapped("changed:", &words);
        assert!(lines.iter().all(|line| line.len() <= 80), "{lines:#?}");
        assert!(
            lines[0].starts_with("changed: device-0, device-1,"),
            "{lines:#?}"
        );
        let all: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
        assert_eq!(all.join(" "), format!("changed: {}", words.join(", ")));
    }
}
