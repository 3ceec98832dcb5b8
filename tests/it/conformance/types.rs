//! The test types: models, and what is special about each (README of the recorded cases).

mod behavior;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use switchtender::catalog::types::{ResourceType, TypeSource, built_in};
use switchtender_devices::model::{
    ArrayKind, AttributeModel, AutoKind, AutoRelation, Refresh, RelationSource, Role, RunsOn,
    Style, TitlePattern, TypeModel, ValueSpec,
};
use switchtender_devices::pattern::Pattern;
use switchtender_devices::value::Value;

use super::world::Shared;
use behavior::{Api, Classic};

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
                default_word: None,
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
                refers: Vec::new(),
                since: None,
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
            canon: Vec::new(),
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
