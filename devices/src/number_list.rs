//! Lists of numbers and ranges: `1,5-7`.

use std::collections::BTreeSet;

/// Longest range of numbers that is expanded, so that device text cannot exhaust memory.
const LONGEST_RANGE: u32 = 65_535;

/// The numbers in a list, in its order; `None` if it is none.
pub(crate) fn numbers(text: &str) -> Option<Vec<u32>> {
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        let (low, high): (u32, u32) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
        if low > high || high - low > LONGEST_RANGE {
            return None;
        }
        numbers.extend(low..=high);
    }
    Some(numbers)
}

/// A set of numbers as a list in ascending order. `shortest` is the number of numbers from which on
/// neighbors are a range.
pub(crate) fn text(numbers: &BTreeSet<u32>, shortest: u32) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, to)) if *to + 1 == *number => *to = *number,
            _ => runs.push((*number, *number)),
        }
    }
    let runs: Vec<String> = runs
        .iter()
        .map(|(from, to)| match to - from {
            0 => from.to_string(),
            1 if shortest > 2 => format!("{from},{to}"),
            _ => format!("{from}-{to}"),
        })
        .collect();
    runs.join(",")
}

/// A list in its canonical form; `None` if it is none.
pub(crate) fn canonical(list: &str) -> Option<String> {
    Some(text(&numbers(list)?.into_iter().collect(), 2))
}
