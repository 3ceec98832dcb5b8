//! `namespace()`: variables that keep their values after a loop.
//!
//! That of minijinja takes any value, itself included, which could not be measured or printed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use minijinja::value::{Enumerator, Object};
use minijinja::{Error, ErrorKind, Value};

use super::budget::Budget;

/// The object of `namespace()`. All its values together have at most the size of one value.
#[derive(Debug, Default)]
pub(super) struct TemplateNamespace {
    values: Mutex<BTreeMap<String, Value>>,
}

impl TemplateNamespace {
    /// `namespace()`, `namespace(MAP)` or `namespace(NAME=VALUE, …)`.
    ///
    /// # Errors
    /// The argument is not a map.
    pub(super) fn create(budget: &Budget, defaults: Option<&Value>) -> Result<Value, Error> {
        let namespace = TemplateNamespace::default();
        if let Some(defaults) = defaults {
            for name in defaults.try_iter()? {
                let text = name.as_str().ok_or_else(|| {
                    let text = "expected names and values for the namespace";
                    Error::new(ErrorKind::InvalidOperation, text)
                })?;
                namespace.set(budget, text, defaults.get_item(&name)?)?;
            }
        }
        Ok(Value::from_object(namespace))
    }

    /// Sets a value.
    ///
    /// # Errors
    /// The values become too large, or the value is a namespace.
    pub(super) fn set(&self, budget: &Budget, name: &str, value: Value) -> Result<(), Error> {
        let mut values = self.values();
        values.insert(name.to_owned(), value);
        let all = Value::from_object(values.clone());
        drop(values);
        budget.measure(&all).map(drop)
    }

    fn values(&self) -> MutexGuard<'_, BTreeMap<String, Value>> {
        self.values.lock().expect("nothing panics while it is held")
    }
}

impl Object for TemplateNamespace {
    fn get_value(self: &Arc<Self>, name: &Value) -> Option<Value> {
        self.values().get(name.as_str()?).cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let names = self.values().keys().cloned().map(Value::from).collect();
        Enumerator::Values(names)
    }
}
