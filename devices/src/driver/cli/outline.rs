//! The shapes of the lines of a type, without their meaning.

use super::CliType;
use super::block_path::BlockPath;
use super::rules::{CliAttributeRule, CliLocation, InstanceKind};
use super::template::LineTemplate;
use crate::driver::outline::{LineOutline, NegativeForm};

/// Patterns of headers, outermost first.
type Headers = Vec<String>;

/// A pattern for complete lines.
fn complete(pattern: &str) -> String {
    format!("^{pattern} *$")
}

fn header(template: &LineTemplate) -> String {
    complete(&template.pattern(&[]))
}

impl CliType {
    /// The shapes of the lines that the type sends.
    pub(super) fn line_outlines(&self) -> Vec<LineOutline> {
        let mut all = Vec::new();
        let blocks = self.outer_blocks();
        for block in &blocks {
            add_headers(block, &mut all);
        }
        let prefix = self.instance.kind.prefix().map(|prefix| {
            let names = prefix.template.attributes();
            prefix.template.pattern(&names)
        });
        if let Some(prefix) = &prefix {
            all.extend(blocks.iter().map(|block| LineOutline {
                reaches_inner: true,
                ..LineOutline::new(block, vec![complete(prefix)])
            }));
        }
        if let InstanceKind::Line { spellings, .. } = &self.instance.kind {
            let removed = self.instance.remove.iter();
            let names = removed.flat_map(LineTemplate::attributes);
            let names: Vec<&str> = names.chain(self.model.namevars()).collect();
            let patterns = spellings.iter().map(|line| complete(&line.pattern(&names)));
            let patterns: Vec<String> = patterns.collect();
            all.extend(blocks.iter().map(|block| LineOutline {
                is_unique: true,
                ..LineOutline::new(block, patterns.clone())
            }));
        }
        for rule in self.attributes.values() {
            if let CliLocation::Elsewhere(outer) = &rule.location {
                let outer = vec![header(outer)];
                add_headers(&outer, &mut all);
                self.add_lines(rule, "", &outer, &mut all);
                continue;
            }
            for (spelling, block) in blocks.iter().enumerate() {
                let inner = rule.sub(spelling).iter();
                let inner = inner.map(|text| complete(&format!(" {}", regex::escape(text))));
                let inner: Headers = block.iter().cloned().chain(inner).collect();
                add_headers(&inner, &mut all);
                let prefix = prefix.as_deref().unwrap_or_default();
                self.add_lines(rule, prefix, &inner, &mut all);
                if rule.may_stand_outside() {
                    self.add_lines(rule, prefix, block, &mut all);
                }
            }
        }
        all
    }

    /// The blocks in which the lines of the type are sent.
    fn outer_blocks(&self) -> Vec<Headers> {
        let paths: Vec<&BlockPath> = match &self.instance.mode {
            Some(mode) => vec![mode],
            None => self.instance.kind.paths().iter().collect(),
        };
        if let InstanceKind::Row {
            enter: Some(enter), ..
        } = &self.instance.kind
        {
            return vec![vec![header(enter)]];
        }
        match paths.as_slice() {
            [] => vec![Headers::new()],
            paths => paths.iter().copied().flat_map(expanded).collect(),
        }
    }

    /// The lines of an attribute in a block, and the line that adds elements.
    fn add_lines(
        &self,
        rule: &CliAttributeRule,
        prefix: &str,
        block: &Headers,
        all: &mut Vec<LineOutline>,
    ) {
        let set = rule.set.values().flatten();
        let (negative, positive): (Vec<_>, Vec<_>) = rule
            .lines
            .iter()
            .chain(set)
            .partition(|line| self.negation.positive(&line.text).is_some());
        let pattern = |line: &&LineTemplate| complete(&format!("{prefix}{}", line.pattern(&[])));
        let patterns: Vec<String> = positive.iter().map(pattern).collect();
        if patterns.is_empty() {
            return;
        }
        all.push(LineOutline {
            is_unique: !rule.many,
            negative: match (rule.default_on, negative.is_empty(), &rule.absent) {
                (true, ..) => NegativeForm::OnlyPrinted,
                (false, false, None) => NegativeForm::Printed,
                _ => NegativeForm::Absent,
            },
            ..LineOutline::new(block, patterns)
        });
        let more = rule.more.iter().collect::<Vec<_>>();
        all.extend(
            more.iter()
                .map(|line| LineOutline::new(block, vec![pattern(line)])),
        );
    }
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
        match level.is_optional {
            true => all.extend(with),
            false => all = with,
        }
    }
    all
}

/// Adds the headers of a block, each below those around it.
fn add_headers(block: &Headers, all: &mut Vec<LineOutline>) {
    for (depth, pattern) in block.iter().enumerate() {
        let outline = LineOutline {
            is_header: true,
            ..LineOutline::new(&block[..depth], vec![pattern.clone()])
        };
        if !all.contains(&outline) {
            all.push(outline);
        }
    }
}
