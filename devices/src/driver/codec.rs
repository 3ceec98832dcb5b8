//! Codecs: translate between a platform's spelling of a value and the model's.
//!
//! A codec is one of the kinds below with parameters from `platform.toml`. It translates words of a
//! device to canonical values and back. It also converts catalog values, so that `gi 0/1` and
//! `GigabitEthernet0/1` are one interface.

mod ovsdb;
mod prefix;
mod range_set;
mod type7;

use crate::document::{Item, KeyValue, SectionForm, ValueShape, keys, word_values};
use crate::model::address::canonical_address;
use crate::model::load::value_of;
use crate::number_list;
use crate::pattern::Pattern;
use crate::value::Value;

use range_set::Pairs;
pub(crate) use range_set::RangeSet;
pub(crate) use type7::decode as decode_type7;

/// A value that a codec cannot translate: the expected form. Never a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct CodecError(String);

/// A codec.
#[derive(Clone, Debug)]
pub(crate) enum Codec {
    /// Names that may be abbreviated: pairs of the shortest form and the full name.
    Prefix {
        table: Vec<(String, String)>,
        /// Other names are invalid on the device, and an integer follows the name.
        only: bool,
        /// Texts that are no name, and what they are instead.
        refused: Option<(Pattern, String)>,
    },
    /// Words of the device for certain values; other values pass unchanged.
    Words {
        /// Pairs of the device's word and the value.
        table: Vec<(String, Value)>,
        /// Commands contain the value itself, although the device prints the word.
        write_value: bool,
    },
    /// Sets of numbers, written `1-3,5`.
    RangeSet(RangeSet),
    /// Integers that a device prints as ranges: `1 - 3`, `5,7-9`.
    NumberList,
    /// The elements of a list in one text. A blank stands for any number of blanks.
    List {
        separator: char,
    },
    /// Values of OVSDB in JSON (RFC 7047): sets and maps as lists, other values as text.
    Ovsdb,
    /// IPv4 and IPv6 addresses, with or without prefix length.
    Ip,
    Lower,
    Upper,
    /// A secret that the device may obfuscate reversibly. The named attribute has the format.
    Type7 {
        form: String,
    },
    /// One element is an abbreviation of several: `["both", x]` for `["import", x]` and `["export",
    /// x]`.
    Expand(Vec<(String, Vec<String>)>),
}

/// The kind of a codec of a platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CodecForm {
    Prefix,
    Words,
    RangeSet,
    Type7,
    Expand,
    List,
}

use CodecForm::{Expand, Prefix, Type7, Words};

impl SectionForm for CodecForm {
    const FORMS: &'static [(Self, &'static str)] = &[
        (Prefix, "`kind = \"prefix\"`"),
        (Words, "`kind = \"words\"`"),
        (Self::RangeSet, "`kind = \"range-set\"`"),
        (Type7, "`kind = \"type7\"`"),
        (Expand, "`kind = \"expand\"`"),
        (Self::List, "`kind = \"list\"`"),
    ];
}

word_values!(CodecForm {
    "prefix" => Prefix,
    "words" => Words,
    "range-set" => CodecForm::RangeSet,
    "type7" => Type7,
    "expand" => Expand,
    "list" => CodecForm::List,
});

/// What commands contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WrittenForm {
    Word,
    Value,
}

word_values!(Pairs {
    "list" => Pairs::List,
    "range" => Pairs::Range,
});

word_values!(WrittenForm {
    "word" => WrittenForm::Word,
    "value" => WrittenForm::Value,
});

keys! {
    /// A value format of a platform.
    pub(super) struct CodecKeys at CodecForm {
        /// The kind of the format.
        kind: CodecForm,
        /// Pairs of the device's word and the value.
        table: Vec<CodecRow> where [Prefix, Words, Expand],
        /// Other names are invalid on the device.
        only: bool where [Prefix],
        /// Texts that are not names.
        refused: Option<RefusedNameKeys> where [Prefix],
        /// `value`: the value is sent, although the device prints the word.
        write: WrittenForm where [Words] = WrittenForm::Word,
        /// Lowest number.
        low: Option<u32> where [CodecForm::RangeSet],
        /// Highest number.
        high: Option<u32> where [CodecForm::RangeSet],
        /// How the device prints two neighbors: `range`, `24-25`, or `list`, `24,25`.
        pairs: Pairs where [CodecForm::RangeSet] = Pairs::List,
        /// Attribute with the form of the secret.
        form: Option<String> where [Type7],
        /// Character between elements.
        separator: Option<char> where [CodecForm::List],
    }
}

