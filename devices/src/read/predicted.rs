//! Rows of a table as operations leave them. The answer is not changed: types that read the same
//! table see these rows over it.

use super::row::CellText;
use crate::map::IndexMap;
use crate::value::Value;

/// The rows of one read that operations have changed, by the text of their keys, in the order of
/// their first operation. `None`: removed.
pub(crate) type PredictedRows = IndexMap<String, Option<PredictedRow>>;

/// A row that operations have created or changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PredictedRow {
    /// It has none of the cells that a row with these keys had in the answer.
    pub(crate) is_new: bool,
    /// The cells that operations have set, by name.
    pub(crate) cells: IndexMap<String, PredictedCell>,
}

/// The content of a cell after an operation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PredictedCell {
    /// The text that the device prints; without text the cell is missing.
    Text(CellText),
    /// A value of which the text is not known.
    Value {
        value: Value,
        /// How the value is part of the text: it is known to rules with the same patterns.
        patterns: String,
    },
}
