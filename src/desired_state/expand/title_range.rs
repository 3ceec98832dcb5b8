//! Titles that stand for several: `GigabitEthernet1/0/[1-24,30]`.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::inventory::range::{self, RangeError};

/// The most titles that one title stands for.
const MOST: usize = 100_000;

/// How a range is written.
pub(in crate::desired_state) const HELP: &str = "write a range of at most 100000 titles, such as \"GigabitEthernet1/0/[1-24,30]\"; a title with brackets has them twice, \"[[1-2]]\"";

/// Numbers in brackets. Brackets that stand twice are text.
static RANGE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(\[+)([0-9]+(?:-[0-9]+)?(?:,[0-9]+(?:-[0-9]+)?)*)(\]+)")
        .expect("the pattern compiles")
});

/// The titles of one key.
#[derive(Debug, PartialEq)]
pub(in crate::desired_state) struct Titles {
    pub(in crate::desired_state) names: Vec<String>,
    /// The key is a range; titles that stand alone replace what it sets.
    pub(in crate::desired_state) is_range: bool,
}

impl Titles {
    /// One title, which is never a range.
    pub(in crate::desired_state) fn one(name: &str) -> Self {
        Self {
            names: vec![name.to_owned()],
            is_range: false,
        }
    }

    /// The titles that a key of a file stands for.
    ///
    /// # Errors
    /// The range runs backward, or is too long.
    pub(in crate::desired_state) fn parse(key: &str) -> Result<Self, RangeError> {
        let mut titles = Self {
            names: vec![String::new()],
            is_range: false,
        };
        let mut end = 0;
        for found in RANGE.captures_iter(key).filter(is_numbers) {
            let matched = found.get(0).expect("a match has a text");
            let brackets = found[1].len().min(found[3].len());
            titles.append(&key[end..matched.start()]);
            if brackets > 1 {
                titles.append(&matched.as_str()[1..matched.len() - 1]);
            } else {
                titles.append(&found[1][1..]);
                titles.multiply(&found[2])?;
                titles.append(&found[3][1..]);
            }
            end = matched.end();
        }
        titles.append(&key[end..]);
        Ok(titles)
    }

    fn append(&mut self, text: &str) {
        if !text.is_empty() {
            self.names.iter_mut().for_each(|name| name.push_str(text));
        }
    }

    fn multiply(&mut self, numbers: &str) -> Result<(), RangeError> {
        let texts = range::numbers(numbers)?;
        if texts.len() * self.names.len() > MOST {
            return Err(RangeError::TooLong(numbers.to_owned()));
        }
        let names = self.names.iter();
        let all = names.flat_map(|name| texts.iter().map(move |text| format!("{name}{text}")));
        self.names = all.collect();
        self.is_range = true;
        Ok(())
    }
}

/// Whether the text in brackets has several numbers: `[12]` is text.
fn is_numbers(found: &Captures<'_>) -> bool {
    found[2].contains(['-', ','])
}

/// The key of exactly this title.
pub(crate) fn literal_title(title: &str) -> Cow<'_, str> {
    RANGE.replace_all(title, |found: &Captures<'_>| {
        if is_numbers(found) {
            format!("[{}]", &found[0])
        } else {
            found[0].to_owned()
        }
    })
}

/// The last number of a title.
pub(in crate::desired_state) fn last_number(title: &str) -> Option<u64> {
    let is_digit = |c: char| c.is_ascii_digit();
    let until_number = title.trim_end_matches(|c| !is_digit(c));
    let digits = until_number.trim_end_matches(is_digit).len();
    until_number[digits..].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_with_ranges_are_their_titles() {
        let cases = [
            ("Gi1/0/[1-3]", "Gi1/0/1 Gi1/0/2 Gi1/0/3"),
            ("[20-21,30]", "20 21 30"),
            ("port[09-10]x", "port09x port10x"),
            ("Gi[1-2]/0/[1,3]", "Gi1/0/1 Gi1/0/3 Gi2/0/1 Gi2/0/3"),
            ("a[b][1-2]", "a[b]1 a[b]2"),
            ("[12]", "[12]"),
            ("[a-z]", "[a-z]"),
            ("[[1-2]]", "[1-2]"),
            ("[[[1-2]]]", "[[1-2]]"),
            ("[[1-2]", "[1 [2"),
            ("", ""),
        ];
        for (key, expected) in cases {
            let titles = Titles::parse(key).unwrap();
            assert_eq!(titles.names.join(" "), expected, "{key}");
        }
    }

    #[test]
    fn every_title_has_a_key() {
        for title in [
            "1",
            "[1-2]",
            "[[1-2]",
            "[[1,2]]]",
            "a [1-2] [3] [4,5]",
            "[a-b]",
        ] {
            let titles = Titles::parse(&literal_title(title)).unwrap();
            assert_eq!(titles, Titles::one(title));
        }
    }

    #[test]
    fn long_ranges_are_errors() {
        for key in [
            "[1-999999999]",
            "[1-99999999999999999999]",
            "[1-100][1-100][1-11]",
            "[2-1]",
        ] {
            assert!(Titles::parse(key).is_err(), "{key}");
        }
    }

    #[test]
    fn the_last_number_of_a_title_is_n() {
        let cases = [
            ("GigabitEthernet1/0/24", Some(24)),
            ("Gi1/0/07.100 ", Some(100)),
            ("007", Some(7)),
            ("default", None),
            ("99999999999999999999999", None),
        ];
        for (title, expected) in cases {
            assert_eq!(last_number(title), expected, "{title}");
        }
    }
}
