//! The simulated device: its contents, the injected faults, and its calls.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use serde_json::{Map, Value as Json};
use switchtender_devices::provider::{ProviderError, ProviderErrorKind};

/// Shared by the provider, the types and the observer of a run.
pub(crate) type Shared = Arc<Mutex<World>>;

#[derive(Debug, Default)]
pub(crate) struct World {
    /// Type → object → field.
    pub device: Map<String, Json>,
    pub faults: Json,
    pub calls: Vec<Json>,
    /// References that have been evaluated.
    pub done: HashSet<String>,
    pub stop_after: Option<String>,
    pub stopped: bool,
}

impl World {
    /// The objects of a type; the table exists after its first read.
    pub(crate) fn table(&mut self, type_name: &str) -> &mut Map<String, Json> {
        self.device
            .entry(type_name)
            .or_insert_with(|| Json::Object(Map::new()))
            .as_object_mut()
            .expect("tables are objects")
    }

    pub(crate) fn row(&mut self, type_name: &str, name: &str) -> Option<Map<String, Json>> {
        self.table(type_name)
            .get(name)
            .map(|row| row.as_object().cloned().unwrap_or_default())
    }

    pub(crate) fn call(&mut self, entry: Json) {
        self.calls.push(entry);
    }

    /// The fault injected into an operation, if there is one.
    pub(crate) fn fault(&self, path: &[&str]) -> Result<(), ProviderError> {
        let mut fault = &self.faults;
        for key in path {
            fault = &fault[*key];
        }
        let error = match fault {
            Json::String(message) => ProviderError::new(ProviderErrorKind::Refused, message),
            Json::Object(fault) => {
                let message = fault["message"].as_str().expect("a fault has a message");
                let kind = if fault.get("kind").and_then(Json::as_str) == Some("standard") {
                    ProviderErrorKind::Internal
                } else {
                    ProviderErrorKind::Refused
                };
                ProviderError::new(kind, message)
            }
            _ => return Ok(()),
        };
        Err(error)
    }

    pub(crate) fn suitable(&self, type_name: &str) -> bool {
        let unsuitable = self.faults["unsuitable"]
            .as_array()
            .is_some_and(|types| types.iter().any(|name| name == type_name));
        let gate = self.faults["suitable_after"][type_name].as_str();
        !unsuitable && gate.is_none_or(|gate| self.done.contains(gate))
    }

    /// Changes from outside: `null` deletes.
    pub(crate) fn drift(&mut self, drift: &Json) {
        for (type_name, rows) in drift.as_object().into_iter().flatten() {
            for (name, row) in rows.as_object().into_iter().flatten() {
                let table = self.table(type_name);
                let Some(fields) = row.as_object() else {
                    table.remove(name);
                    continue;
                };
                let mut merged = table
                    .get(name)
                    .and_then(Json::as_object)
                    .cloned()
                    .unwrap_or_default();
                for (field, value) in fields {
                    merged.insert(field.clone(), value.clone());
                }
                merged.retain(|_, value| !value.is_null());
                table.insert(name.clone(), Json::Object(merged));
            }
        }
    }

    pub(crate) fn write(&mut self, type_name: &str, name: &str, field: &str, value: &Json) {
        let row = self
            .table(type_name)
            .entry(name)
            .or_insert_with(|| Json::Object(Map::new()))
            .as_object_mut()
            .expect("rows are objects");
        set(row, field, value);
    }
}

/// Sets a field; `null` removes it.
pub(crate) fn set(row: &mut Map<String, Json>, field: &str, value: &Json) {
    if value.is_null() {
        row.shift_remove(field);
    } else {
        row.insert(field.to_owned(), value.clone());
    }
}
