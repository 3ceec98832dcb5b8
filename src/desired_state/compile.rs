//! Makes a catalog of the merged state of a device.

use std::ops::Range;
use std::sync::Arc;

use secrecy::ExposeSecret as _;
use serde_json::{Map, Value as Json, json};
use switchtender_devices::diagnostic::{Diagnostic, Source};
use switchtender_devices::driver::{Driver, Facts, Registry};
use switchtender_devices::model::canonical::ScalarMeaning;
use switchtender_devices::model::{AttributeModel, Role, TypeModel};
use switchtender_devices::value::{Attributes, Name, Value};
use tokio::sync::oneshot;

use super::error::StateError;
use super::expand::completion::Completer;
use super::expand::exclusion::Exclusions;
use super::merged_state::{MergedResource, MergedState, MergedValue, ValueOrigin};
use super::origin_map::{CatalogPart, OriginMap};
use super::secret_values::{InvalidSecretSource, SecretValues, is_secret};
use super::state_entry::StateEntry;
use super::template::{self, TemplateError, TemplateLimits, Templates};
use super::yaml_value::{PlainScalar, YamlValue};
use crate::catalog::rich_data;
use crate::coverage::strict::Strict;
use crate::inventory::Device;
use crate::inventory::placeholders::Placeholders;

/// What a catalog is made for.
pub(crate) struct StateDevice<'a> {
    pub(crate) device: &'a Device,
    /// `None`: the facts are not available.
    pub(crate) facts: Option<&'a Facts>,
    pub(crate) registry: &'a Registry,
}

/// A catalog in JSON with the origins of its values.
#[derive(Debug)]
pub(crate) struct StateCatalog {
    pub(crate) source: Arc<Source>,
    pub(crate) origins: OriginMap,
    /// Errors of the files. The parts that they are about are not in the catalog.
    pub(crate) errors: Vec<Diagnostic>,
    /// What the files leave out.
    pub(crate) warnings: Vec<Diagnostic>,
    /// Parts of the files that have an effect for some devices only.
    pub(crate) entries: Vec<StateEntry>,
    /// Where the text of each resource is, with its type and title.
    resources: Vec<(Range<usize>, String, String)>,
    /// Types, attributes and lines that are left to others.
    pub(crate) unmanaged: Exclusions,
    /// Which lines of the configuration must be managed.
    pub(crate) strict: Option<Strict>,
}

impl StateCatalog {
    /// Type and title of the resource at a position of the text.
    pub(crate) fn resource_at(&self, position: usize) -> Option<(&str, &str)> {
        let mut resources = self.resources.iter();
        let found = resources.find(|(range, ..)| range.contains(&position));
        found.map(|(_, type_name, title)| (type_name.as_str(), title.as_str()))
    }

    fn without_errors(self) -> Result<Self, StateError> {
        if self.errors.is_empty() {
            Ok(self)
        } else {
            Err(StateError::Invalid(self.errors))
        }
    }
}

impl MergedState {
    /// The catalog of a device.
    ///
    /// # Errors
    /// [`StateError::NeedsFacts`], or all errors of the files.
    pub(crate) fn catalog(
        &self,
        of: &StateDevice<'_>,
        secrets: &SecretValues,
    ) -> Result<StateCatalog, StateError> {
        self.readable_catalog(of, secrets)?.without_errors()
    }

    /// The catalog of what has no error in the files, with these errors.
    ///
    /// # Errors
    /// [`StateError::NeedsFacts`], or an invalid variable.
    pub(crate) fn readable_catalog(
        &self,
        of: &StateDevice<'_>,
        secrets: &SecretValues,
    ) -> Result<StateCatalog, StateError> {
        template::on_rendering_thread(|| self.compile(of, secrets)).map_err(StateError::Thread)?
    }

