//! `notify`: logs a message in every run (section 7).

use std::sync::Arc;

use switchtender_devices::model::{AttributeModel, Role, RunsOn, ValueSpec};
use switchtender_devices::value::Value;

use super::super::resource::Resource;
use super::{NotifyMessage, ResourceType, TypeBehavior, ValueStyle, small_model};

pub(super) fn resource_type() -> ResourceType {
    let mut model = small_model(
        "notify",
        RunsOn::Both,
        &[
            ("name", Role::Namevar),
            ("message", Role::Property),
            ("withpath", Role::Parameter),
        ],
    );
    let withpath = &mut model.attributes["withpath"];
    withpath.values = ["true", "false"]
        .map(|name| ValueSpec::Literal(Value::Symbol(name.to_owned())))
        .to_vec();
    withpath.default = Some(Value::Symbol("false".to_owned()));
    ResourceType {
        model: Arc::new(model),
        behavior: Arc::new(Notify),
    }
}

#[derive(Debug)]
struct Notify;

impl TypeBehavior for Notify {
    fn values(&self) -> ValueStyle {
        ValueStyle::Classic
    }

    fn is_providerless(&self) -> bool {
        true
    }

    fn default(&self, attribute: &AttributeModel, name: &str, _managed: bool) -> Option<Value> {
        match attribute.name.as_str() {
            "message" => Some(name.into()),
            _ => attribute.default.clone(),
        }
    }

    fn in_sync(&self, _: &Resource, _: &str, _: &Value, _: &[Value]) -> Option<bool> {
        Some(false)
    }

    fn idempotent(&self, _: &str) -> bool {
        false
    }

    fn message(&self, resource: &Resource) -> Option<NotifyMessage> {
        Some(NotifyMessage {
            text: resource.desired("message")?.ruby_to_s(),
            with_path: resource.parameter("withpath").and_then(Value::as_str) == Some("true"),
        })
    }
}
