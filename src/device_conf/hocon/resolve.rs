//! Resolves a parsed tree: merges duplicate keys, replaces substitutions and reads numbers.

use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::map::IndexMap;

use super::parse::{Piece, Raw, RawEntry, RawField, RawValue};
use super::{ConfigIo, HoconField, HoconNode, HoconValue, Mark};

/// How deep values may nest, substitutions included: enough for people, and an end for cycles.
const DEPTH: usize = 64;

pub fn resolve(root: Raw, world: &dyn ConfigIo) -> Result<HoconNode, Box<Diagnostic>> {
    let resolver = Resolver {
        world,
        tree: Tree::of(&root),
    };
    let mark = root.mark;
    Ok(HoconNode {
        value: resolver.tree_value(&resolver.tree, 0)?,
        mark,
    })
}

/// Fields with their keys taken apart and definitions of one key collected, latest last.
#[derive(Default)]
struct Tree {
    fields: IndexMap<String, Slot>,
}

struct Slot {
    mark: Mark,
    definitions: Vec<Definition>,
}

enum Definition {
    /// An object: merged with an object before it.
    Object(Tree),
    Value {
        parts: Vec<Raw>,
        append: bool,
    },
}

impl Tree {
    fn of(raw: &Raw) -> Self {
        let mut tree = Tree::default();
        if let RawValue::Object(entries) = &raw.value {
            for entry in entries {
                if let RawEntry::Field(field) = entry {
                    tree.add(field, 0);
                }
            }
        }
        tree
    }

    fn add(&mut self, field: &RawField, depth: usize) {
        let slot = self
            .fields
            .entry(field.path[depth].clone())
            .or_insert_with(|| Slot {
                mark: field.mark.clone(),
                definitions: Vec::new(),
            });
        slot.mark = field.mark.clone();
        if depth + 1 < field.path.len() {
            let mut inner = Tree::default();
            inner.add(field, depth + 1);
            slot.definitions.push(Definition::Object(inner));
            return;
        }
        slot.definitions.push(match field.parts.as_slice() {
            [only] if matches!(only.value, RawValue::Object(_)) && !field.append => {
                Definition::Object(Tree::of(only))
            }
            parts => Definition::Value {
                parts: parts.to_vec(),
                append: field.append,
            },
        });
    }
}

struct Resolver<'a> {
    world: &'a dyn ConfigIo,
    tree: Tree,
}

impl Resolver<'_> {
    fn tree_value(&self, tree: &Tree, depth: usize) -> Result<HoconValue, Box<Diagnostic>> {
        let mut fields = Vec::with_capacity(tree.fields.len());
        for (key, slot) in &tree.fields {
            if let Some(node) = self.slot(slot, slot.definitions.len(), depth)? {
                fields.push(HoconField {
                    key: key.clone(),
                    key_mark: slot.mark.clone(),
                    node,
                });
            }
        }
        Ok(HoconValue::Object(fields))
    }

    /// The value of a key from its first `count` definitions; nothing if all of it is optional
    /// and missing.
    fn slot(
        &self,
        slot: &Slot,
        count: usize,
        depth: usize,
    ) -> Result<Option<HoconNode>, Box<Diagnostic>> {
        if depth > DEPTH {
            return Err(Box::new(
                Diagnostic::error(
                    "hocon-cycle",
                    "substitutions refer to each other in a circle",
                )
                .at(&slot.mark.source, slot.mark.span.clone(), ""),
            ));
        }
        let mut value: Option<HoconNode> = None;
        for definition in &slot.definitions[..count] {
            let next = match definition {
                Definition::Object(tree) => Some(HoconNode {
                    value: self.tree_value(tree, depth + 1)?,
                    mark: slot.mark.clone(),
                }),
                Definition::Value { parts, append } => {
                    let own = self.concatenate(parts, depth + 1)?;
                    match (append, own, value.take()) {
                        (false, None, before) => before,
                        (false, own, _) => own,
                        (true, None, before) => before,
                        (true, Some(own), before) => Some(appended(before, own)),
                    }
                }
            };
            value = match (value, next) {
                (Some(before), Some(next)) => Some(merged(before, next)),
                (before, next) => next.or(before),
            };
        }
        Ok(value)
    }

    fn concatenate(
        &self,
        parts: &[Raw],
        depth: usize,
    ) -> Result<Option<HoconNode>, Box<Diagnostic>> {
        let single = parts.len() == 1;
        let mut joined: Option<HoconNode> = None;
        for part in parts {
            let Some(value) = self.part(part, single, depth)? else {
                continue;
            };
            let node = HoconNode {
                value,
                mark: part.mark.clone(),
            };
            joined = Some(match joined {
                None => node,
                Some(before) => join(before, node)?,
            });
        }
        Ok(joined)
    }

    fn part(
        &self,
        part: &Raw,
        single: bool,
        depth: usize,
    ) -> Result<Option<HoconValue>, Box<Diagnostic>> {
        Ok(Some(match &part.value {
            RawValue::Text(pieces) => match pieces.as_slice() {
                [Piece::Bare(text)] if single => scalar(text),
                pieces => HoconValue::String(
                    pieces
                        .iter()
                        .map(|(Piece::Quoted(text) | Piece::Bare(text))| text.as_str())
                        .collect(),
                ),
            },
            RawValue::List(items) => {
                let mut list = Vec::with_capacity(items.len());
                for item in items {
                    list.extend(self.concatenate(item, depth + 1)?);
                }
                HoconValue::List(list)
            }
            RawValue::Object(_) => self.tree_value(&Tree::of(part), depth + 1)?,
            RawValue::Substitution { path, optional } => match self.lookup(path, depth + 1)? {
                Some(value) => value,
                None if *optional => return Ok(None),
                None => {
                    return Err(Box::new(
                        Diagnostic::error(
                            "hocon-substitution",
                            format!("nothing is known by the name `{}`", path.join(".")),
                        )
                        .at(&part.mark.source, part.mark.span.clone(), "")
                        .help("define the key or the environment variable, or write `${?…}`"),
                    ));
                }
            },
        }))
    }

    /// A key of the document, else an environment variable.
    fn lookup(&self, path: &[String], depth: usize) -> Result<Option<HoconValue>, Box<Diagnostic>> {
        let (first, rest) = path.split_first().expect("a path has at least one part");
        let mut found = match self.tree.fields.get(first) {
            Some(slot) => self.slot(slot, slot.definitions.len(), depth)?,
            None => None,
        };
        for key in rest {
            found = found.and_then(|node| match node.value {
                HoconValue::Object(fields) => fields
                    .into_iter()
                    .find(|field| field.key == *key)
                    .map(|field| field.node),
                _ => None,
            });
        }
        Ok(found
            .map(|node| node.value)
            .or_else(|| self.world.variable(&path.join(".")).map(HoconValue::String)))
    }
}