    /// As [`MergedState::catalog`], for tasks: templates never hold the thread of other devices.
    ///
    /// # Errors
    /// As [`MergedState::catalog`].
    ///
    /// # Cancellation
    /// May be dropped at any time. The thread ends at the limits of templates.
    pub(crate) async fn catalog_in_background(
        self,
        device: Device,
        facts: Option<Facts>,
        registry: Arc<Registry>,
        secrets: SecretValues,
    ) -> Result<StateCatalog, StateError> {
        let (sender, result) = oneshot::channel();
        let work = move || {
            let of = StateDevice {
                device: &device,
                facts: facts.as_ref(),
                registry: &registry,
            };
            let made = self.compile(&of, &secrets);
            let _ = sender.send(made.and_then(StateCatalog::without_errors));
        };
        let thread = template::rendering_thread().spawn(work);
        thread.map_err(StateError::Thread)?;
        result.await.expect("templates do not panic")
    }

    fn compile(
        &self,
        of: &StateDevice<'_>,
        secrets: &SecretValues,
    ) -> Result<StateCatalog, StateError> {
        let templates = self.templates(of)?;
        let mut findings = self.errors.clone();
        let mut warnings = self.warnings.clone();
        let driver = self.completing_driver(of);
        let mut completer = driver
            .as_ref()
            .map(|driver| self.completer(driver, of.registry));
        let mut writer = CatalogWriter::new(&of.device.certname);
        for (type_name, resources) in &self.types {
            let model = of.registry.model(type_name);
            'resources: for (title, resource) in resources {
                let mut parameters = Vec::new();
                for (name, value) in &resource.attributes {
                    let origin = &value.origin;
                    let context = ValueContext {
                        templates: &templates,
                        secrets: Some(secrets),
                        placeholders: &self.placeholders,
                        attribute: model.and_then(|model| model.attributes.get(name.as_str())),
                        title: Some(title),
                    };
                    match context.rendered(&value.value, None) {
                        Ok(json) => parameters.push((name.as_str(), json, value)),
                        Err(ValueError::Template(TemplateError::NeedsFacts)) => {
                            return Err(needs_facts(origin));
                        }
                        Err(ValueError::UnsetSecret) if !is_name(model, name) => {}
                        // Without its name, the resource would be another one. Purging would remove it.
                        Err(ValueError::UnsetSecret) if !self.purge.contains_key(type_name) => {
                            continue 'resources;
                        }
                        Err(error) => findings.push(error.at(origin)),
                    }
                }
                let is_present = !resource.attributes.contains_key("ensure")
                    && ensures_presence(of.registry, type_name);
                writer.resource(type_name, title, resource);
                if is_present {
                    writer.parameter("ensure", &json!("present"), &resource.origin, None);
                }
                let values = parameters
                    .iter()
                    .filter_map(|(name, json, _)| Some((*name, rich_data::read(json).ok()?)));
                let declared = model
                    .map(|model| canonical(model, values))
                    .unwrap_or_default();
                for (name, json, value) in parameters {
                    writer.parameter(name, &json, &value.origin, Some(&value.name_origin));
                }
                if let (Some(completer), Some(model)) = (&mut completer, model) {
                    for completed in completer.values(model, title, &declared) {
                        let json = rich_data::write(&completed.value);
                        writer.default(&completed.name, &json, completed.origin);
                    }
                }
                writer.end_resource(&resource.origin);
            }
        }
        warnings.extend(completer.into_iter().flat_map(Completer::finish));
        for (type_name, origin) in &self.purge {
            let resource = MergedResource::at(origin.clone(), origin.clone());
            writer.resource("resources", type_name, &resource);
            writer.parameter("purge", &json!(true), origin, None);
            writer.end_resource(origin);
        }
        Ok(StateCatalog {
            errors: findings,
            warnings,
            entries: self.entries.clone(),
            unmanaged: self.unmanaged.clone(),
            strict: self.strict,
            ..writer.finish(&of.device.name)
        })
    }

    /// The driver for `complete`. Without facts it is that of a device without them.
    fn completing_driver(&self, of: &StateDevice<'_>) -> Option<Driver> {
        if self.completion.is_empty() {
            return None;
        }
        let facts = of.facts.cloned().unwrap_or_default();
        of.device.driver(of.registry, &facts)
    }

    fn completer<'a>(&'a self, driver: &Driver, registry: &'a Registry) -> Completer<'a> {
        let models = self.types.keys().filter_map(|name| registry.model(name));
        let models: Vec<&TypeModel> = models.map(|model| &**model).collect();
        Completer::new(self, driver, &models)
    }

    /// The state with the values that `complete` sets, as far as they can be known without templates.
    pub(crate) fn completed(&self, of: &StateDevice<'_>) -> Self {
        match self.completing_driver(of) {
            Some(driver) => self.with_defaults(&driver, of.registry),
            None => self.clone(),
        }
    }

    /// The state with the values that `complete` sets for a driver.
    pub(super) fn with_defaults(&self, driver: &Driver, registry: &Registry) -> Self {
        let mut state = self.clone();
        let mut completer = self.completer(driver, registry);
        for (type_name, resources) in &self.types {
            let Some(model) = registry.model(type_name) else {
                continue;
            };
            for (title, resource) in resources {
                let values = resource.attributes.iter();
                let values = values.map(|(name, value)| (name.as_str(), value.value.plain_value()));
                let declared = canonical(model, values);
                for completed in completer.values(model, title, &declared) {
                    let value = MergedValue::default_of(&completed);
                    let attributes = &mut state.types[type_name][title].attributes;
                    attributes.insert(completed.name.to_string(), value);
                }
            }
        }
        state.warnings.extend(completer.finish());
        state
    }

    /// The templates with their values. Variables can be templates that use the other names.
    fn templates(&self, of: &StateDevice<'_>) -> Result<Templates, StateError> {
        let device = of.device;
        let labels = device.settings.labels.iter();
        let labels: Map<String, Json> = labels
            .map(|(key, label)| (key.clone(), json!(label.value)))
            .collect();
        let address = device.settings.address.as_ref();
        let values = json!({
            "device": {
                "name": device.name.as_str(),
                "certname": device.certname.as_str(),
                "platform": device.platform.as_str(),
                "address": address.map(|address| &address.value),
                "site": device.site(),
            },
            "labels": labels,
            "facts": of.facts.map(nested),
        });
        let limits = TemplateLimits::default();
        let mut templates = Templates::new(values, of.facts.is_some(), limits);
        let mut variables = Map::new();
        for (name, value) in &self.variables {
            let context = ValueContext {
                templates: &templates,
                secrets: None,
                placeholders: &self.placeholders,
                attribute: None,
                title: None,
            };
            let json = context
                .rendered(&value.value, None)
                .map_err(|error| match error {
                    ValueError::Template(TemplateError::NeedsFacts) => needs_facts(&value.origin),
                    error => StateError::Invalid(vec![error.at(&value.origin)]),
                })?;
            variables.insert(name.clone(), json);
        }
        templates.set_variables(Json::Object(variables));
        Ok(templates)
    }
}

