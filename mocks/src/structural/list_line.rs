//! Lines with a list, which stand for one line for each element.

use regex::Regex;
use switchtender_outline::{ListForm, ListShape};

use crate::shape_pattern::{InvalidShape, compile};

/// Longest range of numbers that becomes lines.
const LONGEST_RANGE: u32 = 65_535;

/// A shape with a compiled pattern.
#[derive(Debug)]
pub(super) struct CompiledList {
    pattern: Regex,
    form: ListForm,
}

impl CompiledList {
    pub(super) fn new(shape: &ListShape) -> Result<Self, InvalidShape> {
        Ok(Self {
            pattern: compile(&shape.pattern)?,
            form: shape.form,
        })
    }

    /// The lines that a line stands for, if it has more than one element.
    pub(super) fn lines(&self, line: &str) -> Option<Vec<String>> {
        let list = self.pattern.captures(line)?.get(1)?;
        let elements = elements(self.form, list.as_str())?;
        let (before, after) = (&line[..list.start()], &line[list.end()..]);
        let lines = elements
            .iter()
            .map(|element| format!("{before}{element}{after}"));
        (elements.len() > 1).then(|| lines.collect())
    }
}

impl CompiledList {
    /// The words before and after the number of a line of a set, and the number.
    fn number<'l>(&self, line: &'l str) -> Option<(&'l str, &'l str, u32)> {
        let ListForm::Numbers(Some(_)) = self.form else {
            return None;
        };
        let number = self.pattern.captures(line)?.get(1)?;
        let context = (&line[..number.start()], &line[number.end()..]);
        Some((context.0, context.1, number.as_str().parse().ok()?))
    }

    /// The line that the device prints for lines of a set, and the number of these lines.
    pub(super) fn joined<'l>(
        &self,
        mut lines: impl Iterator<Item = &'l str>,
    ) -> Option<(String, usize)> {
        let (before, after, first) = self.number(lines.next()?)?;
        let others = lines.map_while(|line| {
            let found = self.number(line);
            found.filter(|(start, end, _)| *start == before && *end == after)
        });
        let mut numbers: Vec<u32> = others.map(|(.., number)| number).collect();
        numbers.push(first);
        let count = numbers.len();
        numbers.sort_unstable();
        Some((format!("{before}{}{after}", ranges(&numbers)), count))
    }
}

/// Sorted numbers as ranges: `10,20-22`.
pub(super) fn ranges(numbers: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, high)) if *number <= high.saturating_add(1) => *high = *number,
            _ => ranges.push((*number, *number)),
        }
    }
    let ranges = ranges.into_iter().map(|(low, high)| {
        if low == high {
            low.to_string()
        } else {
            format!("{low}-{high}")
        }
    });
    ranges.collect::<Vec<_>>().join(",")
}

/// The elements of a list.
fn elements(form: ListForm, list: &str) -> Option<Vec<String>> {
    let limits = match form {
        ListForm::Words => return Some(list.split_whitespace().map(str::to_owned).collect()),
        ListForm::Numbers(limits) => limits,
    };
    let numbers = numbers_in(list, limits)?.into_iter();
    Some(numbers.map(|number| number.to_string()).collect())
}

/// The numbers of a list with ranges. With limits, `all` are all numbers between them.
pub(super) fn numbers_in(list: &str, limits: Option<(u32, u32)>) -> Option<Vec<u32>> {
    let ranges = match limits {
        Some((low, high)) if list == "all" => vec![(low, high)],
        _ => list.split(',').map(range).collect::<Option<Vec<_>>>()?,
    };
    let mut all = Vec::new();
    for (low, high) in ranges {
        if high.checked_sub(low)? > LONGEST_RANGE {
            return None;
        }
        all.extend(low..=high);
    }
    Some(all)
}

fn range(text: &str) -> Option<(u32, u32)> {
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    Some((low.trim().parse().ok()?, high.trim().parse().ok()?))
}
