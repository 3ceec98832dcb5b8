//! A line, cell or field with an unknown word is never taken for one that is absent.
//!
//! Every text of the self-tests that a type reads gets a word that no definition has. Then it must be
//! listed as not understood, or the word must be in a value, or among the words that the definition
//! keeps. The figures are printed. The same for the configurations of foreign devices, which are not
//! part of this project: beside the checkout, or in the directory `SWITCHTENDER_CONFIGURATIONS`.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fmt, fs};

use serde_json::Value as Json;
use switchtender_mocks::SwitchOptions;
use switchtender_mocks::cli_switch::OfflineSwitch;

use super::initial_state;
use crate::definitions;
use crate::driver::{Driver, Facts, Platform, Registry};
use crate::model::TypeModel;
use crate::not_understood::NotUnderstood;
use crate::read::columns::Columns;
use crate::read::indent::{Node, Tree};
use crate::read::row::{CellText, Row};
use crate::read::{Parsed, ReadRequest, Reads, State};

const WORD: &str = "zzunknown";

/// The keys of rows and objects that other types refer to, with the word they name something else, and
/// the marks of objects of the device itself, which are instances without the mark.
const NAMES: [&str; 4] = ["Port: ", "/name: ", "/fullPath: ", "/ephemeral: "];

/// Texts with the unknown word, by what became of them.
#[derive(Default)]
struct Figures {
    /// Listed as not understood.
    reported: usize,
    /// The word is part of a value, such as a description or the name of an access list.
    in_values: usize,
    /// The definition keeps other words of the line, and repeats them when it sends the line.
    preserved: usize,
    /// The type does not use the cell or field, or its pattern allows other words. The line only
    /// names an instance.
    without_effect: usize,
    missed: Vec<String>,
}

impl Figures {
    fn add(&mut self, other: Figures) {
        self.reported += other.reported;
        self.in_values += other.in_values;
        self.preserved += other.preserved;
        self.without_effect += other.without_effect;
        self.missed.extend(other.missed);
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} reported, {} part of a value, {} preserved words, {} without effect, {} missed",
            self.reported,
            self.in_values,
            self.preserved,
            self.without_effect,
            self.missed.len()
        )
    }
}

/// Prints in spite of the test harness.
pub(super) fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// The texts of the type in a state.
pub(super) struct Reading<'a> {
    pub(super) driver: &'a Driver,
    pub(super) model: &'a Arc<TypeModel>,
}

