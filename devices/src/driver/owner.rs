//! Which of several types owns a setting or a line that each of them configures.
//!
//! An export declares it with this type, coverage names it, and findings recommend it.

use std::collections::BTreeSet;

use super::Driver;
use crate::map::IndexMap;
use crate::model::TypeModel;
use crate::names::TypeName;
use crate::value::Name;

/// An attribute of a type, by their names.
pub type SettingUser = (TypeName, Name);

impl Driver {
    /// The index of the type that owns what all of these types configure: the one with most settings. Of types with
    /// equally many, it is the first.
    pub fn owner(&self, candidates: &[&TypeModel]) -> usize {
        let counts = candidates.iter().map(|model| {
            let slots = self.effect_slots(model).into_iter();
            let settings = slots.map(|slot| (slot.location, slot.what));
            settings.collect::<BTreeSet<_>>().len()
        });
        let counts: Vec<usize> = counts.collect();
        let most = counts.iter().max().copied();
        let owner = counts.iter().position(|count| Some(*count) == most);
        owner.unwrap_or_default()
    }

    /// The line of which each instance of a type is one, as its template. Types with equal lines have the same
    /// instances, and the names that they have in common tell these apart.
    pub fn instance_line(&self, model: &TypeModel) -> Option<String> {
        self.supported(model)?.instance_line()
    }

    /// The attributes by which several of these types configure one setting of an instance with the same names. The
    /// first of each list belongs to the owner.
    pub fn shared_settings(&self, models: &[&TypeModel]) -> Vec<Vec<SettingUser>> {
        let mut by_slot: IndexMap<(String, String), Vec<(usize, Name)>> = IndexMap::default();
        for (index, model) in models.iter().enumerate() {
            let slots = self.effect_slots(model).into_iter();
            // A setting of another instance, or the removal of all settings, is shared with resources of other names.
            for slot in slots.filter(|slot| !slot.within_type && !slot.is_removal) {
                let users = by_slot.entry((slot.location, slot.what)).or_default();
                users.push((index, slot.attribute.into()));
            }
        }
        let is_shared = |users: &Vec<(usize, Name)>| users.iter().any(|user| user.0 != users[0].0);
        let shared = by_slot.into_values().filter(is_shared);
        let in_order = shared.map(|mut users| {
            let candidates: Vec<&TypeModel> = users.iter().map(|user| models[user.0]).collect();
            let owner = users.remove(self.owner(&candidates));
            users.insert(0, owner);
            let users = users.into_iter();
            users
                .map(|(index, attribute)| (models[index].name.clone(), attribute))
                .collect()
        });
        in_order.collect()
    }
}
