//! Trunks that carry a VLAN of the session: changes that remove it, shut the port down or end the trunk.
//!
//! A device does not show which of them has the session: each counts.

use std::sync::Arc;

use super::{DriverProvider, name_of};
use crate::change::Desired;
use crate::model::access::{AccessKey, carries_vlan};
use crate::model::{Reference, TypeModel};
use crate::provider::state::Inspection;
use crate::value::Attributes;

impl DriverProvider {
    /// The names of trunks that carry a VLAN of the session.
    pub(super) async fn trunks_of_session(&mut self) -> Vec<String> {
        let platform = Arc::clone(self.state.driver.platform());
        let models = platform.type_drivers().map(|definition| &definition.model);
        let (mut names, mut others) = (Vec::new(), Vec::new());
        for model in models.filter(|model| matches!(model.access, Some(AccessKey::Trunk { .. }))) {
            if self.state.driver.supports(model).is_err() {
                continue;
            }
            for instance in self.read_instances(model).await.unwrap_or_default() {
                let vlans = self.session_vlans_of(model, &instance.attributes).await;
                let is_used = !vlans.is_empty();
                let found = if is_used { &mut names } else { &mut others };
                found.push(name_of(model, &instance));
            }
        }
        // Of several types for ports, one can lack the list of VLANs.
        names.retain(|name| !others.contains(name));
        names
    }

    /// The VLANs of the session that a port carries as a trunk.
    async fn session_vlans_of(
        &mut self,
        model: &Arc<TypeModel>,
        attributes: &Attributes,
    ) -> Vec<u64> {
        let is_trunk = |access: &AccessKey| access.is_trunk(attributes);
        if !model.access.as_ref().is_some_and(is_trunk) {
            return Vec::new();
        }
        let lists = model
            .references()
            .filter(|reference| reference.is_numbers());
        let mut carried = Vec::new();
        for (number, list) in lists.enumerate() {
            let mut vlans = self.session_vlans(list).await;
            let value = attributes.get(list.attribute.as_str());
            vlans.retain(|vlan| value.is_none_or(|value| carries_vlan(value, *vlan, true)));
            match number {
                0 => carried = vlans,
                _ => carried.retain(|vlan| vlans.contains(vlan)),
            }
        }
        carried
    }

    /// The VLANs of the session, of the type to which a list refers.
    async fn session_vlans(&mut self, list: &Reference) -> Vec<u64> {
        let definition = self.state.driver.platform().type_driver(&list.target);
        let Some(model) = definition.map(|definition| Arc::clone(&definition.model)) else {
            return Vec::new();
        };
        let used = self.used_by_session(&model).await.unwrap_or_default();
        used.iter().filter_map(|name| name.parse().ok()).collect()
    }

    /// Whether a trunk with a VLAN of the session ceases to be a trunk, or gets another native VLAN, where one
    /// of the two is that of the session.
    pub(super) async fn drops_trunk(&mut self, desired: &Desired, inspection: &Inspection) -> bool {
        let model = &desired.model;
        let (Some(access), Some(current)) = (&model.access, inspection.current.as_deref()) else {
            return false;
        };
        let AccessKey::Trunk {
            attribute, native, ..
        } = access
        else {
            return false;
        };
        let changes = |attribute: &String| inspection.differs.iter().any(|name| name == attribute);
        let ceases =
            desired.is_absent() || (changes(attribute) && !access.is_trunk(&desired.attributes));
        let native = native.as_ref().filter(|native| changes(native));
        if !ceases && native.is_none() {
            return false;
        }
        let carried = self.session_vlans_of(model, &current.attributes).await;
        let is_carried = |attributes: &Attributes, native: &String| {
            let value = attributes.get(native.as_str());
            let vlan = value.and_then(|value| value.unwrap_sensitive().ruby_to_s().parse().ok());
            vlan.is_some_and(|vlan| carried.contains(&vlan))
        };
        (ceases && !carried.is_empty())
            || native.is_some_and(|native| {
                is_carried(&current.attributes, native) || is_carried(&desired.attributes, native)
            })
    }

    /// Whether a change removes the VLAN of the session from a list of VLANs.
    pub(super) async fn drops_vlan(&mut self, desired: &Desired, inspection: &Inspection) -> bool {
        let empty = Attributes::default();
        let current = inspection.current.as_deref();
        let before = current.map_or(&empty, |current| &current.attributes);
        let lists = desired.model.references().filter(|reference| {
            let mut differs = inspection.differs.iter();
            reference.is_numbers() && differs.any(|name| *name == reference.attribute)
        });
        for reference in lists {
            let Some(after) = desired.attributes.get(reference.attribute.as_str()) else {
                continue;
            };
            let before = before.get(reference.attribute.as_str());
            for vlan in self.session_vlans(reference).await {
                let was_carried = before.is_none_or(|list| carries_vlan(list, vlan, true));
                if was_carried && !carries_vlan(after, vlan, was_carried) {
                    return true;
                }
            }
        }
        false
    }
}