keys! {
    /// Texts that are not names.
    pub(super) struct RefusedNameKeys {
        /// Pattern of these texts.
        pattern: Pattern,
        /// The reason.
        reason: String,
    }
}

/// A word of the device and its value, in a list of two.
#[derive(Clone, Debug)]
pub(super) struct CodecRow(String, Value);

impl KeyValue for CodecRow {
    fn declare(shape: &ValueShape) {
        Vec::<Value>::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        match item.list()?.as_slice() {
            [word, value] => Some(Self(word.string()?, value_of(value)?)),
            _ => {
                item.error("wrong-kind", "a row has two elements");
                None
            }
        }
    }
}

impl Codec {
    /// A codec that needs no parameters, by name.
    pub(crate) fn built_in(name: &str) -> Option<Self> {
        Some(match name {
            "ip" => Codec::Ip,
            "lower" => Codec::Lower,
            "number-list" => Codec::NumberList,
            "ovsdb" => Codec::Ovsdb,
            "upper" => Codec::Upper,
            _ => return None,
        })
    }

    /// Reads `[codec.NAME]`.
    pub(crate) fn load(item: &Item<'_>) -> Option<Self> {
        let table = item.table()?;
        let Some(keys) = CodecKeys::of(&table) else {
            table.finish();
            return None;
        };
        CodecKeys::KEYS.check(keys.kind, &table);
        table.finish();
        let missing = |key: &str| {
            table.missing(key);
            None
        };
        let needs_table = matches!(keys.kind, Prefix | Words | Expand);
        if needs_table && keys.table.is_empty() {
            return missing("table");
        }
        Some(match keys.kind {
            Prefix => Codec::Prefix {
                only: keys.only,
                refused: keys.refused.map(|keys| (keys.pattern, keys.reason)),
                table: keys
                    .table
                    .into_iter()
                    .filter_map(|CodecRow(short, full)| Some((short, full.as_str()?.to_owned())))
                    .collect(),
            },
            Words => Codec::Words {
                table: keys
                    .table
                    .into_iter()
                    .map(|CodecRow(word, value)| (word, value))
                    .collect(),
                write_value: keys.write == WrittenForm::Value,
            },
            CodecForm::RangeSet => match (keys.low, keys.high) {
                (None, _) => return missing("low"),
                (_, None) => return missing("high"),
                (Some(low), Some(high)) => Codec::RangeSet(RangeSet {
                    low,
                    high,
                    pairs: keys.pairs,
                }),
            },
            Type7 => match keys.form {
                None => return missing("form"),
                Some(form) => Codec::Type7 { form },
            },
            CodecForm::List => match keys.separator {
                None => return missing("separator"),
                Some(separator) => Codec::List { separator },
            },
            Expand => Codec::Expand(
                keys.table
                    .into_iter()
                    .map(|CodecRow(word, parts)| {
                        let parts = parts.as_list().unwrap_or_default();
                        let parts = parts.iter().filter_map(Value::as_str);
                        (word, parts.map(str::to_owned).collect())
                    })
                    .collect(),
            ),
        })
    }

