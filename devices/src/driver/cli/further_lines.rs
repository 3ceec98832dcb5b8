//! Instances of several lines that each have the names, where a further line adds to the instance:
//! `username ann privilege 15` and `username ann autocommand …`.

use super::CliType;
use super::found::FoundInstance;
use crate::map::IndexMap;
use crate::value::Attributes;

impl CliType {
    /// Takes the lines that are further ones of instances, if the device removes all lines with the
    /// names together. Those that are understood are merged; returns the others.
    pub(super) fn take_further_lines(&self, all: &mut Vec<FoundInstance>) -> Vec<FoundInstance> {
        if !self.adds_lines() || all.len() < 2 {
            return Vec::new();
        }
        let mut merged: IndexMap<String, FoundInstance> = IndexMap::default();
        let mut further = Vec::new();
        for mut found in std::mem::take(all) {
            let names = self.names_as_text(&found.attributes);
            let Some(own) = merged.get_mut(&names) else {
                merged.insert(names, found);
                continue;
            };
            if own.is_not_understood {
                std::mem::swap(own, &mut found);
            }
            if found.is_not_understood {
                further.push(found);
            } else {
                add_missing(&mut own.attributes, found.attributes);
                add_missing(&mut own.unmanaged, found.unmanaged);
            }
        }
        all.extend(merged.into_iter().map(|(_, found)| found));
        further
    }

    /// Marks the instances that have lines that are not understood.
    pub(super) fn mark_further_lines(
        &self,
        all: &mut [FoundInstance],
        further: Vec<FoundInstance>,
    ) {
        for line in further {
            let mut own = all.iter_mut();
            let own = own.find(|own| self.has_names(&own.attributes, &line.attributes));
            if let Some(own) = own {
                own.is_not_understood = true;
                own.line = line.line;
            }
        }
    }

    /// Whether a further line with the names of an instance adds to it: `remove` has the names only.
    pub(super) fn adds_lines(&self) -> bool {
        let remove = &self.instance.remove;
        self.instance.kind.is_line()
            && !self.instance.kind.has_forms()
            && !remove.is_empty()
            && remove.iter().all(|line| {
                let mut attributes = line.attributes().into_iter();
                line.captures().is_empty() && attributes.all(|name| self.is_namevar(name))
            })
    }
}

/// Adds the values of names that have none.
fn add_missing(own: &mut Attributes, others: Attributes) {
    for (name, value) in others {
        if !own.contains_key(&name) {
            own.insert(name, value);
        }
    }
}
