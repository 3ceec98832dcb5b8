//! `resources`: removes instances that are not in the catalog (section 6).

use std::sync::Arc;

use switchtender_devices::model::{Role, RunsOn, ValueSpec};
use switchtender_devices::value::Value;

use super::super::resource::Resource;
use super::{BehaviorError, Generation, ResourceType, TypeBehavior, ValueStyle, small_model};

pub(super) fn resource_type() -> ResourceType {
    let mut model = small_model(
        "resources",
        RunsOn::Host,
        &[
            ("name", Role::Namevar),
            ("purge", Role::Parameter),
            ("unless_system_user", Role::Parameter),
            ("unless_uid", Role::Parameter),
        ],
    );
    let purge = &mut model.attributes["purge"];
    purge.values = ["true", "false", "yes", "no"]
        .map(|name| ValueSpec::Literal(Value::Symbol(name.to_owned())))
        .to_vec();
    purge.default = Some(Value::Symbol("false".to_owned()));
    ResourceType {
        model: Arc::new(model),
        behavior: Arc::new(Purge),
    }
}

#[derive(Debug)]
struct Purge;

impl TypeBehavior for Purge {
    fn values(&self) -> ValueStyle {
        ValueStyle::Classic
    }

    fn is_purging(&self) -> bool {
        true
    }

    fn is_providerless(&self) -> bool {
        true
    }

    fn generate(&self, resource: &Resource) -> Result<Option<Generation>, BehaviorError> {
        let desired = matches!(
            resource.parameter("purge").and_then(Value::as_str),
            Some("true" | "yes")
        );
        Ok(desired.then(|| Generation::Purge {
            type_name: resource.name().to_lowercase().into(),
        }))
    }
}
