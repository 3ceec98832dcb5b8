//! All texts that users can see, in one file: to read them from top to bottom, and to see each change
//! of a text in a diff.
//!
//! `UPDATE_DOCS=1 cargo test --test it texts` writes `tests/fixtures/texts.txt` anew.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

use clap::CommandFactory as _;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use switchtender::cli::Cli;
use test_support::program;

use super::tidy::code::product;

const FILE: &str = "tests/fixtures/texts.txt";

#[test]
fn texts_are_collected_in_one_file() {
    let mut all = String::from(
        "Texts that users can see, collected from the sources and from the program.\n",
    );
    for package in ["src", "devices/src", "mocks/src"] {
        for (path, tokens) in product(package) {
            let mut texts = Vec::new();
            collect(&tokens, &mut texts);
            section(&mut all, &path, &texts);
        }
    }
    definitions(&mut all);
    help(&mut all, &Cli::command(), &mut vec![]);
    let list = program::run(&["explain"]).stdout;
    for rule in list.lines().filter_map(|line| line.split(' ').next()) {
        section(
            &mut all,
            &format!("explain {rule}"),
            &[program::run(&["explain", rule]).stdout],
        );
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(FILE, &all).expect("written");
    }
    let recorded = fs::read_to_string(FILE).unwrap_or_default();
    let difference = all
        .lines()
        .zip(recorded.lines())
        .find(|(new, old)| new != old);
    assert!(
        all == recorded,
        "{FILE} is not what the program has; write it anew with UPDATE_DOCS=1: {difference:#?}"
    );
}

fn section(all: &mut String, title: &str, texts: &[String]) {
    if !texts.is_empty() {
        let _ = writeln!(all, "\n== {title}");
        for text in texts {
            let _ = writeln!(all, "{}", text.trim_end());
        }
    }
}

/// The help of every command.
fn help(all: &mut String, command: &clap::Command, path: &mut Vec<String>) {
    let arguments: Vec<&str> = path.iter().map(String::as_str).chain(["--help"]).collect();
    let title = format!("switchtender {}", arguments.join(" "));
    section(all, &title, &[program::run(&arguments).stdout]);
    for below in command.get_subcommands() {
        path.push(below.get_name().to_owned());
        help(all, below, path);
        path.pop();
    }
}

/// The keys of definitions with texts for users: descriptions, messages, and reasons for what is not
/// applied.
fn definitions(all: &mut String) {
    let mut folders = vec!["devices/definitions".into()];
    let mut files = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir::<std::path::PathBuf>(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "toml")
            {
                files.insert(path);
            }
        }
    }
    for file in files {
        let text = fs::read_to_string(&file).expect("readable");
        let table: toml::Table = text.parse().expect("TOML");
        let mut texts = Vec::new();
        documented(&toml::Value::Table(table), &mut texts);
        section(all, &file.display().to_string(), &texts);
    }
}

fn documented(value: &toml::Value, texts: &mut Vec<String>) {
    match value {
        toml::Value::Table(table) => {
            for (key, value) in table {
                match (key.as_str(), value.as_str()) {
                    (
                        "doc" | "effect" | "excluded" | "ignored" | "reason" | "refused"
                        | "unsupported" | "warn" | "warn_removal",
                        Some(text),
                    ) => texts.extend((!text.is_empty()).then(|| text.to_owned())),
                    ("unsupported_values", _) => texts.extend(reasons(value)),
                    _ => documented(value, texts),
                }
            }
        }
        toml::Value::Array(list) => list.iter().for_each(|value| documented(value, texts)),
        _ => {}
    }
}

/// The reasons of a table of values and reasons.
fn reasons(values: &toml::Value) -> impl Iterator<Item = String> {
    let table = values.as_table().into_iter().flatten();
    table.filter_map(|(_, reason)| reason.as_str().map(str::to_owned))
}

/// String literals that read as text: more than one word, and not the message of a panic.
fn collect(tokens: &[TokenTree], texts: &mut Vec<String>) {
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => {
                let before = at.checked_sub(1).map(|at| tokens[at].to_string());
                let before = before.unwrap_or_default();
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                let is_attribute = group.delimiter() == Delimiter::Bracket && before == "#";
                let first = inner.first().map(ToString::to_string).unwrap_or_default();
                // The help of the command line has doc comments; `expect` is for programmers.
                if is_attribute && !matches!(first.as_str(), "error" | "arg" | "command") {
                    continue;
                }
                if matches!(
                    before.as_str(),
                    "expect" | "unreachable" | "panic" | "assert"
                ) {
                    continue;
                }
                collect(&inner, texts);
            }
            TokenTree::Literal(literal) => {
                let literal = literal.to_string();
                let is_text = literal.starts_with('"') || literal.starts_with('r');
                let words = literal.split_whitespace();
                let words = words.filter(|word| word.chars().any(char::is_alphabetic));
                if is_text && words.count() > 1 {
                    texts.push(literal);
                }
            }
            _ => {}
        }
    }
}

#[test]
fn texts_are_found_in_attributes_and_calls() {
    let code: TokenStream = r#"
        /// A comment.
        #[error("cannot read {file}: no such file")]
        fn f() { hint("check the path"); x.expect("it is there"); "word"; }
    "#
    .parse()
    .expect("tokens");
    let mut texts = Vec::new();
    collect(&code.into_iter().collect::<Vec<_>>(), &mut texts);
    assert_eq!(
        texts,
        ["\"cannot read {file}: no such file\"", "\"check the path\""]
    );
}
