//! How the rows of a type are made: of a table or stanzas as they were read, or of a JSON document.
//!
//! Cells of JSON rows are fields. A name with placeholders, `{backend}/{server}`, joins several
//! cells. Such cells are made once for all resources of a type (`State::derived`).

use std::sync::Arc;

use serde_json::{Map, Value as Json};

use crate::document::{At, Table};
use crate::driver::read_rule::ParseRule;
use crate::read::Parsed;
use crate::read::field_path::{FieldPath, PathStep};
use crate::read::nested_rows::{NestedRow, NestedRows};
use crate::read::row::{CellText, Row};
use crate::read::rows::JsonRow;

/// The field with the name of a row in an object.
const OWN_NAME: &str = "@name";
/// Before a field of the row further out.
const OUTER: &str = "../";

/// How the rows of a type are made from the answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowRule {
    /// For JSON.
    json: Option<JsonRows>,
    /// The columns that the header of a table must have.
    columns: Vec<String>,
    /// The cells that are made, by their names in the definition.
    cells: Vec<(Arc<str>, CellSource)>,
}

/// The keys of `[instance]` about rows.
pub(super) struct RowKeys {
    pub(super) rows: Option<At<NestedRows>>,
    pub(super) headings: Option<At<FieldPath>>,
}

/// The place of the rows in a JSON document.
#[derive(Clone, Debug)]
struct JsonRows {
    rows: NestedRows,
    /// The place of the names of the values, if each row is a list of values.
    headings: Option<FieldPath>,
}

/// The source of a cell that is made.
#[derive(Clone, Debug)]
enum CellSource {
    Column(String),
    /// The name of the row, or of a row this number of lists further out.
    Name(usize),
    Field(FieldPath),
    /// A field of the row this number of lists further out.
    OuterField(usize, FieldPath),
    Joined(Vec<JoinedPart>),
}

#[derive(Clone, Debug)]
enum JoinedPart {
    Text(String),
    Cell(CellSource),
}

