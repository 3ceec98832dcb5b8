//! Lists of names in lines of a terminal.

/// Words after a heading, separated by commas, in lines of at most 80 columns.
pub(super) fn wrapped(heading: &str, words: &[String]) -> Vec<String> {
    const WIDTH: usize = 80;
    let mut lines = vec![heading.to_owned()];
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        let comma = if words.peek().is_some() { "," } else { "" };
        let line = lines.last_mut().expect("there is a line");
        let length = line.chars().count() + 1 + word.chars().count() + comma.len();
        match length <= WIDTH {
            true => line.push_str(&format!(" {word}{comma}")),
            false => lines.push(format!("  {word}{comma}")),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

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
