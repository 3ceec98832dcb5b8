//! `rows` with outer lists: instances in lists in the elements of other lists, of any depth.

use serde_json::Value as Json;

use super::field_path::FieldPath;
use super::parents::answer_field;
use super::rows::{JsonRow, RowsRule};
use crate::document::{Item, KeyValue, ValueShape, keys};

/// The location of instances in an answer, or in each element of outer lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NestedRows {
    /// The outer lists, outermost first; each is in the elements of the one before.
    outer: Vec<RowsRule>,
    rows: RowsRule,
}

/// A list of instances in an answer.
#[derive(Clone, Debug)]
pub(crate) struct RowList<'a> {
    /// The elements that contain the list, outermost first.
    pub(crate) outer: Vec<JsonRow<'a>>,
    /// Their indexes.
    pub(crate) indexes: Vec<usize>,
    /// The value that has the list: the innermost element, or the answer.
    value: &'a Json,
}

/// An instance with the elements of outer lists that contain it.
#[derive(Clone, Debug)]
pub(crate) struct NestedRow<'a> {
    /// Outermost first.
    pub(crate) outer: Vec<JsonRow<'a>>,
    pub(crate) row: JsonRow<'a>,
    pub(crate) position: RowPosition,
}

/// The position of an instance in an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RowPosition {
    /// The indexes of the elements that contain it, outermost first.
    pub(crate) outer: Vec<usize>,
    /// The index in its list.
    pub(crate) index: usize,
}

impl From<RowsRule> for NestedRows {
    fn from(rows: RowsRule) -> Self {
        Self {
            outer: Vec::new(),
            rows,
        }
    }
}

keys! {
    /// The rows of a document, which can be in lists in the elements of other lists.
    struct NestedRowsKeys {
        /// Path of an outer list, in whose elements the lists are; several lists, outermost first.
        each: Vec<RowsRule>,
        /// Path of the list.
        at: FieldPath,
        /// An answer without the list has no instances.
        optional: bool,
    }
}

/// `rows = "results"` or `rows = { each = ["a", "b"], at = "items", optional = true }`.
impl KeyValue for NestedRows {
    fn declare(shape: &ValueShape) {
        FieldPath::declare(shape);
        NestedRowsKeys::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        if !item.is_table() {
            return Some(RowsRule::read(item)?.into());
        }
        let keys = NestedRowsKeys::read(item)?;
        Some(Self {
            outer: keys.each,
            rows: RowsRule::json(keys.at, keys.optional),
        })
    }
}

impl NestedRows {
    /// The elements at paths, each in the elements of the one before; the last one has the instances.
    pub(crate) fn elements(paths: Vec<FieldPath>) -> Option<Self> {
        let mut outer: Vec<RowsRule> = paths.into_iter().map(RowsRule::elements).collect();
        let rows = outer.pop()?;
        Some(Self { outer, rows })
    }

    /// The rule with the fields that name the rows, by the number of lists above the instances.
    pub(crate) fn named(self, names: impl Fn(usize) -> Vec<FieldPath>) -> Self {
        let depth = self.depth();
        let outer = self.outer.into_iter().enumerate();
        Self {
            outer: outer
                .map(|(index, list)| list.named(names(depth - index)))
                .collect(),
            rows: self.rows.named(names(0)),
        }
    }

    /// The list with the instances, in the elements of the innermost outer list.
    pub(crate) fn innermost(&self) -> &RowsRule {
        &self.rows
    }

    /// The outer lists, outermost first.
    pub(crate) fn outer(&self) -> &[RowsRule] {
        &self.outer
    }

    /// The number of outer lists.
    pub(crate) fn depth(&self) -> usize {
        self.outer.len()
    }

    /// The lists down to the one this number of levels above the instances, and the next one. `levels` is
    /// at least 1.
    pub(crate) fn split_at(&self, levels: usize) -> (&[RowsRule], &RowsRule) {
        let count = self.outer.len() + 1 - levels;
        let (outer, inner) = self.outer.split_at(count);
        (outer, inner.first().unwrap_or(&self.rows))
    }