impl Reading<'_> {
    fn not_understood(&self, state: &State) -> Vec<NotUnderstood> {
        self.driver.not_understood(&[self.model], state)
    }

    /// The instances as text; an invalid answer counts as an effect.
    fn instances(&self, state: &State) -> String {
        match self.driver.instances(self.model, state) {
            Ok(instances) => format!("{instances:?}").replace("Sensitive(", "("),
            Err(error) => error.to_string(),
        }
    }

    fn values(&self, state: &State) -> String {
        let instances = self.driver.instances(self.model, state).unwrap_or_default();
        let values = instances.iter().flat_map(|one| one.attributes.iter());
        let values =
            values.map(|(name, value)| format!("{name}={}\n", value.unwrap_sensitive().inspect()));
        let managers = instances.iter().filter_map(|one| one.manager.clone());
        values.chain(managers).collect()
    }

    pub(super) fn reads(&self, read: &str, path: &[&Node]) -> bool {
        let implementation = self.driver.implementation(self.model).unwrap();
        implementation.reads_line(read, path)
    }

    /// What becomes of the lines of a configuration.
    fn lines(&self, state: &State) -> Figures {
        let mut figures = Figures::default();
        let reads = self.driver.reads(&[self.model]);
        let trees = reads.into_iter().filter_map(|read| {
            let tree = state.tree(&read.name)?.clone();
            Some((read.name, tree))
        });
        for (read, tree) in trees {
            for depth in 0..3 {
                self.lines_at(depth, &read, &tree, state, &mut figures);
            }
        }
        figures
    }

    /// Adds the word to every line of the type at a depth, all at once: outer lines are unchanged.
    fn lines_at(
        &self,
        depth: usize,
        read: &str,
        tree: &Tree,
        state: &State,
        figures: &mut Figures,
    ) {
        let mut lines = Vec::new();
        self.collect(
            read,
            &mut Vec::new(),
            &tree.nodes,
            depth,
            &mut Vec::new(),
            &mut lines,
        );
        if lines.is_empty() {
            return;
        }
        let mut changed = tree.clone();
        for line in &lines {
            let node = node_at(&mut changed, line);
            node.text = format!("{} {WORD}", node.text);
        }
        let mut after = state.clone();
        after.insert(read, Parsed::Tree(changed.clone()));
        let mut before = self.not_understood(state);
        let mut listed = self.not_understood(&after);
        // Lines in a block whose header has the word are not listed any more.
        listed.retain(|text| {
            let known = before.iter().position(|other| other == text);
            known.map(|known| before.swap_remove(known)).is_none() && text.path.len() == depth
        });
        let (mut still_read, mut unread) = (0, Vec::new());
        for line in &lines {
            let path = path_to(&changed, line);
            if self.reads(read, &path) {
                still_read += 1;
            } else {
                unread.push(line);
            }
        }
        let in_values = self.values(&after).matches(WORD).count().min(still_read);
        let reported = listed.len().min(lines.len());
        // A line that is read by a syntax for any words is listed too.
        let preserved = (still_read - in_values).min(lines.len() - in_values.min(lines.len()));
        figures.reported += reported;
        figures.in_values += in_values;
        figures.preserved += preserved.min(lines.len().saturating_sub(reported + in_values));
        if reported + in_values + preserved < lines.len() {
            let missed = lines.len() - reported - in_values - preserved;
            unread.retain(|line| !self.is_bare(read, tree, state, line));
            let bare = lines.len() - still_read - unread.len();
            figures.without_effect += bare.min(missed);
            let missed = unread.iter().take(missed.saturating_sub(bare));
            let name = &self.model.name;
            let missed = missed.map(|line| format!("{name}: {}", node_at(&mut changed, line).text));
            figures.missed.extend(missed);
        }
    }

    /// Whether a line only names its instance. With another word, it is an attribute that the type does
    /// not manage, which is not listed, and the instance stays the same. Without the line there is no
    /// instance.
    fn is_bare(&self, read: &str, tree: &Tree, state: &State, line: &[usize]) -> bool {
        let with_text = |text: &str| {
            let mut changed = tree.clone();
            node_at(&mut changed, line).text = text.to_owned();
            let mut after = state.clone();
            after.insert(read, Parsed::Tree(changed));
            after
        };
        let text = &path_to(tree, line).last().unwrap().text;
        let (with_word, without) = (with_text(&format!("{text} {WORD}")), with_text(WORD));
        let before = self.instances(state);
        self.not_understood(&with_word).len() == self.not_understood(state).len()
            && self.instances(&with_word) == before
            && self.instances(&without) != before
    }

    fn collect<'t>(
        &self,
        read: &str,
        path: &mut Vec<&'t Node>,
        nodes: &'t [Node],
        depth: usize,
        position: &mut Vec<usize>,
        lines: &mut Vec<Vec<usize>>,
    ) {
        for (index, node) in nodes.iter().enumerate() {
            path.push(node);
            position.push(index);
            if depth > 0 {
                self.collect(read, path, &node.children.nodes, depth - 1, position, lines);
            } else if node.body.is_none() && self.reads(read, path) {
                lines.push(position.clone());
            }
            position.pop();
            path.pop();
        }
    }

    /// What becomes of each cell of tables and stanzas, and of each field of objects.
    fn cells(&self, state: &State) -> Figures {
        let mut figures = Figures::default();
        for (read, parsed) in state.iter() {
            for (position, changed) in variants(parsed) {
                let mut after = state.clone();
                after.insert(read, changed);
                figures.add(self.judge(state, &after, &format!("{read}: {position}")));
            }
        }
        figures
    }

    fn judge(&self, before: &State, after: &State, position: &str) -> Figures {
        let mut figures = Figures::default();
        let (was, is) = (self.instances(before), self.instances(after));
        if self.not_understood(after).len() > self.not_understood(before).len() {
            figures.reported = 1;
        } else if is == was {
            figures.without_effect = 1;
        } else if self.values(after).contains(WORD)
            || self.driver.instances(self.model, after).is_err()
            || NAMES.iter().any(|name| position.contains(name))
        {
            figures.in_values = 1;
        } else {
            figures
                .missed
                .push(format!("{}: {position}", self.model.name));
        }
        figures
    }
}

