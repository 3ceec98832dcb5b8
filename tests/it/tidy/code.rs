//! The tokens of the product's sources, without tests and comments.

use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The sources of a package with their tokens. Files and modules of tests are left out.
pub(crate) fn product(package: &str) -> Vec<(String, Vec<TokenTree>)> {
    let is_test = |path: &Path| {
        path.components()
            .any(|part| part.as_os_str() == "tests" || part.as_os_str() == "tests.rs")
    };
    super::sources(package)
        .into_iter()
        .filter(|(path, _)| !is_test(path))
        .map(|(path, text)| {
            let tokens: TokenStream = text
                .parse()
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            (path.display().to_string(), without_tests(tokens))
        })
        .collect()
}

/// Leaves out what `#[cfg(test)]` and `#[test]` mark.
fn without_tests(tokens: TokenStream) -> Vec<TokenTree> {
    let mut left = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let attribute = match (&token, tokens.peek()) {
            (TokenTree::Punct(hash), Some(TokenTree::Group(group))) if hash.as_char() == '#' => {
                group.stream().to_string()
            }
            _ => String::new(),
        };
        if matches!(attribute.as_str(), "cfg (test)" | "cfg(test)" | "test") {
            for token in tokens.by_ref() {
                match token {
                    TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => break,
                    TokenTree::Punct(end) if end.as_char() == ';' => break,
                    _ => {}
                }
            }
        } else {
            left.push(token);
        }
    }
    left
}
