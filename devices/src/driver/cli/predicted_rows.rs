//! Predicted rows as instances of a type, for all types that read the table.

use super::CliType;
use super::find::CellValue;
use super::found::FoundInstance;
use super::instances::Instances;
use super::rules::{Cell, CliAttributeRule, DefaultCell};
use super::template::Vocabulary;
use crate::read::State;
use crate::read::predicted::{PredictedCell, PredictedRow};
use crate::read::row::CellText;
use crate::value::{Attributes, Name, Value};

impl CliType {
    /// The namevars and their cells, in the order of the cells' names.
    fn key_cells(&self) -> Vec<(&str, Cell)> {
        let cells = self.instance.kind.key().iter();
        let mut cells: Vec<(&str, Cell)> = cells
            .map(|(name, cell)| (name.as_str(), Cell::named(cell.clone())))
            .collect();
        cells.sort_by(|(_, a), (_, b)| a.name.cmp(&b.name));
        cells
    }

    /// The key of a row, the same for all types whose names are in these cells.
    fn row_key(&self, names: &Attributes) -> String {
        let cells = self.key_cells();
        let cells = cells.iter().map(|(name, cell)| {
            let value = names.get(name).and_then(Value::scalar_text);
            (cell.name.as_str(), value.unwrap_or_default())
        });
        key_of(cells)
    }

    /// The predicted row of an instance: `Some(None)`, if it was removed.
    pub(super) fn predicted_row<'s>(
        &self,
        names: &Attributes,
        state: &'s State,
    ) -> Option<Option<&'s PredictedRow>> {
        let rows = state.predicted(&self.instance.from)?;
        rows.get(&self.row_key(names)).map(Option::as_ref)
    }

    /// The predicted value of an attribute in the row of another table.
    pub(super) fn predicted_elsewhere(
        &self,
        rule: &CliAttributeRule,
        names: &Attributes,
        state: &State,
    ) -> Option<CellValue> {
        let DefaultCell { read, key, cell } = rule.default_cell.as_deref()?;
        let own = self.first_name(names)?;
        let row = state.predicted(read)?.get(&key_of([(key.as_str(), own)]))?;
        let content = row.as_ref()?.cells.get(&cell.name)?;
        Some(self.predicted_value(&rule.name, cell, content))
    }

    fn first_name(&self, names: &Attributes) -> Option<String> {
        let name = self.model.namevars().next()?;
        names.get(name).and_then(Value::scalar_text)
    }

    /// Predicts that the row of an instance is removed.
    pub(super) fn predict_removal(&self, state: &mut State, names: &Attributes) {
        state.predict(&self.instance.from, self.row_key(names), None);
    }

    /// Predicts the row of an instance with these attributes, of which an operation has set some.
    pub(super) fn predict_row(&self, state: &mut State, attributes: &Attributes, set: &[Name]) {
        let mut row = match self.predicted_row(attributes, state) {
            Some(Some(row)) => row.clone(),
            removed => PredictedRow {
                is_new: removed.is_some(),
                ..PredictedRow::default()
            },
        };
        for (name, cell) in self.key_cells() {
            if let Some(value) = attributes.get(name) {
                let content = self.predicted_cell(name, &cell, Some(value));
                row.cells.insert(cell.name, content);
            }
        }
        for rule in set.iter().filter_map(|name| self.attributes.get(name)) {
            let value = attributes.get(&rule.name);
            let value = value.filter(|value| rule.absent.as_ref() != Some(*value));
            if let Some(cell) = rule.cell() {
                let content = self.predicted_cell(&rule.name, cell, value);
                row.cells.insert(cell.name.clone(), content);
            } else if let Some(DefaultCell { read, key, cell }) = rule.default_cell.as_deref()
                && let Some(own) = self.first_name(attributes)
            {
                let text = key_of([(key.as_str(), own.clone())]);
                let known = state.predicted(read).and_then(|rows| rows.get(&text));
                let mut other = known.cloned().flatten().unwrap_or_default();
                let own = PredictedCell::Text(CellText::One(own));
                other.cells.insert(key.clone(), own);
                let content = self.predicted_cell(&rule.name, cell, value);
                other.cells.insert(cell.name.clone(), content);
                state.predict(read, text, Some(other));
            }
        }
        state.predict(&self.instance.from, self.row_key(attributes), Some(row));
    }

    /// The content of a cell with a value: its text, if that is read as the value.
    fn predicted_cell(&self, attribute: &str, cell: &Cell, value: Option<&Value>) -> PredictedCell {
        let Some(value) = value else {
            return PredictedCell::Text(CellText::One(String::new()));
        };
        let text = match value.unwrap_sensitive() {
            Value::List(items) if !self.codecs.contains_key(attribute) => {
                let items = items.iter().map(Value::scalar_text);
                items.collect::<Option<_>>().map(CellText::List)
            }
            value => self.write(attribute, value).map(CellText::One),
        };
        let is_read = |text: &CellText| {
            let read = self.text_value(attribute, cell, Some(text));
            matches!(read, CellValue::Value(read) if read == *value)
        };
        let is_plain = cell.when.is_empty() && cell.pattern.is_none();
        match text.filter(|text| is_plain && is_read(text)) {
            Some(text) => PredictedCell::Text(text),
            None => PredictedCell::Value {
                value: value.clone(),
                patterns: cell.patterns(),
            },
        }
    }

    /// The value of an attribute in a predicted cell.
    pub(super) fn predicted_value(
        &self,
        attribute: &str,
        cell: &Cell,
        content: &PredictedCell,
    ) -> CellValue {
        match content {
            PredictedCell::Text(text) => self.text_value(attribute, cell, Some(text)),
            PredictedCell::Value { value, patterns } => {
                let model = self.model.attributes.get(attribute);
                let canonical = model.and_then(|model| model.canonicalize(value).ok());
                let is_same =
                    |canonical: &Value| canonical == value && cell.patterns() == *patterns;
                CellValue::from(canonical.filter(is_same))
            }
        }
    }

    /// Adds instances that operations created and that no table contains yet.
    pub(super) fn add_predicted(
        &self,
        all: &mut Vec<FoundInstance>,
        state: &State,
        instances: &Instances,
        only: Option<&Attributes>,
    ) {
        let Some(rows) = state.predicted(&self.instance.from) else {
            return;
        };
        let add = |row: &PredictedRow| {
            let mut found = FoundInstance::default();
            for (name, cell) in self.key_cells() {
                let content = row.cells.get(&cell.name);
                let value = content.map(|content| self.predicted_value(name, &cell, content));
                let Some(CellValue::Value(value)) = value else {
                    return;
                };
                found.attributes.insert(name.to_owned(), value);
            }
            self.add_absent_names(&mut found.attributes);
            if instances.named(self, &found.attributes).next().is_none() {
                self.read_cells(None, Some(row), &mut found);
                all.push(found);
            }
        };
        match only {
            Some(names) => {
                let row = rows.get(&self.row_key(names));
                row.into_iter().flatten().for_each(add);
            }
            None => rows.values().flatten().for_each(add),
        }
    }
}

/// The text of a key: cells and their values.
fn key_of<'c>(cells: impl IntoIterator<Item = (&'c str, String)>) -> String {
    let cells = cells.into_iter();
    cells
        .map(|(cell, value)| format!("{cell}\0{value}\0"))
        .collect()
}