/// The attributes of a resource in canonical form. What has none is reported later.
fn canonical<'n>(model: &TypeModel, values: impl Iterator<Item = (&'n str, Value)>) -> Attributes {
    let values = values.map(|(name, value)| {
        let canonical = model.canonicalize(name, &value);
        (Name::from(name), canonical.unwrap_or(value))
    });
    values.collect()
}

fn needs_facts(origin: &ValueOrigin) -> StateError {
    let finding = origin.error("state-facts", TemplateError::NeedsFacts.to_string());
    let hint = "save them with `switchtender facts DEVICE`, and pass them with --facts";
    StateError::NeedsFacts(Box::new(finding.help(hint)))
}

/// Facts as an object: `os.name` is a member of `os`.
fn nested(facts: &Facts) -> Json {
    let mut root = Map::new();
    for (name, value) in facts {
        let mut at = &mut root;
        let mut parts = name.split('.').peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                at.insert(part.to_owned(), json!(value));
                break;
            }
            let inner = at.entry(part).or_insert_with(|| json!({}));
            let Json::Object(inner) = inner else { break };
            at = inner;
        }
    }
    Json::Object(root)
}

fn is_name(model: Option<&Arc<TypeModel>>, attribute: &str) -> bool {
    model.is_some_and(|model| model.namevars().any(|name| name == attribute))
}

