//! Sets of numbers: VLAN lists (`docs/reference/devices/cisco_ios.md`, section 4).
//!
//! The canonical form is text, sorted and merged: `1-3,5`, `all` or `none`. A relative change
//! (`["add", "10-20"]`) is unchanged until the current set is known.

use std::collections::BTreeSet;

use super::CodecError;
use crate::number_list;
use crate::value::Value;

/// Lowest and highest valid number, both inclusive, and the form of two neighbors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RangeSet {
    pub(crate) low: u32,
    pub(crate) high: u32,
    pub(crate) pairs: Pairs,
}

/// How a device prints two neighbors. A line in another form would not be that of the device after an undo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pairs {
    /// `24,25`.
    List,
    /// `24-25`.
    Range,
}

impl RangeSet {
    /// The canonical form of a list in text, of an array of numbers, or of a relative change.
    ///
    /// # Errors
    /// The expected form.
    pub(crate) fn canonicalize(self, value: &Value) -> Result<Value, CodecError> {
        match value {
            Value::List(items) => {
                let first = items.first().and_then(Value::as_str);
                if let (Some(change @ ("add" | "remove" | "except")), [_, list]) =
                    (first, &items[..])
                {
                    let list = self.canonicalize(list)?;
                    return Ok(Value::List(vec![change.into(), list]));
                }
                let texts: Option<Vec<String>> = items.iter().map(Value::scalar_text).collect();
                let expected = || CodecError("expected a list of numbers".to_owned());
                let texts = texts.ok_or_else(expected)?;
                Ok(self.canonical_text(&texts.join(","))?.into())
            }
            Value::Bool(_) => Ok(value.clone()),
            one => {
                let expected = || CodecError("expected a list such as 1-3,5".to_owned());
                let text = one.scalar_text().ok_or_else(expected)?;
                Ok(self.canonical_text(&text)?.into())
            }
        }
    }

    fn canonical_text(self, text: &str) -> Result<String, CodecError> {
        let lower = text.trim().to_lowercase();
        if lower == "all" || lower == "none" {
            return Ok(lower);
        }
        let set = self.numbers(&lower)?;
        Ok(self.text(&set))
    }

    fn numbers(self, text: &str) -> Result<BTreeSet<u32>, CodecError> {
        match text {
            "all" => return Ok((self.low..=self.high).collect()),
            "none" => return Ok(BTreeSet::new()),
            _ => {}
        }
        let mut set = BTreeSet::new();
        for part in text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
        {
            let (from, to) = part.split_once('-').unwrap_or((part, part));
            let number = |text: &str| {
                let number: Option<u32> = text.trim().parse().ok();
                number
                    .filter(|number| (self.low..=self.high).contains(number))
                    .ok_or_else(|| {
                        CodecError(format!(
                            "`{part}` is not a number or range from {} to {}",
                            self.low, self.high
                        ))
                    })
            };
            let (from, to) = (number(from)?, number(to)?);
            if from > to {
                let message = format!("the range `{part}` has its start after its end");
                return Err(CodecError(message));
            }
            set.extend(from..=to);
        }
        Ok(set)
    }

    pub(crate) fn text(self, set: &BTreeSet<u32>) -> String {
        if set.is_empty() {
            return "none".to_owned();
        }
        if set.len() as u64 == u64::from(self.high - self.low) + 1 {
            return "all".to_owned();
        }
        let shortest = match self.pairs {
            Pairs::List => 3,
            Pairs::Range => 2,
        };
        number_list::text(set, shortest)
    }

    /// The absolute list for a relative change; all numbers if the current list is unknown.
    pub(crate) fn resolve(self, desired: &Value, current: Option<&Value>) -> Value {
        let Some([change, list]) = desired.as_list() else {
            return desired.clone();
        };
        let current = current.and_then(Value::as_str).unwrap_or("all");
        let numbers = |text: &str| self.numbers(text).unwrap_or_default();
        let mut set = numbers(current);
        let list = numbers(list.as_str().unwrap_or("none"));
        match change.as_str() {
            Some("add") => set.extend(list),
            Some("remove") => set.retain(|number| !list.contains(number)),
            _ => {
                set = numbers("all");
                set.retain(|number| !list.contains(number));
            }
        }
        self.text(&set).into()
    }

