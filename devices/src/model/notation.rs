//! Puppet's notation of types, `Optional[Variant[Integer[0,4095],Boolean[false]]]`.
//!
//! Modules declare attributes in this notation. A model supports less: a list of values with names,
//! or arrays of such values. [`Notation::parse`] translates the supported part and lists the parts
//! that it treats as any value. It rejects only invalid syntax.

mod syntax;

pub(crate) use self::syntax::NotationError;
use self::syntax::{Argument, NotationKind};
use super::{ArrayKind, StructField, ValueSpec};
use crate::map::IndexMap;
use crate::pattern::Pattern;
use crate::value::Value;

/// A parsed notation of an attribute.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notation {
    /// As in a model: first match wins; empty means any value.
    pub(crate) values: Vec<ValueSpec>,
    pub(crate) array: Option<ArrayKind>,
    /// The attribute is optional.
    pub(crate) optional: bool,
    pub(crate) sensitive: bool,
    /// Unsupported parts, treated as any value.
    pub(crate) widened: Vec<String>,
}

impl Notation {
    /// # Errors
    /// The syntax is invalid: unbalanced brackets or a missing name.
    pub(crate) fn parse(text: &str) -> Result<Self, NotationError> {
        let parsed = syntax::parse(text)?;
        let mut notation = Self::default();
        if notation.lower(&parsed).is_none() {
            notation.values.clear();
        }
        unique(&mut notation.values);
        Ok(notation)
    }

    /// Adds the values of a type; `None` if any value is valid.
    fn lower(&mut self, kind: &NotationKind) -> Option<()> {
        match (kind.name.as_str(), kind.arguments.as_slice()) {
            ("Optional" | "Undef", []) => self.optional = true,
            ("Optional", [Argument::Kind(inner)]) => {
                self.optional = true;
                return self.lower(inner);
            }
            ("Optional", [Argument::Text(literal)]) => {
                self.optional = true;
                self.values
                    .push(ValueSpec::Literal(literal.as_str().into()));
            }
            ("NotUndef", [Argument::Kind(inner)]) => return self.lower(inner),
            ("Sensitive", []) => {
                self.sensitive = true;
                return None;
            }
            ("Sensitive", [Argument::Kind(inner)]) => {
                self.sensitive = true;
                return self.lower(inner);
            }
            ("Variant", inner) => {
                let mut all = Some(());
                for argument in inner {
                    // Evaluate all, so that `optional` and `array` are set.
                    all = match argument {
                        Argument::Kind(kind) => self.lower(kind).and(all),
                        _ => self.widen(kind).and(all),
                    };
                }
                return all;
            }
            ("Array", arguments) => {
                self.array = Some(ArrayKind::List);
                match arguments.first() {
                    Some(Argument::Kind(element)) => return self.lower(element),
                    _ => return None,
                }
            }
            _ => {
                let specs = self.single(kind)?;
                self.values.extend(specs);
            }
        }
        Some(())
    }

