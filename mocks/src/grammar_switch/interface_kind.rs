//! Names of interfaces: abbreviations, ranges, and the name that the device prints.

use regex::Regex;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::number_list::NumberList;
use super::typed_line::TypedLine;

/// A kind of interfaces, `[interface.NAME]` of a platform.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InterfaceKind {
    /// Its name in the grammar.
    #[serde(skip)]
    key: String,
    /// Name before the number, as the device prints it.
    name: String,
    /// Name in prompts and tables.
    short: String,
    /// Other names that are accepted, with their abbreviations.
    #[serde(default)]
    aliases: Vec<String>,
    /// The shortest accepted abbreviation has this number of letters.
    shortest: usize,
    /// Pattern of the number.
    #[serde(deserialize_with = "complete_pattern")]
    number: Regex,
}

/// A pattern of a complete text.
fn complete_pattern<'de, D: Deserializer<'de>>(source: D) -> Result<Regex, D::Error> {
    let pattern = String::deserialize(source)?;
    Regex::new(&format!("^(?:{pattern})$")).map_err(D::Error::custom)
}

impl InterfaceKind {
    /// The kind with its name in the grammar.
    pub(super) fn with_key(self, key: String) -> Self {
        Self { key, ..self }
    }

    pub(super) fn is_named(&self, key: &str) -> bool {
        self.key == key
    }

    /// The short form of a printed name, if it is of this kind.
    pub(super) fn short_of(&self, printed: &str) -> Option<String> {
        let number = printed.strip_prefix(&self.name)?;
        self.number
            .is_match(number)
            .then(|| format!("{}{number}", self.short))
    }

    /// Printed names of a list in the short form: `Et1-4`. Other texts remain.
    pub(super) fn short_list(kinds: &[Self], text: &str) -> String {
        let names: Option<Vec<String>> = text
            .split(',')
            .map(|name| kinds.iter().find_map(|kind| kind.short_of(name)))
            .collect();
        let Some(names) = names else {
            return text.to_owned();
        };
        // Names with one path are a range of their last numbers.
        let last_number = |name: &str| {
            let at = name.rfind(|letter: char| !letter.is_ascii_digit())? + 1;
            Some((name[..at].to_owned(), name[at..].parse().ok()?))
        };
        let split: Option<Vec<(String, u64)>> =
            names.iter().map(|name| last_number(name)).collect();
        match split {
            Some(split) if split.iter().all(|(path, _)| *path == split[0].0) => {
                let numbers: NumberList = split.iter().map(|(_, number)| *number).collect();
                format!("{}{numbers}", split[0].0)
            }
            _ => names.join(","),
        }
    }

    /// The interface at a word: the number of words, and the printed name.
    pub(super) fn read(&self, line: &TypedLine<'_>, at: usize) -> Option<(usize, String)> {
        let word = line.word(at)?;
        let (name, number) = split(word);
        let (words, number) = if number.is_empty() {
            (2, line.word(at + 1)?)
        } else {
            (1, number)
        };
        self.named(name, number).map(|printed| (words, printed))
    }

    /// The printed name, from a name that can be abbreviated.
    fn named(&self, name: &str, number: &str) -> Option<String> {
        let is_start = |full: &str| {
            name.len() >= self.shortest
                && full
                    .get(..name.len())
                    .is_some_and(|start| start.eq_ignore_ascii_case(name))
        };
        let is_name = is_start(&self.name) || self.aliases.iter().any(|alias| is_start(alias));
        (is_name && self.number.is_match(number)).then(|| format!("{}{number}", self.name))
    }

    /// Interfaces at a word, as `Ethernet1/1-4, Ethernet1/7`: the number of words, and their names.
    pub(super) fn read_list(
        kinds: &[Self],
        line: &TypedLine<'_>,
        at: usize,
    ) -> Option<(usize, Vec<String>)> {
        let (first, number) = split(line.word(at)?);
        let start = if number.is_empty() { at + 1 } else { at };
        let mut text = line.word(start)?.to_owned();
        let mut words = start + 1 - at;
        while let Some(next) = line.word(at + words) {
            let continues = text.ends_with([',', '-']) || next.starts_with([',', '-']);
            // The number of a name that follows a comma.
            let is_number = text.rsplit(',').next().is_some_and(|part| {
                text.contains(',') && !part.is_empty() && split(part).1.is_empty()
            });
            if !continues && !is_number {
                break;
            }
            text.push_str(next);
            words += 1;
        }
        let mut names = Vec::new();
        let mut name = first.to_owned();
        for part in text.split(',') {
            let (own, numbers) = split(part);
            if !own.is_empty() {
                own.clone_into(&mut name);
            }
            for number in expanded(numbers)? {
                let kind = kinds.iter().find_map(|kind| kind.named(&name, &number));
                names.push(kind?);
            }
        }
        Some((words, names))
    }
}

/// The letters and the number of a word.
fn split(word: &str) -> (&str, &str) {
    let at = word.find(|letter: char| letter.is_ascii_digit());
    word.split_at(at.unwrap_or(word.len()))
}

/// The numbers of a range: `1/1-4` and `1/1-1/4`.
fn expanded(numbers: &str) -> Option<Vec<String>> {
    let Some((low, high)) = numbers.split_once('-') else {
        return Some(vec![numbers.to_owned()]);
    };
    let (path, first) = low.rsplit_once('/').map_or(("", low), |(path, _)| {
        (&low[..=path.len()], &low[path.len() + 1..])
    });
    let last = high.strip_prefix(path).unwrap_or(high);
    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last).then(|| {
        (first..=last)
            .map(|number| format!("{path}{number}"))
            .collect()
    })
}
