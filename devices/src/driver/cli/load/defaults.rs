//! Loads `else`: the value of an instance without a line.

use super::attribute::{AttributeSource, canonical, patterns_by_value};
use crate::document::{At, Item, KeyValue, Named, SectionForm, ValueShape, keys};
use crate::driver::cli::rules::{Cell, DefaultCell, DefaultLine, DefaultValue};
use crate::driver::cli::template::LineTemplate;
use crate::driver::codec::Codec;
use crate::pattern::Pattern;
use crate::value::Value;

/// Another place of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::driver) enum ElseLocation {
    GlobalLine,
    OtherRead,
    Instances,
}

impl SectionForm for ElseLocation {
    const FORMS: &'static [(Self, &'static str)] = &[
        (ElseLocation::GlobalLine, "`line`"),
        (ElseLocation::OtherRead, "`from`"),
        (ElseLocation::Instances, "`value`"),
    ];
}

keys! {
    /// Location of the value if there is no line.
    pub(in crate::driver) struct ElseKeys at ElseLocation {
        /// A global line with the default of instances.
        line: Option<LineTemplate> where [ElseLocation::GlobalLine],
        /// The value of the instances that `only` names.
        value: Option<At<Value>> where [ElseLocation::Instances],
        /// Patterns of the names to which it applies. With `value`, also patterns of other attributes.
        only: Named<Pattern> where [ElseLocation::GlobalLine, ElseLocation::Instances],
        /// Another read.
        from: Option<String> where [ElseLocation::OtherRead],
        /// Its column with the name of the instance.
        key: Option<String> where [ElseLocation::OtherRead],
        /// Its column with the value.
        column: Option<String> where [ElseLocation::OtherRead],
        /// Patterns by the name of the value.
        when: Named<Pattern> where [ElseLocation::OtherRead],
        /// Pattern; the first group is the value.
        pattern: Option<Pattern> where [ElseLocation::OtherRead],
    }
}

/// The keys of one place, which have an effect there.
#[derive(Clone, Debug)]
pub(in crate::driver) struct DefaultKeys(At<ElseKeys>);

impl KeyValue for DefaultKeys {
    fn declare(shape: &ValueShape) {
        ElseKeys::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        let value = ElseKeys::read(item)?;
        let location = match (&value.line, &value.value) {
            (Some(_), _) => ElseLocation::GlobalLine,
            (None, Some(_)) => ElseLocation::Instances,
            (None, None) => ElseLocation::OtherRead,
        };
        ElseKeys::KEYS.check(location, &item.table()?);
        let span = item.span.clone();
        Some(Self(At { value, span }))
    }
}

/// The values of instances without a line.
#[derive(Default)]
pub(super) struct AttributeDefaults {
    pub(super) line: Option<Box<DefaultLine>>,
    pub(super) cell: Option<Box<DefaultCell>>,
    pub(super) values: Vec<DefaultValue>,
}

impl AttributeDefaults {
    pub(super) fn load(
        keys: Vec<DefaultKeys>,
        source: &AttributeSource<'_>,
        codec: Option<&Codec>,
    ) -> Self {
        let mut all = Self::default();
        for DefaultKeys(At { value: keys, span }) in keys {
            let error = |message: &str| {
                let findings = source.table.findings;
                findings.error("else", span.clone(), message);
            };
            let only = || patterns(keys.only.clone());
            if let Some(line) = keys.line {
                let only = only();
                let line = DefaultLine { line, only };
                if all.line.replace(Box::new(line)).is_some() {
                    error("`else` has more than one `line`");
                }
            } else if let Some(value) = &keys.value {
                check_names(&keys.only, source);
                let only = only();
                let value = canonical(source.table, ("value", value), source.model, codec);
                all.values
                    .extend(value.map(|value| DefaultValue { value, only }));
            } else if all.cell.is_some() {
                error("`else` has more than one `from`");
            } else {
                all.cell = cell(keys, source);
            }
        }
        all
    }
}

fn patterns(only: Named<Pattern>) -> Vec<(String, Pattern)> {
    let patterns = only.into_iter();
    patterns
        .map(|(name, pattern)| (name.value, pattern))
        .collect()
}

/// Reports attributes that the type does not have.
fn check_names(only: &Named<Pattern>, source: &AttributeSource<'_>) {
    let attributes = &source.context.model.attributes;
    for name in only.names() {
        if !attributes.contains_key(name.as_str()) {
            let message = format!("the type has no attribute `{}`", name.value);
            let findings = source.table.findings;
            findings.error("unknown-attribute", name.span.clone(), message);
        }
    }
}

/// The default in another read. `None`: its error is reported.
fn cell(keys: ElseKeys, source: &AttributeSource<'_>) -> Option<Box<DefaultCell>> {
    let table = source.table;
    let [read, key, name] = [
        ("from", keys.from),
        ("key", keys.key),
        ("column", keys.column),
    ]
    .map(|(key, value)| {
        if value.is_none() {
            let message = format!("key `{key}` is missing in [{}.else]", table.path);
            table
                .findings
                .error("missing-key", table.span.clone(), message);
        }
        value
    });
    Some(Box::new(DefaultCell {
        read: read?,
        key: key?,
        cell: Cell {
            name: name?,
            when: patterns_by_value(keys.when, source.model, table),
            pattern: keys.pattern,
        },
    }))
}
