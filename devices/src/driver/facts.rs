//! Facts of a device, and the conditions of variants.

use std::cmp::Ordering;

use crate::map::IndexMap;

use crate::document::{Item, KeyValue, ValueKind, ValueShape, keys};
use crate::pattern::Pattern;
use crate::read::field_path::FieldPath;
use crate::read::{CONFIG, Reads};

/// Facts by name, in the order of the platform's definition. Driver options are included as
/// `option.<name>`.
pub type Facts = IndexMap<String, String>;

/// Source of a fact.
#[derive(Clone, Debug)]
pub(crate) struct FactRule {
    pub(crate) name: String,
    source: FactSource,
    /// The sources in the saved configuration of a device whose answer is not saved. The first that matches counts.
    fallbacks: Vec<(String, Pattern)>,
}

#[derive(Clone, Debug)]
enum FactSource {
    Constant(String),
    /// The first capture group of the pattern in the text of a read.
    Pattern {
        read: String,
        pattern: Pattern,
    },
    /// A field in the JSON of a read.
    Path {
        read: String,
        path: FieldPath,
    },
}

keys! {
    /// Where a fact is.
    pub(super) struct FactKeys {
        /// A fixed value.
        value: Option<String>,
        /// The read with the value.
        from: Option<String>,
        /// Pattern; the first group is the value.
        pattern: Option<Pattern>,
        /// Path of the value in JSON.
        path: Option<FieldPath>,
        /// The source in saved answers without this read. Of several, the first that matches counts.
        fallbacks as "else": Vec<FactFallbackKeys>,
    }
}

keys! {
    /// Where a fact is in the saved configuration.
    pub(super) struct FactFallbackKeys {
        /// The other read.
        from: String,
        /// Its first group is the value.
        pattern: Pattern,
    }
}

keys! {
    /// Where the serial numbers of a device are.
    pub(super) struct IdentityKeys {
        /// The read with the numbers.
        from: String,
        /// Pattern; the first group of each match is a number.
        pattern: Option<Pattern>,
        /// Path of the number in JSON.
        path: Option<FieldPath>,
    }
}

impl FactSource {
    /// A value in the answer to a read: by a pattern, or by a path.
    fn of(read: Option<String>, pattern: Option<Pattern>, path: Option<FieldPath>) -> Option<Self> {
        match (read?, pattern, path) {
            (read, Some(pattern), None) => Some(Self::Pattern { read, pattern }),
            (read, None, Some(path)) => Some(Self::Path { read, path }),
            _ => None,
        }
    }
}

impl FactRule {
    pub(crate) fn load(name: &str, item: &Item<'_>) -> Option<Self> {
        let keys = FactKeys::read(item)?;
        let fallbacks = keys.fallbacks.into_iter();
        let fallbacks: Vec<_> = fallbacks.map(|keys| (keys.from, keys.pattern)).collect();
        let source = match keys.value {
            None => FactSource::of(keys.from, keys.pattern, keys.path),
            Some(constant) => {
                let is_alone = keys.from.is_none() && keys.pattern.is_none();
                let is_alone = is_alone && keys.path.is_none() && fallbacks.is_empty();
                is_alone.then_some(FactSource::Constant(constant))
            }
        };
        if source.is_none() {
            let message = "a fact requires `value`, or `from` with `pattern` or `path`";
            item.error("fact", message);
        }
        Some(Self {
            name: name.to_owned(),
            source: source?,
            fallbacks,
        })
    }

    /// Reads `[identity]`: the serial numbers of a device.
    pub(crate) fn load_identity(item: &Item<'_>) -> Option<Self> {
        let keys = IdentityKeys::read(item)?;
        let source = FactSource::of(Some(keys.from), keys.pattern, keys.path);
        if source.is_none() {
            let message = "`identity` requires `from` with `pattern` or `path`";
            item.error("fact", message);
        }
        Some(Self {
            name: "identity".to_owned(),
            source: source?,
            fallbacks: Vec::new(),
        })
    }