/// Declared resources exist unless they have another `ensure`.
fn ensures_presence(registry: &Registry, type_name: &str) -> bool {
    registry.model(type_name).is_some_and(|model| {
        let ensure = model.attributes.get("ensure");
        ensure.is_some_and(|ensure| ensure.role == Role::Property && ensure.default.is_none())
    })
}

/// Why a value has no result.
#[derive(Debug, thiserror::Error)]
enum ValueError {
    #[error(transparent)]
    Template(#[from] TemplateError),
    #[error("a variable cannot be a secret")]
    SecretVariable,
    /// The value is not printed: it may be a secret.
    #[error(
        "the value has several meanings: the text as written, or numbers of different notations"
    )]
    SeveralMeanings,
    #[error(transparent)]
    Secret(#[from] InvalidSecretSource),
    #[error("the environment variable of the secret is not set")]
    UnsetSecret,
}

impl ValueError {
    fn at(self, origin: &ValueOrigin) -> Diagnostic {
        let finding = origin.error("state-value", self.to_string());
        match self {
            ValueError::Template(error) => Diagnostic {
                help: error.help(),
                ..finding
            },
            ValueError::SecretVariable => finding.help("write the secret at its attribute"),
            ValueError::SeveralMeanings => finding.help(
                "put it in quotation marks if it is a text; write a decimal number without leading zeros if it is a number",
            ),
            ValueError::Secret(error) => finding.help(error.help()),
            ValueError::UnsetSecret => finding.help("set the variable: the secret names a resource of a type that is purged"),
        }
    }
}

/// What the value of an attribute or a variable is made of.
#[derive(Clone, Copy)]
struct ValueContext<'a> {
    templates: &'a Templates,
    /// Variables have none.
    secrets: Option<&'a SecretValues>,
    placeholders: &'a Placeholders,
    /// `None` for variables and metaparameters.
    attribute: Option<&'a AttributeModel>,
    /// `None` for variables.
    title: Option<&'a str>,
}

impl ValueContext<'_> {
    /// A value with its templates rendered and its secrets inserted. `key` is that of the map around
    /// the value.
    fn rendered(&self, value: &YamlValue, key: Option<&str>) -> Result<Json, ValueError> {
        Ok(match value {
            YamlValue::Null => Json::Null,
            YamlValue::Plain(plain) => self.plain(plain, key)?,
            YamlValue::Text(text) if template::is_template(text) => {
                self.templates.render(text, self.title)?
            }
            YamlValue::Text(text) => json!(text),
            YamlValue::List(items) => {
                let items = items.iter();
                let items = items.map(|item| self.rendered(&item.value, key));
                Json::Array(items.collect::<Result<_, _>>()?)
            }
            YamlValue::Map(entries) => match self.secrets {
                None if is_secret(entries) => return Err(ValueError::SecretVariable),
                Some(secrets) if is_secret(entries) => {
                    let secret = secrets
                        .get(entries, self.placeholders)?
                        .ok_or(ValueError::UnsetSecret)?;
                    json!({"__ptype": "Sensitive", "__pvalue": secret.expose_secret()})
                }
                _ => {
                    let entries = entries.iter();
                    let entries = entries.map(|(key, node)| {
                        let json = self.rendered(&node.value, Some(&key.name))?;
                        Ok((key.name.clone(), json))
                    });
                    Json::Object(entries.collect::<Result<_, ValueError>>()?)
                }
            },
        })
    }

    /// A number or boolean of YAML as its attribute takes it.
    fn plain(&self, plain: &PlainScalar, key: Option<&str>) -> Result<Json, ValueError> {
        let Some(attribute) = self.attribute else {
            return Ok(plain.as_variable());
        };
        match attribute.meaning(&plain.written, &plain.value, key) {
            ScalarMeaning::Text => Ok(json!(plain.written)),
            ScalarMeaning::Value(Value::Bool(truth)) => Ok(json!(truth)),
            ScalarMeaning::Value(Value::Integer(number)) => Ok(json!(number)),
            ScalarMeaning::Value(_) => Ok(json!(plain.written)),
            ScalarMeaning::Several => Err(ValueError::SeveralMeanings),
        }
    }
}