/// A row as it was read.
enum RowRead<'a> {
    Table(&'a Row),
    Json(NestedRow<'a>),
}

impl RowRule {
    /// Reads the keys of `[instance]` about rows. `cells` are the names of cells in the definition.
    pub(super) fn load(
        keys: RowKeys,
        table: &Table<'_>,
        parse: Option<&ParseRule>,
        cells: &[String],
    ) -> Option<Self> {
        let is_json = matches!(parse, Some(ParseRule::Json));
        let RowKeys { rows, headings } = keys;
        let spans = [
            ("rows", rows.as_ref().map(|rows| rows.span.clone())),
            ("headings", headings.as_ref().map(|path| path.span.clone())),
        ];
        for (key, span) in spans.into_iter().filter(|_| !is_json) {
            let Some(span) = span else { continue };
            let message = format!("`instance.{key}` is for reads with `parse = \"json\"`");
            table.findings.error("rows", span, message);
        }
        let json = match (is_json, rows) {
            (false, _) => None,
            (true, None) => {
                table.findings.error_with_help(
                    "rows",
                    table.span.clone(),
                    "[instance] does not declare where the rows are in the JSON document",
                    "add `rows`, the path of the list: `rows = \"results\"`, or \".\"",
                );
                return None;
            }
            (true, Some(rows)) => Some(JsonRows {
                rows: rows.value,
                headings: headings.map(|path| path.value),
            }),
        };
        let depth = json.as_ref().map(|json| json.rows.depth());
        let mut made = Vec::new();
        for name in cells {
            if !is_json && !name.contains('{') {
                continue;
            }
            match CellSource::parse(name, depth) {
                Ok(source) => made.push((Arc::from(name.as_str()), source)),
                Err(reason) => table.findings.error("path", table.span.clone(), reason),
            }
        }
        let mut columns = Vec::new();
        if let Some(ParseRule::Csv(_)) = parse {
            columns.extend(cells.iter().filter(|name| !name.contains('{')).cloned());
            made.iter()
                .for_each(|(_, cell)| cell.add_columns(&mut columns));
        }
        Some(Self {
            json,
            columns,
            cells: made,
        })
    }

    /// Whether the rows of a table are used as they were read.
    pub(super) fn is_as_read(&self) -> bool {
        self.json.is_none() && self.cells.is_empty() && self.columns.is_empty()
    }

    pub(super) fn make(&self, parsed: &Parsed) -> Result<Vec<Row>, String> {
        let json = match (&self.json, parsed) {
            // A read that is not given in a test.
            (Some(_), Parsed::Json(Json::Null)) => return Ok(Vec::new()),
            (Some(json), Parsed::Json(document)) => (json, document),
            _ => {
                let rows = table_rows(parsed);
                let lacks =
                    |name: &&String| rows.first().is_some_and(|row| row.get(name).is_none());
                if let Some(missing) = self.columns.iter().find(lacks) {
                    return Err(format!("it has no column `{missing}`"));
                }
                return Ok(rows
                    .iter()
                    .map(|row| {
                        let read = row
                            .iter()
                            .map(|(name, cell)| (Arc::from(name), cell.clone()));
                        read.chain(self.made_cells(&RowRead::Table(row))).collect()
                    })
                    .collect());
            }
        };
        let (JsonRows { rows, headings }, document) = json;
        let rows = rows.printed_rows(document)?;
        let headings = headings.as_ref().map(|path| names(path, document));
        let headings = headings.transpose()?;
        if let Some(names) = &headings {
            let mut columns = Vec::new();
            let cells = self.cells.iter();
            cells.for_each(|(_, cell)| cell.add_columns(&mut columns));
            if let Some(missing) = columns.iter().find(|name| !names.contains(name)) {
                return Err(format!("it has no heading `{missing}`"));
            }
        }
        rows.into_iter()
            .map(|found| {
                let named = headings
                    .as_ref()
                    .map(|names| with_names(names, found.row.value));
                let named = named.transpose()?;
                let value = named.as_ref().unwrap_or(found.row.value);
                let row = JsonRow { value, ..found.row };
                let found = NestedRow { row, ..found };
                Ok(self.made_cells(&RowRead::Json(found)).collect())
            })
            .collect()
    }

    fn made_cells(&self, row: &RowRead<'_>) -> impl Iterator<Item = (Arc<str>, CellText)> {
        let cells = self.cells.iter();
        cells.filter_map(|(name, source)| Some((Arc::clone(name), source.cell(row)?)))
    }
}

/// The texts of a list of names.
fn names(path: &FieldPath, document: &Json) -> Result<Vec<String>, String> {
    let list = path.get(document).and_then(Json::as_array);
    let names = list.and_then(|list| {
        let names = list.iter().map(|name| name.as_str().map(str::to_owned));
        names.collect::<Option<Vec<_>>>()
    });
    names.ok_or_else(|| format!("it has no list of names at `{path}`"))
}

/// A row of values as an object.
fn with_names(names: &[String], row: &Json) -> Result<Json, String> {
    let values = row.as_array().filter(|values| values.len() == names.len());
    let values = values.ok_or_else(|| format!("a row is no list of {} values", names.len()))?;
    let fields = names.iter().cloned().zip(values.iter().cloned());
    Ok(Json::Object(fields.collect::<Map<_, _>>()))
}

impl CellSource {
    /// Parses the name of a cell. `depth` is for JSON: the number of outer lists.
    fn parse(name: &str, depth: Option<usize>) -> Result<Self, String> {
        if !name.contains('{') {
            return Self::parse_one(name, depth);
        }
        let mut parts = Vec::new();
        let mut rest = name;
        while let Some((text, after)) = rest.split_once('{') {
            let (cell, after) = after
                .split_once('}')
                .ok_or_else(|| format!("`}}` is missing in `{name}`"))?;
            parts.push(JoinedPart::Text(text.to_owned()));
            parts.push(JoinedPart::Cell(Self::parse_one(cell, depth)?));
            rest = after;
        }
        parts.push(JoinedPart::Text(rest.to_owned()));
        Ok(CellSource::Joined(parts))
    }

    fn parse_one(name: &str, depth: Option<usize>) -> Result<Self, String> {
        let Some(depth) = depth else {
            return Ok(CellSource::Column(name.to_owned()));
        };
        let mut own = name;
        let mut up = 0;
        while let Some(outer) = own.strip_prefix(OUTER) {
            own = outer;
            up += 1;
        }
        if up > depth {
            let lists = match up {
                1 => "an outer list".to_owned(),
                up => format!("{up} outer lists"),
            };
            return Err(format!("`{name}` requires {lists}, `each` of `rows`"));
        }
        if own == OWN_NAME {
            return Ok(CellSource::Name(up));
        }
        let parse = |path: &str| {
            let path = path.parse::<FieldPath>();
            path.map_err(|error| error.to_string())
        };
        let path = parse(own)?;
        Ok(match up {
            0 => CellSource::Field(path),
            up => CellSource::OuterField(up, path),
        })
    }

    /// Adds the columns, or the fields of a row, that the cell is made of.
    fn add_columns(&self, columns: &mut Vec<String>) {
        match self {
            CellSource::Column(name) => columns.push(name.clone()),
            CellSource::Field(path) => {
                if let Some(PathStep::Name(name)) = path.steps().first() {
                    columns.push(name.clone());
                }
            }
            CellSource::Name(_) | CellSource::OuterField(..) => {}
            CellSource::Joined(parts) => parts.iter().for_each(|part| match part {
                JoinedPart::Cell(cell) => cell.add_columns(columns),
                JoinedPart::Text(_) => {}
            }),
        }
    }

    /// The content of the cell; `None` if it, or a part of it, is missing.
    fn cell(&self, row: &RowRead<'_>) -> Option<CellText> {
        match (self, row) {
            (CellSource::Column(name), RowRead::Table(row)) => row.get(name).cloned(),
            (CellSource::Name(up), RowRead::Json(found)) => {
                Some(CellText::One(found.up(*up)?.name?.to_owned()))
            }
            (CellSource::Field(path), RowRead::Json(found)) => {
                CellText::of_json(path.get(found.row.value)?)
            }
            (CellSource::OuterField(up, path), RowRead::Json(found)) => {
                CellText::of_json(path.get(found.up(*up)?.value)?)
            }
            (CellSource::Joined(parts), row) => {
                let texts = parts.iter().map(|part| match part {
                    JoinedPart::Text(text) => Some(text.clone()),
                    JoinedPart::Cell(source) => {
                        let cell = source.cell(row)?;
                        (!cell.is_empty()).then(|| cell.text().into_owned())
                    }
                });
                Some(CellText::One(texts.collect::<Option<String>>()?))
            }
            (CellSource::Column(_), RowRead::Json(_))
            | (
                CellSource::Name(_) | CellSource::Field(_) | CellSource::OuterField(..),
                RowRead::Table(_),
            ) => None,
        }
    }
}

/// The rows of a table or of stanzas.
pub(super) fn table_rows(parsed: &Parsed) -> &[Row] {
    match parsed {
        Parsed::Columns(table) => &table.rows,
        Parsed::Rows(rows) => rows,
        Parsed::Tree(_) | Parsed::Json(_) | Parsed::Text(_) => &[],
    }
}
