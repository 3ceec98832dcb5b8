//! The tree as written to the tree as meant: duplicates merged, substitutions made, numbers read.

use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::map::IndexMap;

use super::parse::{Entry, Piece, Raw, RawField, RawValue};
use super::{Field, Mark, Node, Value, World};

/// How deep values may nest, substitutions included: enough for people, and an end for cycles.
const DEPTH: usize = 64;

pub fn resolve(root: Raw, world: &dyn World) -> Result<Node, Box<Diagnostic>> {
    let resolver = Resolver {
        world,
        tree: Tree::of(&root),
    };
    let mark = root.mark;
    Ok(Node {
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
                if let Entry::Field(field) = entry {
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
    world: &'a dyn World,
    tree: Tree,
}

impl Resolver<'_> {
    fn tree_value(&self, tree: &Tree, depth: usize) -> Result<Value, Box<Diagnostic>> {
        let mut fields = Vec::with_capacity(tree.fields.len());
        for (key, slot) in &tree.fields {
            if let Some(node) = self.slot(slot, slot.definitions.len(), depth)? {
                fields.push(Field {
                    key: key.clone(),
                    key_mark: slot.mark.clone(),
                    node,
                });
            }
        }
        Ok(Value::Object(fields))
    }

    /// The value of a key from its first `count` definitions; nothing if all of it is optional
    /// and missing.
    fn slot(
        &self,
        slot: &Slot,
        count: usize,
        depth: usize,
    ) -> Result<Option<Node>, Box<Diagnostic>> {
        if depth > DEPTH {
            return Err(Box::new(
                Diagnostic::error(
                    "hocon-cycle",
                    "substitutions refer to each other in a circle",
                )
                .at(&slot.mark.source, slot.mark.span.clone(), ""),
            ));
        }
        let mut value: Option<Node> = None;
        for definition in &slot.definitions[..count] {
            let next = match definition {
                Definition::Object(tree) => Some(Node {
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

    fn concatenate(&self, parts: &[Raw], depth: usize) -> Result<Option<Node>, Box<Diagnostic>> {
        let single = parts.len() == 1;
        let mut joined: Option<Node> = None;
        for part in parts {
            let Some(value) = self.part(part, single, depth)? else {
                continue;
            };
            let node = Node {
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
    ) -> Result<Option<Value>, Box<Diagnostic>> {
        Ok(Some(match &part.value {
            RawValue::Text(pieces) => match pieces.as_slice() {
                [Piece::Bare(text)] if single => scalar(text),
                pieces => Value::String(
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
                Value::List(list)
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
    fn lookup(&self, path: &[String], depth: usize) -> Result<Option<Value>, Box<Diagnostic>> {
        let (first, rest) = path.split_first().expect("a path has at least one part");
        let mut found = match self.tree.fields.get(first) {
            Some(slot) => self.slot(slot, slot.definitions.len(), depth)?,
            None => None,
        };
        for key in rest {
            found = found.and_then(|node| match node.value {
                Value::Object(fields) => fields
                    .into_iter()
                    .find(|field| field.key == *key)
                    .map(|field| field.node),
                _ => None,
            });
        }
        Ok(found
            .map(|node| node.value)
            .or_else(|| self.world.variable(&path.join(".")).map(Value::String)))
    }
}

/// Unquoted text as a value: the JSON words and numbers, everything else as text.
fn scalar(text: &str) -> Value {
    match text {
        "true" => return Value::Bool(true),
        "false" => return Value::Bool(false),
        "null" => return Value::Null,
        _ => {}
    }
    let number_like = text.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    if number_like {
        if let Ok(number) = text.parse::<i64>() {
            return Value::Integer(number);
        }
        // A whole fraction is an integer, as the peer reads it.
        if let Ok(number) = text.parse::<f64>() {
            #[allow(clippy::cast_possible_truncation, reason = "whole and within bounds")]
            return if number.fract() == 0.0 && number.abs() < 1e15 {
                Value::Integer(number as i64)
            } else {
                Value::Float(number)
            };
        }
    }
    Value::String(text.to_owned())
}

/// A later object adds to an earlier one; anything else replaces.
fn merged(before: Node, next: Node) -> Node {
    match (before.value, next.value) {
        (Value::Object(mut fields), Value::Object(more)) => {
            for field in more {
                match fields.iter_mut().find(|known| known.key == field.key) {
                    Some(known) => {
                        known.node = merged(known.node.clone(), field.node);
                        known.key_mark = field.key_mark;
                    }
                    None => fields.push(field),
                }
            }
            Node {
                value: Value::Object(fields),
                mark: next.mark,
            }
        }
        (_, value) => Node {
            value,
            mark: next.mark,
        },
    }
}

fn appended(before: Option<Node>, own: Node) -> Node {
    let mut items = match before.map(|node| node.value) {
        Some(Value::List(items)) => items,
        _ => Vec::new(),
    };
    let mark = own.mark.clone();
    items.push(own);
    Node {
        value: Value::List(items),
        mark,
    }
}

/// Two parts of one value beside each other.
fn join(before: Node, next: Node) -> Result<Node, Box<Diagnostic>> {
    let value = match (before.value, next.value) {
        (Value::List(mut first), Value::List(second)) => {
            first.extend(second);
            Value::List(first)
        }
        (first @ Value::Object(_), second @ Value::Object(_)) => {
            let node = |value| Node {
                value,
                mark: before.mark.clone(),
            };
            merged(node(first), node(second)).value
        }
        (first, second) => match (text(&first), text(&second)) {
            (Some(first), Some(second)) => Value::String(first + &second),
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
    Ok(Node {
        value,
        mark: before.mark,
    })
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null => Some("null".to_owned()),
        Value::List(_) | Value::Object(_) => None,
    }
}
