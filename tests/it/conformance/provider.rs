//! The simulated provider: applies changes to the [`World`](super::world::World).

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value as Json, json};
use switchtender::catalog::rich_data;
use switchtender_devices::change::{Change, ChangeKind, Desired, Instance};
use switchtender_devices::driver::UnsupportedType;
use switchtender_devices::model::{Style, TypeModel};
use switchtender_devices::operation::Operation;
use switchtender_devices::provider::{CommitResult, Note, NoteLevel, Provider, ProviderError};
use switchtender_devices::value::{Attributes, Name, Value};

use super::types::fields;
use super::world::{Shared, World, set};

pub(crate) struct Simulated {
    world: Shared,
    /// Rows as prefetch saw them, by reference; `None` is missing.
    copies: HashMap<String, Option<Map<String, Json>>>,
    /// The last values that API types received, by reference.
    current: HashMap<String, Json>,
}

impl Simulated {
    pub(crate) fn new(world: &Shared) -> Self {
        Self {
            world: Arc::clone(world),
            copies: HashMap::new(),
            current: HashMap::new(),
        }
    }

    fn world(&self) -> std::sync::MutexGuard<'_, World> {
        self.world.lock().unwrap()
    }

    fn row(&self, desired: &Desired) -> Option<Map<String, Json>> {
        match self.copies.get(&*desired.reference) {
            Some(copy) => copy.clone(),
            None => self.world().row(&desired.model.name, &key(desired)),
        }
    }

    fn create(&mut self, desired: &Desired) -> Result<(), ProviderError> {
        let mut row = Map::new();
        for (field, _) in fields(&desired.model.name) {
            if let Some(value) = desired.attributes.get(field) {
                set(&mut row, field, &encode(value));
            }
        }
        let mut world = self.world.lock().unwrap();
        world.call(json!(["create", *desired.reference, row]));
        world.fault(&["create", &desired.reference])?;
        world
            .table(&desired.model.name)
            .insert(key(desired), row.clone().into());
        if let Some(copy) = self.copies.get_mut(&*desired.reference) {
            *copy = Some(row);
        }
        Ok(())
    }

    fn destroy(&mut self, desired: &Desired) -> Result<(), ProviderError> {
        let mut world = self.world.lock().unwrap();
        world.call(json!(["destroy", *desired.reference]));
        world.fault(&["destroy", &desired.reference])?;
        world.table(&desired.model.name).shift_remove(&key(desired));
        if let Some(copy) = self.copies.get_mut(&*desired.reference) {
            *copy = None;
        }
        Ok(())
    }

    fn set(&mut self, desired: &Desired, field: &str) -> Result<(), ProviderError> {
        let mut world = self.world.lock().unwrap();
        if field == "outcome" {
            world.call(json!(["run", *desired.reference]));
            return world.fault(&["set", &desired.reference, "outcome"]);
        }
        let value = desired.attributes.get(field).map_or(Json::Null, encode);
        world.call(json!(["set", *desired.reference, field, value]));
        world.fault(&["set", &desired.reference, field])?;
        world.write(&desired.model.name, &key(desired), field, &value);
        if let Some(Some(copy)) = self.copies.get_mut(&*desired.reference) {
            set(copy, field, &value);
        }
        Ok(())
    }

    fn get(&mut self, desired: &Desired) -> Result<Attributes, ProviderError> {
        let type_name = desired.model.name.as_str();
        let name = key(desired);
        let mut world = self.world.lock().unwrap();
        world.call(match type_name {
            "net_iface" => json!(["get", type_name, [name]]),
            _ => json!(["get", type_name]),
        });
        world.fault(&["api_get", type_name])?;
        let row = world.row(type_name, &name);
        let mut attributes = Attributes::default();
        let mut is = Map::new();
        match row {
            Some(mut row) => {
                if type_name == "net_iface" {
                    canonicalize(&mut row);
                }
                is.insert("name".to_owned(), name.into());
                for (field, value) in row {
                    attributes.insert(field.clone(), rich_data::read(&value).unwrap());
                    is.insert(field, value);
                }
                if type_name == "net_vlan" {
                    attributes.insert("ensure".to_owned(), Value::Symbol("present".to_owned()));
                }
            }
            None => {
                is.insert("title".to_owned(), name.into());
                if type_name == "net_vlan" {
                    attributes.insert("ensure".to_owned(), Value::Absent);
                }
            }
        }
        self.current
            .insert(desired.reference.to_string(), is.into());
        Ok(attributes)
    }

    fn commit_api(&mut self, change: &Change) -> CommitResult {
        let desired = &change.desired;
        let name = key(desired);
        let should: Map<String, Json> = desired
            .attributes
            .iter()
            .map(|(name, value)| (name.to_string(), encode(value)))
            .collect();
        let mut world = self.world.lock().unwrap();
        if desired.model.name == "net_iface" {
            let is = &self.current[&*desired.reference];
            world.call(json!(["apply", *desired.reference, is, should]));
            let result = world.fault(&["api_set", &desired.reference]);
            if result.is_ok() {
                store(&mut world, "net_iface", &name, &should);
            }
            return commit_result(change, result, Vec::new());
        }
        let (call, words) = match change.kind {
            ChangeKind::Create => ("create", "Creating"),
            ChangeKind::Update => ("update", "Updating"),
            ChangeKind::Remove => ("delete", "Deleting"),
        };
        if change.kind == ChangeKind::Remove {
            world.call(json!([call, *desired.reference]));
        } else {
            world.call(json!([call, *desired.reference, should]));
        }
        let result = world.fault(&["api_set", &desired.reference]);
        if result.is_ok() {
            if change.kind == ChangeKind::Remove {
                world.table("net_vlan").shift_remove(&name);
            } else {
                store(&mut world, "net_vlan", &name, &should);
            }
        }
        let (level, message) = match &result {
            Ok(()) => (
                NoteLevel::Notice,
                format!("net_vlan[{name}]: {words}: Finished in N seconds"),
            ),
            Err(error) => (
                NoteLevel::Error,
                format!("net_vlan[{name}]: {words}: Failed after N seconds: {error}"),
            ),
        };
        let note = Note {
            level,
            message,
            about_resource: false,
        };
        let result = result
            .map_err(|error| ProviderError::new(error.kind, "Execution encountered an error"));
        commit_result(change, result, vec![note])
    }
}

