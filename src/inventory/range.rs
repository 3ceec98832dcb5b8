//! Ranges of numbers in names and addresses, `sw[001-300]`: the names of a range, and the ranges of names.

/// The most names that a range stands for.
const MOST: usize = 100_000;

/// How a range is written.
pub(super) const HELP: &str =
    "write one range of at most 100000 numbers: \"sw[001-300]\", \"sw[1-4,7]\"";

/// The texts that a text with a range stands for, in order; `None` without a range. The numbers have
/// the digits of the first one: `[001-300]` begins with `001`, `[1-300]` with `1`.
///
/// # Errors
/// The range runs backward, is too long, or is not the only one.
pub(super) fn expand(text: &str) -> Option<Result<Vec<String>, RangeError>> {
    let (before, numbers, after) = split(text)?;
    Some(expanded(before, numbers, after))
}

/// A range that stands for no texts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RangeError {
    #[error("the range [{0}] does not run from a lower to a higher number")]
    Backward(String),
    #[error("the range [{0}] has more than {MOST} numbers")]
    TooLong(String),
    #[error("only one range is possible")]
    Several,
}

fn expanded(before: &str, numbers: &str, after: &str) -> Result<Vec<String>, RangeError> {
    if split(after).is_some() {
        return Err(RangeError::Several);
    }
    let numbers = self::numbers(numbers)?.into_iter();
    let texts = numbers.map(|number| format!("{before}{number}{after}"));
    Ok(texts.collect())
}

/// The numbers of a range without its brackets, `1-24,30`.
///
/// # Errors
/// It runs backward, or is too long.
pub(crate) fn numbers(numbers: &str) -> Result<Vec<String>, RangeError> {
    let mut texts = Vec::new();
    for part in numbers.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let width = first.len();
        // Digits that are no number are too many.
        let number = |digits: &str| digits.parse::<u32>().ok();
        let (Some(first), Some(last)) = (number(first), number(last)) else {
            return Err(RangeError::TooLong(numbers.to_owned()));
        };
        if last < first {
            return Err(RangeError::Backward(part.to_owned()));
        }
        if texts.len() + (last - first) as usize >= MOST {
            return Err(RangeError::TooLong(numbers.to_owned()));
        }
        texts.extend((first..=last).map(|number| format!("{number:0width$}")));
    }
    Ok(texts)
}

/// The text before a range, its numbers and the text after it. Other brackets are no range: `[ab]` and
/// `[0-9]*` are patterns, but `[0-9]` alone is a range, which matches the same names.
fn split(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('[')?;
    let (numbers, after) = rest.split_once(']')?;
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let is_part = |part: &str| match part.split_once('-') {
        Some((first, last)) => is_number(first) && is_number(last),
        None => is_number(part),
    };
    let is_range = numbers.contains(['-', ',']) && numbers.split(',').all(is_part);
    let has_wildcard = |text: &str| text.contains(['*', '?', '{']) && !text.contains("{name}");
    (is_range && !has_wildcard(before) && !has_wildcard(after)).then_some((before, numbers, after))
}

/// Names in their order; names that differ in consecutive numbers are a range.
pub(crate) fn of_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
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

/// Names that end with consecutive numbers. `[9-10]` has no leading zeros, `[09-10]` numbers of one length.
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
        let is_padded = self.first.starts_with('0') || next.first.starts_with('0');
        self.prefix == next.prefix
            && (self.last.len() == next.first.len() || !is_padded)
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
        if first == last {
            write!(f, "{prefix}{first}")
        } else {
            write!(f, "{prefix}[{first}-{last}]")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn range_expands_to_numbers_of_equal_width() {
        let expanded = |text| expand(text).map(Result::unwrap);
        assert_eq!(
            expanded("sw[008-010]").unwrap(),
            ["sw008", "sw009", "sw010"]
        );
        assert_eq!(expanded("sw[9-10].lab").unwrap(), ["sw9.lab", "sw10.lab"]);
        assert_eq!(expanded("sw[1-2,7]").unwrap(), ["sw1", "sw2", "sw7"]);
        for text in [
            "sw1",
            "sw[ab]",
            "sw[0-9]*",
            "sw[12]",
            "2001:db8::1",
            "[::1]",
        ] {
            assert_eq!(expanded(text), None, "{text}");
        }
    }

    #[test]
    fn consecutive_names_are_ranges() {
        for (names, expected) in [
            (&["sw1"][..], "sw1"),
            (&["sw001", "sw002", "sw003", "sw005"], "sw[001-003], sw005"),
            (&["sw9", "sw10", "sw11"], "sw[9-11]"),
            (&["sw08", "sw09", "sw10"], "sw[08-10]"),
            (&["sw98", "sw99", "sw100"], "sw[98-100]"),
            (&["sw09", "sw010", "sw11"], "sw09, sw010, sw11"),
            (&["sw0", "sw1"], "sw[0-1]"),
            (&["sw09", "sw100"], "sw09, sw100"),
            (&["sw9", "sw010"], "sw9, sw010"),
            (&["sw1", "lb2"], "sw1, lb2"),
            (&["core", "core"], "core, core"),
            (
                &["a18446744073709551615", "a18446744073709551616"],
                "a18446744073709551615, a18446744073709551616",
            ),
        ] {
            assert_eq!(of_names(names.iter().copied()).join(", "), expected);
        }
    }

    #[test]
    fn range_errors_name_the_range() {
        for (text, reason) in [
            (
                "sw[3-1]",
                "the range [3-1] does not run from a lower to a higher number",
            ),
            (
                "sw[1-100001]",
                "the range [1-100001] has more than 100000 numbers",
            ),
            (
                "sw[1-99999999999]",
                "the range [1-99999999999] has more than 100000 numbers",
            ),
            ("r[1-2]s[1-2]", "only one range is possible"),
        ] {
            assert_eq!(expand(text).unwrap().unwrap_err().to_string(), reason);
        }
    }
}
