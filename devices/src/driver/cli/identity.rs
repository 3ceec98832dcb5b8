//! The identity of lines: the attributes that distinguish them in addition to their names, such
//! as the VRF of an NTP server.

use super::found::FoundInstance;
use super::rules::InstanceKind;
use super::template::{LineTemplate, Vocabulary};
use super::{CliType, is_unset};
use crate::read::{ReadError, State};
use crate::value::{Attributes, Value};

impl CliType {
    /// Fails if the device has several lines with the names of a resource that differ in an
    /// attribute that identifies a line, such as the VRF, and the resource selects none of them.
    pub(super) fn check_unambiguous(
        &self,
        desired: &Attributes,
        state: &State,
    ) -> Result<(), ReadError> {
        let mut identity = self.identity();
        let Some(name) = identity.next() else {
            return Ok(());
        };
        let found = self.find_all(state, Some(desired));
        let mut values: Vec<String> = found
            .iter()
            .map(|one| set_value(&one.attributes, name).and_then(Value::scalar_text))
            .map(|text| text.unwrap_or_else(|| "unset".to_owned()))
            .collect();
        values.dedup();
        if values.len() < 2 || found.iter().any(|one| self.is_selected(desired, one)) {
            return Ok(());
        }
        let names = if self.model.namevars().any(|name| self.is_secret(name)) {
            String::new()
        } else {
            format!(" {}", self.instance_name(desired))
        };
        Err(ReadError {
            read: self.instance.from.clone(),
            message: format!(
                "{} lines have the name{names}, with {name} {}; set {name} to select one",
                found.len(),
                values.join(", "),
            ),
        })
    }

    /// The attributes beside the names that identify a line.
    fn identity(&self) -> impl Iterator<Item = &str> {
        let is_line = matches!(self.instance.kind, InstanceKind::Line { .. });
        let lines = self.instance.remove.iter().filter(move |_| is_line);
        let names = lines.flat_map(LineTemplate::attributes);
        names.filter(move |name| !self.is_namevar(name) && !self.is_secret(name))
    }

    /// Whether a line has the identity that a resource names.
    pub(super) fn is_selected(&self, desired: &Attributes, found: &FoundInstance) -> bool {
        let mut identity = self.identity();
        identity.all(|name| set_value(desired, name) == set_value(&found.attributes, name))
    }
}

/// The value of an attribute that is set.
fn set_value<'a>(attributes: &'a Attributes, name: &str) -> Option<&'a Value> {
    let value = attributes.get(name)?;
    (!is_unset(value)).then(|| value.unwrap_sensitive())
}