    /// The pattern of the host name in the configuration.
    pub(crate) fn hostname_pattern(&self) -> Option<&str> {
        match &self.source {
            FactSource::Pattern { read, pattern } if read == CONFIG && self.name == "hostname" => {
                Some(pattern.as_str())
            }
            _ => None,
        }
    }

    /// Its path in the answer to a read.
    pub(crate) fn path_in(&self, name: &str) -> Option<&FieldPath> {
        match &self.source {
            FactSource::Path { read, path } if read == name => Some(path),
            _ => None,
        }
    }

    /// The reads of the fallbacks.
    pub(crate) fn fallback_reads(&self) -> impl Iterator<Item = &str> {
        self.fallbacks.iter().map(|(read, _)| read.as_str())
    }

    /// The read that it requires.
    pub(crate) fn read(&self) -> Option<&str> {
        match &self.source {
            FactSource::Constant(_) => None,
            FactSource::Pattern { read, .. } | FactSource::Path { read, .. } => Some(read),
        }
    }

    /// All values in the answers: those of each match of a pattern.
    pub(crate) fn values(
        &self,
        reads: &Reads,
        parse: &dyn Fn(&str, &str) -> Option<serde_json::Value>,
    ) -> Vec<String> {
        let FactSource::Pattern { read, pattern } = &self.source else {
            return self.value(reads, parse).into_iter().collect();
        };
        let text = reads.get(read).map_or("", String::as_str);
        let groups = pattern.captures_iter(text).filter_map(|found| found.get(1));
        groups.map(|group| group.as_str().to_owned()).collect()
    }

    /// The value in the answers; `parse` makes the JSON of one.
    pub(crate) fn value(
        &self,
        reads: &Reads,
        parse: &dyn Fn(&str, &str) -> Option<serde_json::Value>,
    ) -> Option<String> {
        if self.read().is_some_and(|read| !reads.contains_key(read)) {
            let mut fallbacks = self.fallbacks.iter();
            return fallbacks.find_map(|(other, pattern)| {
                let found = pattern.captures(reads.get(other)?)?;
                Some(found.get(1)?.as_str().to_owned())
            });
        }
        match &self.source {
            FactSource::Constant(text) => Some(text.clone()),
            FactSource::Pattern { read, pattern } => {
                let found = pattern.captures(reads.get(read)?)?;
                found.get(1).map(|group| group.as_str().to_owned())
            }
            FactSource::Path { read, path } => {
                let json = parse(read, reads.get(read)?)?;
                match path.get(&json)? {
                    serde_json::Value::String(text) => Some(text.trim().to_owned()),
                    other => Some(other.to_string()),
                }
            }
        }
    }
}

/// Conditions of a variant; all must be true.
#[derive(Clone, Debug, Default)]
pub(crate) struct When {
    conditions: Vec<(String, Vec<Condition>)>,
}

#[derive(Clone, Debug)]
pub(super) enum Condition {
    Is(String),
    /// The text is a part of the fact.
    Contains(String),
    Version(String, Vec<u64>),
}

impl When {
    /// Reads `{ model = ["2960"], family = "IOS-XE Software", version = ">=15.2", fact.x = …,
    /// option.y = … }`.
    pub(crate) fn load(item: &Item<'_>) -> Option<Self> {
        let keys = WhenKeys::read(item)?;
        let family = keys.family.map(|FactValues(values)| {
            FactValues(values.into_iter().map(Condition::within).collect())
        });
        let own = [
            ("model", keys.model),
            ("os.family", family),
            ("operatingsystemrelease", keys.version),
        ];
        let own = own.into_iter();
        let own = own.filter_map(|(fact, values)| Some((fact.to_owned(), values?.0)));
        let options = keys.option.0.into_iter();
        let options = options.map(|(name, values)| (format!("option.{name}"), values));
        let conditions: Vec<_> = own.chain(keys.fact.0).chain(options).collect();
        if conditions.is_empty() {
            item.error("when", "`when` requires a condition");
        }
        Some(Self { conditions })
    }

