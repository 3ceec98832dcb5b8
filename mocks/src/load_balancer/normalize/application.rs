//! Application services: variables and tables in the form of the device, below a folder of their own.

use serde_json::{Value, json};

use crate::load_balancer::path::FullPath;
use crate::load_balancer::refusal::Refusal;
use crate::load_balancer::tree::Object;

/// The path of a new service: in the folder `NAME.app`.
pub(in crate::load_balancer) fn folder(path: &mut FullPath) {
    path.sub_path = Some(format!("{}.app", path.name));
}

/// Variables and tables as the device returns them. Nothing is left of `execute-action`.
pub(super) fn application(object: &mut Object) -> Result<(), Refusal> {
    object.fields.remove("executeAction");
    for (field, render) in [("variables", variable as Render), ("tables", table)] {
        let list = object.fields.get_mut(field).and_then(Value::as_array_mut);
        for item in list.into_iter().flatten() {
            *item = render(item).ok_or_else(|| Refusal::invalid_value(field, item))?;
        }
    }
    Ok(())
}

type Render = fn(&Value) -> Option<Value>;

fn variable(item: &Value) -> Option<Value> {
    let encrypted = item.get("encrypted").and_then(Value::as_str);
    Some(json!({
        "name": item.get("name")?.as_str()?,
        "encrypted": encrypted.unwrap_or("no"),
        "value": item.get("value")?.as_str()?,
    }))
}

/// An empty table has neither columns nor rows. Each row has one cell for each column.
fn table(item: &Value) -> Option<Value> {
    let mut table = json!({"name": item.get("name")?.as_str()?});
    let list = |name: &str| {
        let list = item.get(name).and_then(Value::as_array);
        list.filter(|list| !list.is_empty()).cloned()
    };
    let columns = list("columnNames");
    let width = columns.as_ref().map_or(0, Vec::len);
    if let Some(rows) = list("rows") {
        let is_complete = |row: &Value| {
            let cells = row.get("row").and_then(Value::as_array);
            cells.is_some_and(|cells| cells.len() == width && cells.iter().all(Value::is_string))
        };
        if !rows.iter().all(is_complete) {
            return None;
        }
        table["rows"] = json!(rows);
    }
    if let Some(columns) = columns {
        table["columnNames"] = json!(columns);
    }
    Some(table)
}
