//! Samples of tests with many similar cases. `SWITCHTENDER_CASES=all` runs all cases.

/// One of so many cases is in the sample.
const STEP: usize = 3;

/// Whether the case with this number, from 0, runs: every third one, or each.
///
/// # Panics
/// `SWITCHTENDER_CASES` has another value than `all`.
pub fn has_case(number: usize) -> bool {
    match std::env::var("SWITCHTENDER_CASES").as_deref() {
        Ok("all") => true,
        Ok(other) => panic!("SWITCHTENDER_CASES is `all`, not `{other}`"),
        Err(_) => number.is_multiple_of(STEP),
    }
}
