//! The instances that purging keeps: those of the device itself, and those that the session uses.

use std::net::IpAddr;
use std::sync::Arc;

use super::DriverProvider;
use crate::change::{Desired, Instance};
use crate::model::TypeModel;
use crate::provider::ProviderError;
use crate::value::Value;

impl DriverProvider {
    /// Per instance the reason why purging keeps it, if there is one.
    pub(super) async fn spared(
        &mut self,
        model: &Arc<TypeModel>,
        instances: &[Instance],
    ) -> Result<Vec<Option<String>>, ProviderError> {
        let used = self.used_by_session(model).await?;
        let mut reasons = Vec::new();
        for instance in instances {
            let mut reason = self.permanence(model, instance);
            if reason.is_none()
                && (used.contains(&name_of(model, instance))
                    || self
                        .needs_access(model, &instance.attributes, Some(&used))
                        .await?)
            {
                reason = Some("the session to the device uses it");
            }
            reasons.push(reason.map(str::to_owned));
        }
        Ok(reasons)
    }

    /// Why no purge removes an instance, whatever the session uses.
    fn permanence(&self, model: &Arc<TypeModel>, instance: &Instance) -> Option<&'static str> {
        if self.state.driver.is_singleton(model) {
            return Some("each device has exactly one");
        }
        let built_in = model.built_in.as_ref();
        let is_built_in =
            built_in.is_some_and(|pattern| pattern.is_match(&name_of(model, instance)));
        let is_permanent = !self.state.driver.is_removable(model);
        if is_built_in || is_permanent || self.is_reserved(model, instance) {
            return Some("it belongs to the device");
        }
        self.state
            .has_masked_name(model, instance)
            .then_some("its name is masked")
    }

    /// Whether the platform reserves an instance.
    fn is_reserved(&self, model: &Arc<TypeModel>, instance: &Instance) -> bool {
        let desired = Desired {
            reference: name_of(model, instance).as_str().into(),
            model: Arc::clone(model),
            attributes: instance.attributes.clone(),
        };
        self.state.driver.reserved(&desired).is_some()
    }

    /// The names of instances of a type that the session uses, as far as the configuration and
    /// types with addresses show.
    pub(super) async fn used_by_session(
        &mut self,
        model: &Arc<TypeModel>,
    ) -> Result<Vec<String>, ProviderError> {
        let addresses = self.reconnect.addresses().await;
        if addresses.is_empty() {
            return Ok(Vec::new());
        }
        let platform = Arc::clone(self.state.driver.platform());
        let mut used = Vec::new();
        if let Some(session_use) = &platform.session_use {
            let request = platform.reads.get(&session_use.read);
            let request = request.map(|rule| rule.request.clone());
            self.read_missing(request).await?;
            used.extend(session_use.names(&model.name, &self.state.now, &addresses));
        }
        let with_address = platform.type_drivers().map(|definition| &definition.model);
        for other in with_address.filter(|model| model.session_addresses().next().is_some()) {
            used.extend(self.used_through(other, model, &addresses).await?);
        }
        Ok(used)
    }

    /// The instances of `model` that an instance of `other` with one of these addresses is or needs.
    async fn used_through(
        &mut self,
        other: &Arc<TypeModel>,
        model: &Arc<TypeModel>,
        addresses: &[IpAddr],
    ) -> Result<Vec<String>, ProviderError> {
        let references: Vec<_> = other
            .references()
            .filter(|reference| reference.target == model.name)
            .collect();
        if (other.name != model.name && references.is_empty())
            || self.state.driver.supports(other).is_err()
        {
            return Ok(Vec::new());
        }
        let mut used = Vec::new();
        for instance in self.read_instances(other).await? {
            let names = other.session_addresses();
            let mut values = names.filter_map(|name| instance.attributes.get(name));
            if !values.any(|value| is_one_of(value, addresses)) {
                continue;
            }
            if other.name == model.name {
                used.push(name_of(other, &instance));
            }
            for reference in &references {
                used.extend(other.referenced_names(reference, &instance.attributes));
            }
        }
        Ok(used)
    }
}

/// The values of the namevars, separated by blanks.
pub(super) fn name_of(model: &TypeModel, instance: &Instance) -> String {
    let names = model.namevars();
    let names = names.filter_map(|name| instance.attributes.get(name));
    let names: Vec<String> = names
        .map(|value| value.unwrap_sensitive().ruby_to_s())
        .collect();
    names.join(" ")
}

/// Whether a value is one of the addresses, with or without prefix length and routing domain.
fn is_one_of(value: &Value, addresses: &[IpAddr]) -> bool {
    let text = value.unwrap_sensitive().ruby_to_s();
    let address = text.split(['/', '%']).next().unwrap_or_default();
    address
        .parse::<IpAddr>()
        .is_ok_and(|address| addresses.contains(&address))
}