    /// The values of a type other than a list; `None` if any value is valid.
    fn single(&mut self, kind: &NotationKind) -> Option<Vec<ValueSpec>> {
        let literals = |values: &[bool]| {
            let literal = |truth: &bool| ValueSpec::Literal(Value::Bool(*truth));
            values.iter().map(literal).collect()
        };
        Some(match (kind.name.as_str(), kind.arguments.as_slice()) {
            ("String", bounds) => vec![text(&format!("(?s:.{})", times(bounds)))?],
            ("Boolean", []) => literals(&[true, false]),
            ("Boolean", [Argument::Kind(truth)]) if truth.name == "true" => literals(&[true]),
            ("Boolean", [Argument::Kind(truth)]) if truth.name == "false" => literals(&[false]),
            ("Integer", bounds) => {
                let bound = |at: usize, open| match bounds.get(at) {
                    Some(Argument::Number(number)) => *number,
                    _ => open,
                };
                vec![ValueSpec::Integer {
                    name: "integer".to_owned(),
                    low: bound(0, i64::MIN),
                    high: bound(1, i64::MAX),
                }]
            }
            ("Float" | "Numeric", _) => {
                vec![text(r"[-+]?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")?]
            }
            ("Enum", words) => {
                let mut specs = Vec::new();
                for word in words {
                    let word = match word {
                        Argument::Text(word) => word,
                        Argument::Kind(bare) if bare.arguments.is_empty() => &bare.name,
                        // The last argument may declare case-insensitivity.
                        _ => return self.widen(kind).map(|()| specs),
                    };
                    specs.push(ValueSpec::Literal(word.as_str().into()));
                }
                specs
            }
            ("Pattern", patterns) => {
                let mut specs = Vec::new();
                for pattern in patterns {
                    let spec = match pattern {
                        Argument::Pattern(ruby) => from_ruby(ruby),
                        _ => None,
                    };
                    match spec {
                        Some(spec) => specs.push(spec),
                        None => return self.widen(kind).map(|()| specs),
                    }
                }
                specs
            }
            ("Tuple", items) => {
                let mut fields = Vec::new();
                for item in items {
                    let Argument::Kind(item) = item else {
                        return self.widen(kind).map(|()| Vec::new());
                    };
                    fields.push(self.nested(item)?);
                }
                vec![ValueSpec::Tuple {
                    name: "tuple".to_owned(),
                    items: fields,
                    canon: Vec::new(),
                }]
            }
            ("Struct", [Argument::Hash(entries)]) => {
                let mut fields = IndexMap::default();
                for (key, value) in entries {
                    let (name, optional) = match key {
                        Argument::Text(name) => (name, false),
                        Argument::Kind(key) => match key.arguments.as_slice() {
                            [] => (&key.name, false),
                            [Argument::Text(name)] => (name, key.name == "Optional"),
                            [Argument::Kind(name)] => (&name.name, key.name == "Optional"),
                            _ => return self.widen(kind).map(|()| Vec::new()),
                        },
                        _ => return self.widen(kind).map(|()| Vec::new()),
                    };
                    let Argument::Kind(value) = value else {
                        return self.widen(kind).map(|()| Vec::new());
                    };
                    let may_be_undef = value.name == "Optional";
                    let field = StructField {
                        values: self.nested(value)?,
                        optional: optional || may_be_undef,
                        default: None,
                    };
                    fields.insert(name.clone(), field);
                }
                vec![ValueSpec::Struct {
                    name: "struct".to_owned(),
                    fields,
                }]
            }
            ("Any" | "Data" | "RichData" | "Scalar" | "ScalarData", []) => return None,
            _ => return self.widen(kind).map(|()| Vec::new()),
        })
    }

    /// The values of an element of a tuple or a field of a struct.
    fn nested(&mut self, kind: &NotationKind) -> Option<Vec<ValueSpec>> {
        let mut inner = Self::default();
        let exact = inner.lower(kind);
        self.widened.append(&mut inner.widened);
        if inner.array.is_some() {
            return self.widen(kind).map(|()| Vec::new());
        }
        unique(&mut inner.values);
        Some(exact.map(|()| inner.values).unwrap_or_default())
    }

    /// Records an unsupported type.
    fn widen(&mut self, kind: &NotationKind) -> Option<()> {
        self.widened.push(kind.name.clone());
        None
    }
}

/// The quantifier of a pattern: `{2,}` for `String[2]`.
fn times(bounds: &[Argument]) -> String {
    let number = |at: usize| match bounds.get(at) {
        Some(Argument::Number(number)) => u32::try_from(*number).ok(),
        _ => None,
    };
    // Bounds above the limit of patterns have no effect on real values.
    match (number(0).unwrap_or(0).min(1000), number(1)) {
        (0, None) => "*".to_owned(),
        (low, None) => format!("{{{low},}}"),
        (low, Some(high)) if high <= 1000 => format!("{{{low},{high}}}"),
        (low, Some(_)) => format!("{{{low},}}"),
    }
}

fn text(pattern: &str) -> Option<ValueSpec> {
    Some(ValueSpec::Pattern {
        name: "text".to_owned(),
        pattern: Pattern::new(&format!(r"\A(?:{pattern})\z")).ok()?,
        doc: String::new(),
        canon: Vec::new(),
    })
}

/// Converts a Ruby pattern, which matches anywhere in a text; `None` if it uses unsupported
/// features.
fn from_ruby(ruby: &str) -> Option<ValueSpec> {
    let mut pattern = String::new();
    let mut rest = ruby.chars();
    while let Some(character) = rest.next() {
        if character != '\\' {
            pattern.push(character);
            continue;
        }
        match rest.next()? {
            'h' => pattern.push_str("[0-9a-fA-F]"),
            'Z' => pattern.push_str(r"\n?\z"),
            '/' => pattern.push('/'),
            other => pattern.extend(['\\', other]),
        }
    }
    // In Ruby `^` and `$` always match at lines.
    text(&format!("(?s:.*?)(?m:{pattern})(?s:.*)"))
}

