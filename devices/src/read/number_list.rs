//! Lists of numbers and ranges: `1,5-7`.

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
