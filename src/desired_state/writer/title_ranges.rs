//! Titles that differ in numbers only and have equal attributes are one title with ranges.

use std::fmt::Write as _;

use switchtender_devices::map::IndexMap;

use super::layout::LayoutNode;
use super::scalar;
use crate::desired_state::literal_title;

/// A resource: its title and what the file says about it.
#[derive(Clone, Debug)]
pub(super) struct TitledBody {
    pub(super) title: String,
    pub(super) node: LayoutNode,
}

impl TitledBody {
    /// A resource that the file removes.
    pub(super) fn removed(title: &str) -> Self {
        Self {
            title: title.to_owned(),
            node: LayoutNode::null(),
        }
    }
}

/// A part of a title.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum TitlePart {
    Text(String),
    Numbers(Vec<u32>),
}

/// Joins resources. Each stands where its first one did, with the title as it is written.
pub(super) fn joined(bodies: Vec<TitledBody>) -> Vec<TitledBody> {
    let mut all: Vec<(Vec<TitlePart>, LayoutNode)> = bodies
        .into_iter()
        .map(|body| (parts(&body.title), body.node))
        .collect();
    let numbers = |parts: &[TitlePart]| {
        let is_number = |part: &&TitlePart| matches!(part, TitlePart::Numbers(_));
        parts.iter().filter(is_number).count()
    };
    let most = all.iter().map(|(parts, _)| numbers(parts)).max();
    // The last number differs most often: ports before modules.
    for from_end in 0..most.unwrap_or_default() {
        all = joined_at(all, from_end);
    }
    let written = all.into_iter().map(|(parts, node)| TitledBody {
        title: title(&parts),
        node,
    });
    written.collect()
}

/// Joins the titles that differ only in the number with this index from the end.
fn joined_at(
    all: Vec<(Vec<TitlePart>, LayoutNode)>,
    from_end: usize,
) -> Vec<(Vec<TitlePart>, LayoutNode)> {
    let mut groups: IndexMap<(Vec<TitlePart>, String), usize> = IndexMap::default();
    let mut result: Vec<(Vec<TitlePart>, LayoutNode)> = Vec::new();
    for (parts, node) in all {
        let mut positions = (0..parts.len()).rev();
        let mut numbers = positions
            .by_ref()
            .filter(|at| matches!(parts[*at], TitlePart::Numbers(_)));
        let at = numbers.nth(from_end);
        let Some(at) = at else {
            result.push((parts, node));
            continue;
        };
        let mut others = parts.clone();
        let TitlePart::Numbers(own) =
            std::mem::replace(&mut others[at], TitlePart::Numbers(Vec::new()))
        else {
            unreachable!("the position is that of numbers");
        };
        let body = node.flow().unwrap_or_else(|| format!("{node:?}"));
        let next = result.len();
        let first = *groups.entry((others, body)).or_insert(next);
        if first == next {
            result.push((parts, node));
        } else if let TitlePart::Numbers(numbers) = &mut result[first].0[at] {
            numbers.extend(own);
        }
    }
    result
}

/// The numbers of a title, and the texts between them. A number with zeros before it belongs to the text.
fn parts(title: &str) -> Vec<TitlePart> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut rest = title;
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let length = rest
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(rest.len());
        let (part, after) = rest.split_at(if digits > 0 { digits } else { length });
        let is_usual = digits > 0 && (part == "0" || !part.starts_with('0'));
        match part.parse::<u32>() {
            Ok(number) if is_usual => {
                parts.push(TitlePart::Text(std::mem::take(&mut text)));
                parts.push(TitlePart::Numbers(vec![number]));
            }
            _ => text.push_str(part),
        }
        rest = after;
    }
    parts.push(TitlePart::Text(text));
    parts
}

fn title(parts: &[TitlePart]) -> String {
    let mut title = String::new();
    let mut has_range = false;
    for part in parts {
        match part {
            TitlePart::Text(text) => title.push_str(text),
            TitlePart::Numbers(numbers) if numbers.len() == 1 => {
                let _ = write!(title, "{}", numbers[0]);
            }
            TitlePart::Numbers(numbers) => {
                has_range = true;
                let _ = write!(title, "[{}]", ranges(numbers));
            }
        }
    }
    if has_range {
        // Brackets begin a list without quotation marks.
        return format!("{title:?}");
    }
    scalar::key(&literal_title(&title))
}

/// Numbers as ranges: `1-4,7`.
fn ranges(numbers: &[u32]) -> String {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for number in sorted {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let texts = ranges.iter().map(|(first, last)| {
        if first == last {
            first.to_string()
        } else {
            format!("{first}-{last}")
        }
    });
    texts.collect::<Vec<_>>().join(",")
}
