//! The rows of a type in an answer, as they were read or made by its rule.

use std::ops::Deref;
use std::sync::Arc;

use super::CliType;
use super::row_rule::table_rows;
use super::rules::{CliAttributeRule, InstanceKind};
use crate::read::row::Row;
use crate::read::{ReadError, State};

/// The rows of a type in a state.
pub(super) enum TypeRows<'a> {
    AsRead(&'a [Row]),
    Made(Arc<Result<Vec<Row>, String>>),
}

impl Deref for TypeRows<'_> {
    type Target = [Row];

    fn deref(&self) -> &[Row] {
        match self {
            TypeRows::AsRead(rows) => rows,
            TypeRows::Made(rows) => rows.as_deref().unwrap_or_default(),
        }
    }
}

impl CliType {
    /// The rows in the read of the instances.
    pub(super) fn rows<'a>(&self, state: &'a State) -> TypeRows<'a> {
        let from = &self.instance.from;
        let (InstanceKind::Row { rows, .. }, Some(parsed)) = (&self.instance.kind, state.get(from))
        else {
            return TypeRows::AsRead(&[]);
        };
        if rows.is_as_read() {
            return TypeRows::AsRead(table_rows(parsed));
        }
        let owner = (self.model.name.as_str(), "rows");
        TypeRows::Made(state.derived(owner, from, || rows.make(parsed)))
    }

    /// Checks that the answer has the list of rows.
    pub(super) fn check_rows(&self, state: &State) -> Result<(), ReadError> {
        match self.rows(state) {
            TypeRows::Made(rows) => {
                rows.as_ref()
                    .as_ref()
                    .map(|_| ())
                    .map_err(|message| ReadError {
                        read: self.instance.from.clone(),
                        message: message.clone(),
                    })
            }
            TypeRows::AsRead(_) => Ok(()),
        }
    }

    /// The names of the cells of a type, as written in its definition.
    pub(super) fn cell_names<'r>(
        key: &'r [(String, String)],
        rules: impl Iterator<Item = &'r CliAttributeRule>,
    ) -> Vec<String> {
        let columns = key.iter().map(|(_, column)| column.clone());
        let cells = rules.filter_map(|rule| Some(rule.cell()?.name.clone()));
        let mut names: Vec<String> = columns.chain(cells).collect();
        names.sort();
        names.dedup();
        names
    }
}
