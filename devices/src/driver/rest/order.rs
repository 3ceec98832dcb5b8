//! The order of objects in their list: an attribute has the name of the object before, and a request
//! moves an object.

use std::borrow::Cow;

use serde_json::Value as Json;

use super::definition::{OrderRule, RestDefinition, RestInstanceRule, RestLocation};
use super::lookups::answer;
use super::objects::FoundObject;
use super::read_requests::collections;
use super::writer::RequestWriter;
use crate::change::ChangeKind;
use crate::driver::implementation::RenderError;
use crate::operation::{Method, Operation};
use crate::read::State;
use crate::read::rows::JsonRow;
use crate::value::{Name, Value};

/// The placeholder for the first object of the list.
pub(super) const FIRST: &str = "first";

impl OrderRule {
    /// The value of an object: the name of the one before, or the word for none.
    pub(super) fn value(&self, found: &FoundObject<'_>) -> Value {
        match &found.previous {
            Some(name) => Value::from(name.as_ref()),
            None => self.none.clone(),
        }
    }

    /// Moves an object in a list, if the request is one that moves.
    pub(super) fn apply(
        &self,
        rule: &RestInstanceRule,
        (method, path): (Method, &str),
        list: &mut Json,
    ) -> bool {
        let Some(items) = list.as_array_mut().filter(|_| method == self.method) else {
            return false;
        };
        let index_of = |items: &[Json], name: &str| {
            items
                .iter()
                .position(|item| name_of(rule, item).as_deref() == Some(name))
        };
        for (template, offset) in [(&self.after, 1), (&self.before, 0)] {
            let Some(values) = template.values_in(path) else {
                continue;
            };
            let value = |hole: &str| values.iter().find(|(name, _)| *name == hole);
            let own = value(rule.key_attribute());
            let other = values
                .iter()
                .find(|(name, _)| *name != rule.key_attribute());
            let (Some((_, own)), Some((_, other))) = (own, other) else {
                continue;
            };
            let Some(index) = index_of(items, own) else {
                return false;
            };
            let moved = items.remove(index);
            let at = index_of(items, other).map_or(items.len(), |index| index + offset);
            items.insert(at, moved);
            return true;
        }
        false
    }
}

/// The name of an object in a list.
fn name_of<'a>(rule: &RestInstanceRule, item: &'a Json) -> Option<Cow<'a, str>> {
    let own = &rule.key[rule.own_key()];
    let row = JsonRow {
        name: None,
        value: item,
    };
    own.value_in(row).ok()
}

impl RequestWriter<'_> {
    /// The attribute with the position of an object.
    fn order(&self) -> Option<(&Name, &OrderRule)> {
        let mut rules = self.definition.attributes.iter();
        rules.find_map(|(name, rule)| match &rule.location {
            RestLocation::Order(order) => Some((name, order.as_ref())),
            _ => None,
        })
    }

    /// The request that moves the object to its position. A new object is the last one.
    pub(super) fn move_object(&self) -> Result<Option<Operation>, RenderError> {
        let Some((name, order)) = self.order() else {
            return Ok(None);
        };
        let creates = self.change.kind == ChangeKind::Create;
        let names = self.names();
        let desired = self.change.desired.attributes.get(name);
        let Some(desired) = desired.filter(|_| creates || self.change.attributes.contains(name))
        else {
            return Ok(None);
        };
        let is_first = *desired.unwrap_sensitive() == order.none;
        let is_last = match names.last() {
            Some(last) => desired.scalar_text().as_deref() == Some(last),
            None => is_first,
        };
        if creates && is_last {
            return Ok(None);
        }
        let path = if is_first {
            self.fill_with(&order.before, (FIRST, names.first().cloned()))?
        } else {
            self.path(&order.after, None)?
        };
        Ok(Some(self.request(
            vec![name.clone()],
            order.method,
            path,
            None,
        )))
    }

    /// The names of the objects in their order.
    fn names(&self) -> Vec<String> {
        let collection = collections(self.definition).into_iter().next();
        let rows = collection.and_then(|one| self.rows_of(self.definition, self.state, &one.read));
        rows.unwrap_or_default()
    }

    fn rows_of(
        &self,
        definition: &RestDefinition,
        state: &State,
        read: &str,
    ) -> Option<Vec<String>> {
        let rule = &definition.instance;
        let rows = rule.rows.as_ref()?.innermost();
        let rows = rows.rows(answer(state, read)?).ok()?;
        let names = rows.iter().filter_map(|row| name_of(rule, row.value));
        Some(names.map(Cow::into_owned).collect())
    }
}
