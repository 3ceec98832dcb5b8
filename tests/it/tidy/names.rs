//! Names: a type name means one thing in its package, and identifiers are made of technical terms.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};

use super::code::{product, tokens};

const PACKAGES: [&str; 4] = ["src", "devices/src", "mocks/src", "outline/src"];

/// Folders with tests only.
const TESTS: [&str; 4] = ["tests", "devices/tests", "mocks/tests", "benches"];

/// Words that identifiers do not contain, with what to write instead.
const WORDS: &[(&str, &str)] = &[
    ("aloud", "stderr"),
    ("around", "context"),
    ("asked", "requested, read"),
    ("away", "disconnected, unreachable"),
    ("begun", "started"),
    ("flawed", "failed"),
    ("given", "supplied, declared"),
    ("kept", "stored, state"),
    ("look", "inspect, style"),
    ("lose", "mark_lost"),
    ("mistake", "error"),
    ("mistakes", "errors"),
    ("place", "position, location, index"),
    ("reach", "connect"),
    ("said", "output"),
    ("say", "write, log"),
    ("says", "contains"),
    ("settle", "reconcile"),
    ("shown", "rendered"),
    ("tally", "counts"),
    ("tell", "log, emit"),
    ("tells", "logs, emits"),
    ("told", "logged, reported"),
    ("turns", "permits"),
    ("wanted", "desired"),
    ("way", "path, method"),
    ("whole", "complete"),
];

/// Names of other libraries, with the library.
const FOREIGN: &[(&str, &str)] = &[
    ("block_in_place", "tokio"),
    ("Look", "regex-syntax"),
    ("seal_in_place_append_tag", "ring"),
];

fn is_foreign(name: &str) -> bool {
    FOREIGN.iter().any(|(foreign, _)| *foreign == name)
}

#[test]
fn type_names_are_unique_in_their_package() {
    let mut found = Vec::new();
    for package in PACKAGES {
        let mut paths: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (path, tokens) in product(package) {
            for name in types(&tokens) {
                paths.entry(name).or_default().insert(path.clone());
            }
        }
        paths.retain(|_, paths| paths.len() > 1);
        for (name, paths) in paths {
            found.push(format!("{package}: {name}: {paths:?}"));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The types that a file defines, modules within it included.
fn types(tokens: &[TokenTree]) -> Vec<String> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let TokenTree::Ident(keyword) = token else {
            continue;
        };
        let keyword = keyword.to_string();
        match (keyword.as_str(), tokens.get(at + 1), tokens.get(at + 2)) {
            ("struct" | "enum" | "trait" | "type" | "union", Some(TokenTree::Ident(name)), _) => {
                found.push(name.to_string());
            }
            ("mod", Some(TokenTree::Ident(_)), Some(TokenTree::Group(inner))) => {
                found.extend(types(&inner.stream().into_iter().collect::<Vec<_>>()));
            }
            _ => {}
        }
    }
    found
}

#[test]
fn identifiers_are_made_of_technical_terms() {
    let mut found = BTreeSet::new();
    for folder in PACKAGES.into_iter().chain(TESTS) {
        for (path, tokens) in tokens(folder) {
            for_each_identifier(tokens, &mut |name| {
                let words = words(name);
                for (word, instead) in WORDS {
                    let is_found = words.iter().any(|found| found == word);
                    if is_found && !is_foreign(name) {
                        let path = path.display();
                        found.insert(format!("{path}: {name} (write: {instead})"));
                    }
                }
            });
        }
    }
    let found: Vec<String> = found.into_iter().collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

fn for_each_identifier(tokens: TokenStream, found: &mut impl FnMut(&str)) {
    for token in tokens {
        match token {
            TokenTree::Ident(name) => found(&name.to_string()),
            TokenTree::Group(group) => for_each_identifier(group.stream(), found),
            _ => {}
        }
    }
}

/// The words of an identifier in snake or camel case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = 'A';
    for letter in name.chars() {
        if letter == '_' || letter.is_uppercase() && before.is_lowercase() {
            words.push(String::new());
        }
        if letter != '_' {
            let word = words.last_mut().expect("one at least");
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    words
}

#[test]
fn words_of_identifiers_are_found_in_both_cases() {
    assert_eq!(words("is_SaveDecision2"), ["is", "save", "decision2"]);
}
