//! Changes that would cut off the session of an unprotected run, or the next login.
//!
//! Recognized are instances that the session visibly uses, as for purging (`spared`): one with the address of
//! the session, and those that `[session_use]`, the relations of the types and their key `access` name.

mod trunk;

use std::sync::Arc;

use super::DriverProvider;
use super::spared::name_of;
use crate::change::Desired;
use crate::model::TypeModel;
use crate::model::access::{AccessKey, DEFAULT_LIST, RoutePrefix};
use crate::provider::state::Inspection;
use crate::provider::{ProviderError, ProviderErrorKind};
use crate::value::Attributes;

impl DriverProvider {
    /// Permits changes of what the session uses.
    #[must_use]
    pub fn allow_own_path(mut self, permitted: bool) -> Self {
        self.allow_own_path = permitted;
        self
    }

    /// Refuses a change of what the session or a login visibly uses, unless the device would revert it.
    pub(super) async fn check_own_path(
        &mut self,
        desired: &Desired,
        inspection: &Inspection,
    ) -> Result<(), ProviderError> {
        if self.allow_own_path || inspection.differs.is_empty() {
            return Ok(());
        }
        let desired = inspection.resolved.as_deref().unwrap_or(desired);
        let access = desired.model.access.as_ref();
        let mut changed = inspection.differs.iter().map(|name| &**name);
        let affects_access = access.is_some_and(|access| access.is_affected_by(&mut changed));
        let touches = self.cuts_instance(desired, inspection).await
            || (affects_access
                && self
                    .needs_access(&desired.model, &desired.attributes, None)
                    .await?)
            || self.drops_vlan(desired, inspection).await
            || self.drops_trunk(desired, inspection).await;
        if !touches || self.is_protected().await {
            return Ok(());
        }
        let text = "cannot change it: the session to the device uses it, and the device would not revert \
                    the change; `--allow own-path` permits it";
        Err(ProviderError::new(ProviderErrorKind::Refused, text))
    }

    /// Whether a change removes or shuts down an instance that the session uses, or changes its address or
    /// what the key `access` of its type names. Ports that carry a VLAN of the session count when they are shut down.
    async fn cuts_instance(&mut self, desired: &Desired, inspection: &Inspection) -> bool {
        let Some(current) = inspection.current.as_deref() else {
            return false;
        };
        let (model, differs) = (&desired.model, &inspection.differs);
        let changes = |attribute: &str| differs.iter().any(|name| name == attribute);
        let shuts_down = model.shutdown.as_ref().is_some_and(|shutdown| {
            changes(&shutdown.attribute) && shutdown.is_shut_down(&desired.attributes) == Some(true)
        });
        let has_address = model.session_addresses().next().is_some();
        let changes_path = match &model.access {
            Some(AccessKey::Changes { attributes }) => attributes.iter().any(|name| changes(name)),
            _ => false,
        };
        if !(shuts_down || has_address || changes_path || desired.is_absent()) {
            return false;
        }
        let name = name_of(model, current);
        let used = self.used_by_session(model).await.unwrap_or_default();
        used.contains(&name) || (shuts_down && self.trunks_of_session().await.contains(&name))
    }

    /// Whether the session or a login needs this instance, by the key `access` of its type. `used`: the
    /// names of instances that the session uses, if they are known.
    pub(super) async fn needs_access(
        &mut self,
        model: &Arc<TypeModel>,
        attributes: &Attributes,
        used: Option<&[String]>,
    ) -> Result<bool, ProviderError> {
        let text = |attribute: &String| {
            let value = attributes.get(attribute);
            value.map_or_else(String::new, |value| value.unwrap_sensitive().ruby_to_s())
        };
        Ok(match &model.access {
            None | Some(AccessKey::Changes { .. } | AccessKey::Trunk { .. }) => false,
            Some(AccessKey::Login {
                attribute,
                pattern,
                list,
                ..
            }) => {
                let is_login = pattern.is_match(&text(attribute));
                let list = list.as_ref().map(text).filter(|name| name != DEFAULT_LIST);
                match (list, used) {
                    (Some(name), Some(used)) if is_login => used.contains(&name),
                    (Some(name), None) if is_login => {
                        self.used_by_session(model).await?.contains(&name)
                    }
                    _ => is_login,
                }
            }
            Some(AccessKey::User { attribute }) => self
                .reconnect
                .user()
                .is_some_and(|user| user == text(attribute)),
            Some(AccessKey::Filter { attribute }) => {
                let name = text(attribute);
                match used {
                    Some(used) => used.contains(&name),
                    None => self.used_by_session(model).await?.contains(&name),
                }
            }
            Some(access @ AccessKey::Route { .. }) => {
                let Some(prefix) = access.prefix(attributes) else {
                    return Ok(false);
                };
                if self.proxy_addresses.is_none() {
                    self.proxy_addresses = Some(self.reconnect.proxy_addresses().await);
                }
                let mut proxy = self.proxy_addresses.iter().flatten();
                let routed = proxy.find(|address| prefix.contains(**address));
                let Some(address) = routed.copied() else {
                    return Ok(false);
                };
                let instances = self.read_instances(model).await?;
                let routes = instances.iter();
                let mut others: Vec<RoutePrefix> = routes
                    .filter_map(|route| access.prefix(&route.attributes))
                    .collect();
                others.extend(self.connected_prefixes().await);
                !others
                    .iter()
                    .any(|other| other.contains(address) && other.is_longer_than(&prefix))
            }
        })
    }

    /// The networks of the addresses of the device, which need no route.
    async fn connected_prefixes(&mut self) -> Vec<RoutePrefix> {
        let types = self.state.driver.platform().type_drivers();
        let models = types.map(|definition| Arc::clone(&definition.model));
        let models: Vec<Arc<TypeModel>> = models
            .filter(|model| !model.owns_address.is_empty())
            .collect();
        let mut prefixes = Vec::new();
        for model in models {
            if self.state.driver.supports(&model).is_err() {
                continue;
            }
            // What cannot be read is no reason to permit the change.
            for instance in self.read_instances(&model).await.unwrap_or_default() {
                let owned = model.owns_address.iter();
                let values = owned.filter_map(|name| instance.attributes.get(name));
                let texts = values.map(|value| value.unwrap_sensitive().ruby_to_s());
                prefixes.extend(texts.filter_map(|text| RoutePrefix::parse(&text, None)));
            }
        }
        prefixes
    }
}
