//! How much of the configurations of foreign IOS devices the types read.
//!
//! The configurations are not part of this project: beside the checkout, or in the directory
//! `SWITCHTENDER_CONFIGURATIONS`. The figures are printed: lines that a type reads, lines that a type recognizes and
//! cannot read, and the most frequent lines of no type. Entries of access lists are read from another answer; they
//! count as read.

use std::collections::BTreeMap;

use super::unknown_words::{Reading, answers, foreign_configurations, note, texts_of};
use crate::driver::{Driver, Facts, Registry};
use crate::read::CONFIG;
use crate::read::indent::{Node, Tree};

/// Number of constructs that are printed.
const PRINTED: usize = 10;

/// The lines of configurations by the result of reading them.
#[derive(Default)]
struct LineCoverage {
    read: usize,
    reported: usize,
    /// The beginnings of lines that no type reads.
    without_type: BTreeMap<String, usize>,
}

impl LineCoverage {
    fn add<'t>(
        &mut self,
        tree: &'t Tree,
        path: &mut Vec<&'t Node>,
        readings: &[Reading<'_>],
        reported: &[String],
    ) {
        for node in &tree.nodes {
            path.push(node);
            let in_access_list = path[0].text.starts_with("ip access-list ")
                || path[0].text.starts_with("access-list ");
            if in_access_list || readings.iter().any(|reading| reading.reads(CONFIG, path)) {
                self.read += 1;
            } else if reported.contains(&node.text) {
                self.reported += 1;
            } else {
                *self.without_type.entry(construct(path)).or_default() += 1;
            }
            self.add(&node.children, path, readings, reported);
            path.pop();
        }
    }
}

/// The first words of the block and of the line, without numbers.
fn construct(path: &[&Node]) -> String {
    let words = |node: &Node, count: usize| {
        let words: Vec<&str> = node.text.split_whitespace().take(count).collect();
        let is_digit = |letter: char| letter.is_ascii_digit();
        words
            .join(" ")
            .replace(is_digit, "")
            .trim_end_matches(['.', '/'])
            .to_owned()
    };
    match path {
        [] => String::new(),
        [line] => words(line, 2),
        [block, .., line] => format!("{} / {}", words(block, 1), words(line, 2)),
    }
}

#[test]
fn lines_of_foreign_ios_configurations_are_read_reported_or_of_no_type() {
    let Some(directory) = foreign_configurations() else {
        note("skipped: no configurations (set SWITCHTENDER_CONFIGURATIONS)");
        return;
    };
    let registry = Registry::shipped();
    let platform = registry.platform("cisco_ios").unwrap();
    let driver = Driver::new(platform, &Facts::default());
    let models: Vec<_> = platform.type_drivers().map(|of| &of.model).collect();
    let readings: Vec<Reading<'_>> = models
        .iter()
        .map(|model| Reading {
            driver: &driver,
            model,
        })
        .collect();
    let mut coverage = LineCoverage::default();
    for config in texts_of(&directory, "ios") {
        let reads = answers(&config, &platform.name, driver.reads(&models));
        let state = platform.parse(&reads).unwrap();
        let listed = driver.not_understood(&models, &state);
        let reported: Vec<String> = listed.into_iter().map(|one| one.text).collect();
        let tree = state.tree(CONFIG).unwrap();
        coverage.add(tree, &mut Vec::new(), &readings, &reported);
    }
    let without: usize = coverage.without_type.values().sum();
    note(&format!(
        "lines of foreign IOS configurations: {} read, {} reported, {without} of no type",
        coverage.read, coverage.reported
    ));
    let mut constructs: Vec<(&String, &usize)> = coverage.without_type.iter().collect();
    constructs.sort_by_key(|(name, count)| (usize::MAX - **count, *name));
    for (name, count) in constructs.into_iter().take(PRINTED) {
        note(&format!("{count:6} {name}"));
    }
    assert!(coverage.read > 2000, "{} lines are read", coverage.read);
}
