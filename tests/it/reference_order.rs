//! Each pair of types of which one refers to the other, in both orders of the catalog: the order of
//! the commands at creation, change, removal and undo.
//!
//! The pairs and their values come from the models and the resources of self-tests. A device in
//! memory renders the commands with the driver and predicts their effect.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Map, Value as Json, json};
use switchtender::catalog::types::Types;
use switchtender::catalog::{self, Loading, Typing};
use switchtender::compat::Deviations;
use switchtender::transaction::{self, Input, Memory, RunEvent, TransactionSettings};
use switchtender_devices::change::{Change, Desired, Instance};
use switchtender_devices::definitions;
use switchtender_devices::diagnostic::Source;
use switchtender_devices::driver::{
    Driver, Facts, NoSecretHistory, OldSecrets, Platform, Registry, UnsupportedType,
};
use switchtender_devices::model::canonical::ValueError;
use switchtender_devices::model::{Reference, Role, TypeModel, ValueSpec};
use switchtender_devices::provider::{CommitResult, Provider, ProviderError, ProviderErrorKind};
use switchtender_devices::read::{Reads, State};
use switchtender_devices::value::{Attributes, Name, Value};
use test_support::catalog::{catalog, resource};

/// A device whose state is what its commands predict.
#[derive(Clone)]
struct PredictedDevice {
    driver: Driver,
    state: State,
    committed: Vec<(Change, Vec<Instance>)>,
    /// The resource of each command.
    commands: Vec<String>,
}

impl PredictedDevice {
    /// A device without any objects of the types.
    fn empty(platform: &Arc<Platform>, resources: &[&Desired]) -> Self {
        let driver = Driver::new(platform, &Facts::default());
        let models: Vec<&Arc<TypeModel>> = resources.iter().map(|one| &one.model).collect();
        let mut reads = Reads::default();
        for request in driver
            .reads(&models)
            .into_iter()
            .chain(driver.reads_for(resources))
        {
            reads.insert(request.name, String::new());
        }
        let state = driver
            .platform()
            .parse(&reads)
            .expect("empty answers are valid");
        Self {
            driver,
            state,
            committed: Vec::new(),
            commands: Vec::new(),
        }
    }

    /// The change that a resource needs.
    fn change(&self, desired: &Desired) -> Option<Change> {
        let current = self.driver.instance(desired, &self.state).ok()?;
        let resolved = self.driver.resolve(desired, current.as_ref(), &self.state);
        let desired = resolved.into_owned();
        let differs = self
            .driver
            .differs(&desired, current.as_ref(), &NoSecretHistory);
        (!differs.is_empty()).then(|| Change::new(Arc::new(desired), current, differs))
    }

    /// The resources of the commands that undo all changes.
    fn undo(&mut self) -> Vec<String> {
        let mut commands = Vec::new();
        for (change, displaced) in std::mem::take(&mut self.committed).iter().rev() {
            let secrets = OldSecrets::Used;
            let undo = self
                .driver
                .undo(change, displaced, secrets, &mut self.state);
            let reference = change.desired.reference.to_string();
            commands.extend(undo.operations.iter().map(|_| reference.clone()));
        }
        commands
    }
}

#[async_trait]
impl Provider for PredictedDevice {
    fn name(&self) -> &str {
        "predicted"
    }

    fn supports(&self, model: &TypeModel) -> Result<(), UnsupportedType> {
        self.driver.supports(model)
    }

    fn canonicalize(
        &self,
        model: &TypeModel,
        attributes: Attributes,
    ) -> Result<Attributes, ValueError> {
        let canonical = self.driver.canonicalize(model, attributes);
        canonical.map_err(|mut errors| errors.remove(0))
    }

    fn in_sync(&self, desired: &Desired, property: &str, _: &Value) -> Option<bool> {
        let current = self.driver.instance(desired, &self.state).ok()?;
        let resolved = self.driver.resolve(desired, current.as_ref(), &self.state);
        let desired = resolved.into_owned();
        let differs = self
            .driver
            .differs(&desired, current.as_ref(), &NoSecretHistory);
        Some(!differs.iter().any(|name| name == property))
    }

