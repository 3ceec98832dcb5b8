//! Variables and tables of application services: hashes in the catalog, lists of objects on the device.

use serde_json::{Map, Value as Json, json};

use crate::value::Value;

/// `[{"name": N, "encrypted": "no", "value": V}]` as `{N: V}`.
pub(crate) fn read_variables(list: &[Json]) -> Json {
    let named = list.iter().filter_map(|item| {
        let value = item.get("value").cloned().unwrap_or_else(|| "".into());
        Some((item.get("name")?.as_str()?.to_owned(), value))
    });
    Json::Object(named.collect())
}

pub(crate) fn write_variables(value: Json) -> Json {
    let Json::Object(fields) = value else {
        return value;
    };
    let fields = fields.into_iter();
    fields
        .map(|(name, value)| json!({"name": name, "encrypted": "no", "value": value}))
        .collect()
}

/// `[{"name": N, "columnNames": [C, …], "rows": [{"row": [V, …]}]}]` as `{N: [{C: V, …}]}`.
pub(crate) fn read_tables(list: &[Json]) -> Json {
    let items = |value: &Json, name: &str| {
        let items = value.get(name).and_then(Json::as_array);
        items.cloned().unwrap_or_default()
    };
    let tables = list.iter().filter_map(|table| {
        let columns = items(table, "columnNames");
        let rows = items(table, "rows").into_iter().map(|row| {
            let cells = columns.iter().zip(items(&row, "row"));
            let cells =
                cells.filter_map(|(column, cell)| Some((column.as_str()?.to_owned(), cell)));
            Json::Object(cells.collect())
        });
        Some((table.get("name")?.as_str()?.to_owned(), rows.collect()))
    });
    Json::Object(tables.collect())
}

/// Rows in canonical form have the same columns.
pub(crate) fn write_tables(value: Json) -> Json {
    let Json::Object(tables) = value else {
        return value;
    };
    let tables = tables.into_iter().map(|(name, rows)| {
        let rows: Vec<Map<String, Json>> = match rows {
            Json::Array(rows) => rows
                .into_iter()
                .filter_map(|row| row.as_object().cloned())
                .collect(),
            _ => Vec::new(),
        };
        let columns: Vec<&String> = rows.first().into_iter().flat_map(Map::keys).collect();
        let cells = rows.iter().map(|row| {
            let cells: Vec<&Json> = columns.iter().filter_map(|name| row.get(*name)).collect();
            json!({"row": cells})
        });
        let cells: Vec<Json> = cells.collect();
        json!({"name": name, "columnNames": columns, "rows": cells})
    });
    tables.collect()
}

/// Tables and columns in the order of their names, all cells as text, missing ones empty.
pub(crate) fn canonical_tables(value: &Value) -> Value {
    let Value::Hash(tables) = value else {
        return value.clone();
    };
    let mut tables: Vec<(String, Value)> = tables
        .iter()
        .filter_map(|(name, rows)| Some((name.scalar_text()?, canonical_rows(rows))))
        .collect();
    tables.sort_by(|(a, _), (b, _)| a.cmp(b));
    let tables = tables.into_iter();
    Value::Hash(tables.map(|(name, rows)| (name.into(), rows)).collect())
}

fn canonical_rows(rows: &Value) -> Value {
    let rows: Vec<&[(Value, Value)]> = match rows {
        Value::List(rows) => rows.iter().filter_map(entries).collect(),
        one => entries(one).into_iter().collect(),
    };
    let cells = rows.iter().copied().flatten();
    let mut columns: Vec<String> = cells.filter_map(|(name, _)| name.scalar_text()).collect();
    columns.sort();
    columns.dedup();
    let cell = |row: &[(Value, Value)], column: &str| {
        let cell = row
            .iter()
            .find(|(name, _)| name.scalar_text().as_deref() == Some(column));
        cell.and_then(|(_, value)| value.scalar_text())
            .unwrap_or_default()
    };
    let rows = rows.into_iter().map(|row| {
        let cells = columns
            .iter()
            .map(|column| (column.as_str().into(), cell(row, column).into()));
        Value::Hash(cells.collect())
    });
    Value::List(rows.collect())
}

fn entries(value: &Value) -> Option<&[(Value, Value)]> {
    match value {
        Value::Hash(entries) => Some(entries),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_round_trip_without_rows_and_with_missing_cells() {
        let row = |cells: &[(&str, &str)]| {
            let cells = cells.iter();
            Value::Hash(
                cells
                    .map(|(name, cell)| ((*name).into(), (*cell).into()))
                    .collect(),
            )
        };
        let rows = Value::List(vec![
            row(&[("port", "80")]),
            row(&[("addr", "a"), ("port", "81")]),
        ]);
        let value = Value::Hash(vec![
            ("members".into(), rows),
            ("hosts".into(), Value::List(Vec::new())),
        ]);
        let Value::Hash(canonical) = canonical_tables(&value) else {
            panic!("a hash");
        };
        assert_eq!(canonical[0].0, "hosts".into());
        let full = json!({"hosts": [], "members": [{"addr": "", "port": "80"}, {"addr": "a", "port": "81"}]});
        let wire = write_tables(full.clone());
        assert_eq!(
            wire,
            json!([{"name": "hosts", "columnNames": [], "rows": []},
                   {"name": "members", "columnNames": ["addr", "port"], "rows": [{"row": ["", "80"]}, {"row": ["a", "81"]}]}])
        );
        assert_eq!(read_tables(wire.as_array().unwrap()), full);
        assert_eq!(
            read_tables(&[json!({"name": "hosts"})]),
            json!({"hosts": []})
        );
    }
}
