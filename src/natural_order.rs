//! The order that people expect of names: `sw2` before `sw10`, `1/0/2` before `1/0/10`.

use std::cmp::Ordering;

/// A name that is ordered by its words and numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NaturalOrder<'a>(&'a str);

/// A key that orders names by their words and numbers.
pub(crate) fn natural_order(name: &str) -> NaturalOrder<'_> {
    NaturalOrder(name)
}

impl Ord for NaturalOrder<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        compare(self.0, other.0)
    }
}

impl PartialOrd for NaturalOrder<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Compares two names by their words and numbers. Names with equal numbers are compared by their text.
pub(crate) fn compare(left: &str, right: &str) -> Ordering {
    let (mut a, mut b) = (left, right);
    loop {
        let (Some(first), Some(second)) = (a.chars().next(), b.chars().next()) else {
            return a.len().cmp(&b.len()).then_with(|| left.cmp(right));
        };
        if first.is_ascii_digit() && second.is_ascii_digit() {
            let (number, rest) = split_number(a);
            let (other, other_rest) = split_number(b);
            // A longer number without leading zeros is larger.
            let order = number.len().cmp(&other.len()).then(number.cmp(other));
            if order != Ordering::Equal {
                return order;
            }
            (a, b) = (rest, other_rest);
            continue;
        }
        if first != second {
            return first.cmp(&second);
        }
        (a, b) = (&a[first.len_utf8()..], &b[second.len_utf8()..]);
    }
}

/// The number at the start of a text without leading zeros, and the text after it.
fn split_number(text: &str) -> (&str, &str) {
    let rest = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let digits = &text[..text.len() - rest.len()];
    (digits.trim_start_matches('0'), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_ordered_by_their_words_and_numbers() {
        let mut names = [
            "sw10",
            "sw9",
            "sw1",
            "core",
            "sw1-2",
            "sw1-10",
            "sw009",
            "sw",
            "Gi1/0/10",
            "Gi1/0/2",
            "sw00000000000000000000100",
            "straße2",
            "",
        ];
        names.sort_by_key(|name| natural_order(name));
        assert_eq!(
            names,
            [
                "",
                "Gi1/0/2",
                "Gi1/0/10",
                "core",
                "straße2",
                "sw",
                "sw1",
                "sw1-2",
                "sw1-10",
                "sw009",
                "sw9",
                "sw10",
                "sw00000000000000000000100",
            ]
        );
    }
}
