//! Placeholders for the parts of a value: the elements of a list, `{0} {1}`, and the fields of a
//! hash, `{track.object}`. Loaded templates have `track.0` for `{0}` of the attribute `track`.

use super::part::{HoleKind, Part, Piece, attributes_of, collect_conditions, collect_holes};
use super::{Bindings, CAPTURE_MARK, LineTemplate};
use crate::value::{Attributes, Name, Value};

const SEPARATOR: char = '.';

/// The attribute of a placeholder: `track` of `track.object`.
pub(crate) fn attribute_of(placeholder: &str) -> &str {
    split(placeholder).map_or(placeholder, |(attribute, _)| attribute)
}

/// The attribute and the part of a placeholder.
pub(crate) fn split(placeholder: &str) -> Option<(&str, &str)> {
    let is_capture = placeholder.starts_with(CAPTURE_MARK);
    placeholder.split_once(SEPARATOR).filter(|_| !is_capture)
}

/// A part of a value.
pub(crate) fn part_of<'v>(value: &'v Value, part: &str) -> Option<&'v Value> {
    let value = value.unwrap_sensitive();
    match part.parse::<usize>() {
        Ok(index) => value.as_list()?.get(index),
        Err(_) => value.get(part),
    }
}

/// The value of a placeholder that is a part of an attribute's value.
pub(crate) fn part_in<'v>(attributes: &'v Attributes, placeholder: &str) -> Option<&'v Value> {
    let (attribute, part) = split(placeholder)?;
    part_of(attributes.get(attribute)?, part)
}

/// A value that was read in parts: a list or a hash. `None` without parts.
pub(crate) fn joined(attribute: &str, bindings: &mut Bindings) -> Option<Value> {
    let mut parts: Vec<(String, Value)> = Vec::new();
    bindings.retain(|(name, value)| match split(name) {
        Some((own, part)) if own == attribute => {
            parts.push((part.to_owned(), value.clone()));
            false
        }
        _ => true,
    });
    if parts.is_empty() {
        return None;
    }
    let positions: Option<Vec<usize>> = parts.iter().map(|(part, _)| part.parse().ok()).collect();
    let Some(positions) = positions else {
        let fields = parts.into_iter();
        return Some(Value::Hash(
            fields.map(|(name, value)| (name.into(), value)).collect(),
        ));
    };
    let mut elements: Vec<(usize, Value)> = positions
        .into_iter()
        .zip(parts)
        .map(|(position, (_, value))| (position, value))
        .collect();
    elements.sort_by_key(|(position, _)| *position);
    Some(Value::List(
        elements.into_iter().map(|(_, value)| value).collect(),
    ))
}

impl LineTemplate {
    /// Makes its elements those of an attribute.
    pub(crate) fn assign_elements(&mut self, attribute: &str) {
        let assign = |name: &mut Name| {
            if name.parse::<usize>().is_ok() {
                *name = format!("{attribute}{SEPARATOR}{name}").into();
            }
        };
        each_name(&mut self.parts, &assign);
        self.attributes = attributes_of(&self.parts);
    }

    /// Makes a placeholder that of an attribute.
    pub(crate) fn rename(&mut self, placeholder: &str, attribute: &Name) {
        each_name(&mut self.parts, &|name| {
            if name == placeholder {
                *name = attribute.clone();
            }
        });
        self.attributes = attributes_of(&self.parts);
    }

    /// The placeholders and conditions, each once, without words that have no attribute.
    pub(crate) fn placeholders(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        collect_holes(&self.parts, &mut |hole| names.push(hole.name.as_str()));
        collect_conditions(&self.parts, &mut |name| names.push(name.as_str()));
        let mut once: Vec<&str> = Vec::new();
        for name in names {
            if !name.starts_with(CAPTURE_MARK) && !once.contains(&name) {
                once.push(name);
            }
        }
        once
    }

    /// The placeholders that a word stands for.
    pub(crate) fn flags(&self) -> Vec<&str> {
        let mut names = Vec::new();
        collect_holes(&self.parts, &mut |hole| {
            if let HoleKind::Flag(_) = hole.kind {
                names.push(hole.name.as_str());
            }
        });
        names
    }

    /// Whether it has a part of a value.
    pub(crate) fn has_parts(&self) -> bool {
        let mut names = self.placeholders().into_iter();
        names.any(|name| split(name).is_some() || name.parse::<usize>().is_ok())
    }
}

fn each_name(parts: &mut [Part], change: &dyn Fn(&mut Name)) {
    for part in parts {
        match part {
            Part::Word(_) => {}
            Part::Hole(hole) => change(&mut hole.name),
            Part::Where { name, .. } => change(name),
            Part::Compound(pieces) => pieces.iter_mut().for_each(|piece| {
                if let Piece::Hole(hole) = piece {
                    change(&mut hole.name);
                }
            }),
            Part::Optional(parts) => each_name(parts, change),
            Part::AnyOrder { list, options } => {
                list.iter_mut().for_each(|hole| change(&mut hole.name));
                options
                    .iter_mut()
                    .for_each(|option| each_name(option, change));
            }
            Part::Choice(options) => {
                options
                    .iter_mut()
                    .for_each(|option| each_name(option, change));
            }
        }
    }
}