    /// The canonical form of a value that a catalog gives.
    ///
    /// # Errors
    /// The expected form.
    pub(crate) fn canonicalize(&self, value: &Value) -> Result<Value, CodecError> {
        if let Value::Sensitive(inner) = value {
            return Ok(Value::Sensitive(Box::new(self.canonicalize(inner)?)));
        }
        match self {
            Codec::RangeSet(ranges) => ranges.canonicalize(value),
            Codec::Expand(table) => Ok(expand(table, value)),
            Codec::Type7 { .. } | Codec::NumberList | Codec::List { .. } | Codec::Ovsdb => {
                Ok(value.clone())
            }
            Codec::Prefix {
                refused: Some((pattern, reason)),
                ..
            } if value.as_str().is_some_and(|text| pattern.is_match(text)) => {
                let text = value.as_str().unwrap_or_default();
                Err(CodecError(format!("`{text}` is {reason}")))
            }
            Codec::Prefix {
                table, only: true, ..
            } if value.scalar_text().is_some() => {
                let text = value.scalar_text().unwrap_or_default();
                let names: Vec<&str> = table.iter().map(|(_, full)| full.as_str()).collect();
                let names = names.join(" or ");
                self.read(&text)
                    .ok_or_else(|| CodecError(format!("`{text}` is not the name of a {names}")))
            }
            _ => match value {
                Value::List(items) => {
                    let items: Result<Vec<_>, _> =
                        items.iter().map(|item| self.canonicalize(item)).collect();
                    Ok(Value::List(items?))
                }
                one => Ok(match one.scalar_text().and_then(|text| self.read(&text)) {
                    Some(canonical) if one.as_str().is_some() => canonical,
                    _ => one.clone(),
                }),
            },
        }
    }

    /// The value of one or more device words; `None` if they are not valid.
    pub(crate) fn read(&self, text: &str) -> Option<Value> {
        Some(match self {
            Codec::Prefix {
                refused: Some((pattern, _)),
                ..
            } if pattern.is_match(text) => return None,
            Codec::Prefix { table, only, .. } => {
                let name = prefix::full_name(table, text);
                let full_name = name.as_deref();
                if *only && !full_name.is_some_and(prefix::is_numbered) {
                    return None;
                }
                full_name.unwrap_or(text.trim()).into()
            }
            Codec::Words { table, .. } => table
                .iter()
                .find(|(word, _)| word.eq_ignore_ascii_case(text))
                .map_or_else(|| text.into(), |(_, value)| value.clone()),
            Codec::RangeSet(ranges) => return ranges.canonicalize(&text.into()).ok(),
            Codec::Ip => canonical_address(text)?.into(),
            Codec::Lower => text.to_lowercase().into(),
            Codec::Upper => text.to_uppercase().into(),
            Codec::NumberList => Value::List(number_list(text)?),
            Codec::List { separator } => {
                let elements = text.split(|other: char| match separator {
                    ' ' => other.is_whitespace(),
                    separator => other == *separator,
                });
                let elements = elements.map(str::trim).filter(|text| !text.is_empty());
                let mut elements: Vec<Value> = elements.map(Value::from).collect();
                match elements.len() {
                    1 => elements.remove(0),
                    _ => Value::List(elements),
                }
            }
            Codec::Ovsdb => return ovsdb::read(text),
            Codec::Type7 { .. } | Codec::Expand(_) => text.into(),
        })
    }

    /// The device's words for a canonical value; `None` if there are none.
    pub(crate) fn write(&self, value: &Value) -> Option<String> {
        let value = value.unwrap_sensitive();
        if let Codec::Words {
            table,
            write_value: false,
        } = self
            && let Some((word, _)) = table.iter().find(|(_, meaning)| meaning == value)
        {
            return Some(word.clone());
        }
        if let (Codec::List { separator }, Value::List(items)) = (self, value) {
            let texts = items.iter().map(Value::scalar_text);
            let texts = texts.collect::<Option<Vec<String>>>()?;
            return Some(texts.join(&separator.to_string()));
        }
        value.scalar_text()
    }

    /// The word that the device prints for a value.
    pub(crate) fn print(&self, value: &Value) -> Option<String> {
        if let Codec::Words { table, .. } = self
            && let Some((word, _)) = table
                .iter()
                .find(|(_, meaning)| meaning == value.unwrap_sensitive())
        {
            return Some(word.clone());
        }
        self.write(value)
    }

    /// The value with relative changes resolved against the current value.
    pub(crate) fn resolve(&self, desired: &Value, current: Option<&Value>) -> Value {
        match self {
            Codec::RangeSet(ranges) => ranges.resolve(desired, current),
            _ => desired.clone(),
        }
    }
}

/// The numbers in a list of numbers and ranges, in its order.
fn number_list(text: &str) -> Option<Vec<Value>> {
    let numbers = number_list::numbers(text)?.into_iter();
    Some(
        numbers
            .map(|number| Value::Integer(number.into()))
            .collect(),
    )
}