    /// The numbers of a list that another one lacks.
    pub(crate) fn difference(self, list: &str, other: &str) -> BTreeSet<u32> {
        let numbers = |text: &str| self.numbers(text).unwrap_or_default();
        let other = numbers(other);
        let mut set = numbers(list);
        set.retain(|number| !other.contains(number));
        set
    }

    /// Splits a list at commas into parts of at most `limit` characters.
    pub(crate) fn pieces(text: &str, limit: usize) -> Vec<String> {
        let mut pieces: Vec<String> = Vec::new();
        for part in text.split(',') {
            match pieces.last_mut() {
                Some(piece) if piece.len() + 1 + part.len() <= limit => {
                    piece.push(',');
                    piece.push_str(part);
                }
                _ => pieces.push(part.to_owned()),
            }
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VLANS: RangeSet = RangeSet {
        low: 1,
        high: 4094,
        pairs: Pairs::List,
    };

    #[test]
    fn range_set_sorts_and_merges_lists() {
        let cases = [
            ("5, 1-3,4", "1-5"),
            ("10,11", "10,11"),
            ("ALL", "all"),
            ("1-4094", "all"),
            ("None", "none"),
        ];
        for (text, expected) in cases {
            assert_eq!(
                VLANS.canonicalize(&text.into()),
                Ok(expected.into()),
                "{text}"
            );
        }
        let numbers = Value::List(vec![30.into(), "10".into(), 20.into()]);
        assert_eq!(VLANS.canonicalize(&numbers), Ok("10,20,30".into()));
        for text in ["x", "0", "5-3", "1-5000"] {
            assert!(VLANS.canonicalize(&text.into()).is_err(), "{text}");
        }
    }

    #[test]
    fn range_set_writes_pairs_as_the_device() {
        let pairs = RangeSet {
            pairs: Pairs::Range,
            ..VLANS
        };
        for (text, expected) in [("24,25", "24-25"), ("24-25", "24-25"), ("1,3-5", "1,3-5")] {
            assert_eq!(pairs.canonicalize(&text.into()), Ok(expected.into()));
        }
        assert_eq!(VLANS.canonicalize(&"24-25".into()), Ok("24,25".into()));
    }

    #[test]
    fn range_set_converts_relative_changes() {
        let change = |word: &str, list: &str| Value::List(vec![word.into(), list.into()]);
        let cases = [
            (change("add", "10-20"), Some("1-12"), "1-20"),
            (change("add", "10"), Some("all"), "all"),
            (change("remove", "2-4094"), Some("all"), "1"),
            (change("remove", "1-4094"), Some("5"), "none"),
            (change("except", "100"), Some("5"), "1-99,101-4094"),
            ("7".into(), Some("5"), "7"),
        ];
        for (desired, current, expected) in cases {
            let current = current.map(Value::from);
            assert_eq!(
                VLANS.resolve(&desired, current.as_ref()),
                expected.into(),
                "{desired:?}"
            );
        }
    }

    #[test]
    fn range_set_has_the_difference_of_lists() {
        let cases = [
            ("10,30", "10,20", "30"),
            ("all", "2-4094", "1"),
            ("5", "5", "none"),
            ("5", "none", "5"),
        ];
        for (list, other, expected) in cases {
            assert_eq!(
                VLANS.text(&VLANS.difference(list, other)),
                expected,
                "{list} {other}"
            );
        }
    }

    #[test]
    fn range_set_splits_long_lists_at_commas() {
        assert_eq!(
            RangeSet::pieces("1-3,5,7,900-1000", 7),
            ["1-3,5,7", "900-1000"]
        );
    }
}
