//! All models and platforms, from definition files.
//!
//! Shipped definitions are loaded on first use, each file alone, because a run uses few types and
//! usually one platform; so are their self-tests. With user definitions all files are loaded at once,
//! so that errors are reported before the run starts.

mod file;
pub(super) mod key_reference;
mod schema;
mod views;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock, Mutex};

use super::parameter::{Parameter, ParameterValues};
use super::platform::Platform;
use super::platform::platform_type::PlatformType;
use super::self_test::Coverage;
use super::test_run::{self, TestResult, platform_test};
use super::type_driver::TypeDriver;
use crate::definitions::{self, DefinitionFile};
use crate::diagnostic::{Diagnostic, suggest};
use crate::model::{Reference, RunsOn, TypeModel};
use crate::names::{PlatformName, TypeName};
use file::{
    SelectedFile, SelectedModel, add_type, load_model, load_platform, load_type, misnamed,
    misplaced, parts, select_files,
};

/// All types and platforms.
#[derive(Debug, Default)]
pub struct Registry {
    models: Arc<Models>,
    platforms: BTreeMap<PlatformName, LazyDefinition<Platform>>,
    /// The types that can be in a view of desired state.
    placed: BTreeSet<TypeName>,
    /// Types that hosts apply, without attributes.
    host_types: BTreeMap<TypeName, Arc<TypeModel>>,
    /// The files: the shipped ones and the user's.
    files: Arc<DefinitionFiles>,
    /// The platforms with values of their devices, loaded on first use.
    with_values: Mutex<BTreeMap<(PlatformName, ParameterValues), Arc<Platform>>>,
    /// What the user's files change. `None`: there are none.
    changed: Option<ChangedDefinitions>,
}

/// The files of a registry: shipped and own.
type DefinitionFiles = (Vec<DefinitionFile>, Vec<DefinitionFile>);

/// The definitions that the user's files can change.
#[derive(Debug)]
struct ChangedDefinitions {
    platforms: BTreeSet<PlatformName>,
    types: BTreeSet<TypeName>,
}

/// The key of sensitive attributes. The text of a model without it needs no parser to tell that it has none.
const SENSITIVE: &str = "sensitive";

type Models = BTreeMap<TypeName, LazyDefinition<TypeModel>>;

/// A definition that is loaded on first use.
type LazyDefinition<T> = LazyLock<Arc<T>, Box<dyn FnOnce() -> Arc<T> + Send>>;

fn lazy<T>(make: impl FnOnce() -> Arc<T> + Send + 'static) -> LazyDefinition<T> {
    LazyLock::new(Box::new(make))
}

impl ChangedDefinitions {
    fn of(own: &[DefinitionFile]) -> Self {
        let parts = own.iter().filter_map(|file| parts(&file.path));
        let (models, others): (Vec<_>, Vec<_>) =
            parts.partition(|(directory, _)| *directory == "models");
        Self {
            platforms: others
                .into_iter()
                .map(|(platform, _)| platform.into())
                .collect(),
            types: models.into_iter().map(|(_, kind)| kind.into()).collect(),
        }
    }
}

/// By type: the platforms that support it.
type PlatformsByType = BTreeMap<TypeName, Vec<PlatformName>>;

/// The types of a platform: the file of each.
type Types = BTreeMap<TypeName, DefinitionFile>;