/// Names of values must be unique.
fn unique(values: &mut Vec<ValueSpec>) {
    let mut seen: Vec<String> = Vec::new();
    values.retain_mut(|spec| {
        let name = spec.name().into_owned();
        if !seen.contains(&name) {
            seen.push(name);
            return true;
        }
        let fresh = (2..)
            .map(|number| format!("{name}{number}"))
            .find(|fresh| !seen.contains(fresh))
            .unwrap_or(name);
        match spec {
            // A duplicate word.
            ValueSpec::Literal(_) => return false,
            ValueSpec::Pattern { name, .. }
            | ValueSpec::Integer { name, .. }
            | ValueSpec::Numbers { name, .. }
            | ValueSpec::Struct { name, .. }
            | ValueSpec::Tuple { name, .. } => name.clone_from(&fresh),
        }
        seen.push(fresh);
        true
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AttributeModel, Role};

    fn attribute(notation: &str) -> (AttributeModel, Notation) {
        let notation = Notation::parse(notation).unwrap();
        let model = AttributeModel {
            name: "x".into(),
            doc: String::new(),
            role: Role::Property,
            values: notation.values.clone(),
            array: notation.array,
            default: None,
            default_word: None,
            puppet_default: None,
            required: false,
            sensitive: false,
            canon: Vec::new(),
            refers: Vec::new(),
            since: None,
        };
        (model, notation)
    }

    #[test]
    fn notation_accepts_only_its_values() {
        let list = |items: &[i64]| Value::List(items.iter().map(|n| Value::Integer(*n)).collect());
        let cases: Vec<(&str, Vec<Value>, Vec<Value>)> = vec![
            (
                "String",
                vec!["".into(), "a\nb".into()],
                vec![list(&[1, 2])],
            ),
            (
                "String[2,3]",
                vec!["ab".into()],
                vec!["a".into(), "abcd".into()],
            ),
            (
                "Integer[0, 7]",
                vec![0.into(), 7.into()],
                vec![8.into(), "x".into()],
            ),
            ("Integer[default, 7]", vec![(-9).into()], vec![8.into()]),
            (
                "Optional[Variant[Integer[0,4095],Boolean[false]]]",
                vec![4095.into(), false.into()],
                vec![4096.into(), true.into()],
            ),
            (
                "Enum[present, absent]",
                vec!["absent".into()],
                vec!["gone".into()],
            ),
            ("Enum['10m',\"a b\"]", vec!["a b".into()], vec!["a".into()]),
            (
                r"Pattern[/^\h+$/, /x\/y/]",
                vec!["1f".into(), "ax/yb".into()],
                vec!["g".into()],
            ),
            (
                "Array[Integer]",
                vec![list(&[1, 2]), 3.into()],
                vec!["x".into()],
            ),
            (
                "Variant[Array[Variant[Integer,String]], Integer, String]",
                vec![list(&[1]), "2-4".into()],
                vec![],
            ),
            (
                "Variant[Enum[all,none],Tuple[Enum[add,remove],Integer]]",
                vec!["all".into(), Value::List(vec!["add".into(), 3.into()])],
                vec![Value::List(vec!["put".into(), 3.into()])],
            ),
            (
                "Struct[{name => String[1], Optional[port] => Integer, 'ratio' => Optional[Integer]}]",
                vec![Value::Hash(vec![("name".into(), "a".into())])],
                vec![Value::Hash(vec![("port".into(), 1.into())])],
            ),
            ("Numeric", vec!["0.5".into(), "-3".into()], vec!["x".into()]),
            ("Any", vec!["x".into(), list(&[1])], vec![]),
        ];
        for (notation, good, bad) in cases {
            let (model, _) = attribute(notation);
            for value in good {
                assert!(
                    model.canonicalize(&value).is_ok(),
                    "{notation} takes {value:?}"
                );
            }
            for value in bad {
                assert!(
                    model.canonicalize(&value).is_err(),
                    "{notation} refuses {value:?}"
                );
            }
        }
    }

    #[test]
    fn notation_reports_types_that_a_model_cannot_express() {
        for (text, widened_text) in [
            ("Hash[String, Integer]", "Hash"),
            ("Optional[Stdlib::IP::Address]", "Stdlib::IP::Address"),
            ("Pattern[/(?=x)/]", "Pattern"),
        ] {
            let (model, notation) = attribute(text);
            assert_eq!(notation.widened, [widened_text]);
            assert!(model.values.is_empty(), "{text}");
        }
        let (_, secret) = attribute("Optional[Sensitive[String]]");
        assert!(secret.sensitive && secret.optional && secret.widened.is_empty());
    }

    #[test]
    fn notation_errors_have_a_position() {
        let deep = "Optional[".repeat(100_000);
        for (text, at) in [
            ("", 1),
            ("Enum[a", 7),
            ("Enum[a]]", 8),
            ("Enum['a]", 10),
            ("Struct[{a Integer}]", 11),
            (deep.as_str(), 306),
        ] {
            let error = Notation::parse(text).unwrap_err();
            assert_eq!(error.at, at, "{:.20}: {error}", text);
        }
    }
}
