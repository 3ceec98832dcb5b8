//! The shapes of the lines of a type, without their meaning.

use switchtender_outline::{
    CommandLine, LineShape, ListForm, ListShape, MoveShape, NegativeForm, RemovalShape, SetShape,
};

use super::CliType;
use super::block_path::BlockPath;
use super::order::FIRST;
use super::rules::{CliAttributeRule, InstanceKind, NeededLine, range_set};
use super::template::LineTemplate;
use crate::value::Value;

/// Patterns of headers, outermost first.
pub(super) type Headers = Vec<String>;

/// A pattern for complete lines.
fn complete(pattern: &str) -> String {
    format!("^{pattern} *$")
}

pub(super) fn header(template: &LineTemplate) -> String {
    complete(&template.pattern(&[]))
}

/// The lines that every resource needs.
fn unconditional(needed: &[NeededLine]) -> Vec<String> {
    let lines = needed.iter().filter(|line| line.only.is_empty());
    lines.map(|line| line.text.clone()).collect()
}

impl CliType {
    /// Adds the shapes of the lines of the type. Types can have lines in common.
    pub(super) fn add_shapes(&self, command_line: &mut CommandLine) {
        let needed = self.needed_lines();
        let needed = needed.map(|line| complete(&format!(" {}", regex::escape(&line.text))));
        let needed = needed.map(|pattern| LineShape::new(&[], vec![pattern]));
        let own = self.line_shapes().into_iter().map(|shape| LineShape {
            needs: match shape.block.as_slice() {
                [] => unconditional(&self.instance.needs),
                _ => Vec::new(),
            },
            text_end: self.end_of_text(&shape),
            ..shape
        });
        for shape in needed.chain(own) {
            if !command_line.shapes.contains(&shape) {
                command_line.shapes.push(shape);
            }
        }
        command_line.removals.extend(self.removal_shapes());
        command_line.moves.extend(self.move_shapes());
        command_line.lists.extend(self.list_shapes());
        command_line.sets.extend(self.set_shapes());
    }

    /// The line that ends the text of the blocks with a header.
    fn end_of_text(&self, shape: &LineShape) -> Option<String> {
        let mut rules = self.attributes.values();
        let end = rules.find_map(|rule| rule.text_end()).map(str::to_owned);
        let is_own = |block: &Headers| {
            let own = block.split_last();
            own.is_some_and(|(last, outer)| {
                outer == shape.block && shape.patterns == [last.clone()]
            })
        };
        end.filter(|_| shape.is_header && self.outer_blocks().iter().any(is_own))
    }

    /// The lines of sets of numbers, which add and remove elements.
    fn list_shapes(&self) -> Vec<ListShape> {
        let mut all = Vec::new();
        for rule in self.attributes.values() {
            let Some(set) = self.added_set(rule) else {
                continue;
            };
            all.extend(rule.lines.iter().filter_map(|line| {
                let pattern = line.pattern(&[rule.name.as_str()]);
                Some(ListShape {
                    pattern: format!("^{} *$", pattern.strip_prefix(" +")?),
                    form: ListForm::Numbers(Some((set.low, set.high))),
                })
            }));
        }
        all
    }

    /// The lines of sets of numbers that other lines change.
    fn set_shapes(&self) -> Vec<SetShape> {
        let mut all = Vec::new();
        for rule in self.attributes.values() {
            let set = range_set(self.codecs.get(rule.name.as_str()));
            let (Some(set), Some(more), Some(less)) = (set, &rule.more, &rule.less) else {
                continue;
            };
            let pattern = |line: &LineTemplate| {
                let pattern = line.pattern(&[rule.name.as_str()]);
                Some(format!("^{} *$", pattern.strip_prefix(" +")?))
            };
            let (more, less) = (pattern(more), pattern(less));
            all.extend(rule.lines.iter().filter_map(|line| {
                Some(SetShape {
                    complete: pattern(line)?,
                    more: more.clone()?,
                    less: less.clone()?,
                    limits: (set.low, set.high),
                    without_line: rule.absent.as_ref().and_then(Value::scalar_text),
                })
            }));
        }
        all
    }