fn node_at<'t>(tree: &'t mut Tree, position: &[usize]) -> &'t mut Node {
    let (index, rest) = position.split_first().unwrap();
    let node = &mut tree.nodes[*index];
    match rest {
        [] => node,
        rest => node_at(&mut node.children, rest),
    }
}

fn path_to<'t>(tree: &'t Tree, position: &[usize]) -> Vec<&'t Node> {
    let mut nodes = &tree.nodes;
    let mut path = Vec::new();
    for index in position {
        path.push(&nodes[*index]);
        nodes = &nodes[*index].children.nodes;
    }
    path
}

/// Fields that select an element of an array in the paths of shipped definitions.
const SELECTORS: [&str; 1] = ["handler"];

/// The answer with the word in one cell or text, for each of them, with its place.
fn variants(parsed: &Parsed) -> Vec<(String, Parsed)> {
    let of_rows = |rows: &[Row], parsed: &dyn Fn(Vec<Row>) -> Parsed| {
        let mut all = Vec::new();
        for (index, row) in rows.iter().enumerate() {
            for (name, text) in row.iter().filter(|(_, text)| !text.is_empty()) {
                let changed = format!("{} {WORD}", text.text());
                let cells = row.iter().map(|(cell, text)| {
                    if cell == name {
                        (cell.into(), CellText::One(changed.clone()))
                    } else {
                        (cell.into(), text.clone())
                    }
                });
                let mut rows = rows.to_vec();
                rows[index] = cells.collect();
                all.push((format!("{name}: {}", text.text()), parsed(rows)));
            }
        }
        all
    };
    match parsed {
        Parsed::Columns(table) => of_rows(&table.rows, &|rows| Parsed::Columns(Columns { rows })),
        Parsed::Rows(rows) => of_rows(rows, &Parsed::Rows),
        Parsed::Json(json) => {
            let mut positions = Vec::new();
            texts(json, &mut Vec::new(), &mut positions);
            // Another value is another element, which is not managed.
            positions.retain(|position| {
                let field = position.last();
                field.is_none_or(|field| !SELECTORS.contains(&field.as_str()))
            });
            let changed = positions.into_iter().map(|position| {
                let pointer = format!("/{}", position.join("/"));
                let mut json = json.clone();
                let text = json.pointer_mut(&pointer).unwrap();
                *text = Json::from(format!("{} {WORD}", text.as_str().unwrap()));
                (format!("{pointer}: "), Parsed::Json(json))
            });
            changed.collect()
        }
        Parsed::Tree(_) | Parsed::Text(_) => Vec::new(),
    }
}

/// The places of texts in a document.
fn texts(json: &Json, position: &mut Vec<String>, positions: &mut Vec<Vec<String>>) {
    let escape = |key: &str| key.replace('~', "~0").replace('/', "~1");
    match json {
        Json::String(_) => positions.push(position.clone()),
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                position.push(index.to_string());
                texts(item, position, positions);
                position.pop();
            }
        }
        Json::Object(fields) => {
            for (key, value) in fields {
                position.push(escape(key));
                texts(value, position, positions);
                position.pop();
            }
        }
        _ => {}
    }
}