impl Registry {
    /// The definitions built into this program, each loaded on first use.
    ///
    /// # Panics
    /// If a shipped definition is invalid. The tests load all of them.
    pub fn shipped() -> Self {
        let mut models = Models::new();
        let mut sensitive = BTreeSet::new();
        let mut placed = BTreeSet::new();
        let mut platforms: BTreeMap<PlatformName, DefinitionFile> = BTreeMap::new();
        let mut types: BTreeMap<PlatformName, Types> = BTreeMap::new();
        for file in definitions::shipped() {
            match parts(&file.path).expect("shipped paths are valid") {
                ("models", kind) => {
                    let kind = TypeName::from(kind);
                    if file.source.text.contains(SENSITIVE) {
                        sensitive.insert(kind.clone());
                    }
                    if file.source.text.contains(views::VIEW) {
                        placed.insert(kind.clone());
                    }
                    let model = move || {
                        let chosen = SelectedFile::shipped(&file);
                        Arc::new(expect_loaded(|findings| load_model(&chosen, findings)))
                    };
                    models.insert(kind, lazy(model));
                }
                (platform, "platform") => {
                    platforms.insert(platform.into(), file);
                }
                (platform, kind) => {
                    let of_platform = types.entry(platform.into()).or_default();
                    of_platform.insert(kind.into(), file);
                }
            }
        }
        let (models, sensitive) = (Arc::new(models), Arc::new(sensitive));
        let pairs = types.iter().flat_map(|(name, types)| {
            let kinds = types.keys();
            kinds.map(move |kind| (name, kind))
        });
        let platforms_of_types = Arc::new(platforms_of_types(pairs));
        let platforms = platforms.into_iter().map(|(name, file)| {
            let types = types.remove(&name).unwrap_or_default();
            let (models, sensitive) = (Arc::clone(&models), Arc::clone(&sensitive));
            let platforms_of_types = Arc::clone(&platforms_of_types);
            let directory = name.clone();
            let platform = move || {
                let mut platform = load_shipped(&directory, &file, types, (&models, &sensitive));
                platform.platforms_by_type.clone_from(&platforms_of_types);
                Arc::new(platform)
            };
            (name, lazy(platform))
        });
        Self {
            platforms: platforms.collect(),
            models,
            placed,
            ..Self::default()
        }
    }

    /// The shipped definitions with the user's. A user file replaces the shipped one with the same
    /// name; with `extends = "shipped"` it changes only the keys that it has.
    ///
    /// # Errors
    /// All problems with their positions.
    pub fn load(own: &[DefinitionFile]) -> Result<Self, Vec<Diagnostic>> {
        if own.is_empty() {
            return Ok(Self::shipped());
        }
        Self::from_files(&definitions::shipped(), own)
    }

    /// Like [`Registry::load`] with these files instead of the shipped ones. All files are loaded.
    ///
    /// # Errors
    /// All problems with their positions.
    pub(crate) fn from_files(
        shipped: &[DefinitionFile],
        own: &[DefinitionFile],
    ) -> Result<Self, Vec<Diagnostic>> {
        let none = ParameterValues::new();
        let registry = Self::from_selected(&select_files(shipped, own), &none)?;
        Ok(Self {
            files: Arc::new((shipped.to_vec(), own.to_vec())),
            changed: (!own.is_empty()).then(|| ChangedDefinitions::of(own)),
            ..registry
        })
    }

    fn from_selected(
        files: &BTreeMap<&str, SelectedFile<'_>>,
        values: &ParameterValues,
    ) -> Result<Self, Vec<Diagnostic>> {
        let mut findings = Vec::new();
        let mut models: BTreeMap<TypeName, SelectedModel> = BTreeMap::new();
        for (path, chosen) in files {
            if path.starts_with("models/")
                && let Some(model) = load_model(chosen, &mut findings)
            {
                if *path != format!("models/{}.toml", model.name) {
                    findings.push(misnamed(&chosen.file.source, "type", &model.name));
                }
                let selected = SelectedModel {
                    added: chosen.added_attributes(&model),
                    model: Arc::new(model),
                };
                models.insert(selected.model.name.clone(), selected);
            }
        }
        let mut platforms = BTreeMap::new();
        for (path, chosen) in files {
            if let Some(directory) = path.strip_suffix("/platform.toml")
                && let Some(platform) = load_platform(directory, chosen, values, &mut findings)
            {
                platforms.insert(PlatformName::from(directory), platform);
            }
        }
        for (path, chosen) in files {
            if path.starts_with("models/") || path.ends_with("/platform.toml") {
                continue;
            }
            let Some((directory, kind)) = parts(path) else {
                findings.push(misplaced(path, chosen));
                continue;
            };
            // Other errors would follow from that of the platform or the model.
            let is_broken =
                |path: String, is_loaded: bool| !is_loaded && files.contains_key(path.as_str());
            if is_broken(
                format!("{directory}/platform.toml"),
                platforms.contains_key(directory),
            ) || is_broken(format!("models/{kind}.toml"), models.contains_key(kind))
            {
                continue;
            }
            add_type(
                (directory, kind),
                chosen,
                &models,
                &mut platforms,
                &mut findings,
            );
        }
        if findings.is_empty() {
            findings = views::conflicts(files, &models, &platforms);
        }
        if !findings.is_empty() {
            return Err(findings);
        }
        let platforms_of_types =
            platforms_of_types(platforms.iter().flat_map(|(name, platform)| {
                let kinds = platform.type_names();
                kinds.map(move |kind| (name, kind))
            }));
        let placed = models.values().map(|selected| &selected.model);
        let placed = placed.filter(|model| model.location.is_some());
        let placed = placed.map(|model| model.name.clone()).collect();
        let models = models
            .into_iter()
            .map(|(name, selected)| (name, lazy(|| selected.model)));
        let platforms = platforms.into_iter().map(|(name, mut platform)| {
            platform.platforms_by_type.clone_from(&platforms_of_types);
            (name, lazy(|| Arc::new(platform)))
        });
        Ok(Self {
            models: Arc::new(models.collect()),
            placed,
            platforms: platforms.collect(),
            ..Self::default()
        })
    }