fn expand(table: &[(String, Vec<String>)], value: &Value) -> Value {
    let Value::List(elements) = value else {
        return value.clone();
    };
    let mut expanded = Vec::new();
    for element in elements {
        let first = element
            .as_list()
            .and_then(<[Value]>::first)
            .and_then(Value::as_str);
        let parts = table.iter().find(|(word, _)| first == Some(word));
        match (parts, element.as_list()) {
            (Some((_, parts)), Some(items)) => {
                for part in parts {
                    let mut items = items.to_vec();
                    items[0] = part.as_str().into();
                    expanded.push(Value::List(items));
                }
            }
            _ => expanded.push(element.clone()),
        }
    }
    expanded.sort_by(crate::model::canonical::order);
    expanded.dedup();
    Value::List(expanded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codec_map_passes_unmapped_values_and_writes_words_or_values() {
        let table = vec![("1000".to_owned(), "1g".into())];
        let speed = Codec::Words {
            table,
            write_value: false,
        };
        assert_eq!(speed.read("1000"), Some("1g".into()));
        assert_eq!(speed.read("auto"), Some("auto".into()));
        assert_eq!(speed.write(&"1g".into()).as_deref(), Some("1000"));
        assert_eq!(speed.write(&"10g".into()).as_deref(), Some("10g"));
        let level = Codec::Words {
            table: vec![("informational".to_owned(), 6.into())],
            write_value: true,
        };
        assert_eq!(level.read("Informational"), Some(6.into()));
        assert_eq!(level.write(&6.into()).as_deref(), Some("6"));
    }

    #[test]
    fn codec_prefix_refuses_texts_that_are_no_name() {
        let pattern = Pattern::new(r"(?i)^range\b|,").unwrap();
        let names = Codec::Prefix {
            table: vec![("Gi".to_owned(), "GigabitEthernet".to_owned())],
            only: false,
            refused: Some((pattern, "a range".to_owned())),
        };
        assert_eq!(
            names.canonicalize(&"gi0/1".into()),
            Ok("GigabitEthernet0/1".into())
        );
        let list = Value::List(vec!["gi0/1".into(), "Range gi0/1".into()]);
        for value in ["gi0/1,gi0/2".into(), list] {
            let error = names.canonicalize(&value).unwrap_err().to_string();
            assert!(error.ends_with("` is a range"), "{error}");
        }
    }

    #[test]
    fn codec_list_expands_number_ranges() {
        let list =
            |numbers: &[i64]| Value::List(numbers.iter().copied().map(Value::from).collect());
        let cases = [
            ("7", Some(list(&[7]))),
            ("1 - 3", Some(list(&[1, 2, 3]))),
            ("9,4-5", Some(list(&[9, 4, 5]))),
            ("3 - 1", None),
            ("1 - 4294967295", None),
            ("x", None),
        ];
        for (text, expected) in cases {
            assert_eq!(Codec::NumberList.read(text), expected, "{text}");
        }
    }

    #[test]
    fn codec_splits_and_joins_lists() {
        let words = |words: &[&str]| Value::List(words.iter().copied().map(Value::from).collect());
        let by = |separator| Codec::List { separator };
        assert_eq!(by(' ').read(" 10  20 "), Some(words(&["10", "20"])));
        assert_eq!(by(',').read("a, b c,"), Some(words(&["a", "b c"])));
        assert_eq!(by(',').read("a,"), Some("a".into()));
        assert_eq!(by(',').read(""), Some(words(&[])));
        let written = by(',').write(&words(&["10", "20"]));
        assert_eq!(written.as_deref(), Some("10,20"));
    }

    #[test]
    fn codec_element_can_expand_to_several() {
        let both = Codec::Expand(vec![(
            "both".to_owned(),
            vec!["export".to_owned(), "import".to_owned()],
        )]);
        let pair = |a: &str, b: &str| Value::List(vec![a.into(), b.into()]);
        let value = Value::List(vec![pair("both", "1:1"), pair("import", "2:2")]);
        assert_eq!(
            both.canonicalize(&value),
            Ok(Value::List(vec![
                pair("export", "1:1"),
                pair("import", "1:1"),
                pair("import", "2:2")
            ]))
        );
    }
}