/// One outcome for all attributes.
fn commit_result(
    change: &Change,
    result: Result<(), ProviderError>,
    notes: Vec<Note>,
) -> CommitResult {
    CommitResult {
        attributes: change
            .reported_attributes()
            .map(|name| (name.to_owned(), result.clone()))
            .collect(),
        notes,
        ..CommitResult::default()
    }
}

fn canonicalize(row: &mut Map<String, Json>) {
    if let Some(Json::Array(items)) = row.get_mut("tagged_vlans") {
        items.sort_by_key(ToString::to_string);
    }
    if let Some(Json::String(text)) = row.get_mut("description") {
        *text = text.trim().to_owned();
    }
}

fn store(world: &mut World, type_name: &str, name: &str, should: &Map<String, Json>) {
    let mut row = world.row(type_name, name).unwrap_or_default();
    for (field, value) in should {
        if !matches!(field.as_str(), "name" | "ensure" | "force" | "title") {
            set(&mut row, field, value);
        }
    }
    world.table(type_name).insert(name.to_owned(), row.into());
}

/// The object's name on the device.
fn key(desired: &Desired) -> String {
    let text = |name: &str| {
        desired
            .attributes
            .get(name)
            .map(Value::ruby_to_s)
            .unwrap_or_default()
    };
    if desired.model.name == "dev_route" {
        format!("{}:{}", text("vrf"), text("prefix"))
    } else {
        text("name")
    }
}

/// A value as the device stores it.
pub(crate) fn encode(value: &Value) -> Json {
    match value.unwrap_sensitive() {
        Value::Absent => Json::Null,
        Value::List(items) => items.iter().map(encode).collect(),
        Value::Binary(bytes) => String::from_utf8_lossy(bytes).into_owned().into(),
        other => rich_data::write_plain(other),
    }
}

#[async_trait]
impl Provider for Simulated {
    fn name(&self) -> &str {
        "mem"
    }

    fn supports(&self, model: &TypeModel) -> Result<(), UnsupportedType> {
        if self.world().suitable(&model.name) {
            Ok(())
        } else {
            Err(UnsupportedType::OnPlatform {
                name: model.name.clone(),
                platform: self.name().into(),
                others: Vec::new(),
            })
        }
    }

