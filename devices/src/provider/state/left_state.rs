//! What an earlier run has left on the device, for the run that undoes it.

use std::collections::BTreeMap;

use crate::map::IndexMap;
use crate::value::Attributes;

/// What a run has left of the resources that are undone.
pub struct LeftState {
    /// The names of the reads at the end of the run.
    pub reads: Vec<String>,
    /// The resources by reference.
    pub resources: IndexMap<String, LeftResource>,
    /// The digest that stands for a secret.
    pub digest: Box<dyn Fn(&str) -> String + Send + Sync>,
}

/// What a run has left of a resource.
#[derive(Clone, Debug, Default)]
pub struct LeftResource {
    /// The texts of its attributes, or digests of them. `None`: the device had no such instance.
    pub attributes: Option<BTreeMap<String, String>>,
    /// The device did not have the instance before the run.
    pub was_absent: bool,
}

impl LeftState {
    /// Whether the device did not have the instance before the run.
    pub(super) fn was_absent(&self, reference: &str) -> bool {
        let resource = self.resources.get(reference);
        resource.is_some_and(|resource| resource.was_absent)
    }

    /// Whether the run had a read at its end.
    pub(super) fn has_read(&self, name: &str) -> bool {
        self.reads.iter().any(|read| read == name)
    }

    /// What changed since the run, one text for each attribute. `is_in_reads`: whether the reads of the run have an
    /// attribute.
    pub(super) fn changes_since(
        &self,
        reference: &str,
        now: Option<&Attributes>,
        is_in_reads: &dyn Fn(&str) -> bool,
    ) -> Vec<String> {
        let Some(resource) = self.resources.get(reference) else {
            return Vec::new();
        };
        let (left, now) = match (&resource.attributes, now) {
            (None, None) => return Vec::new(),
            (Some(_), None) => return vec!["it was removed since the run".to_owned()],
            (None, Some(_)) => return vec!["it was created since the run".to_owned()],
            (Some(left), Some(now)) => (left, now),
        };
        let is_left = |name: &str| match (left.get(name), now.get(name)) {
            (None, None) => true,
            (Some(left), Some(now)) => {
                let text = now.unwrap_sensitive().display();
                *left == text || *left == (self.digest)(&text)
            }
            _ => false,
        };
        let names = left.keys().map(String::as_str);
        let added = now.iter().map(|(name, _)| &**name);
        let names =
            names.chain(added.filter(|name| !left.contains_key(*name) && is_in_reads(name)));
        let changed = names.filter(|name| !is_left(name));
        changed
            .map(|name| format!("{name} changed since the run"))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{LeftResource, LeftState};
    use crate::value::{Attributes, Name, Value};

    fn attributes(values: &[(&str, &str)]) -> Attributes {
        let values = values.iter();
        values
            .map(|(name, value)| (Name::from(*name), Value::String((*value).to_owned())))
            .collect()
    }

    #[test]
    fn changes_since_a_run_are_those_of_values_and_of_instances() {
        let left = [("name", "'ten'"), ("secret", "digest of 'key'")];
        let left = left.map(|(name, text)| (name.to_owned(), text.to_owned()));
        let same_resource = LeftResource {
            attributes: Some(left.into_iter().collect()),
            was_absent: true,
        };
        let state = LeftState {
            reads: Vec::new(),
            resources: [
                ("same".to_owned(), same_resource),
                ("removed".to_owned(), LeftResource::default()),
            ]
            .into_iter()
            .collect(),
            digest: Box::new(|text| format!("digest of {text}")),
        };
        let same = attributes(&[("name", "ten"), ("secret", "key")]);
        let other = attributes(&[("name", "11"), ("secret", "key"), ("mtu", "9000")]);
        let cases: [(&str, Option<&Attributes>, &[&str]); 6] = [
            ("same", Some(&same), &[]),
            (
                "same",
                Some(&other),
                &["name changed since the run", "mtu changed since the run"],
            ),
            ("same", None, &["it was removed since the run"]),
            ("removed", None, &[]),
            ("removed", Some(&same), &["it was created since the run"]),
            ("unknown", Some(&same), &[]),
        ];
        for (reference, now, changes) in cases {
            assert_eq!(state.changes_since(reference, now, &|_| true), changes);
        }
        let changes = state.changes_since("same", Some(&other), &|name| name != "mtu");
        assert_eq!(changes, ["name changed since the run"]);
        assert!(state.was_absent("same") && !state.was_absent("removed"));
    }
}