    pub(crate) fn matches(&self, facts: &Facts) -> bool {
        self.conditions.iter().all(|(name, conditions)| {
            facts
                .get(name)
                .is_some_and(|actual| conditions.iter().any(|condition| condition.holds(actual)))
        })
    }
}

impl Condition {
    /// The condition that the text is a part of the fact.
    fn within(self) -> Self {
        match self {
            Condition::Is(text) => Condition::Contains(text),
            other => other,
        }
    }

    fn holds(&self, actual: &str) -> bool {
        match self {
            Condition::Is(text) => actual.eq_ignore_ascii_case(text),
            Condition::Contains(text) => actual.to_lowercase().contains(&text.to_lowercase()),
            Condition::Version(operator, desired) => {
                let order = numbers(actual).cmp(desired);
                match operator.as_str() {
                    ">=" => order != Ordering::Less,
                    "<=" => order != Ordering::Greater,
                    ">" => order == Ordering::Greater,
                    _ => order == Ordering::Less,
                }
            }
        }
    }
}

keys! {
    /// Conditions that must all hold.
    pub(super) struct WhenKeys {
        /// Parts of the model.
        model: Option<FactValues>,
        /// Parts of the operating system's family.
        family: Option<FactValues>,
        /// Range of versions.
        version: Option<FactValues>,
        /// Values of facts.
        fact: FactConditions,
        /// Options of the inventory.
        option: FactConditions,
    }
}

/// The values of a fact, of which one must hold.
#[derive(Clone, Debug)]
pub(super) struct FactValues(Vec<Condition>);

impl KeyValue for FactValues {
    fn declare(shape: &ValueShape) {
        bool::declare(shape);
        Vec::<String>::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        let texts = match item.as_bool() {
            Some(truth) => vec![truth.to_string()],
            None => item.strings()?,
        };
        let conditions = texts.into_iter().map(|text| {
            for operator in [">=", "<=", ">", "<"] {
                if let Some(version) = text.strip_prefix(operator) {
                    return Condition::Version(operator.to_owned(), numbers(version));
                }
            }
            Condition::Is(text)
        });
        Some(Self(conditions.collect()))
    }
}

/// Conditions by the name of the fact or option. Names contain dots, which TOML parses as nested tables.
#[derive(Clone, Debug, Default)]
pub(super) struct FactConditions(Vec<(String, Vec<Condition>)>);

impl KeyValue for FactConditions {
    fn declare(shape: &ValueShape) {
        shape.accepts(ValueKind::Table);
        shape.any_name().accepts_anything();
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        let mut conditions = Vec::new();
        for (name, _, item) in item.table()?.entries() {
            if item.is_table() {
                let inner = Self::read(&item)?.0.into_iter();
                conditions.extend(inner.map(|(rest, values)| (format!("{name}.{rest}"), values)));
            } else {
                conditions.push((name, FactValues::read(&item)?.0));
            }
        }
        Some(Self(conditions))
    }

    fn absent() -> Option<Self> {
        Some(Self::default())
    }
}

/// The numbers in a version: `15.2(4)E10` → 15, 2, 4, 10.
fn numbers(version: &str) -> Vec<u64> {
    version
        .split(|character: char| !character.is_ascii_digit())
        .filter_map(|part| part.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_compare_versions_by_numbers() {
        let newer = Condition::Version(">=".to_owned(), numbers("15.2"));
        let cases = [
            ("15.2(4)E10", true),
            ("15.10", true),
            ("12.2(55)SE", false),
            ("15.1", false),
        ];
        for (version, expected) in cases {
            assert_eq!(newer.holds(version), expected, "{version}");
        }
    }
}