    /// The elements this number of levels above the instances.
    pub(crate) fn parents(&self, levels: usize) -> Self {
        let (lists, _) = self.split_at(levels);
        let (rows, outer) = lists.split_last().expect("an outer list");
        Self {
            outer: outer.to_vec(),
            rows: rows.clone(),
        }
    }

    /// The same lists in the elements of a composed answer, see [`super::parents`].
    pub(crate) fn of_parents(&self) -> Self {
        let elements = RowsRule::json(FieldPath::default(), false);
        let levels = self.levels().enumerate().map(|(index, list)| match index {
            0 => list.below(&answer_field()),
            _ => list.clone(),
        });
        let mut outer: Vec<RowsRule> = std::iter::once(elements).chain(levels).collect();
        let rows = outer.pop().expect("the list of the instances");
        Self { outer, rows }
    }

    /// The list in the answer itself.
    pub(crate) fn outermost(&self) -> &RowsRule {
        self.outer.first().unwrap_or(&self.rows)
    }

    /// All lists, outermost first.
    pub(crate) fn levels(&self) -> impl Iterator<Item = &RowsRule> {
        self.outer.iter().chain([&self.rows])
    }

    /// The lists of instances in an answer, also those that elements lack.
    ///
    /// # Errors
    /// The answer lacks one of the outer lists.
    pub(crate) fn lists<'a>(&self, answer: &'a Json) -> Result<Vec<RowList<'a>>, String> {
        self.lists_by(answer, &|list, value| list.rows(value))
    }

    fn lists_by<'a>(
        &self,
        answer: &'a Json,
        rows: &RowsIn<'a, '_>,
    ) -> Result<Vec<RowList<'a>>, String> {
        let mut lists = vec![RowList {
            outer: Vec::new(),
            indexes: Vec::new(),
            value: answer,
        }];
        for list in &self.outer {
            let mut next = Vec::new();
            // An element without the list has no instances.
            for found in lists.into_iter().filter(|found| found.has(list)) {
                let elements = rows(list, found.value)?.into_iter().enumerate();
                next.extend(elements.map(|(index, row)| found.with(index, row)));
            }
            lists = next;
        }
        Ok(lists)
    }

    /// The instances, in the order of the answer.
    ///
    /// # Errors
    /// The answer lacks one of the lists.
    pub(crate) fn rows<'a>(&self, answer: &'a Json) -> Result<Vec<NestedRow<'a>>, String> {
        self.rows_by(answer, &|list, value| list.rows(value))
    }

    /// The instances in the output of a command: one element may have no list around it.
    ///
    /// # Errors
    /// The answer lacks one of the lists.
    pub(crate) fn printed_rows<'a>(&self, answer: &'a Json) -> Result<Vec<NestedRow<'a>>, String> {
        self.rows_by(answer, &|list, value| list.printed_rows(value))
    }

    fn rows_by<'a>(
        &self,
        answer: &'a Json,
        rows: &RowsIn<'a, '_>,
    ) -> Result<Vec<NestedRow<'a>>, String> {
        let mut all = Vec::new();
        let lists = self.lists_by(answer, rows)?.into_iter();
        for list in lists.filter(|list| list.has(&self.rows)) {
            let found = rows(&self.rows, list.value)?.into_iter().enumerate();
            all.extend(found.map(|(index, row)| NestedRow {
                outer: list.outer.clone(),
                row,
                position: RowPosition {
                    outer: list.indexes.clone(),
                    index,
                },
            }));
        }
        Ok(all)
    }

    /// The instance at a position of [`NestedRows::rows`].
    pub(crate) fn row<'a>(
        &self,
        answer: &'a Json,
        position: &RowPosition,
    ) -> Option<NestedRow<'a>> {
        let mut outer = Vec::new();
        let mut value = answer;
        for (list, index) in self.outer.iter().zip(&position.outer) {
            let element = list.row(value, *index)?;
            outer.push(element);
            value = element.value;
        }
        Some(NestedRow {
            row: self.rows.row(value, position.index)?,
            outer,
            position: position.clone(),
        })
    }

    /// The path of elements of outer lists in the answer.
    pub(crate) fn path_of(&self, indexes: &[usize], outer: &[JsonRow<'_>]) -> FieldPath {
        let elements = self.levels().zip(indexes).zip(outer);
        elements.fold(FieldPath::default(), |path, ((list, index), row)| {
            path.join(&list.path_of(*index, *row))
        })
    }
}

