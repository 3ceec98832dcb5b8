//! The identity of lines: the attributes that distinguish them in addition to their names, such
//! as the VRF of an NTP server.

use std::collections::BTreeSet;
use std::collections::hash_map::Entry;

use foldhash::HashMap;

use super::CliType;
use super::found::FoundInstance;
use super::template::{LineTemplate, Vocabulary};
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
            .map(|one| {
                self.set_value(&one.attributes, name)
                    .and_then(Value::scalar_text)
            })
            .map(|text| text.unwrap_or_else(|| "not set".to_owned()))
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

    /// Marks the instances that others have the names and the identity of: which of them a resource
    /// stands for is unknown.
    pub(super) fn mark_equal_names(&self, all: &mut [FoundInstance]) {
        for index in self.with_equal_names(all.iter()) {
            let found = &mut all[index];
            found.is_not_understood = true;
            let text = self.text_of(found);
            found.line.get_or_insert(text);
        }
    }

    /// The positions of the instances that others have the names and the identity of.
    pub(super) fn with_equal_names<'f>(
        &self,
        all: impl Iterator<Item = &'f FoundInstance>,
    ) -> BTreeSet<usize> {
        let identity: Vec<&str> = self.identity().collect();
        let mut first: HashMap<String, usize> = HashMap::default();
        let mut equal = BTreeSet::new();
        // A line that is not understood is told as such, and hinders the changes.
        let understood = all.enumerate().filter(|(_, one)| one.is_understood());
        for (index, found) in understood {
            let mut key = self.names_as_text(&found.attributes);
            for name in &identity {
                let value = self
                    .set_value(&found.attributes, name)
                    .and_then(Value::scalar_text);
                key.push_str(&value.unwrap_or_default());
                key.push('\0');
            }
            match first.entry(key) {
                Entry::Occupied(other) => equal.extend([*other.get(), index]),
                Entry::Vacant(free) => {
                    free.insert(index);
                }
            }
        }
        equal
    }

    /// The line of an instance, the header of its block, or its name in a table.
    pub(super) fn text_of(&self, found: &FoundInstance) -> String {
        let line = found.line.as_ref().or(found.block.last());
        line.cloned()
            .unwrap_or_else(|| self.instance_name(&found.attributes))
    }

    /// The attributes beside the names that identify a line.
    fn identity(&self) -> impl Iterator<Item = &str> {
        let is_line = self.instance.kind.is_line();
        let lines = self.instance.remove.iter().filter(move |_| is_line);
        let names = lines.flat_map(LineTemplate::attributes);
        names.filter(move |name| !self.is_namevar(name) && !self.is_secret(name))
    }

    /// Whether a line has the identity that a resource names.
    pub(super) fn is_selected(&self, desired: &Attributes, found: &FoundInstance) -> bool {
        let mut identity = self.identity();
        identity
            .all(|name| self.set_value(desired, name) == self.set_value(&found.attributes, name))
    }

    /// The value of an attribute that is set.
    fn set_value<'a>(&self, attributes: &'a Attributes, name: &str) -> Option<&'a Value> {
        let value = attributes.get(name)?;
        (!self.is_unset(name, value)).then(|| value.unwrap_sensitive())
    }
}
