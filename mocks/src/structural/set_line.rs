//! Lines with a set of numbers, and the lines that add numbers to it and remove some.

use std::collections::BTreeSet;

use regex::Regex;
use switchtender_outline::SetShape;

use super::list_line::{numbers_in, ranges};
use crate::shape_pattern::{InvalidShape, compile};

/// A shape with compiled patterns.
#[derive(Debug)]
pub(super) struct CompiledSet {
    shape: SetShape,
    complete: Regex,
    more: Regex,
    less: Regex,
}

/// What a line does to a set.
#[derive(Debug)]
pub(super) struct SetChange {
    adds: bool,
    numbers: BTreeSet<u32>,
    /// The words before the numbers in the line of the set.
    line: String,
}

impl CompiledSet {
    pub(super) fn new(shape: &SetShape) -> Result<Self, InvalidShape> {
        Ok(Self {
            complete: compile(&shape.complete)?,
            more: compile(&shape.more)?,
            less: compile(&shape.less)?,
            shape: shape.clone(),
        })
    }

    /// The change that a line makes; `None` for other lines.
    pub(super) fn change(&self, line: &str) -> Option<SetChange> {
        let in_line = |pattern: &Regex| {
            let found = pattern.captures(line)?.get(1)?;
            Some((self.numbers(found.as_str())?, found.start()))
        };
        let (adds, (numbers, start)) = match in_line(&self.more) {
            Some(found) => (true, found),
            None => (false, in_line(&self.less)?),
        };
        let head = line[..start].trim_end();
        let (head, _) = head.rsplit_once(' ')?;
        Some(SetChange {
            adds,
            numbers,
            line: head.to_owned(),
        })
    }

    /// The numbers in the line of the set; `None` for other lines.
    pub(super) fn of_line(&self, line: &str) -> Option<BTreeSet<u32>> {
        let found = self.complete.captures(line)?.get(1)?;
        self.numbers(found.as_str())
    }

    /// The line of the set after a change; `None` if the device prints none.
    pub(super) fn changed(
        &self,
        change: &SetChange,
        current: Option<BTreeSet<u32>>,
    ) -> Option<String> {
        let by_itself = self.shape.without_line.as_deref();
        let by_itself = by_itself.and_then(|text| self.numbers(text));
        let mut set = current.or_else(|| by_itself.clone()).unwrap_or_default();
        for number in &change.numbers {
            if change.adds {
                set.insert(*number)
            } else {
                set.remove(number)
            };
        }
        if by_itself.as_ref() == Some(&set) {
            return None;
        }
        let numbers: Vec<u32> = set.into_iter().collect();
        let list = if numbers.is_empty() {
            "none".to_owned()
        } else {
            ranges(&numbers)
        };
        Some(format!("{} {list}", change.line))
    }

    fn numbers(&self, text: &str) -> Option<BTreeSet<u32>> {
        match text {
            "none" => Some(BTreeSet::new()),
            _ => Some(
                numbers_in(text, Some(self.shape.limits))?
                    .into_iter()
                    .collect(),
            ),
        }
    }
}
