//! Options whose order has a meaning: `<{methods} [{groups:each group}] [{local?local}]>`.
//!
//! A line has one form: in the order of the template the options have their values, in another order
//! the list has their words. A resource is converted to the same form.

use super::part::{Hole, HoleKind, Part, collect_holes};
use super::read::{Line, Matcher, missing};
use super::{Bindings, LineTemplate, Vocabulary};
use crate::value::{Attributes, Value};

impl LineTemplate {
    /// Converts a list of options of a resource to the form in which a line is read.
    pub(crate) fn convert_list(&self, attributes: &mut Attributes, vocabulary: &dyn Vocabulary) {
        let Some((list, options)) = find(&self.parts) else {
            return;
        };
        let items = attributes.get(&list.name).and_then(Value::as_list);
        let words: Option<Vec<String>> =
            items.filter(|items| !items.is_empty()).and_then(|items| {
                items
                    .iter()
                    .map(|item| vocabulary.write(&list.name, item))
                    .collect()
            });
        let Some(words) = words else {
            return;
        };
        let text = words.join(" ");
        let line = Line::new(&text, vocabulary);
        let matcher = Matcher::new(&line, vocabulary, &self.literals);
        let mut bindings = Bindings::new();
        let end = read(&matcher, list, options, 0, &mut bindings);
        if end.is_none_or(|end| !line.words_from(end).is_empty()) {
            return;
        }
        attributes.remove(&list.name);
        let is_list = bindings.iter().any(|(name, _)| *name == list.name);
        for option in options {
            collect_holes(option, &mut |hole| {
                attributes.remove(&hole.name);
                if !is_list && matches!(hole.kind, HoleKind::Each(_)) {
                    attributes.insert(hole.name.to_string(), Value::List(Vec::new()));
                }
            });
        }
        let bindings = bindings.into_iter();
        attributes.extend(bindings.map(|(name, value)| (name.to_string(), value)));
    }
}

/// The list and its options.
fn find(parts: &[Part]) -> Option<(&Hole, &[Vec<Part>])> {
    parts.iter().find_map(|part| match part {
        Part::AnyOrder {
            list: Some(list),
            options,
        } => Some((list, options.as_slice())),
        Part::Optional(parts) => find(parts),
        Part::Choice(options) | Part::AnyOrder { options, .. } => {
            options.iter().find_map(|option| find(option))
        }
        Part::Word(_) | Part::Hole(_) | Part::Compound(_) | Part::Where { .. } => None,
    })
}

/// Matches options from a word on, and returns the index after them. Elements of a list with a word
/// before each may stand at several places.
pub(super) fn read(
    matcher: &Matcher<'_>,
    list: &Hole,
    options: &[Vec<Part>],
    from: usize,
    bindings: &mut Bindings,
) -> Option<usize> {
    let mut found = Bindings::new();
    let mut elements = Vec::new();
    let mut left: Vec<&[Part]> = options.iter().map(Vec::as_slice).collect();
    let mut is_in_order = true;
    let mut last = 0;
    let mut at = from;
    while let Some(word) = matcher.line.words_from(at).first() {
        let before = left.clone();
        let each = options.iter().enumerate().find_map(|(index, option)| {
            let [Part::Hole(hole)] = option.as_slice() else {
                return None;
            };
            let is_marked =
                matches!(&hole.kind, HoleKind::Each(mark) if word.eq_ignore_ascii_case(mark));
            is_marked.then_some((index, hole))
        });
        let (index, end) = if let Some((index, hole)) = each {
            let element = *matcher.line.words_from(at).get(1)?;
            let value = matcher.vocabulary.read(&hole.name, element)?;
            match found.iter_mut().find(|(name, _)| *name == hole.name) {
                Some((_, Value::List(values))) => values.push(value),
                _ => found.push((hole.name.clone(), Value::List(vec![value]))),
            }
            (index, at + 2)
        } else if let Some(end) = matcher.next_option(&mut left, at, &mut found) {
            let taken = before.iter().find(|option| !left.contains(option));
            let position = |option: &&[Part]| options.iter().position(|one| one == option);
            (taken.and_then(position)?, end)
        } else {
            break;
        };
        let element = matcher.line.words_from(at)[..end - at].join(" ");
        elements.push(matcher.vocabulary.read(&list.name, &element)?);
        is_in_order &= index >= last;
        last = index;
        at = end;
    }
    if is_in_order {
        left.iter().for_each(|option| missing(option, &mut found));
        bindings.extend(found);
    } else {
        bindings.push((list.name.clone(), Value::List(elements)));
    }
    Some(at)
}