    async fn prefetch(&mut self, _: &Arc<TypeModel>, _: &[&Desired]) -> Result<(), ProviderError> {
        Ok(())
    }

    async fn retrieve(
        &mut self,
        desired: &Desired,
        properties: &[&str],
    ) -> Result<Attributes, ProviderError> {
        let current = self.driver.instance(desired, &self.state).ok().flatten();
        let value = |property: &str| match (property, &current) {
            ("ensure", Some(_)) => Value::Symbol("present".to_owned()),
            ("ensure", None) => Value::Symbol("absent".to_owned()),
            (_, Some(current)) => {
                let value = current.attributes.get(property).cloned();
                value.unwrap_or(Value::Absent)
            }
            (_, None) => Value::Absent,
        };
        let values = properties.iter();
        Ok(values
            .map(|name| (Name::from(*name), value(name)))
            .collect())
    }

    async fn instances(&mut self, model: &Arc<TypeModel>) -> Result<Vec<Instance>, ProviderError> {
        let found = self.driver.instances(model, &self.state);
        let error = |text: String| ProviderError::new(ProviderErrorKind::Failed, text);
        found.map_err(|reason| error(reason.to_string()))
    }

    fn preview(
        &mut self,
        _: &Change,
    ) -> Result<Vec<switchtender_devices::operation::Operation>, ProviderError> {
        Ok(Vec::new())
    }

    async fn commit(&mut self, change: &Change) -> CommitResult {
        let mut result = CommitResult::default();
        if let Some(change) = self.change(&change.desired) {
            let displaced = self.driver.displaced(&change, &self.state);
            match self.driver.render(&change, &self.state) {
                Ok(operations) => {
                    let reference = change.desired.reference.to_string();
                    self.commands
                        .extend(operations.iter().map(|_| reference.clone()));
                    let model = Arc::clone(&change.desired.model);
                    self.driver.predict(&model, &mut self.state, &operations);
                    self.committed.push((change, displaced));
                }
                Err(error) => {
                    let kind = ProviderErrorKind::Failed;
                    result.failure = Some(ProviderError::new(kind, error.to_string()));
                }
            }
        }
        result
    }

    async fn refresh(&mut self, _: &Desired) -> Option<CommitResult> {
        None
    }
}

/// Collects errors of a run.
#[derive(Default)]
struct Errors(Vec<String>);

impl transaction::Sink for Errors {
    fn emit(&mut self, event: RunEvent) {
        match event {
            RunEvent::Log(entry) if entry.level >= catalog::Level::Err => {
                self.0.push(entry.message.clone())
            }
            RunEvent::Finished { error, .. } => self.0.extend(error),
            _ => {}
        }
    }
}

/// Applies resources in this order of the catalog. Returns the resources of the commands, in order.
fn apply(
    device: &mut PredictedDevice,
    registry: &Registry,
    resources: &[Json],
) -> Result<Vec<String>, String> {
    let types = Types::new(|name: &str| registry.model(name).cloned());
    let source = Source::new("catalog.json", catalog("dev", resources).to_string());
    let driver = device.driver.clone();
    let canonicalize = |model: &TypeModel, attributes| {
        let canonical = driver.canonicalize(model, attributes);
        canonical.map_err(|mut errors| errors.remove(0))
    };
    let typing = Typing {
        types: &types,
        canonicalize: &canonicalize,
        default_schedules: false,
        deviations: Deviations::default(),
    };
    let loaded = catalog::load(&source, &Loading::default());
    let converted = loaded.and_then(|loaded| catalog::convert(loaded, &typing));
    let resources = converted.map_err(|error| format!("{error:?}"))?;
    let mut errors = Errors::default();
    let settings = TransactionSettings::default();
    let mut memory = Memory::default();
    let run = transaction::run(Input {
        resources,
        types: &types,
        noop: false,
        settings: &settings,
        clock: &|| Timestamp::UNIX_EPOCH,
        zone: TimeZone::UTC,
        memory: &mut memory,
        provider: device,
        sink: &mut errors,
        stop: &|| false,
    });
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let _ = runtime.expect("a runtime").block_on(run);
    match errors.0.first() {
        Some(error) => Err(error.clone()),
        None => Ok(std::mem::take(&mut device.commands)),
    }
}

