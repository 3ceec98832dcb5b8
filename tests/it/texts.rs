//! Help and explanations as files, one for each command and each explained word: each change of a text
//! is seen in a diff, and parallel changes do not conflict.
//!
//! `UPDATE_DOCS=1 cargo test --test it texts` writes `tests/fixtures/help` and
//! `tests/fixtures/explain` anew.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use clap::CommandFactory as _;
use switchtender::cli::Cli;
use test_support::program;

#[test]
fn texts_of_the_help_are_recorded() {
    let mut pages = BTreeMap::new();
    add_help(&mut pages, &Cli::command(), &[]);
    compare(Path::new("tests/fixtures/help"), &pages);
}

/// The help of a command and of those below it: `plan/show.txt` is that of `plan show`.
fn add_help(pages: &mut BTreeMap<PathBuf, String>, command: &clap::Command, path: &[&str]) {
    let arguments = [path, &["--help"]].concat();
    let name = if path.is_empty() {
        "switchtender".to_owned()
    } else {
        path.join("/")
    };
    let page = PathBuf::from(format!("{name}.txt"));
    pages.insert(page, program::run(&arguments).stdout);
    for below in command.get_subcommands() {
        add_help(pages, below, &[path, &[below.get_name()]].concat());
    }
}

#[test]
fn texts_of_explanations_are_recorded() {
    let list = program::run(&["explain"]).stdout;
    // Groups have a heading with a colon at its end.
    let entries = list.lines().filter(|line| !line.ends_with(':'));
    let words = entries.filter_map(|line| line.split_whitespace().next());
    let explain = |word| {
        let page = PathBuf::from(format!("{word}.txt"));
        (page, program::run(&["explain", word]).stdout)
    };
    compare(
        Path::new("tests/fixtures/explain"),
        &words.map(explain).collect(),
    );
}

/// Compares the files of a folder with what the program prints, or writes them.
fn compare(folder: &Path, pages: &BTreeMap<PathBuf, String>) {
    assert!(pages.values().all(|text| !text.is_empty()));
    let mut recorded = BTreeMap::new();
    read(folder, Path::new(""), &mut recorded);
    let differing: Vec<&PathBuf> = pages
        .keys()
        .chain(recorded.keys().filter(|page| !pages.contains_key(*page)))
        .filter(|page| pages.get(*page) != recorded.get(*page))
        .collect();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        for page in differing {
            let path = folder.join(page);
            let Some(text) = pages.get(page) else {
                fs::remove_file(path).expect("removed");
                continue;
            };
            fs::create_dir_all(path.parent().expect("a folder")).expect("created");
            fs::write(path, text).expect("written");
        }
    } else {
        assert!(
            differing.is_empty(),
            "the program prints other texts; write them with UPDATE_DOCS=1: {differing:?} in {}",
            folder.display()
        );
    }
}

/// All files below a folder, with their paths in it.
fn read(folder: &Path, below: &Path, pages: &mut BTreeMap<PathBuf, String>) {
    let Ok(entries) = fs::read_dir(folder.join(below)) else {
        return;
    };
    for entry in entries {
        let page = below.join(entry.expect("an entry").file_name());
        let path = folder.join(&page);
        if path.is_dir() {
            read(folder, &page, pages);
        } else {
            pages.insert(page, fs::read_to_string(path).expect("readable"));
        }
    }
}
