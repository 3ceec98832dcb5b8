//! The validation and the values of the test types, as their Ruby code has them.

use switchtender::catalog::resource::Resource;
use switchtender::catalog::types::{
    BehaviorError, Generation, NewResource, TypeBehavior, ValueStyle, ValueTraits, allowed,
};
use switchtender_devices::model::AttributeModel;
use switchtender_devices::value::Value;

use crate::conformance::world::Shared;

#[derive(Debug)]
pub(super) struct Classic {
    pub(super) type_name: String,
    pub(super) world: Shared,
}

impl TypeBehavior for Classic {
    fn values(&self) -> ValueStyle {
        ValueStyle::Classic
    }

    fn munge(
        &self,
        _: &Resource,
        attribute: &AttributeModel,
        value: &Value,
    ) -> Result<Value, BehaviorError> {
        match attribute.name.as_str() {
            "mtu" => {
                let text = value.ruby_to_s();
                if text.is_empty() || !text.chars().all(|c| c.is_ascii_digit()) {
                    let text = format!("mtu must be a number, got {}", value.inspect());
                    return Err(BehaviorError(text));
                }
                Ok(Value::Integer(text.parse().expect("digits")))
            }
            "description" if *value == Value::string("absent") => Ok(Value::Absent),
            _ => allowed(&attribute.values, value),
        }
    }

    fn default(&self, attribute: &AttributeModel, _: &str, managed: bool) -> Option<Value> {
        if attribute.name == "ensure" && self.has_standard_ensure() {
            return managed.then(|| "present".into());
        }
        attribute.default.clone()
    }

    fn validate(&self, resource: &Resource) -> Result<(), BehaviorError> {
        let speed = resource.desired("speed");
        if self.type_name == "dev_port"
            && speed.is_some_and(|speed| speed.as_str() == Some("auto"))
            && resource.desired("mtu").as_deref() == Some(&9999.into())
        {
            let text = "mtu and speed auto cannot be combined".to_owned();
            return Err(BehaviorError(text));
        }
        Ok(())
    }

    fn in_sync(
        &self,
        resource: &Resource,
        property: &str,
        current: &Value,
        desired: &[Value],
    ) -> Option<bool> {
        let sorted = |values: &[Value]| {
            let mut texts: Vec<String> = values.iter().map(Value::ruby_to_s).collect();
            texts.sort();
            texts
        };
        match property {
            "vlans" => Some(
                current
                    .as_list()
                    .is_some_and(|list| sorted(list) == sorted(desired)),
            ),
            "outcome" => {
                Some(resource.parameter("refreshonly").and_then(Value::as_str) == Some("true"))
            }
            _ => None,
        }
    }

    fn change_text(&self, property: &str) -> Option<String> {
        (property == "outcome").then(|| "executed successfully".to_owned())
    }

    fn traits(&self, property: &str, desired: &Value) -> ValueTraits {
        match (self.type_name.as_str(), property, desired.as_str()) {
            ("dev_daemon", "ensure", Some("running")) => ValueTraits {
                event: Some("daemon_started"),
                invalidates_refreshes: true,
                own_setter: true,
            },
            ("dev_daemon", "ensure", Some("stopped")) => ValueTraits {
                event: Some("daemon_stopped"),
                own_setter: true,
                ..ValueTraits::default()
            },
            (_, "ensure", _) => ValueTraits {
                own_setter: true,
                ..ValueTraits::default()
            },
            _ => ValueTraits::default(),
        }
    }

    fn has_standard_ensure(&self) -> bool {
        self.type_name != "dev_daemon"
    }

    fn idempotent(&self, property: &str) -> bool {
        property != "outcome"
    }

    fn generate(&self, resource: &Resource) -> Result<Option<Generation>, BehaviorError> {
        if self.type_name != "dev_pool" {
            return Ok(None);
        }
        self.generator_fault("Dev_pool", resource)?;
        let made = items(resource, "members")
            .into_iter()
            .map(|member| NewResource {
                type_name: "dev_vlan".into(),
                title: member,
                parameters: [
                    ("ensure".to_owned(), "present".into()),
                    (
                        "label".to_owned(),
                        format!("from {}", resource.name()).into(),
                    ),
                ]
                .into_iter()
                .collect(),
            });
        Ok(Some(Generation::Resources(made.collect())))
    }