/// How the rows of a list are found in a value.
type RowsIn<'a, 'f> = dyn Fn(&RowsRule, &'a Json) -> Result<Vec<JsonRow<'a>>, String> + 'f;

impl<'a> RowList<'a> {
    /// Whether the value has the list; an element of an outer list may lack it.
    fn has(&self, list: &RowsRule) -> bool {
        self.outer.is_empty() || !list.is_missing_in(self.value)
    }

    /// The list in an element of this one.
    fn with(&self, index: usize, row: JsonRow<'a>) -> Self {
        Self {
            outer: self.outer.iter().copied().chain([row]).collect(),
            indexes: self.indexes.iter().copied().chain([index]).collect(),
            value: row.value,
        }
    }
}

impl<'a> NestedRow<'a> {
    /// The row or, this number of lists further up, the element that contains it.
    pub(crate) fn up(&self, levels: usize) -> Option<JsonRow<'a>> {
        match levels {
            0 => Some(self.row),
            levels => {
                let at = self.outer.len().checked_sub(levels)?;
                self.outer.get(at).copied()
            }
        }
    }
}

impl RowPosition {
    /// The position before it in the same list.
    pub(crate) fn before(&self) -> Option<Self> {
        Some(Self {
            outer: self.outer.clone(),
            index: self.index.checked_sub(1)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn nested(levels: &[(&str, bool)]) -> NestedRows {
        let levels = levels.iter().map(|(at, is_optional)| {
            let at = at.parse().expect("a path");
            RowsRule::json(at, *is_optional)
        });
        let mut outer: Vec<RowsRule> = levels.collect();
        let rows = outer.pop().expect("a list");
        NestedRows { outer, rows }
    }

    #[test]
    fn rows_may_be_in_the_elements_of_outer_lists() {
        let rule = nested(&[(".", false), ("info", true)]);
        let answer = json!([{}, {"name": "eth1", "info": [{"a": 1}, {}]}, {"info": []}]);
        let rows = rule.printed_rows(&answer).expect("lists");
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].row.value, &json!({"a": 1}));
        assert_eq!(rows[0].outer[0].value, &answer[1]);
        assert_eq!(
            rule.printed_rows(&json!({"a": 1})).err().as_deref(),
            Some("its `.` is not a list of objects")
        );
        let one = nested(&[("ROW", false)]);
        let answer = json!({"ROW": {"id": 1}});
        let rows = one.printed_rows(&answer).expect("one row");
        assert_eq!(rows[0].row.value, &json!({"id": 1}));
    }

    #[test]
    fn rows_of_four_lists_have_the_elements_of_all() {
        let rule = nested(&[
            ("vrf", false),
            ("af", false),
            ("group", true),
            ("peer", true),
        ]);
        let answer = json!({"vrf": {
            "red": {"af": [{"id": 4, "group": [{"name": "a", "peer": [{"ip": "x"}, {"ip": "y"}]}, {"name": "b"}]}, {"id": 6}]},
            "blue": {"af": []},
        }});
        let rows = rule.rows(&answer).expect("lists");
        assert_eq!(rows.len(), 2);
        let last = &rows[1];
        assert_eq!(last.row.value, &json!({"ip": "y"}));
        assert_eq!(last.up(1).map(|row| &row.value["name"]), Some(&json!("a")));
        assert_eq!(last.up(3).and_then(|row| row.name), Some("red"));
        assert!(last.up(4).is_none());
        let again = rule.row(&answer, &last.position).expect("the same row");
        assert_eq!(again.row, last.row);
        let outer = rule.path_of(&last.position.outer, &last.outer);
        assert_eq!(outer.to_string(), "vrf.red.af[0].group[0]");
        let answer = json!({"vrf": {"red": {}}});
        let lacking = rule.rows(&answer);
        assert_eq!(lacking.err().as_deref(), Some("it has no list `af`"));
    }
}
