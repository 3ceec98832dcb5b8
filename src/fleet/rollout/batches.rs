//! Devices in batches, each device after those that come before it.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::str::FromStr;

use switchtender_devices::names::DeviceName;

/// The size of a batch, or a number of failures: a number, or a share of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    Number(usize),
    Percent(u8),
}

/// A text that is no number and no percentage.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is neither a number nor a percentage such as 10%")]
pub(crate) struct ShareError(String);

impl FromStr for Share {
    type Err = ShareError;

    fn from_str(text: &str) -> Result<Self, ShareError> {
        let error = || ShareError(text.to_owned());
        match text.strip_suffix('%') {
            Some(percent) => match percent.parse() {
                Ok(percent) if percent <= 100 => Ok(Self::Percent(percent)),
                _ => Err(error()),
            },
            None => text.parse().map(Self::Number).map_err(|_| error()),
        }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

impl Share {
    /// The number, rounded down.
    pub(crate) fn of(self, all: usize) -> usize {
        match self {
            Self::Number(number) => number,
            Self::Percent(percent) => all * usize::from(percent) / 100,
        }
    }
}

/// Devices that come after each other in two directions.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("batches of whole labels contradict `after` of {0}")]
pub(crate) struct OrderError(pub(crate) DeviceName);

/// Combines units to batches. A unit is never divided; it follows the units of the devices that
/// `after` names, and otherwise the order does not change. The last size is repeated; a batch has at
/// least one unit.
///
/// # Errors
/// Two units follow each other.
pub(crate) fn batches(
    units: &[Vec<DeviceName>],
    after: &HashMap<DeviceName, Vec<DeviceName>>,
    sizes: &[Share],
) -> Result<Vec<Vec<DeviceName>>, OrderError> {
    let order = ordered(units, after)?;
    let mut rest = &order[..];
    let mut sizes = sizes.iter();
    let mut size = units.len().max(1);
    let mut found = Vec::new();
    while !rest.is_empty() {
        size = sizes
            .next()
            .map_or(size, |share| share.of(units.len()).max(1));
        let (batch, later) = rest.split_at(size.min(rest.len()));
        found.push(
            batch
                .iter()
                .flat_map(|unit| units[*unit].iter().cloned())
                .collect(),
        );
        rest = later;
    }
    Ok(found)
}

/// The indexes of the units in the order of their batches.
fn ordered(
    units: &[Vec<DeviceName>],
    after: &HashMap<DeviceName, Vec<DeviceName>>,
) -> Result<Vec<usize>, OrderError> {
    let mut unit_of: HashMap<&DeviceName, usize> = HashMap::new();
    for (index, unit) in units.iter().enumerate() {
        unit_of.extend(unit.iter().map(|device| (device, index)));
    }
    let mut earlier: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); units.len()];
    let mut later: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); units.len()];
    for (device, before) in after {
        let Some(unit) = unit_of.get(device) else {
            continue;
        };
        for other in before.iter().filter_map(|name| unit_of.get(name)) {
            if other != unit {
                earlier[*unit].insert(*other);
                later[*other].insert(*unit);
            }
        }
    }
    let mut missing: Vec<usize> = earlier.iter().map(BTreeSet::len).collect();
    let mut next: BTreeSet<usize> = (0..units.len())
        .filter(|unit| missing[*unit] == 0)
        .collect();
    let mut order = Vec::with_capacity(units.len());
    while let Some(unit) = next.pop_first() {
        order.push(unit);
        for other in &later[unit] {
            missing[*other] -= 1;
            if missing[*other] == 0 {
                next.insert(*other);
            }
        }
    }
    match missing.iter().position(|count| *count > 0) {
        Some(unit) => Err(OrderError(units[unit][0].clone())),
        None => Ok(order),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> DeviceName {
        DeviceName::parse(text).unwrap()
    }

    /// Batches of units, written `a b|c`.
    fn combined(units: &str, after: &[(&str, &str)], sizes: &[&str]) -> Result<String, String> {
        let units: Vec<Vec<DeviceName>> = units
            .split('|')
            .map(|unit| unit.split_whitespace().map(name).collect())
            .collect();
        let mut order: HashMap<DeviceName, Vec<DeviceName>> = HashMap::new();
        for (device, before) in after {
            order.entry(name(device)).or_default().push(name(before));
        }
        let sizes: Vec<Share> = sizes.iter().map(|size| size.parse().unwrap()).collect();
        let batches = batches(&units, &order, &sizes).map_err(|error| error.to_string())?;
        let batches = batches.iter().map(|batch| {
            let names: Vec<&str> = batch.iter().map(DeviceName::as_str).collect();
            names.join(" ")
        });
        Ok(batches.collect::<Vec<_>>().join("|"))
    }

    #[test]
    fn batches_have_the_sizes_and_repeat_the_last_one() {
        let ten = "a|b|c|d|e|f|g|h|i|j";
        for (sizes, expected) in [
            (&["1", "20%", "100%"][..], "a|b c|d e f g h i j"),
            (&["4"], "a b c d|e f g h|i j"),
            (&["1%"], ten),
            (&["0"], ten),
            (&["1", "3"], "a|b c d|e f g|h i j"),
        ] {
            assert_eq!(
                combined(ten, &[], sizes).as_deref(),
                Ok(expected),
                "{sizes:?}"
            );
        }
    }

    #[test]
    fn batches_divide_no_unit() {
        assert_eq!(
            combined("a1 a2|b1|c1 c2", &[], &["1", "100%"]).as_deref(),
            Ok("a1 a2|b1 c1 c2")
        );
    }

    #[test]
    fn batches_put_a_device_after_the_ones_that_it_follows() {
        let after = [("a", "d"), ("d", "c"), ("b", "elsewhere")];
        assert_eq!(
            combined("a|b|c|d", &after, &["1"]).as_deref(),
            Ok("b|c|d|a")
        );
        let error = combined("a1 a2|b1 b2", &[("a1", "b1"), ("b2", "a2")], &["1"]);
        assert_eq!(
            error.unwrap_err(),
            "batches of whole labels contradict `after` of a1"
        );
    }

    #[test]
    fn share_refuses_what_is_no_number() {
        for text in ["", "x", "-1", "101%", "1.5", "%"] {
            let error = text.parse::<Share>().unwrap_err().to_string();
            assert!(
                error.contains("neither a number nor a percentage"),
                "{error}"
            );
        }
    }
}
