//! The test types: models, and what is special about each (README of the recorded cases).

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use switchtender::catalog::resource::Resource;
use switchtender::catalog::types::{
    BehaviorError, Generation, NewResource, ResourceType, TypeBehavior, TypeSource, ValueStyle,
    ValueTraits, allowed, built_in,
};
use switchtender_devices::model::{
    ArrayKind, AttributeModel, AutoKind, AutoRelation, Refresh, RelationSource, Role, RunsOn,
    Style, TitlePattern, TypeModel, ValueSpec,
};
use switchtender_devices::pattern::Pattern;
use switchtender_devices::value::Value;

use super::world::Shared;

/// Fields of a type on the device: name, and whether it holds an enumerated value.
pub(crate) fn fields(type_name: &str) -> &'static [(&'static str, bool)] {
    match type_name {
        "dev_vlan" => &[("label", false), ("mtu", false)],
        "dev_port" => &[
            ("description", false),
            ("speed", false),
            ("enabled", true),
            ("mtu", false),
            ("vlans", false),
            ("dns", false),
            ("secret", false),
        ],
        "dev_acl" => &[("rules", false), ("mode", true)],
        "dev_daemon" => &[("ensure", true), ("config", false)],
        "dev_route" => &[("gateway", false)],
        "dev_tree" | "both_thing" | "host_thing" => &[("value", false)],
        _ => &[],
    }
}