fn plain(value: &Value) -> Json {
    match value {
        Value::Sensitive(inner) => plain(inner),
        Value::List(items) => items.iter().map(plain).collect(),
        Value::Hash(entries) => {
            let entries = entries.iter();
            let entries = entries.map(|(key, value)| (key.ruby_to_s(), plain(value)));
            Json::Object(entries.collect::<Map<_, _>>())
        }
        Value::Integer(number) => json!(number),
        Value::Bool(truth) => json!(truth),
        other => json!(other.ruby_to_s()),
    }
}

/// The resource of the catalog, with the values of the namevars as title.
fn declared(model: &TypeModel, attributes: &Attributes) -> Json {
    let names = model.namevars().filter_map(|name| attributes.get(name));
    let names: Vec<String> = names.map(Value::ruby_to_s).collect();
    let values = attributes.iter();
    let values: Map<String, Json> = values
        .map(|(name, value)| (name.to_string(), plain(value)))
        .collect();
    resource(
        &capital(&model.name),
        &names.join(" "),
        Json::Object(values),
    )
}

fn capital(name: &str) -> String {
    name[..1].to_uppercase() + &name[1..]
}

/// The attributes that remove an instance.
fn removal(model: &TypeModel, attributes: &Attributes) -> Attributes {
    let mut remaining = attributes.clone();
    remaining.retain(|name, _| {
        let attribute = &model.attributes[name];
        attribute.role == Role::Namevar || attribute.required
    });
    remaining.insert("ensure", "absent".into());
    remaining
}

fn canonical(driver: &Driver, model: &Arc<TypeModel>, attributes: &Attributes) -> Option<Desired> {
    let resolved = model.resolve("", attributes).ok()?;
    Some(Desired {
        reference: model.name.as_str().into(),
        model: Arc::clone(model),
        attributes: driver.canonicalize(model, resolved).ok()?,
    })
}

/// A value with another name in it.
fn renamed(value: &Value, old: &str, new: &str) -> Value {
    let of = |value: &Value| renamed(value, old, new);
    match value {
        Value::List(items) => Value::List(items.iter().map(of).collect()),
        Value::Hash(entries) => {
            let entries = entries.iter();
            Value::Hash(
                entries
                    .map(|(key, value)| (key.clone(), of(value)))
                    .collect(),
            )
        }
        Value::Integer(number) if number.to_string() == old => {
            new.parse().map_or_else(|_| new.into(), Value::Integer)
        }
        Value::String(text) if text.contains(old) => text.replace(old, new).into(),
        Value::String(text) if old.ends_with(&format!("/{text}")) => new.into(),
        other => other.clone(),
    }
}

/// A pair of a resource and the object that one of its values names.
struct Pair<'a> {
    registry: &'a Registry,
    platform: &'a Arc<Platform>,
    reference: &'a Reference,
    user: Desired,
    object: Desired,
}

impl<'a> Pair<'a> {
    /// The first pair of examples that the driver accepts.
    fn find(
        registry: &'a Registry,
        platform: &'a Arc<Platform>,
        user: &Arc<TypeModel>,
        reference: &'a Reference,
    ) -> Option<Self> {
        let driver = Driver::new(platform, &Facts::default());
        let target = registry.model(&reference.target)?;
        let examples = |model: &Arc<TypeModel>| -> Vec<Desired> {
            let of_type = platform.type_driver(&model.name);
            let examples = of_type.into_iter().flat_map(|one| one.applied_resources());
            let present = examples.filter(|attributes| {
                let ensure = attributes.get("ensure").and_then(Value::as_str);
                ensure != Some("absent")
            });
            let mut desired: Vec<Desired> = present
                .filter_map(|attributes| {
                    let mut attributes = attributes.clone();
                    if model.is_ensurable() {
                        attributes.insert("ensure", "present".into());
                    }
                    canonical(&driver, model, &attributes)
                })
                .collect();
            desired.sort_by_key(|desired| usize::MAX - desired.attributes.len());
            desired
        };
        let attribute = reference.attribute.as_str();
        let users = examples(user);
        let objects = examples(target);
        for object in &objects {
            let Some(name) = target.object_name(&object.attributes) else {
                continue;
            };
            for example in &users {
                let named = user.referenced_names(reference, &example.attributes);
                let mut attributes = example.attributes.clone();
                let value = match (named.first(), attributes.get(attribute)) {
                    (Some(old), Some(value)) => renamed(value, old, &name),
                    _ if user.attributes[attribute].array.is_some() => {
                        Value::List(vec![name.as_str().into()])
                    }
                    _ => name.as_str().into(),
                };
                attributes.insert(attribute, value);
                let Some(found) = canonical(&driver, user, &attributes) else {
                    continue;
                };
                if !user
                    .referenced_names(reference, &found.attributes)
                    .contains(&name)
                {
                    continue;
                }
                let pair = Self {
                    registry,
                    platform,
                    reference,
                    user: found,
                    object: object.clone(),
                };
                if pair.created().is_ok() {
                    return Some(pair);
                }
            }
        }
        None
    }

