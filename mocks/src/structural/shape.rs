//! Shapes of lines: which lines open blocks, and which replace one another.

use regex::{Captures, Regex};
use switchtender_outline::{LineShape, MoveShape, NegativeForm, RemovalShape};

use crate::shape_pattern::{InvalidShape, compile};

/// A shape with compiled patterns.
#[derive(Debug)]
pub(super) struct CompiledShape {
    block: Vec<Regex>,
    patterns: Vec<Regex>,
    pub(super) is_header: bool,
    pub(super) is_unique: bool,
    pub(super) reaches_inner: bool,
    pub(super) negative: NegativeForm,
    unprinted: Vec<Regex>,
    /// Lines of the top level without which the line is refused.
    pub(super) needs: Vec<String>,
    /// The line that ends the text of the block.
    pub(super) text_end: Option<String>,
}

/// A line that removes, with compiled patterns.
#[derive(Debug)]
pub(super) struct CompiledRemoval {
    block: Vec<Regex>,
    removed_by: Regex,
    removed: Vec<Regex>,
}

/// The names of a setting.
pub(super) type Key = Vec<String>;

impl CompiledShape {
    pub(super) fn new(shape: &LineShape) -> Result<Self, InvalidShape> {
        Ok(Self {
            block: compile_all(&shape.block)?,
            patterns: compile_all(&shape.patterns)?,
            is_header: shape.is_header,
            is_unique: shape.is_unique,
            reaches_inner: shape.reaches_inner,
            negative: shape.negative,
            unprinted: compile_all(&shape.unprinted)?,
            needs: shape.needs.clone(),
            text_end: shape.text_end.clone(),
        })
    }

    /// Whether the shape belongs to the block with these headers.
    pub(super) fn is_in(&self, headers: &[String]) -> bool {
        are_headers(&self.block, headers)
    }

    /// Whether the configuration has a line of the shape after it was sent.
    pub(super) fn prints(&self, line: &str) -> bool {
        self.negative != NegativeForm::OnlyPrinted && key(&self.unprinted, line).is_none()
    }

    /// The line that ends the text of the block with this header, wherever it is.
    pub(super) fn text_end_below(&self, header: &str) -> Option<&str> {
        let end = self.text_end.as_deref().filter(|_| self.is_header)?;
        self.key(header).is_some().then_some(end)
    }

    /// The names in a line of the shape.
    pub(super) fn key(&self, line: &str) -> Option<Key> {
        key(&self.patterns, line)
    }
}

impl CompiledRemoval {
    pub(super) fn new(shape: &RemovalShape) -> Result<Self, InvalidShape> {
        Ok(Self {
            block: compile_all(&shape.block)?,
            removed_by: compile(&shape.removed_by)?,
            removed: compile_all(&shape.removed)?,
        })
    }

    /// The names that a line removes in the block with these headers.
    pub(super) fn names_removed_by(&self, headers: &[String], line: &str) -> Option<Key> {
        let is_here = are_headers(&self.block, headers);
        key(std::slice::from_ref(&self.removed_by), line).filter(|_| is_here)
    }

    pub(super) fn has_names(&self, line: &str, names: &Key) -> bool {
        key(&self.removed, line).as_ref() == Some(names)
    }
}

/// A line that moves, with compiled patterns.
#[derive(Debug)]
pub(super) struct CompiledMove {
    block: Vec<Regex>,
    moved: [Regex; 1],
    target: [Regex; 1],
    pub(super) is_before: bool,
    lines: Vec<Regex>,
}

impl CompiledMove {
    pub(super) fn new(shape: &MoveShape) -> Result<Self, InvalidShape> {
        Ok(Self {
            block: compile_all(&shape.block)?,
            moved: [compile(&shape.moved)?],
            target: [compile(&shape.target)?],
            is_before: shape.is_before,
            lines: compile_all(&shape.lines)?,
        })
    }

    /// The names that a line moves, and those at the new position.
    pub(super) fn names(&self, headers: &[String], line: &str) -> Option<(Key, Key)> {
        let is_here = are_headers(&self.block, headers);
        Some((key(&self.moved, line)?, key(&self.target, line)?)).filter(|_| is_here)
    }

    pub(super) fn has_names(&self, line: &str, names: &Key) -> bool {
        key(&self.lines, line).as_ref() == Some(names)
    }
}

fn are_headers(patterns: &[Regex], headers: &[String]) -> bool {
    let mut pairs = patterns.iter().zip(headers);
    patterns.len() == headers.len()
        && pairs.all(|(pattern, header)| pattern.is_match(&format!(" {header}")))
}

fn key(patterns: &[Regex], line: &str) -> Option<Key> {
    let line = format!(" {line}");
    patterns.iter().find_map(|pattern| {
        let found = pattern.captures(&line)?;
        Some(names(pattern, &found))
    })
}

fn compile_all(patterns: &[String]) -> Result<Vec<Regex>, InvalidShape> {
    patterns.iter().map(|pattern| compile(pattern)).collect()
}

fn names(pattern: &Regex, found: &Captures<'_>) -> Key {
    let mut groups: Vec<&str> = pattern.capture_names().flatten().collect();
    groups.sort_unstable();
    let names = groups.into_iter().filter_map(|name| found.name(name));
    let names = names.map(|name| name.as_str().trim_matches(['"', '\'']));
    names.map(str::to_lowercase).collect()
}