#[test]
fn unknown_words_in_the_inputs_of_self_tests_are_not_absent_values() {
    let registry = Registry::shipped();
    let (mut lines, mut cells) = (Figures::default(), Figures::default());
    for (platform, definition) in registry
        .platforms()
        .flat_map(|platform| platform.type_drivers().map(move |of| (platform, of)))
    {
        for test in definition.tests.iter() {
            let driver = Driver::new(platform, &test.facts);
            if driver.supports(&definition.model).is_err() {
                continue;
            }
            let reading = Reading {
                driver: &driver,
                model: &definition.model,
            };
            let state = initial_state(&driver, definition, test).unwrap();
            lines.add(reading.lines(&state));
            cells.add(reading.cells(&state));
        }
    }
    note(&format!(
        "lines of self-tests with an unknown word: {lines}"
    ));
    note(&format!(
        "cells and fields of self-tests with an unknown word: {cells}"
    ));
    assert!(lines.reported > 300, "{}", lines.reported);
    let missed: Vec<String> = lines.missed.into_iter().chain(cells.missed).collect();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// The directories of foreign configurations, with the platforms that read them.
const FOREIGN: [(&str, &str); 5] = [
    ("ios", "cisco_ios"),
    ("eos", "arista_eos"),
    ("nxos", "cisco_nxos"),
    ("xr", "ios_xr"),
    ("junos", "junos"),
];

pub(super) fn foreign_configurations() -> Option<PathBuf> {
    let named = env::var_os("SWITCHTENDER_CONFIGURATIONS").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/fixtures/configurations");
    let directory = named.unwrap_or(beside);
    directory.is_dir().then_some(directory)
}

/// The configurations in a directory, in the order of their names.
pub(super) fn texts_of(directory: &Path, name: &str) -> Vec<String> {
    let files = fs::read_dir(directory.join(name)).unwrap();
    let mut files: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let texts = files.into_iter().map(|file| fs::read(file).unwrap());
    texts
        .map(|text| String::from_utf8_lossy(&text).into_owned())
        .collect()
}

/// The answers of a device with a configuration. Tables are those of the mock, if there is one.
pub(super) fn answers(config: &str, platform: &str, requests: Vec<ReadRequest>) -> Reads {
    let mut switch = (platform == "cisco_ios").then(|| {
        OfflineSwitch::new(&SwitchOptions {
            config: Some(config.to_owned()),
            ..SwitchOptions::default()
        })
        .unwrap()
    });
    let answers = requests.into_iter().map(|request| {
        let text = match (request.name.as_str(), &mut switch) {
            ("config", _) => Some(config.to_owned()),
            (_, Some(switch)) => switch.show(&request.command),
            (_, None) => None,
        };
        (request.name, text.unwrap_or_default())
    });
    answers.collect()
}

#[test]
fn unknown_words_in_foreign_configurations_are_not_absent_values() {
    let Some(directory) = foreign_configurations() else {
        note("skipped: no configurations (set SWITCHTENDER_CONFIGURATIONS)");
        return;
    };
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/definitions");
    let registry = Registry::load(&definitions::from_directory(&examples).unwrap()).unwrap();
    let mut missed = Vec::new();
    for (name, platform) in FOREIGN {
        let platform: &Arc<Platform> = registry.platform(platform).unwrap();
        let configurations = texts_of(&directory, name);
        let (mut lines, mut listed) = (Figures::default(), BTreeMap::<String, usize>::new());
        for config in &configurations {
            let driver = Driver::new(platform, &Facts::default());
            let models: Vec<_> = platform.type_drivers().map(|of| &of.model).collect();
            let reads = answers(config, &platform.name, driver.reads(&models));
            let state = platform.parse(&reads).unwrap();
            for model in models {
                let reading = Reading {
                    driver: &driver,
                    model,
                };
                for found in reading.not_understood(&state) {
                    *listed
                        .entry(format!("{}: {found}", model.name))
                        .or_default() += 1;
                }
                lines.add(reading.lines(&state));
            }
        }
        let count: usize = listed.values().sum();
        note(&format!(
            "{} foreign configurations of {}: {count} texts not understood, {} different",
            configurations.len(),
            platform.name,
            listed.len()
        ));
        if env::var_os("SWITCHTENDER_LIST").is_some() {
            for (text, count) in &listed {
                note(&format!("{count:6} {text}"));
            }
        }
        note(&format!("their lines with an unknown word: {lines}"));
        missed.extend(lines.missed);
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
