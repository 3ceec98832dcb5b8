//! Samples of tests with many similar cases.

/// One of so many cases is in the sample.
const STEP: usize = 3;

/// Whether the case with this number, from 0, runs: every third one, or each with
/// `SWITCHTENDER_CASES=all`.
///
/// # Panics
/// The variable has another value.
pub fn has_case(number: usize) -> bool {
    match std::env::var("SWITCHTENDER_CASES").as_deref() {
        Ok("all") => true,
        Ok(other) => panic!("SWITCHTENDER_CASES is `all`, not `{other}`"),
        Err(_) => number.is_multiple_of(STEP),
    }
}