    /// Whether the user has definitions.
    pub fn has_own_definitions(&self) -> bool {
        self.changed.is_some()
    }

    /// The platform with the values of a device for its parameters. `None`: the platform is unknown, or
    /// cannot have these values.
    ///
    /// # Panics
    /// If another thread panicked while it loaded one.
    pub fn platform_with(&self, name: &str, supplied: &ParameterValues) -> Option<Arc<Platform>> {
        let platform = self.platform(name)?;
        if !Parameter::problems(&platform.parameters, supplied).is_empty() {
            return None;
        }
        let values = Parameter::values(&platform.parameters, supplied);
        if values == platform.parameter_values {
            return Some(Arc::clone(platform));
        }
        let key = (platform.name.clone(), values);
        let mut all = self.with_values.lock().expect("no thread panicked");
        if let Some(known) = all.get(&key) {
            return Some(Arc::clone(known));
        }
        let mut files = select_files(&self.files.0, &self.files.1);
        files.retain(|path, _| match parts(path) {
            Some(("models", kind)) => platform.has_type(kind),
            Some((directory, _)) => directory == name,
            None => false,
        });
        let loaded = Self::from_selected(&files, &key.1).ok()?;
        let loaded = Arc::clone(loaded.platform(name)?);
        all.insert(key, Arc::clone(&loaded));
        Some(loaded)
    }

    /// Adds types that hosts apply. Types with a model keep it.
    #[must_use]
    pub fn with_host_types(mut self, names: impl IntoIterator<Item = TypeName>) -> Self {
        for name in names {
            let model = TypeModel {
                name: name.clone(),
                runs_on: RunsOn::Host,
                ..TypeModel::default()
            };
            self.host_types.insert(name, Arc::new(model));
        }
        self
    }

    /// The type with this name.
    pub fn model(&self, name: &str) -> Option<&Arc<TypeModel>> {
        let model = self.models.get(name).map(LazyLock::force);
        model.or_else(|| self.host_types.get(name))
    }

    /// The names of all types, which reads no definition.
    pub fn type_names(&self) -> impl Iterator<Item = &TypeName> {
        self.models.keys()
    }

    /// All types, by name. Reads all models.
    pub fn models(&self) -> impl Iterator<Item = &Arc<TypeModel>> {
        self.models.values().map(LazyLock::force)
    }

    /// The platform with exactly this name. Aliases do not match.
    pub fn platform(&self, name: &str) -> Option<&Arc<Platform>> {
        self.platforms.get(name).map(LazyLock::force)
    }

    /// The platform with this name or alias.
    pub fn platform_by_alias(&self, name: &str) -> Option<&Arc<Platform>> {
        self.platform(name).or_else(|| {
            self.platforms()
                .find(|platform| platform.aliases.iter().any(|alias| alias == name))
        })
    }