/// Unquoted text as a value: the JSON words and numbers, everything else as text.
fn scalar(text: &str) -> HoconValue {
    match text {
        "true" => return HoconValue::Bool(true),
        "false" => return HoconValue::Bool(false),
        "null" => return HoconValue::Null,
        _ => {}
    }
    let number_like = text.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    if number_like {
        if let Ok(number) = text.parse::<i64>() {
            return HoconValue::Integer(number);
        }
        // A whole fraction is an integer, as the peer reads it.
        if let Ok(number) = text.parse::<f64>() {
            #[allow(clippy::cast_possible_truncation, reason = "whole and within bounds")]
            return if number.fract() == 0.0 && number.abs() < 1e15 {
                HoconValue::Integer(number as i64)
            } else {
                HoconValue::Float(number)
            };
        }
    }
    HoconValue::String(text.to_owned())
}

/// A later object adds to an earlier one; anything else replaces.
fn merged(before: HoconNode, next: HoconNode) -> HoconNode {
    match (before.value, next.value) {
        (HoconValue::Object(mut fields), HoconValue::Object(more)) => {
            for field in more {
                match fields.iter_mut().find(|known| known.key == field.key) {
                    Some(known) => {
                        known.node = merged(known.node.clone(), field.node);
                        known.key_mark = field.key_mark;
                    }
                    None => fields.push(field),
                }
            }
            HoconNode {
                value: HoconValue::Object(fields),
                mark: next.mark,
            }
        }
        (_, value) => HoconNode {
            value,
            mark: next.mark,
        },
    }
}

fn appended(before: Option<HoconNode>, own: HoconNode) -> HoconNode {
    let mut items = match before.map(|node| node.value) {
        Some(HoconValue::List(items)) => items,
        _ => Vec::new(),
    };
    let mark = own.mark.clone();
    items.push(own);
    HoconNode {
        value: HoconValue::List(items),
        mark,
    }
}

/// Two parts of one value beside each other.
fn join(before: HoconNode, next: HoconNode) -> Result<HoconNode, Box<Diagnostic>> {
    let value = match (before.value, next.value) {
        (HoconValue::List(mut first), HoconValue::List(second)) => {
            first.extend(second);
            HoconValue::List(first)
        }
        (first @ HoconValue::Object(_), second @ HoconValue::Object(_)) => {
            let node = |value| HoconNode {
                value,
                mark: before.mark.clone(),
            };
            merged(node(first), node(second)).value
        }
        (first, second) => match (text(&first), text(&second)) {
            (Some(first), Some(second)) => HoconValue::String(first + &second),
            _ => {
                return Err(Box::new(
                    Diagnostic::error(
                        "hocon-concatenation",
                        format!("{} cannot stand beside {}", first.kind(), second.kind()),
                    )
                    .at(&next.mark.source, next.mark.span.clone(), ""),
                ));
            }
        },
    };
    Ok(HoconNode {
        value,
        mark: before.mark,
    })
}

fn text(value: &HoconValue) -> Option<String> {
    match value {
        HoconValue::String(text) => Some(text.clone()),
        HoconValue::Integer(number) => Some(number.to_string()),
        HoconValue::Float(number) => Some(number.to_string()),
        HoconValue::Bool(truth) => Some(truth.to_string()),
        HoconValue::Null => Some("null".to_owned()),
        HoconValue::List(_) | HoconValue::Object(_) => None,
    }
}
