//! Loads `parent` of `[instance]`, and finds the list whose elements have the path of requests.

use super::instance::check_answer;
use super::instance_keys::ParentKeys;
use crate::document::Table;
use crate::driver::rest::definition::{KeyRule, ParentRule};
use crate::driver::rest::template::TextTemplate;
use crate::read::answer_rule::Expectation;
use crate::read::field_path::FieldPath;
use crate::read::nested_rows::NestedRows;
use crate::read::parents::name_field;
use crate::read::rows::RowsRule;

/// `parent`, without the rows of the type.
pub(super) struct LoadedParent {
    collection: String,
    rows: RowsRule,
    answer: Vec<Expectation>,
    key: Vec<(String, FieldPath)>,
}

impl LoadedParent {
    /// Checks `parent` of a table; `platform` is the list of the platform.
    pub(super) fn new(
        keys: ParentKeys,
        (table, platform): (&Table<'_>, Option<&RowsRule>),
    ) -> Option<Self> {
        let Some(rows) = keys.rows.or_else(|| platform.cloned()) else {
            table.table("parent")?.missing("rows");
            return None;
        };
        if rows.is_uncertain() {
            check_answer(&table.table("parent")?, &keys.answer.0, true);
        }
        let key = keys.key.0.into_iter();
        Some(Self {
            collection: keys.collection,
            rows,
            answer: keys.answer.0,
            key: key.map(|(name, field)| (name.value, field)).collect(),
        })
    }

    /// The rule for a type whose objects are in these rows of each collection.
    pub(super) fn rule(self, objects: &NestedRows) -> ParentRule {
        ParentRule {
            collection: self.collection,
            rows: self.rows,
            answer: self.answer,
            key: self.key,
            objects: objects.clone(),
        }
    }
}

impl ParentRule {
    /// Adds the parents to the rows of the type and its key.
    pub(super) fn add_to(&self, rows: NestedRows, key: &mut Vec<KeyRule>) -> NestedRows {
        let rows = rows.of_parents();
        let own = self.key.iter().map(|(attribute, _)| KeyRule {
            attribute: attribute.clone(),
            field: Some(name_field(attribute)),
            up: rows.depth(),
        });
        key.splice(0..0, own);
        rows
    }
}

/// How many lists above the objects the elements are whose path is `object`: the innermost list of which
/// it has a namevar.
pub(super) fn parent_levels(key: &[KeyRule], object: &TextTemplate) -> usize {
    let named = key.iter().filter(|key| {
        let mut holes = object.holes();
        holes.any(|hole| hole == key.attribute)
    });
    named.map(|key| key.up).min().unwrap_or_default()
}

/// Reports keys without an effect for objects in the body of a parent.
pub(super) fn check_parent_keys(table: &Table<'_>) {
    let sections = [
        ("create", &["verb", "at", "adds", "frame"][..]),
        ("update", &["frame"]),
        ("remove", &["members_first", "body"]),
    ];
    for (section, keys) in sections {
        let item = table.get(section).filter(|item| item.is_table());
        let Some(section_table) = item.and_then(|item| item.table()) else {
            continue;
        };
        for key in keys {
            if let Some(item) = section_table.get(key) {
                item.findings.error_with_help(
                    "no-effect",
                    item.span.clone(),
                    format!("`{key}` of `{section}` has no effect: `object` is the path of a parent, which is written with `update`"),
                    "remove it",
                );
            }
        }
    }
}