    fn supports_prefetch(&self, model: &TypeModel) -> bool {
        matches!(model.name.as_str(), "dev_vlan" | "dev_port")
    }

    async fn prefetch(
        &mut self,
        model: &Arc<TypeModel>,
        resources: &[&Desired],
    ) -> Result<(), ProviderError> {
        let names: Vec<String> = resources.iter().map(|desired| key(desired)).collect();
        let mut world = self.world.lock().unwrap();
        world.call(json!(["prefetch", model.name.as_str(), names]));
        world.fault(&["prefetch", &model.name])?;
        for desired in resources {
            let row = world.row(&model.name, &key(desired));
            self.copies.insert(desired.reference.to_string(), row);
        }
        Ok(())
    }

    async fn retrieve(
        &mut self,
        desired: &Desired,
        properties: &[&str],
    ) -> Result<Attributes, ProviderError> {
        if desired.model.style == Style::ResourceApi {
            return self.get(desired);
        }
        let type_name = desired.model.name.as_str();
        let mut attributes = Attributes::default();
        for property in properties {
            if *property == "outcome" {
                attributes.insert("outcome".to_owned(), Value::Symbol("notrun".to_owned()));
                continue;
            }
            self.world()
                .fault(&["retrieve", &desired.reference, property])?;
            let row = self.row(desired);
            let field = fields(type_name)
                .iter()
                .find(|(field, _)| field == property);
            let value = match field {
                None => {
                    if row.is_none() {
                        attributes.insert("ensure".to_owned(), Value::Absent);
                        break;
                    }
                    Value::Symbol("present".to_owned())
                }
                Some((field, enumerated)) => {
                    let raw = row.and_then(|row| row.get(*field).cloned());
                    match raw {
                        None | Some(Json::Null) => Value::Absent,
                        Some(raw) => {
                            let value = rich_data::read(&raw).unwrap();
                            if *enumerated {
                                Value::Symbol(value.ruby_to_s())
                            } else {
                                value
                            }
                        }
                    }
                }
            };
            let gone = *property == "ensure" && value == Value::Absent;
            attributes.insert((*property).to_owned(), value);
            if gone {
                break;
            }
        }
        Ok(attributes)
    }

    async fn instances(&mut self, model: &Arc<TypeModel>) -> Result<Vec<Instance>, ProviderError> {
        let mut world = self.world();
        world.call(json!(["instances", model.name.as_str()]));
        world.fault(&["instances", &model.name])?;
        Ok(world
            .table(&model.name)
            .keys()
            .map(|name| Instance {
                attributes: [("name".to_owned(), name.as_str().into())]
                    .into_iter()
                    .collect(),
                ..Instance::default()
            })
            .collect())
    }

    fn preview(&mut self, _: &Change) -> Result<Vec<Operation>, ProviderError> {
        Ok(Vec::new())
    }

    async fn commit(&mut self, change: &Change) -> CommitResult {
        let desired = &change.desired;
        if desired.model.style == Style::ResourceApi {
            return self.commit_api(change);
        }
        let attributes: Vec<(Name, Result<(), ProviderError>)> = match change.kind {
            ChangeKind::Create => vec![("ensure".into(), self.create(desired))],
            ChangeKind::Remove => vec![("ensure".into(), self.destroy(desired))],
            ChangeKind::Update => change
                .attributes
                .iter()
                .map(|name| (name.clone(), self.set(desired, name)))
                .collect(),
        };
        let mut failure = None;
        if attributes.iter().any(|(_, outcome)| outcome.is_ok()) {
            let mut world = self.world();
            world.call(json!(["flush", *desired.reference]));
            failure = world.fault(&["flush", &desired.reference]).err();
        }
        CommitResult {
            attributes,
            failure,
            ..CommitResult::default()
        }
    }

    async fn refresh(&mut self, desired: &Desired) -> Option<CommitResult> {
        let mut world = self.world();
        world.call(json!(["refresh", *desired.reference]));
        let failure = world.fault(&["refresh", &desired.reference]).err();
        Some(CommitResult {
            failure,
            ..CommitResult::default()
        })
    }
}