    fn title(&self) -> String {
        let Reference {
            attribute, target, ..
        } = self.reference;
        format!(
            "{} {}.{attribute} -> {target}",
            self.platform.name, self.user.model.name
        )
    }

    fn empty(&self) -> PredictedDevice {
        PredictedDevice::empty(self.platform, &[&self.user, &self.object])
    }

    fn user(&self) -> Json {
        declared(&self.user.model, &self.user.attributes)
    }

    fn object(&self) -> Json {
        declared(&self.object.model, &self.object.attributes)
    }

    /// A device with both, and whether both needed commands.
    fn created(&self) -> Result<PredictedDevice, String> {
        let mut device = self.empty();
        let commands = apply(&mut device, self.registry, &[self.object(), self.user()])?;
        let has = |kind: &str| commands.iter().any(|one| one.starts_with(kind));
        let (user, object) = (
            capital(&self.user.model.name),
            capital(&self.object.model.name),
        );
        if has(&user) && has(&object) {
            Ok(device)
        } else {
            Err(format!("nothing to create: {commands:?}"))
        }
    }

    /// The desired state of the user with a literal, or with another name.
    fn unbound(&self) -> Option<Json> {
        let attribute = self
            .user
            .model
            .attributes
            .get(self.reference.attribute.as_str())?;
        if attribute.role != Role::Property {
            return None;
        }
        let words = attribute.values.iter().filter_map(|spec| match spec {
            ValueSpec::Literal(Value::String(word))
                if ["unset", "none"].contains(&word.as_str()) =>
            {
                Some(Value::from(word.as_str()))
            }
            ValueSpec::Literal(value @ Value::Bool(false)) => Some(value.clone()),
            _ => None,
        });
        let name = self.object.model.object_name(&self.object.attributes)?;
        let other = match (name.parse::<u64>(), name.rsplit_once('/')) {
            (Ok(number), _) => (number % 90 + 1).to_string(),
            (_, Some((path, _))) => format!("{path}/other"),
            _ => "OTHER".to_owned(),
        };
        let current = self.user.attributes.get(&attribute.name)?;
        let driver = Driver::new(self.platform, &Facts::default());
        let values = words.chain([renamed(current, &name, &other)]);
        let mut candidates = values.filter_map(|value| {
            let mut attributes = self.user.attributes.clone();
            attributes.insert(attribute.name.clone(), value);
            canonical(&driver, &self.user.model, &attributes)
        });
        let is_other = |desired: &Desired| {
            !desired
                .model
                .referenced_names(self.reference, &desired.attributes)
                .contains(&name)
        };
        let found = candidates.find(is_other)?;
        Some(declared(&found.model, &found.attributes))
    }

