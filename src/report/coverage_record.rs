//! The coverage of the configuration in the record of a run.

use crate::coverage::LineClass;
use crate::coverage::classification::CoveredLine;
use crate::coverage::counts::ClassCounts;

/// What share of a configuration is managed, and what no type reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CoverageRecord {
    pub(crate) counts: ClassCounts,
    /// The lines that no type reads or understands, with the blocks around them.
    pub(crate) uncovered: Vec<String>,
}

impl CoverageRecord {
    pub(crate) fn new(lines: &[CoveredLine]) -> Self {
        let is_uncovered = |line: &&CoveredLine| {
            matches!(line.class, LineClass::NotUnderstood | LineClass::NotCovered)
        };
        let uncovered = lines.iter().filter(is_uncovered);
        Self {
            counts: ClassCounts::of(lines),
            uncovered: uncovered.map(CoveredLine::path).collect(),
        }
    }

    /// The shares without the lines.
    pub(crate) fn shares(&self) -> Self {
        Self {
            counts: self.counts.clone(),
            uncovered: Vec::new(),
        }
    }

    /// The share of the lines that a person wrote and a declared resource has, for people.
    pub(crate) fn managed(&self) -> String {
        format!("{} %", self.counts.percent(self.counts.managed()))
    }

    /// The share of those that a type reads.
    pub(crate) fn covered(&self) -> String {
        format!("{} %", self.counts.percent(self.counts.covered()))
    }
}