pub(crate) struct TestTypes(HashMap<&'static str, ResourceType>);

impl TypeSource for TestTypes {
    fn find(&self, name: &str) -> Option<ResourceType> {
        self.0.get(name).cloned().or_else(|| built_in(name))
    }
}

/// Compiled once: every case makes its types anew.
fn compiled(pattern: &'static str) -> Pattern {
    static KNOWN: Mutex<BTreeMap<&str, Pattern>> = Mutex::new(BTreeMap::new());
    KNOWN
        .lock()
        .unwrap()
        .entry(pattern)
        .or_insert_with(|| Pattern::new(pattern).unwrap())
        .clone()
}

struct Draft(TypeModel);

impl Draft {
    fn new(name: &str, runs_on: RunsOn) -> Self {
        Self(TypeModel {
            name: name.into(),
            runs_on,
            style: Style::Classic,
            ..TypeModel::default()
        })
    }

    fn attribute(mut self, name: &str, role: Role) -> Self {
        self.0.attributes.insert(
            name.to_owned().into(),
            AttributeModel {
                name: name.to_owned().into(),
                doc: String::new(),
                role,
                values: Vec::new(),
                array: None,
                default: None,
                puppet_default: None,
                required: false,
                sensitive: false,
                canon: Vec::new(),
            },
        );
        self
    }

    fn last(&mut self) -> &mut AttributeModel {
        self.0.attributes.last_mut().expect("there is one").1
    }

    fn words(mut self, words: &[&str]) -> Self {
        self.last().values = words
            .iter()
            .map(|word| ValueSpec::Literal(Value::Symbol((*word).to_owned())))
            .collect();
        self
    }

    fn pattern(mut self, pattern: &'static str) -> Self {
        self.last().values.push(ValueSpec::Pattern {
            name: "text".to_owned(),
            pattern: compiled(pattern),
            doc: String::new(),
        });
        self
    }

    fn list(mut self) -> Self {
        self.last().array = Some(ArrayKind::List);
        self
    }

    fn default(mut self, value: Value) -> Self {
        self.last().default = Some(value);
        self
    }

    fn ensurable(self) -> Self {
        self.attribute("ensure", Role::Property)
            .words(&["present", "absent"])
    }

    fn property(self, name: &str) -> Self {
        self.attribute(name, Role::Property)
    }

    fn parameter(self, name: &str) -> Self {
        self.attribute(name, Role::Parameter)
    }

    fn named(self) -> Self {
        self.attribute("name", Role::Namevar)
    }

    fn refresh(mut self, refresh: Refresh) -> Self {
        self.0.refresh = refresh;
        self
    }

    fn relation(mut self, kind: AutoKind, target: &str, from: &str) -> Self {
        self.0.relations.push(AutoRelation {
            kind,
            target: target.into(),
            from: RelationSource::Attribute(from.to_owned()),
        });
        self
    }

    fn title(mut self, text: &str, pattern: &'static str) -> Self {
        self.0.titles.push(TitlePattern {
            text: text.to_owned(),
            pattern: compiled(pattern),
        });
        self
    }

    fn classic(self, world: &Shared) -> ResourceType {
        ResourceType {
            behavior: Arc::new(Classic {
                type_name: self.0.name.to_string(),
                world: Arc::clone(world),
            }),
            model: Arc::new(self.0),
        }
    }

    fn api(mut self) -> ResourceType {
        self.0.style = Style::ResourceApi;
        ResourceType {
            behavior: Arc::new(Api {
                type_name: self.0.name.to_string(),
            }),
            model: Arc::new(self.0),
        }
    }
}

impl TestTypes {
    pub(crate) fn new(world: &Shared) -> Self {
        let device = |name| Draft::new(name, RunsOn::Device);
        let drafts = [
            device("dev_vlan")
                .named()
                .ensurable()
                .property("label")
                .property("mtu"),
            device("dev_port")
                .named()
                .ensurable()
                .property("description")
                .property("speed")
                .words(&["auto"])
                .pattern(r"^\d+$")
                .property("enabled")
                .words(&["true", "false"])
                .property("mtu")
                .property("vlans")
                .list()
                .property("dns")
                .list()
                .property("secret")
                .parameter("force")
                .words(&["true", "false"])
                .refresh(Refresh::Yes)
                .relation(AutoKind::Require, "dev_vlan", "vlans"),
            device("dev_acl")
                .named()
                .property("rules")
                .list()
                .property("mode")
                .words(&["permit", "deny"])
                .parameter("ports")
                .parameter("watch")
                .parameter("saves")
                .refresh(Refresh::Yes)
                .relation(AutoKind::Before, "dev_port", "ports")
                .relation(AutoKind::Subscribe, "dev_vlan", "watch")
                .relation(AutoKind::Notify, "dev_save", "saves"),
            device("dev_save").named().refresh(Refresh::Yes),
            device("dev_daemon")
                .named()
                .property("ensure")
                .words(&["stopped", "running"])
                .property("config")
                .refresh(Refresh::Yes),
            device("dev_job")
                .named()
                .property("outcome")
                .pattern(".")
                .default("done".into())
                .parameter("refreshonly")
                .words(&["true", "false"])
                .default("false".into())
                .refresh(Refresh::ItselfToo),
            device("dev_route")
                .attribute("vrf", Role::Namevar)
                .default("global".into())
                .attribute("prefix", Role::Namevar)
                .ensurable()
                .property("gateway")
                .title("{vrf}:{prefix}", r"(?s)\A(?<vrf>[^:]+):(?<prefix>.+)\z")
                .title("{prefix}", r"\A(?<prefix>[^:]+)\z"),
            device("dev_pool").named().parameter("members"),
            device("dev_tree")
                .named()
                .property("value")
                .parameter("leaves")
                .refresh(Refresh::Yes),
            Draft::new("both_thing", RunsOn::Both)
                .named()
                .property("value")
                .refresh(Refresh::Yes),
            Draft::new("host_thing", RunsOn::Host)
                .named()
                .property("value")
                .refresh(Refresh::Yes),
        ];
        let mut types = HashMap::new();
        for draft in drafts {
            let name: &'static str = Box::leak(draft.0.name.to_string().into_boxed_str());
            types.insert(name, draft.classic(world));
        }
        let api = [
            device("net_vlan")
                .named()
                .ensurable()
                .default("present".into())
                .property("vlan_name")
                .property("shutdown")
                .property("mtu"),
            device("net_iface")
                .named()
                .property("description")
                .property("enable")
                .property("mtu")
                .property("tagged_vlans")
                .attribute("medium", Role::InitOnly)
                .parameter("force")
                .attribute("serial", Role::ReadOnly)
                .relation(AutoKind::Require, "net_vlan", "tagged_vlans"),
        ];
        for draft in api {
            let name: &'static str = Box::leak(draft.0.name.to_string().into_boxed_str());
            types.insert(name, draft.api());
        }
        Self(types)
    }
}

#[derive(Debug)]
struct Classic {
    type_name: String,
    world: Shared,
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
struct Api {
    type_name: String,
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
