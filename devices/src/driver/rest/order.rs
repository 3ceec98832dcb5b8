//! The order of objects in their list: an attribute has the name of the object before, and a request
//! moves an object.

use std::borrow::Cow;

use serde_json::Value as Json;

use super::definition::{ObjectMove, OrderRule, RestInstanceRule, RestLocation};
use super::lookups::answer;
use super::objects::FoundObject;
use super::read_requests::collections;
use super::template::{TextTemplate, UnfilledHole};
use super::writer::{RequestWriter, error};
use crate::change::ChangeKind;
use crate::driver::implementation::RenderError;
use crate::driver::json_body::Body;
use crate::operation::{Method, Operation};
use crate::read::field_path::FieldPath;
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
        let ObjectMove::Requests {
            method: own_method,
            after,
            before,
        } = &self.moves
        else {
            return false;
        };
        let Some(items) = list.as_array_mut().filter(|_| method == *own_method) else {
            return false;
        };
        let own_name = rule.key_attribute();
        for (template, offset) in [(after, 1), (before, 0)] {
            let Some(values) = template.values_in(path) else {
                continue;
            };
            let mut names = values.iter();
            let Some((_, own)) = names.find(|(name, _)| *name == own_name) else {
                continue;
            };
            let other = values.iter().find(|(name, _)| *name != own_name);
            let other = other.map(|(_, other)| other.as_str());
            return move_item(rule, items, own, (other, offset));
        }
        false
    }

    /// Moves an object in a list, if its element in an edit has the attributes of a move.
    pub(super) fn apply_attributes(
        &self,
        rule: &RestInstanceRule,
        (own, element): (&str, &Json),
        list: &mut Json,
    ) -> bool {
        let ObjectMove::Attributes { after, before } = &self.moves else {
            return false;
        };
        let Some(items) = list.as_array_mut() else {
            return false;
        };
        for (attributes, offset) in [(after, 1), (before, 0)] {
            let values = attributes.iter().map(|(name, template)| {
                let text = element.get(format!("@{name}"))?.as_str()?;
                template.values_in(text)
            });
            let Some(values) = values.collect::<Option<Vec<_>>>() else {
                continue;
            };
            let mut values = values.into_iter().flatten();
            let other = values.next().map(|(_, other)| other);
            return move_item(rule, items, own, (other.as_deref(), offset));
        }
        false
    }
}

/// Moves the item with a name to another one, or to the beginning.
fn move_item(
    rule: &RestInstanceRule,
    items: &mut Vec<Json>,
    own: &str,
    (other, offset): (Option<&str>, usize),
) -> bool {
    let index_of = |items: &[Json], name: &str| {
        let mut items = items.iter();
        items.position(|item| name_of(rule, item).as_deref() == Some(name))
    };
    let Some(index) = index_of(items, own) else {
        return false;
    };
    let moved = items.remove(index);
    let at = match other {
        Some(other) => index_of(items, other).map_or(items.len(), |index| index + offset),
        None => 0,
    };
    items.insert(at, moved);
    true
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
        let first = (FIRST, names.first().cloned());
        let operation = match &order.moves {
            ObjectMove::Requests {
                method,
                after,
                before,
            } => {
                let path = if is_first {
                    self.fill_with(before, first)?
                } else {
                    self.path(after, None)?
                };
                self.request(vec![name.clone()], *method, path, None)
            }
            ObjectMove::Attributes { after, before } => {
                let attributes = if is_first { before } else { after };
                let body = self.move_attributes(attributes, first)?;
                let path = self.path(&self.definition.instance.object, None)?;
                self.request(vec![name.clone()], Method::Patch, path, Some(body))
            }
        };
        Ok(Some(operation))
    }

    /// The attributes of an element that move it.
    fn move_attributes(
        &self,
        attributes: &[(String, TextTemplate)],
        (first, first_name): (&str, Option<String>),
    ) -> Result<Body, RenderError> {
        let mut body = Body::object();
        for (attribute, template) in attributes {
            let desired = &self.change.desired.attributes;
            let text = template.fill(|hole| {
                if hole == first {
                    return first_name.clone();
                }
                desired.get(hole).and_then(Value::scalar_text)
            });
            let text = text.map_err(|UnfilledHole(name)| error(&name, "has no value"))?;
            // A name between quotation marks ends with the next one.
            let marks = template.to_string().matches('\'').count();
            if marks > 0 && text.matches('\'').count() > marks {
                let name = template.holes().next().unwrap_or_default();
                return Err(error(
                    name,
                    "cannot contain `'`, which ends the name in an edit",
                ));
            }
            let field = FieldPath::of(&format!("@{attribute}"));
            body.put(&field, Json::from(text).into());
        }
        Ok(body)
    }

    /// The names of the objects in the list of the resource, in their order.
    fn names(&self) -> Vec<String> {
        let rule = &self.definition.instance;
        let collection = collections(self.definition).into_iter().next();
        let answer = collection.and_then(|one| answer(self.state, &one.read));
        let rows = rule.rows.as_ref().zip(answer);
        let rows = rows.and_then(|(rows, answer)| rows.rows(answer).ok());
        let own = &rule.key[rule.own_key()];
        let outer = || rule.key.iter().filter(|key| key.up > 0);
        let rows = rows.into_iter().flatten();
        let siblings = rows.filter(|row| outer().all(|key| self.is_desired(key, row)));
        let names = siblings.filter_map(|row| own.value(&row).ok().map(Cow::into_owned));
        names.collect()
    }
}