    /// Checks that all commands of one type come before those of the other. Empty: one has none.
    fn check(&self, what: &str, commands: &[String], is_user_first: bool) -> Result<bool, String> {
        let (user, object) = (
            capital(&self.user.model.name),
            capital(&self.object.model.name),
        );
        let (first, then) = if is_user_first {
            (user, object)
        } else {
            (object, user)
        };
        let last = commands
            .iter()
            .rposition(|one| one.starts_with(&format!("{first}[")));
        let next = commands
            .iter()
            .position(|one| one.starts_with(&format!("{then}[")));
        match (last, next) {
            (Some(last), Some(next)) if last > next => Err(format!(
                "{}: {what}: {first} must come before {then}: {commands:#?}",
                self.title()
            )),
            (Some(_), Some(_)) => Ok(true),
            _ => Ok(false),
        }
    }

    /// Checks all phases. Returns those that had commands of both.
    fn check_all(&self) -> Result<BTreeSet<&'static str>, String> {
        let mut checked = BTreeSet::new();
        let mut phase = |what: &'static str, result: Result<bool, String>| {
            result.map(|is_checked| {
                if is_checked {
                    checked.insert(what);
                }
            })
        };
        let both = |one: Json, other: Json| [[one.clone(), other.clone()], [other, one]];
        for resources in both(self.user(), self.object()) {
            let mut device = self.empty();
            let commands = apply(&mut device, self.registry, &resources)?;
            phase("creation", self.check("creation", &commands, false))?;
            let commands = device.undo();
            phase("undo", self.check("undo of the creation", &commands, true))?;
        }
        let created = self.created()?;
        let removed = declared(
            &self.object.model,
            &removal(&self.object.model, &self.object.attributes),
        );
        if !self.object.model.is_ensurable() {
            return Ok(checked);
        }
        if let Some(unbound) = self.unbound() {
            for resources in both(unbound, removed.clone()) {
                let mut device = created.clone();
                device.committed.clear();
                let Ok(commands) = apply(&mut device, self.registry, &resources) else {
                    continue;
                };
                phase("change", self.check("change", &commands, true))?;
                let commands = device.undo();
                phase("undo", self.check("undo of the change", &commands, false))?;
            }
        }
        if self.user.model.is_ensurable() {
            let gone = removal(&self.user.model, &self.user.attributes);
            let gone = declared(&self.user.model, &gone);
            for resources in both(gone, removed) {
                let mut device = created.clone();
                device.committed.clear();
                let Ok(commands) = apply(&mut device, self.registry, &resources) else {
                    continue;
                };
                phase("removal", self.check("removal", &commands, true))?;
                let commands = device.undo();
                phase("undo", self.check("undo of the removal", &commands, false))?;
            }
        }
        Ok(checked)
    }
}

#[test]
fn referred_objects_come_first_and_are_removed_last() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/definitions");
    let examples = definitions::from_directory(&examples).expect("the examples are readable");
    let registry = Registry::load(&examples).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let (mut wrong, mut without_example) = (Vec::new(), Vec::new());
    let mut counts = std::collections::BTreeMap::new();
    for platform in registry.platforms() {
        for definition in platform.type_drivers() {
            let model = &definition.model;
            for reference in model.references() {
                let driver = Driver::new(platform, &Facts::default());
                let target = registry.model(&reference.target);
                let is_supported = target.is_some_and(|target| driver.supports(target).is_ok());
                // Entries of one list are ordered among themselves only.
                if !is_supported || reference.target == model.name {
                    continue;
                }
                let Some(pair) = Pair::find(&registry, platform, model, reference) else {
                    let Reference {
                        attribute, target, ..
                    } = reference;
                    let title = format!("{} {}.{attribute} -> {target}", platform.name, model.name);
                    without_example.push(title);
                    continue;
                };
                match pair.check_all() {
                    Ok(phases) => phases.into_iter().for_each(|phase| {
                        *counts.entry(phase).or_insert(0) += 1;
                    }),
                    Err(error) => wrong.push(error),
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} pairs: {}",
        wrong.len(),
        wrong.join("\n")
    );
    println!("{counts:?}, without an example: {without_example:#?}");
    for (phase, least) in [
        ("creation", 100),
        ("change", 60),
        ("removal", 60),
        ("undo", 80),
    ] {
        let count = counts.get(phase).copied().unwrap_or_default();
        assert!(
            count >= least,
            "{phase}: {count} pairs of {least}: {without_example:#?}"
        );
    }
}