    fn eval_generate(&self, resource: &Resource) -> Result<Vec<NewResource>, BehaviorError> {
        if self.type_name != "dev_tree" {
            return Ok(Vec::new());
        }
        self.generator_fault("Dev_tree", resource)?;
        let made = items(resource, "leaves")
            .into_iter()
            .map(|leaf| NewResource {
                type_name: "dev_acl".into(),
                title: format!("{}/{leaf}", resource.name()),
                parameters: [("mode".to_owned(), "deny".into())].into_iter().collect(),
            });
        Ok(made.collect())
    }
}

impl Classic {
    fn generator_fault(&self, type_name: &str, resource: &Resource) -> Result<(), BehaviorError> {
        let reference = format!("{type_name}[{}]", resource.name());
        self.world
            .lock()
            .unwrap()
            .fault(&["generate", &reference])
            .map_err(|error| BehaviorError(error.message))
    }
}

fn items(resource: &Resource, parameter: &str) -> Vec<String> {
    match resource.parameter(parameter) {
        Some(Value::List(items)) => items.iter().map(Value::ruby_to_s).collect(),
        Some(one) => vec![one.ruby_to_s()],
        None => Vec::new(),
    }
}

#[derive(Debug)]
pub(super) struct Api {
    pub(super) type_name: String,
}

impl TypeBehavior for Api {
    fn values(&self) -> ValueStyle {
        ValueStyle::ResourceApi
    }

    fn munge(
        &self,
        _: &Resource,
        attribute: &AttributeModel,
        value: &Value,
    ) -> Result<Value, BehaviorError> {
        let name = attribute.name.as_str();
        let (expected, fits) = match name {
            "ensure" => (
                "Enum['absent', 'present']",
                matches!(value.as_str(), Some("present" | "absent")),
            ),
            "name" => ("String", matches!(value, Value::String(_))),
            "shutdown" | "enable" | "force" => {
                ("Undef or Boolean", matches!(value, Value::Bool(_)))
            }
            "mtu" => ("Undef or Integer", matches!(value, Value::Integer(_))),
            "tagged_vlans" => ("Undef or Array", matches!(value, Value::List(_))),
            _ => ("Undef or String", matches!(value, Value::String(_))),
        };
        if !fits {
            let wants = format!("{}.{name} expects a", self.type_name);
            // Words are compared as texts, so of them the text is told; of others the type.
            return Err(BehaviorError(match value {
                Value::Sensitive(_) if expected.starts_with("Enum") => {
                    format!("{wants} match for {expected}, got 'Sensitive [value redacted]'")
                }
                value if expected.starts_with("Enum") => {
                    format!("{wants} match for {expected}, got '{}'", value.ruby_to_s())
                }
                value => format!(
                    "{wants} value of type {expected}, got {}",
                    puppet_type(value)
                ),
            }));
        }
        Ok(match (name, value) {
            ("ensure", value) => Value::Symbol(value.ruby_to_s()),
            ("tagged_vlans", Value::List(items)) => {
                let mut items = items.clone();
                items.sort_by_key(Value::ruby_to_s);
                Value::List(items)
            }
            ("description", Value::String(text)) => text.trim().into(),
            (_, value) => value.clone(),
        })
    }

    fn has_standard_ensure(&self) -> bool {
        false
    }

    fn traits(&self, _: &str, _: &Value) -> ValueTraits {
        ValueTraits::default()
    }
}

fn puppet_type(value: &Value) -> String {
    match value {
        Value::String(_) => "String".to_owned(),
        Value::Integer(_) => "Integer".to_owned(),
        Value::Float(_) => "Float".to_owned(),
        Value::Bool(_) => "Boolean".to_owned(),
        Value::List(_) => "Array".to_owned(),
        Value::Hash(_) => "Hash".to_owned(),
        Value::Sensitive(inner) => format!("Sensitive[{}]", puppet_type(inner)),
        _ => "Any".to_owned(),
    }
}