    /// The shapes of the lines that the type sends.
    fn line_shapes(&self) -> Vec<LineShape> {
        let mut all = Vec::new();
        let blocks = self.outer_blocks();
        let names = self.line_names();
        for block in &blocks {
            add_headers(block, &mut all);
        }
        match &self.instance.kind {
            InstanceKind::Named { lines, .. } => {
                let prefix = lines.prefix.iter();
                let alone = prefix.clone().chain(&self.instance.create);
                let patterns: Vec<String> =
                    alone.map(|line| complete(&line.pattern(&names))).collect();
                all.extend(patterns.iter().flat_map(|pattern| {
                    blocks.iter().map(|block| LineShape {
                        is_unique: lines.prefix.is_none(),
                        reaches_inner: lines.prefix.is_some(),
                        ..LineShape::new(block, vec![pattern.clone()])
                    })
                }));
            }
            InstanceKind::Line { spellings, .. } => {
                let removed = self.instance.remove.iter();
                let names = removed.flat_map(LineTemplate::attributes);
                let names: Vec<&str> = names.chain(self.model.namevars()).collect();
                let patterns = spellings.iter().map(|line| complete(&line.pattern(&names)));
                let patterns: Vec<String> = patterns.collect();
                all.extend(blocks.iter().map(|block| LineShape {
                    is_unique: true,
                    ..LineShape::new(block, patterns.clone())
                }));
            }
            _ => {}
        }
        for rule in self.attributes.values() {
            if let Some(outer) = rule.member_block() {
                let outer = vec![header(outer)];
                add_headers(&outer, &mut all);
                self.add_lines(rule, &outer, &mut all);
                continue;
            }
            for (spelling, block) in blocks.iter().enumerate() {
                let inner = self.inner_block(rule, spelling, block);
                add_headers(&inner, &mut all);
                self.add_lines(rule, &inner, &mut all);
                if rule.may_stand_outside() {
                    self.add_lines(rule, block, &mut all);
                }
            }
        }
        all
    }

    /// The lines that remove others by their names.
    fn removal_shapes(&self) -> Vec<RemovalShape> {
        let blocks = self.outer_blocks();
        let mut all = Vec::new();
        let kind = &self.instance.kind;
        for (spelling, block) in blocks.iter().enumerate() {
            let (block, removed) = self.lines_with_names(spelling, block);
            let is_beginning = kind.named().is_some();
            for remove in self.instance.removal(spelling) {
                all.extend(removal(block, remove, &removed, is_beginning));
            }
        }
        for rule in self.attributes.values() {
            let Some(no) = rule.own_no() else {
                continue;
            };
            let lines: Vec<&LineTemplate> = rule.lines.iter().collect();
            for (spelling, block) in blocks.iter().enumerate() {
                let inner = self.inner_block(rule, spelling, block);
                all.extend(removal(&inner, no, &lines, false));
            }
        }
        all
    }

    /// The lines that move others by their names.
    fn move_shapes(&self) -> Vec<MoveShape> {
        let blocks = self.outer_blocks();
        let rest = if self.instance.kind.named().is_some() {
            "(?: .*)?"
        } else {
            ""
        };
        let mut all = Vec::new();
        for rule in self.attributes.values() {
            let Some(order) = rule.order() else {
                continue;
            };
            for (spelling, block) in blocks.iter().enumerate() {
                let (block, lines) = self.lines_with_names(spelling, block);
                let mut names: Vec<&str> = self.model.namevars().collect();
                names.retain(|name| lines.iter().all(|line| line.has_attribute(name)));
                let pattern = |line: &LineTemplate, names: &[&str], rest| {
                    format!("^{}{rest} *$", line.pattern(names))
                };
                for (line, other, is_before) in [
                    (&order.after, rule.name.as_str(), false),
                    (&order.before, FIRST, true),
                ] {
                    let mut target = names.clone();
                    target.pop();
                    target.push(other);
                    all.push(MoveShape {
                        block: block.to_vec(),
                        moved: pattern(line, &names, ""),
                        target: pattern(line, &target, ""),
                        is_before,
                        lines: lines
                            .iter()
                            .map(|line| pattern(line, &names, rest))
                            .collect(),
                    });
                }
            }
        }
        all
    }