    /// The names of all platforms, which reads no definition.
    pub fn platform_names(&self) -> impl Iterator<Item = &PlatformName> {
        self.platforms.keys()
    }

    /// All platforms, by name. Reads the definitions of all platforms, and not of their types.
    pub fn platforms(&self) -> impl Iterator<Item = &Arc<Platform>> {
        self.platforms.values().map(LazyLock::force)
    }

    /// Runs the self-tests of all definitions that the user's files can change, or of one type's.
    pub fn test(&self, only: Option<&str>) -> Vec<TestResult> {
        let run = |(platform, definition): (&Arc<Platform>, &Arc<TypeDriver>)| -> Vec<TestResult> {
            let tests = definition.tests.iter();
            tests
                .map(|test| test_run::run(platform, definition, test))
                .collect()
        };
        let Some(only) = only else {
            let platforms = self.changed_platforms();
            let of_platforms = platforms.flat_map(|platform| {
                let tests = platform.tests.iter();
                tests.map(|test| platform_test::run(platform, test))
            });
            let of_types = self.changed_definitions().flat_map(run);
            return of_platforms.chain(of_types).collect();
        };
        let definitions = self.definitions();
        definitions
            .filter(|(_, definition)| definition.model.name == only)
            .flat_map(run)
            .collect()
    }

    /// Checks the definitions that the user's files can change beyond loading: values without a command, templates that read other
    /// values than they write, lines with two owners, missing tests, and attributes that do not say what they refer to.
    pub fn check(&self) -> Vec<Diagnostic> {
        let mut findings: Vec<Diagnostic> = Vec::new();
        for platform in self.changed_platforms() {
            findings.extend(platform.protocol.ambiguous_prompts());
            findings.extend(platform.missing_config_mode());
        }
        for (platform, definition) in self.changed_definitions() {
            for implementation in definition.implementations() {
                for finding in implementation.audit() {
                    if !findings.contains(&finding) {
                        findings.push(finding);
                    }
                }
            }
            findings.extend(missing_tests(platform, definition));
        }
        for model in self.changed_models() {
            findings.extend(model.unstated_references());
            findings.extend(self.unusable_references(model));
        }
        findings
    }

    /// References to types that do not exist, or whose instances have several names.
    fn unusable_references(&self, model: &TypeModel) -> Vec<Diagnostic> {
        let unusable = |reference: &Reference| {
            let (problem, help) = match self.model(&reference.target) {
                None => {
                    let names = self.type_names().map(TypeName::as_str);
                    let help = suggest(&reference.target, names, "use the name of a model");
                    ("does not exist", help)
                }
                Some(target) if target.object.is_none() && target.namevars().count() > 1 => {
                    let help = "write `object = \"ATTRIBUTE\"` in its model".to_owned();
                    ("has several namevars and no `object`", help)
                }
                Some(_) => return None,
            };
            let Reference {
                attribute, target, ..
            } = reference;
            let message = format!(
                "{}: `{attribute}` refers to {target}, which {problem}",
                model.name
            );
            Some(Diagnostic::error("unusable-reference", message).help(help))
        };
        model.references().filter_map(unusable).collect()
    }

    /// The models with a file of the user, or all without such files.
    fn changed_models(&self) -> impl Iterator<Item = &Arc<TypeModel>> {
        let changed = self.changed.as_ref();
        self.models()
            .filter(move |model| changed.is_none_or(|changed| changed.types.contains(&model.name)))
    }

    /// The platforms with a file of the user, or all without such files.
    fn changed_platforms(&self) -> impl Iterator<Item = &Arc<Platform>> {
        let changed = self.changed.as_ref();
        self.platforms().filter(move |platform| {
            changed.is_none_or(|changed| changed.platforms.contains(&platform.name))
        })
    }

