//! One text for many devices: placeholders where their texts differ.

use std::collections::HashSet;

use super::OwnWords;
use super::own_words::replaced;
use super::slot::{Slot, SlotKind};

/// The placeholders of a group.
pub(super) struct Template<'a> {
    own: &'a [&'a OwnWords],
    columns: Vec<Column>,
}

/// A placeholder with its value on each device.
pub(super) struct Column {
    pub(super) name: String,
    values: Vec<String>,
    /// The values as they are shown: without own words, if more devices are then equal.
    pub(super) cells: Vec<String>,
    /// The title of its resource.
    title: String,
}

impl<'a> Template<'a> {
    /// The own words of the devices, in their order.
    pub(super) fn new(own: &'a [&'a OwnWords]) -> Self {
        Self {
            own,
            columns: Vec::new(),
        }
    }

    pub(super) fn into_columns(self) -> Vec<Column> {
        self.columns
    }

    /// The common text of the texts of all devices.
    pub(super) fn text(&mut self, slot: &Slot, texts: &[&str]) -> String {
        if let Some(common) = common(texts) {
            return common.to_owned();
        }
        let without_own: Vec<String> = texts
            .iter()
            .zip(self.own)
            .map(|(text, own)| own.template(text))
            .collect();
        if let Some(common) = common(&without_own) {
            return common.to_owned();
        }
        match &slot.kind {
            SlotKind::File => String::new(),
            SlotKind::Before(property) => self.value(&format!("old {property}"), slot, texts),
            SlotKind::After(property) => self.value(property, slot, texts),
            SlotKind::Text(name) => self.words(name, slot, texts),
        }
    }

    /// The placeholder of a complete value.
    fn value(&mut self, name: &str, slot: &Slot, texts: &[&str]) -> String {
        let mut columns = self.columns.iter();
        let same = columns.find(|column| column.values.iter().eq(texts.iter()));
        match same {
            Some(column) => format!("{{{}}}", column.name),
            None => self.add(name, slot, texts.iter().map(ToString::to_string).collect()),
        }
    }

    /// A text with placeholders of values, first those of its resource.
    fn words(&mut self, name: &str, slot: &Slot, texts: &[&str]) -> String {
        let mut all = Vec::new();
        for is_own_resource in [true, false] {
            let replaced = self.with_values(texts, |column| {
                !is_own_resource || column.title == slot.title
            });
            if let Some(common) = common(&replaced) {
                return common.to_owned();
            }
            all.push(aligned(&replaced));
        }
        all.push(aligned(&self.with_values(texts, |_| false)));
        let differences = |pieces: &Vec<AlignedPiece>| {
            let pieces = pieces.iter();
            pieces
                .filter(|piece| matches!(piece, AlignedPiece::Different(_)))
                .count()
        };
        let best = all.into_iter().min_by_key(differences).unwrap_or_default();
        let words = best.into_iter().map(|piece| match piece {
            AlignedPiece::Common(text) => text,
            AlignedPiece::Different(values) => self.part(name, slot, values),
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// The placeholder of words that differ, with the marks around all of them.
    fn part(&mut self, name: &str, slot: &Slot, values: Vec<String>) -> String {
        let is_mark = |character: &char| !character.is_alphanumeric() && !"{}".contains(*character);
        let common_marks = |marks: fn(&str) -> Box<dyn Iterator<Item = char> + '_>| {
            let first: Vec<char> = marks(&values[0]).take_while(is_mark).collect();
            let lengths = values.iter().map(|value| {
                let pairs = marks(value).zip(&first);
                pairs.take_while(|(mark, other)| mark == *other).count()
            });
            let length = lengths.min().unwrap_or_default();
            first[..length].iter().collect::<String>()
        };
        let before = common_marks(|text| Box::new(text.chars()));
        let after = common_marks(|text| Box::new(text.chars().rev()));
        let bare: Vec<&str> = values
            .iter()
            .map(|value| value.get(before.len()..value.len() - after.len()))
            .map(|value| value.unwrap_or_default())
            .collect();
        if bare.iter().any(|value| value.is_empty()) {
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            return self.value(name, slot, &values);
        }
        let after: String = after.chars().rev().collect();
        format!("{before}{}{after}", self.value(name, slot, &bare))
    }

    /// The texts of the devices with placeholders in place of the values of columns.
    fn with_values(&self, texts: &[&str], uses: impl Fn(&Column) -> bool) -> Vec<String> {
        let columns = self.columns.iter().filter(|column| uses(column));
        let columns: Vec<(&Column, String)> = columns
            .map(|column| (column, format!("{{{}}}", column.name)))
            .collect();
        let devices = texts.iter().zip(self.own).enumerate();
        let texts = devices.map(|(device, (text, own))| {
            let mut values: Vec<(&str, &str)> = columns
                .iter()
                .map(|(column, name)| (column.values[device].as_str(), name.as_str()))
                .filter(|(value, _)| !value.is_empty())
                .collect();
            values.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
            own.template(&replaced(text, values))
        });
        texts.collect()
    }

    /// Adds a column. A second one of the same name has the title of its resource, or a number.
    fn add(&mut self, name: &str, slot: &Slot, values: Vec<String>) -> String {
        let is_free = |columns: &[Column], name: &str| {
            let mut columns = columns.iter();
            columns.all(|column| column.name != name) && !is_own(name)
        };
        let numbered = (2..).map(|number| format!("{name} {number}"));
        let of_resource = format!("{name} of {}", slot.title);
        let names = [name.to_owned(), of_resource].into_iter().chain(numbered);
        let name = names
            .filter(|name| !(slot.title.is_empty() && name.ends_with(" of ")))
            .find(|name| is_free(&self.columns, name))
            .expect("one of the numbers is free");
        let placeholder = format!("{{{name}}}");
        let pairs = values.iter().zip(self.own);
        let without_own: Vec<String> = pairs.map(|(value, own)| own.template(value)).collect();
        let distinct = |values: &[String]| values.iter().collect::<HashSet<_>>().len();
        let cells = if distinct(&without_own) < distinct(&values) {
            without_own
        } else {
            values.clone()
        };
        self.columns.push(Column {
            name,
            values,
            cells,
            title: slot.title.clone(),
        });
        placeholder
    }
}

/// Words of several texts.
enum AlignedPiece {
    /// Words that all texts have.
    Common(String),
    /// The words of each text.
    Different(Vec<String>),
}

/// The words of texts as pieces. Texts with different numbers of words differ in one piece.
fn aligned(texts: &[String]) -> Vec<AlignedPiece> {
    let words: Vec<Vec<&str>> = texts.iter().map(|text| text.split(' ').collect()).collect();
    let first = &words[0];
    let shortest = words.iter().map(Vec::len).min().unwrap_or_default();
    let is_equal_at = |at: usize| words.iter().all(|other| other[at] == first[at]);
    let common =
        |words: &[&str]| (!words.is_empty()).then(|| AlignedPiece::Common(words.join(" ")));
    let different = |from: usize, end: &dyn Fn(&Vec<&str>) -> usize| {
        let values = words.iter().map(|all| all[from..end(all)].join(" "));
        AlignedPiece::Different(values.collect())
    };
    if words.iter().any(|other| other.len() != first.len()) {
        let before = (0..shortest).take_while(|at| is_equal_at(*at)).count();
        let is_equal_behind = |end: &usize| {
            let mut all = words.iter();
            all.all(|other| other[other.len() - 1 - end] == first[first.len() - 1 - end])
        };
        let after = (0..shortest - before).take_while(is_equal_behind).count();
        return common(&first[..before])
            .into_iter()
            .chain([different(before, &|all| all.len() - after)])
            .chain(common(&first[first.len() - after..]))
            .collect();
    }
    let mut pieces = Vec::new();
    let mut from = 0;
    while from < first.len() {
        let is_equal = is_equal_at(from);
        let end = (from..first.len())
            .find(|at| is_equal_at(*at) != is_equal)
            .unwrap_or(first.len());
        if is_equal {
            pieces.extend(common(&first[from..end]));
        } else {
            pieces.push(different(from, &|_| end));
        }
        from = end;
    }
    pieces
}

/// Whether a device has the placeholder.
fn is_own(name: &str) -> bool {
    matches!(name, "device" | "certname" | "address" | "port")
}

/// The text of all, if they are equal.
fn common<T: AsRef<str>>(texts: &[T]) -> Option<&str> {
    let (first, others) = texts.split_first()?;
    let is_equal = others.iter().all(|text| text.as_ref() == first.as_ref());
    is_equal.then(|| first.as_ref())
}