    /// The templates of the lines that have the names of an instance, and the block around them.
    pub(super) fn lines_with_names<'a>(
        &'a self,
        spelling: usize,
        block: &'a [String],
    ) -> (&'a [String], Vec<&'a LineTemplate>) {
        match &self.instance.kind {
            InstanceKind::Block(paths) => {
                let path = self.instance.mode.as_ref().or(paths.get(spelling));
                let header = path.and_then(|path| path.templates().last());
                let outer = block.split_last().map(|(_, outer)| outer);
                (outer.unwrap_or_default(), header.into_iter().collect())
            }
            InstanceKind::Named { lines, .. } => (block, lines.openings.iter().collect()),
            kind => (block, kind.spellings_in(spelling).iter().collect()),
        }
    }

    /// The headers around the lines of an attribute.
    pub(super) fn inner_block(
        &self,
        rule: &CliAttributeRule,
        spelling: usize,
        block: &Headers,
    ) -> Headers {
        let inner = rule.sub(spelling).iter();
        let inner = inner.map(|text| complete(&format!(" {}", regex::escape(text))));
        block.iter().cloned().chain(inner).collect()
    }

    /// The blocks in which the lines of the type are sent.
    pub(super) fn outer_blocks(&self) -> Vec<Headers> {
        let paths: Vec<&BlockPath> = match &self.instance.mode {
            Some(mode) => vec![mode],
            None => self.instance.kind.paths().iter().collect(),
        };
        if let Some(enter) = self.instance.kind.enter() {
            return vec![vec![header(enter)]];
        }
        match paths.as_slice() {
            [] => vec![Headers::new()],
            paths => paths.iter().copied().flat_map(expanded).collect(),
        }
    }

    /// The lines of an attribute in a block, and the line that adds elements.
    fn add_lines(&self, rule: &CliAttributeRule, block: &Headers, all: &mut Vec<LineShape>) {
        let names = self.line_names();
        let pattern = |line: &LineTemplate| complete(&line.pattern(&names));
        let is_negative = |line: &LineTemplate| self.negation.positive(&line.text).is_some();
        let patterns =
            rule.value_lines()
                .filter_map(|line| match self.negation.positive(&line.text) {
                    Some(positive) => LineTemplate::parse(&positive).ok().as_ref().map(pattern),
                    None => Some(pattern(line)),
                });
        let patterns: Vec<String> = patterns.collect();
        if patterns.is_empty() {
            return;
        }
        // The device does not print the line for the value that it has without a line.
        let is_printed = |(value, line): (&String, &Option<LineTemplate>), negative: bool| {
            let value = self.named_value(&rule.name, value);
            let line = line.as_ref();
            line.is_some_and(|line| is_negative(line) == negative)
                && (value.is_none() || value != rule.absent)
        };
        let prints = |negative: bool| {
            rule.set.iter().any(|value| is_printed(value, negative))
                || rule.lines.iter().any(|line| is_negative(line) == negative)
        };
        let unprinted = rule.set.iter().filter(|(value, line)| {
            line.as_ref().is_some_and(|line| !is_negative(line))
                && !is_printed((value, line), false)
        });
        let unprinted = unprinted.filter_map(|(_, line)| Some(pattern(line.as_ref()?)));
        all.push(LineShape {
            is_unique: !rule.many,
            unprinted: unprinted.collect(),
            negative: match (prints(true), prints(false)) {
                _ if rule.prints_only_no() => NegativeForm::OnlyPrinted,
                (true, false) => NegativeForm::OnlyPrinted,
                (true, true) => NegativeForm::Printed,
                (false, _) => NegativeForm::Absent,
            },
            ..LineShape::new(block, patterns)
        });
    }
}

/// `None` if the lines have no common names, by which one of them is removed.
fn removal(
    block: &[String],
    remove: &LineTemplate,
    removed: &[&LineTemplate],
    is_beginning: bool,
) -> Option<RemovalShape> {
    let mut names = remove.attributes();
    names.retain(|name| removed.iter().all(|line| line.has_attribute(name)));
    let rest = if is_beginning { "(?: .*)?" } else { "" };
    let pattern = |line: &LineTemplate, rest| format!("^{}{rest} *$", line.pattern(&names));
    (!names.is_empty() && !removed.is_empty()).then(|| RemovalShape {
        block: block.to_vec(),
        removed_by: pattern(remove, ""),
        removed: removed.iter().map(|line| pattern(line, rest)).collect(),
    })
}

/// The headers of a path, with and without its optional levels.
fn expanded(path: &BlockPath) -> Vec<Headers> {
    let mut all = vec![Headers::new()];
    for level in path.levels() {
        let pattern = header(&level.header);
        let with: Vec<Headers> = all
            .iter()
            .map(|outer| [outer.as_slice(), std::slice::from_ref(&pattern)].concat())
            .collect();
        if level.is_optional {
            all.extend(with)
        } else {
            all = with
        }
    }
    all
}

/// Adds the headers of a block, each below those around it.
fn add_headers(block: &Headers, all: &mut Vec<LineShape>) {
    for (depth, pattern) in block.iter().enumerate() {
        let shape = LineShape {
            is_header: true,
            ..LineShape::new(&block[..depth], vec![pattern.clone()])
        };
        if !all.contains(&shape) {
            all.push(shape);
        }
    }
}