    /// The definitions that the user's files can change, or all without such files.
    fn changed_definitions(&self) -> impl Iterator<Item = (&Arc<Platform>, &Arc<TypeDriver>)> {
        let changed = self.changed.as_ref();
        self.definitions().filter(move |(platform, definition)| {
            changed.is_none_or(|changed| {
                changed.platforms.contains(&platform.name)
                    || changed.types.contains(&definition.model.name)
            })
        })
    }

    fn definitions(&self) -> impl Iterator<Item = (&Arc<Platform>, &Arc<TypeDriver>)> {
        self.platforms().flat_map(|platform| {
            let types = platform.type_drivers();
            types.map(move |definition| (platform, definition))
        })
    }
}

/// Loads a shipped platform. Its types are loaded on first use. `sensitive`: the types that can have
/// sensitive attributes.
fn load_shipped(
    directory: &PlatformName,
    file: &DefinitionFile,
    types: Types,
    (models, sensitive): (&Arc<Models>, &BTreeSet<TypeName>),
) -> Platform {
    let chosen = SelectedFile::shipped(file);
    let none = ParameterValues::new();
    let mut platform = expect_loaded(|findings| load_platform(directory, &chosen, &none, findings));
    for (kind, file) in types {
        let (directory, models) = (directory.clone(), Arc::clone(models));
        let name = kind.clone();
        let can_have_secrets = sensitive.contains(&kind);
        let load = move |platform: &Platform| {
            let selected = SelectedModel {
                model: Arc::clone(&models[&kind]),
                added: Vec::new(),
            };
            let chosen = SelectedFile::shipped(&file);
            expect_loaded(|findings| load_type(&chosen, &selected, &directory, platform, findings))
        };
        let deferred = PlatformType::deferred(Box::new(load), can_have_secrets);
        platform.types.insert(name, deferred);
    }
    platform
}

fn expect_loaded<T>(load: impl FnOnce(&mut Vec<Diagnostic>) -> Option<T>) -> T {
    let mut findings = Vec::new();
    let loaded = load(&mut findings);
    match loaded {
        Some(loaded) if findings.is_empty() => loaded,
        _ => panic!("shipped definitions do not load: {findings:?}"),
    }
}

/// From pairs of a platform and one of its types.
fn platforms_of_types<'a>(
    pairs: impl Iterator<Item = (&'a PlatformName, &'a TypeName)>,
) -> PlatformsByType {
    let mut platforms_of_types = PlatformsByType::new();
    for (platform, kind) in pairs {
        let of_kind = platforms_of_types.entry(kind.clone()).or_default();
        of_kind.push(platform.clone());
    }
    platforms_of_types
}

/// The kinds of test that a definition lacks.
fn missing_tests(platform: &Arc<Platform>, definition: &TypeDriver) -> Option<Diagnostic> {
    let mut covered: Vec<Coverage> = Vec::new();
    for test in definition.tests.iter() {
        let result = test_run::run(platform, definition, test);
        covered.extend(result.covers);
        // `driver test` reports the failure; the test exists.
        if result.failure.is_some() {
            covered.extend(test.may_cover());
        }
    }
    let mut needed = vec![Coverage::Read, Coverage::SecondRun];
    let mut properties = definition.model.properties();
    if properties.any(|property| property.name != "ensure") {
        needed.push(Coverage::Change);
    }
    if definition.model.is_ensurable() && definition.base.is_ensurable() {
        needed.push(Coverage::Create);
        if definition.base.is_removable() {
            needed.push(Coverage::Remove);
        }
    }
    needed.retain(|kind| !covered.contains(kind));
    needed.sort();
    if needed.is_empty() {
        return None;
    }
    let missing: Vec<String> = needed.iter().map(ToString::to_string).collect();
    let finding = if definition.shipped {
        Diagnostic::error
    } else {
        Diagnostic::warning
    };
    let message = format!("no self-test for {}", missing.join(", "));
    Some(finding("missing-test", message).at(&definition.source, 0..0, ""))
}

#[cfg(test)]
mod file_tests;
#[cfg(test)]
mod large_type_tests;
#[cfg(test)]
mod mutation_tests;
#[cfg(test)]
mod placeholder_tests;

#[cfg(test)]
mod tests;
