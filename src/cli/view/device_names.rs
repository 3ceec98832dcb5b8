//! Names of many devices in few lines: `sw[001-298], lb1`.

/// Names in their order; names that differ in consecutive numbers are a range.
pub(super) fn ranges<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut ranges: Vec<NameRange> = Vec::new();
    for name in names {
        let next = NameRange::new(name);
        match ranges.last_mut() {
            Some(last) if last.is_followed_by(&next) => last.last = next.last,
            _ => ranges.push(next),
        }
    }
    ranges.iter().map(NameRange::to_string).collect()
}

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

/// Names that end with consecutive numbers of one length.
struct NameRange<'a> {
    prefix: &'a str,
    first: &'a str,
    last: &'a str,
}

impl<'a> NameRange<'a> {
    fn new(name: &'a str) -> Self {
        let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = &name[prefix.len()..];
        Self {
            prefix,
            first: number,
            last: number,
        }
    }

    fn is_followed_by(&self, next: &NameRange) -> bool {
        let number = |text: &str| text.parse::<u64>().ok();
        self.prefix == next.prefix
            && self.last.len() == next.first.len()
            && number(self.last)
                .and_then(|last| last.checked_add(1))
                .is_some_and(|number_after| number(next.first) == Some(number_after))
    }
}

impl std::fmt::Display for NameRange<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            prefix,
            first,
            last,
        } = self;
        match first == last {
            true => write!(f, "{prefix}{first}"),
            false => write!(f, "{prefix}[{first}-{last}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consecutive_names_are_ranges() {
        for (names, expected) in [
            (&["sw1"][..], "sw1"),
            (&["sw001", "sw002", "sw003", "sw005"], "sw[001-003], sw005"),
            (&["sw9", "sw10"], "sw9, sw10"),
            (&["sw1", "lb2"], "sw1, lb2"),
            (&["core", "core"], "core, core"),
            (
                &["a18446744073709551615", "a18446744073709551616"],
                "a18446744073709551615, a18446744073709551616",
            ),
        ] {
            assert_eq!(ranges(names.iter().copied()).join(", "), expected);
        }
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