/// Writes a catalog and remembers where its parts come from.
struct CatalogWriter {
    text: String,
    origins: Vec<CatalogPart>,
    resources: Vec<(Range<usize>, String, String)>,
    /// Resources so far.
    count: usize,
    /// Where the open resource starts.
    start: usize,
    /// Parameters of the open resource so far.
    parameters: usize,
}

impl CatalogWriter {
    fn new(certname: &str) -> Self {
        Self {
            text: format!(r#"{{"name":{},"resources":["#, json!(certname)),
            origins: Vec::new(),
            resources: Vec::new(),
            count: 0,
            start: 0,
            parameters: 0,
        }
    }

    /// Begins a resource.
    fn resource(&mut self, type_name: &str, title: &str, resource: &MergedResource) {
        if self.count > 0 {
            self.text.push(',');
        }
        self.count += 1;
        self.start = self.text.len();
        self.parameters = 0;
        let range = self.start..self.start;
        self.resources
            .push((range, type_name.to_owned(), title.to_owned()));
        let origin = &resource.origin;
        self.text.push_str(r#"{"type":"#);
        self.value(&json!(type_name), &resource.type_origin, None);
        let head = format!(
            r#","kind":"compilable_type","file":{},"line":{},"title":"#,
            json!(origin.source.name),
            origin.line(),
        );
        self.text.push_str(&head);
        self.value(&json!(title), origin, None);
        self.text.push_str(r#","parameters":{"#);
    }

    fn parameter(
        &mut self,
        name: &str,
        value: &Json,
        origin: &ValueOrigin,
        of_name: Option<&ValueOrigin>,
    ) {
        if self.parameters > 0 {
            self.text.push(',');
        }
        self.parameters += 1;
        self.text.push_str(&format!("{}:", json!(name)));
        self.value(value, origin, of_name);
    }

    /// A parameter that `complete` sets.
    fn default(&mut self, name: &str, value: &Json, origin: &ValueOrigin) {
        self.parameter(name, value, origin, None);
        if let Some(part) = self.origins.last_mut() {
            part.is_default = true;
        }
    }

    fn end_resource(&mut self, origin: &ValueOrigin) {
        self.text.push_str("}}");
        if let Some((range, ..)) = self.resources.last_mut() {
            range.end = self.text.len();
        }
        self.origins.push(CatalogPart {
            range: self.start..self.text.len(),
            resource: self.count,
            is_default: false,
            origin: origin.clone(),
            of_name: None,
        });
    }

    fn value(&mut self, value: &Json, origin: &ValueOrigin, of_name: Option<&ValueOrigin>) {
        let start = self.text.len();
        self.text.push_str(&value.to_string());
        self.origins.push(CatalogPart {
            range: start..self.text.len(),
            resource: self.count,
            is_default: false,
            origin: origin.clone(),
            of_name: of_name.cloned(),
        });
    }

    fn finish(mut self, device: &str) -> StateCatalog {
        self.text.push_str("]}");
        let source = Source::new(format!("state of {device}"), self.text);
        StateCatalog {
            origins: OriginMap::new(Arc::clone(&source), self.origins),
            source,
            errors: Vec::new(),
            warnings: Vec::new(),
            entries: Vec::new(),
            resources: self.resources,
            unmanaged: Exclusions::default(),
            strict: None,
        }
    }
}
