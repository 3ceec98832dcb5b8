//! Percent-encoding of paths, queries and forms: everything but unreserved characters.

use std::fmt::Write as _;

/// A text as part of a path, a query or a form; a space is `%20`.
pub fn component(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// A path of which the slashes stay.
pub fn path(text: &str) -> String {
    text.split('/').map(component).collect::<Vec<_>>().join("/")
}

/// The pairs of a query or a form.
pub fn pairs(pairs: &[(&str, &str)]) -> String {
    pairs
        .iter()
        .map(|(name, value)| format!("{}={}", component(name), component(value)))
        .collect::<Vec<_>>()
        .join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unreserved_characters_stay() {
        assert_eq!(component("a b+c/ä~.-_"), "a%20b%2Bc%2F%C3%A4~.-_");
        assert_eq!(path("puppet/type/a b.rb"), "puppet/type/a%20b.rb");
        assert_eq!(
            pairs(&[("ignore", ".git"), ("ignore", "CVS")]),
            "ignore=.git&ignore=CVS"
        );
    }
}
