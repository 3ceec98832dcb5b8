//! Sets of VLAN numbers: `1-3,5`.

use std::collections::BTreeSet;
use std::fmt;

/// The highest number.
pub(super) const MAX: u16 = 4094;

/// A set of VLAN numbers from 1 to 4094.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct VlanList(BTreeSet<u16>);

impl VlanList {
    /// Parses `5`, `1-3,5`. Spaces, numbers outside 1–4094 and descending ranges are invalid.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut set = BTreeSet::new();
        for part in text.split(',') {
            let (low, high) = part.split_once('-').unwrap_or((part, part));
            let number = |text: &str| {
                let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
                digits
                    .then(|| text.parse::<u16>().ok())
                    .flatten()
                    .filter(|number| (1..=MAX).contains(number))
            };
            let (low, high) = (number(low)?, number(high)?);
            if low > high {
                return None;
            }
            set.extend(low..=high);
        }
        Some(VlanList(set))
    }

    /// All items.
    pub(super) fn all() -> Self {
        VlanList((1..=MAX).collect())
    }

    /// The numbers in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        self.0.iter().copied()
    }

    /// Whether the number is in the set.
    pub(super) fn contains(&self, number: u16) -> bool {
        self.0.contains(&number)
    }

    /// Whether it is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The union.
    #[must_use]
    pub(super) fn union(&self, other: &Self) -> Self {
        VlanList(self.0.union(&other.0).copied().collect())
    }

    /// The difference.
    #[must_use]
    pub(super) fn without(&self, other: &Self) -> Self {
        VlanList(self.0.difference(&other.0).copied().collect())
    }
}

impl fmt::Display for VlanList {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut runs: Vec<(u16, u16)> = Vec::new();
        for number in self.iter() {
            match runs.last_mut() {
                Some((_, high)) if *high + 1 == number => *high = number,
                _ => runs.push((number, number)),
            }
        }
        // The device prints two adjacent numbers with a comma, and a range for three or more.
        let parts: Vec<String> = runs
            .into_iter()
            .map(|(low, high)| match high - low {
                0 => low.to_string(),
                1 => format!("{low},{high}"),
                _ => format!("{low}-{high}"),
            })
            .collect();
        formatter.write_str(&parts.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vlan_list_is_sorted_and_merged() {
        for (text, printed) in [
            ("5", "5"),
            ("30,10,20", "10,20,30"),
            ("1-3,4", "1-4"),
            ("10,11", "10,11"),
            ("10-11", "10,11"),
        ] {
            assert_eq!(
                VlanList::parse(text).unwrap().to_string(),
                printed,
                "{text}"
            );
        }
        for text in ["", "0", "4095", "3-1", "1,", "a", "1 2", "+5"] {
            assert_eq!(VlanList::parse(text), None, "{text}");
        }
        assert_eq!(VlanList::all().to_string(), "1-4094");
    }
}
