//! Resolves a parsed tree: selects the last definition of a key, replaces substitutions and reads numbers.

use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::map::IndexMap;

use super::raw::{Piece, Raw, RawField, RawValue};
use super::{ConfigIo, HoconField, HoconNode, HoconValue, Mark};

/// Maximum depth of nested values and substitutions.
const DEPTH: usize = 64;

pub(crate) fn resolve(
    fields: &[RawField],
    mark: Mark,
    io: &dyn ConfigIo,
) -> Result<HoconNode, Box<Diagnostic>> {
    let definitions = definitions(fields);
    let resolver = Resolver { io, definitions };
    Ok(HoconNode {
        value: resolver.object(&resolver.definitions, 0)?,
        mark,
    })
}

/// The definitions of each key, in their order.
type FieldsByKey<'a> = IndexMap<&'a str, Vec<&'a RawField>>;

fn definitions(fields: &[RawField]) -> FieldsByKey<'_> {
    let mut definitions = FieldsByKey::default();
    for field in fields {
        definitions
            .entry(field.key.as_str())
            .or_default()
            .push(field);
    }
    definitions
}

struct Resolver<'a> {
    io: &'a dyn ConfigIo,
    definitions: FieldsByKey<'a>,
}

impl Resolver<'_> {
    fn object(
        &self,
        definitions: &FieldsByKey<'_>,
        depth: usize,
    ) -> Result<HoconValue, Box<Diagnostic>> {
        let mut fields = Vec::with_capacity(definitions.len());
        for (key, fields_of_key) in definitions {
            if let Some((key_mark, node)) = self.last(fields_of_key, depth)? {
                fields.push(HoconField {
                    key: (*key).to_owned(),
                    key_mark,
                    node,
                });
            }
        }
        Ok(HoconValue::Object(fields))
    }

    /// The value of the last definition that is not an undefined optional substitution.
    fn last(
        &self,
        fields: &[&RawField],
        depth: usize,
    ) -> Result<Option<(Mark, HoconNode)>, Box<Diagnostic>> {
        let mut last: Option<(Mark, HoconNode)> = None;
        for field in fields {
            if depth > DEPTH {
                return Err(error_at(
                    &field.mark,
                    "circular substitution or too many levels",
                ));
            }
            let Some(value) = self.value(&field.value, depth + 1)? else {
                continue;
            };
            if let (Some((_, before)), HoconValue::Object(_)) = (&last, &value)
                && matches!(before.value, HoconValue::Object(_))
            {
                return Err(error_at(
                    &field.mark,
                    &format!("`{}` is defined as an object twice", field.key),
                ));
            }
            let mark = field.value.mark.clone();
            last = Some((field.mark.clone(), HoconNode { value, mark }));
        }
        Ok(last)
    }

    fn value(&self, raw: &Raw, depth: usize) -> Result<Option<HoconValue>, Box<Diagnostic>> {
        match &raw.value {
            RawValue::Text(pieces) => self.text(pieces, depth),
            RawValue::Object(fields) => self.object(&definitions(fields), depth).map(Some),
            RawValue::List(items) => {
                let mut list = Vec::with_capacity(items.len());
                for item in items {
                    if let Some(value) = self.value(item, depth)? {
                        let mark = item.mark.clone();
                        list.push(HoconNode { value, mark });
                    }
                }
                Ok(Some(HoconValue::List(list)))
            }
        }
    }

    fn text(&self, pieces: &[Piece], depth: usize) -> Result<Option<HoconValue>, Box<Diagnostic>> {
        if let [piece] = pieces {
            return self.piece(piece, depth);
        }
        let mut joined = None::<String>;
        for piece in pieces {
            let text = match piece {
                Piece::Quoted(text) | Piece::Bare(text) => text.clone(),
                Piece::Substitution { .. } => match self.piece(piece, depth)? {
                    Some(value) => text_of(&value),
                    None => continue,
                },
            };
            joined.get_or_insert_default().push_str(&text);
        }
        Ok(joined.map(HoconValue::String))
    }

    fn piece(&self, piece: &Piece, depth: usize) -> Result<Option<HoconValue>, Box<Diagnostic>> {
        match piece {
            Piece::Quoted(text) => Ok(Some(HoconValue::String(text.clone()))),
            Piece::Bare(text) => Ok(Some(scalar(text))),
            Piece::Substitution {
                name,
                optional,
                mark,
            } => match self.lookup(name, depth)? {
                Some(value @ (HoconValue::List(_) | HoconValue::Object(_))) => Err(error_at(
                    mark,
                    &format!(
                        "cannot substitute `{name}`: it is {}, not a simple value",
                        value.kind()
                    ),
                )),
                None if !optional => {
                    let error = error_at(mark, &format!("`{name}` is not defined"));
                    Err(Box::new(error.help(
                        "define the key or the environment variable, or write `${?…}`",
                    )))
                }
                value => Ok(value),
            },
        }
    }

    /// A key of the top level, otherwise an environment variable.
    fn lookup(&self, name: &str, depth: usize) -> Result<Option<HoconValue>, Box<Diagnostic>> {
        let value = match self.definitions.get(name) {
            Some(fields) => self.last(fields, depth)?.map(|(_, node)| node.value),
            None => None,
        };
        Ok(value.or_else(|| self.io.variable(name).map(HoconValue::String)))
    }
}

fn error_at(mark: &Mark, message: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::error("hocon-value", message).at(&mark.source, mark.span.clone(), ""))
}

/// Unquoted text as a value: the JSON words and numbers, all other text as a string.
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
        // `2.0` is an integer, as in Puppet.
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

/// The text of a simple value.
fn text_of(value: &HoconValue) -> String {
    match value {
        HoconValue::String(text) => text.clone(),
        HoconValue::Integer(number) => number.to_string(),
        HoconValue::Float(number) => number.to_string(),
        HoconValue::Bool(truth) => truth.to_string(),
        HoconValue::Null => "null".to_owned(),
        HoconValue::List(_) | HoconValue::Object(_) => {
            unreachable!("only simple values are joined")
        }
    }
}
