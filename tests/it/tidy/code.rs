//! The tokens of sources, without comments.

use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The sources of a package with their tokens. Files and modules of tests are left out.
pub(crate) fn product(package: &str) -> Vec<(String, Vec<TokenTree>)> {
    let is_test = |path: &Path| {
        let mut parts = path.components();
        parts.any(|part| part.as_os_str() == "tests")
            || path.to_string_lossy().ends_with("tests.rs")
    };
    tokens(package)
        .filter(|(path, _)| !is_test(path))
        .map(|(path, tokens)| (path.display().to_string(), without_tests(tokens)))
        .collect()
}

/// The sources of a folder with their tokens, tests included.
pub(crate) fn tokens(folder: &str) -> impl Iterator<Item = (PathBuf, TokenStream)> {
    super::sources(folder).into_iter().map(|(path, text)| {
        let tokens = text
            .parse()
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (path, tokens)
    })
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
