//! Request targets: a path with percent-encoded segments and an optional query.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// All characters except the unreserved ones of RFC 3986; a space becomes `%20`.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

const RESERVED_IN_PATH: &AsciiSet = &RESERVED.remove(b'/');

/// Encodes a path segment, a query value or a form value.
pub(crate) fn encode(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// Encodes a path; its slashes stay.
pub(crate) fn encode_path(path: &str) -> String {
    utf8_percent_encode(path, RESERVED_IN_PATH).to_string()
}

/// Encodes the pairs of a query or a form.
pub(crate) fn encode_pairs(pairs: &[(&str, &str)]) -> String {
    let pairs: Vec<String> = pairs
        .iter()
        .map(|(name, value)| format!("{}={}", encode(name), encode(value)))
        .collect();
    pairs.join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encode_keeps_only_unreserved_characters() {
        assert_eq!(encode("a b+c/ä~.-_"), "a%20b%2Bc%2F%C3%A4~.-_");
        assert_eq!(encode_path("puppet/type/a b.rb"), "puppet/type/a%20b.rb");
        assert_eq!(
            encode_pairs(&[("ignore", ".git"), ("ignore", "CVS")]),
            "ignore=.git&ignore=CVS"
        );
    }
}
