//! Lists of numbers and ranges: `1,10-12`.

use std::collections::BTreeSet;
use std::fmt;

/// Numbers in ascending order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct NumberList(BTreeSet<u64>);

impl NumberList {
    /// Parses a list whose numbers are in a range.
    pub(super) fn parse(text: &str, (lowest, highest): (u64, u64)) -> Option<Self> {
        let mut numbers = BTreeSet::new();
        for part in text.split(',') {
            let (low, high) = part.split_once('-').unwrap_or((part, part));
            let (low, high): (u64, u64) = (low.parse().ok()?, high.parse().ok()?);
            if low > high || low < lowest || high > highest {
                return None;
            }
            numbers.extend(low..=high);
        }
        Some(Self(numbers))
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> {
        self.0.iter().copied()
    }

    pub(super) fn union(&self, other: &Self) -> Self {
        Self(self.0.union(&other.0).copied().collect())
    }

    pub(super) fn difference(&self, other: &Self) -> Self {
        Self(self.0.difference(&other.0).copied().collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<u64> for NumberList {
    fn from_iter<I: IntoIterator<Item = u64>>(numbers: I) -> Self {
        Self(numbers.into_iter().collect())
    }
}

/// Ranges of two numbers or more are `1-2`.
impl fmt::Display for NumberList {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for number in self.numbers() {
            match ranges.last_mut() {
                Some((_, high)) if *high + 1 == number => *high = number,
                _ => ranges.push((number, number)),
            }
        }
        let texts = ranges.into_iter().map(|(low, high)| {
            if low == high {
                low.to_string()
            } else {
                format!("{low}-{high}")
            }
        });
        formatter.write_str(&texts.collect::<Vec<_>>().join(","))
    }
}
