//! How many lines have each class.

use std::collections::BTreeMap;
use std::iter::Sum;

use serde::Serialize;

use super::LineClass;
use super::classification::CoveredLine;

/// The number of lines by class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct ClassCounts(BTreeMap<LineClass, usize>);

impl ClassCounts {
    pub(crate) fn of(lines: &[CoveredLine]) -> Self {
        lines.iter().map(|line| line.class).collect()
    }

    pub(crate) fn count(&self, class: LineClass) -> usize {
        self.0.get(&class).copied().unwrap_or_default()
    }

    pub(crate) fn total(&self) -> usize {
        self.0.values().sum()
    }

    /// The lines that a person wrote.
    pub(crate) fn written(&self) -> usize {
        self.total() - self.count(LineClass::Generated)
    }

    /// Of those, the lines that a type reads.
    pub(crate) fn covered(&self) -> usize {
        let uncovered = [LineClass::NotCovered, LineClass::NotUnderstood];
        self.written()
            - uncovered
                .map(|class| self.count(class))
                .iter()
                .sum::<usize>()
    }

    /// Of those that a person wrote, the managed lines.
    pub(crate) fn managed(&self) -> usize {
        self.count(LineClass::Managed)
    }

    /// The share of lines, rounded down: only a complete configuration has 100 percent.
    pub(crate) fn percent(&self, lines: usize) -> usize {
        match self.written() {
            0 => 100,
            written => lines * 100 / written,
        }
    }
}

impl FromIterator<LineClass> for ClassCounts {
    fn from_iter<I: IntoIterator<Item = LineClass>>(classes: I) -> Self {
        let mut counts = Self::default();
        for class in classes {
            *counts.0.entry(class).or_default() += 1;
        }
        counts
    }
}

impl<'a> Sum<&'a ClassCounts> for ClassCounts {
    fn sum<I: Iterator<Item = &'a ClassCounts>>(all: I) -> Self {
        let mut sum = Self::default();
        for counts in all {
            for (class, count) in &counts.0 {
                *sum.0.entry(*class).or_default() += count;
            }
        }
        sum
    }
}
