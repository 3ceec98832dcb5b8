//! Instances that the changes of other resources removed, until their own resources are evaluated.
//!
//! A device refuses two access list entries with the same text. Entries that exchange their texts
//! therefore remove each other. Each resource compares with the instance before the run, so that
//! its event has the change that the run made.

use std::sync::Arc;

use super::DeviceState;
use crate::change::{Change, Desired, Instance};
use crate::model::TypeModel;
use crate::value::{Attributes, Name, Value};

#[derive(Default)]
pub(in crate::provider) struct DisplacedInstances(Vec<(Arc<TypeModel>, Instance)>);

impl DisplacedInstances {
    /// The removed instance of a resource.
    pub(in crate::provider) fn get(&self, desired: &Desired) -> Option<&Instance> {
        let mut all = self.0.iter();
        let found = all.find(|displaced| is_of(displaced, desired));
        found.map(|(_, instance)| instance)
    }
}

impl DeviceState {
    /// The instances of other resources that a change removes, because the device refuses both.
    pub(in crate::provider) fn displaced_by(&self, change: &Change) -> Vec<Instance> {
        self.driver.displaced(&self.resolved(change), &self.now)
    }

    /// Records the instances that a change removed, and forgets the one of its own resource.
    pub(in crate::provider) fn record_displaced(
        &mut self,
        change: &Change,
        displaced: Vec<Instance>,
    ) {
        let own = &change.desired;
        self.displaced.0.retain(|other| !is_of(other, own));
        for instance in displaced {
            let names = own.model.namevars();
            let names = names.filter_map(|name| {
                Some((Name::from(name), instance.attributes.get(name)?.clone()))
            });
            let other = Desired {
                reference: Arc::clone(&own.reference),
                model: Arc::clone(&own.model),
                attributes: Attributes::from_iter(names),
            };
            if let Ok(None) = self.driver.instance(&other, &self.now) {
                self.displaced.0.push((other.model, instance));
            }
        }
    }
}

fn is_of((model, instance): &(Arc<TypeModel>, Instance), desired: &Desired) -> bool {
    let value = |attributes: &Attributes, name: &str| {
        attributes.get(name).map(Value::unwrap_sensitive).cloned()
    };
    let mut names = model.namevars();
    model.name == desired.model.name
        && names.all(|name| value(&instance.attributes, name) == value(&desired.attributes, name))
}
