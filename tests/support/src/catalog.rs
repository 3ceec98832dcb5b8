//! Catalogs as a Puppet Server writes them.

use serde_json::{Value, json};

use crate::repository;

/// The manifest that the catalogs name.
pub const MANIFEST: &str = "/manifests/site.pp";

/// A catalog in which `Class[main]` contains every resource. Resource number N is on line N of the
/// manifest.
pub struct CatalogBuilder {
    name: String,
    resources: Vec<Value>,
    edges: Vec<Value>,
    classes: Vec<String>,
    count: usize,
}

impl CatalogBuilder {
    /// A catalog for this node with only `Stage[main]` and `Class[main]`.
    pub fn new(name: &str) -> Self {
        let container = |of: &str, title: &str, kind: &str| {
            json!({
                "type": of, "title": title, "tags": [of.to_lowercase()], "exported": false,
                "kind": kind, "parameters": {"name": title},
            })
        };
        Self {
            name: name.to_owned(),
            resources: vec![
                container("Stage", "main", "compilable_type"),
                container("Class", "main", "class"),
            ],
            edges: vec![json!({"source": "Stage[main]", "target": "Class[main]"})],
            classes: vec!["main".to_owned()],
            count: 0,
        }
    }

    /// Adds a class to the stage; the resources that follow are in it.
    #[must_use]
    pub fn class(mut self, title: &str, parameters: Value) -> Self {
        self.edges
            .push(json!({"source": "Stage[main]", "target": format!("Class[{title}]")}));
        self.resources.push(json!({
            "type": "Class", "title": title, "tags": ["class"], "exported": false,
            "kind": "class", "parameters": parameters,
        }));
        self.classes.push(title.to_lowercase());
        self
    }

    /// Adds a resource to the last class.
    #[must_use]
    pub fn resource(mut self, mut resource: Value) -> Self {
        self.count += 1;
        resource["line"] = json!(self.count);
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let class = self
            .edges
            .iter()
            .rfind(|edge| edge["source"] == "Stage[main]");
        self.edges.push(json!({
            "source": class.expect("there is a class")["target"],
            "target": format!("{}[{}]", text(&resource["type"]), text(&resource["title"])),
        }));
        self.resources.push(resource);
        self
    }

    /// Adds resources to the last class.
    #[must_use]
    pub fn resources(self, resources: impl IntoIterator<Item = Value>) -> Self {
        resources.into_iter().fold(self, Self::resource)
    }

    /// The catalog as JSON, in format 2.
    pub fn build(self) -> Value {
        json!({
            "tags": ["settings"], "name": self.name, "version": 1, "code_id": null,
            "catalog_uuid": "b6b7b5a2-0b6a-4c8f-9d57-1a2b3c4d5e6f", "catalog_format": 2,
            "environment": "production", "resources": self.resources, "edges": self.edges,
            "classes": self.classes,
        })
    }
}

/// A catalog of these resources.
pub fn catalog(name: &str, resources: &[Value]) -> Value {
    CatalogBuilder::new(name)
        .resources(resources.iter().cloned())
        .build()
}

/// A resource of a device.
pub fn resource(of: &str, title: &str, parameters: Value) -> Value {
    json!({
        "type": of, "title": title, "parameters": parameters, "kind": "compilable_type",
        "tags": [of.to_lowercase()], "file": MANIFEST, "exported": false,
    })
}

/// A resource with sensitive parameters.
pub fn sensitive(mut resource: Value, parameters: &[&str]) -> Value {
    resource["sensitive_parameters"] = json!(parameters);
    resource
}

/// A `Network_vlan` with this VLAN ID and `vlan_name`.
pub fn vlan(number: u16, name: &str) -> Value {
    resource(
        "Network_vlan",
        &number.to_string(),
        json!({"ensure": "present", "vlan_name": name}),
    )
}

/// A recorded catalog.
pub fn recorded(name: &str) -> Value {
    read(&format!("tests/fixtures/puppetserver/catalogs/{name}.json"))
}

/// A catalog of the examples.
pub fn example(name: &str) -> Value {
    read(&format!("examples/catalogs/{name}.json"))
}

fn read(path: &str) -> Value {
    let text = std::fs::read(repository(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_slice(&text).expect("a catalog is JSON")
}
