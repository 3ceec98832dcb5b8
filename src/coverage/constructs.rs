//! What kinds of lines no type reads, over all devices.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::LineClass;
use super::classification::CoveredLine;

/// Lines that begin alike, in blocks that begin alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Construct {
    /// `crypto isakmp`, or `interface / ip verify` in a block.
    pub(crate) name: String,
    pub(crate) lines: usize,
    pub(crate) devices: usize,
}

/// The lines of a device without a type, by construct.
pub(crate) fn of_device(lines: &[CoveredLine]) -> BTreeMap<String, usize> {
    let mut constructs = BTreeMap::new();
    // The headers around the current line, outermost first.
    let mut path: Vec<&CoveredLine> = Vec::new();
    for line in lines {
        path.truncate(line.blocks.len());
        path.push(line);
        let is_uncovered = |line: &&CoveredLine| {
            matches!(line.class, LineClass::NotCovered | LineClass::NotUnderstood)
        };
        if !is_uncovered(&line) {
            continue;
        }
        // What stands in a block that no type reads belongs to the block.
        let outermost = path.iter().position(is_uncovered).unwrap_or_default();
        let names = path[..=outermost].iter().map(|line| line.keywords.as_str());
        let name = names.collect::<Vec<_>>().join(" / ");
        *constructs.entry(name).or_default() += 1;
    }
    constructs
}

/// The constructs of all devices, those with most lines first.
pub(crate) fn of_all<'a>(
    devices: impl Iterator<Item = &'a BTreeMap<String, usize>>,
) -> Vec<Construct> {
    let mut all: BTreeMap<&str, (usize, BTreeSet<usize>)> = BTreeMap::new();
    for (index, device) in devices.enumerate() {
        for (name, lines) in device {
            let entry = all.entry(name).or_default();
            entry.0 += lines;
            entry.1.insert(index);
        }
    }
    let constructs = all.into_iter().map(|(name, (lines, devices))| Construct {
        name: name.to_owned(),
        lines,
        devices: devices.len(),
    });
    let mut constructs: Vec<Construct> = constructs.collect();
    constructs.sort_by_key(|one| std::cmp::Reverse((one.lines, one.devices)));
    constructs
}
