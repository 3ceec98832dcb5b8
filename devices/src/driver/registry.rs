//! All models and platforms, from definition files.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::platform::Platform;
use super::self_test::{self, Covers, TestResult};
use super::type_driver::{Context, TypeDriver};
use crate::definitions::{self, DefinitionFile};
use crate::diagnostic::{Diagnostic, Source, nearest};
use crate::document::{Document, Findings, Table};
use crate::model::{TypeModel, load};

/// What this program knows of types and platforms.
#[derive(Debug, Default)]
pub struct Registry {
    models: BTreeMap<String, Arc<TypeModel>>,
    platforms: BTreeMap<String, Arc<Platform>>,
}

/// A file as it counts: the user's, what it extends, or the shipped one.
struct Chosen<'a> {
    file: &'a DefinitionFile,
    /// The shipped file that `extends = "shipped"` refers to.
    base: Option<&'a DefinitionFile>,
    shipped: bool,
}

impl Registry {
    /// The definitions built into this program.
    ///
    /// # Panics
    /// Never in a program whose tests pass: they load these files.
    pub fn shipped() -> Self {
        match Self::load(&[]) {
            Ok(registry) => registry,
            Err(findings) => panic!("shipped definitions do not load: {findings:?}"),
        }
    }

    /// The built-in definitions and a user's: a whole file replaces the built-in one of the same
    /// name, with `extends = "shipped"` it changes only the keys that it has.
    ///
    /// # Errors
    /// Everything that is wrong, at its place.
    pub fn load(own: &[DefinitionFile]) -> Result<Self, Vec<Diagnostic>> {
        Self::from_files(&definitions::shipped(), own)
    }

    /// As [`Registry::load`], with given files in the place of the built-in ones.
    ///
    /// # Errors
    /// Everything that is wrong, at its place.
    pub fn from_files(
        shipped: &[DefinitionFile],
        own: &[DefinitionFile],
    ) -> Result<Self, Vec<Diagnostic>> {
        let mut findings = Vec::new();
        let files = choose(shipped, own);
        let mut registry = Registry::default();
        for (path, chosen) in &files {
            if path.starts_with("models/") {
                match load::load(&chosen.file.source) {
                    Ok(model) => registry.add_model(path, chosen.file, model, &mut findings),
                    Err(errors) => findings.extend(errors),
                }
            }
        }
        let mut platforms = BTreeMap::new();
        for (path, chosen) in &files {
            if let Some(directory) = path.strip_suffix("/platform.toml") {
                let loaded = with_root(chosen, &mut findings, |root, _| Platform::load(&root()));
                if let Some(platform) = loaded {
                    if platform.name != directory {
                        findings.push(misnamed(&chosen.file.source, "platform", &platform.name));
                    }
                    platforms.insert(directory.to_owned(), platform);
                }
            }
        }
        for (path, chosen) in &files {
            if path.starts_with("models/") || path.ends_with("/platform.toml") {
                continue;
            }
            registry.add_type(path, chosen, &mut platforms, &mut findings);
        }
        registry.finish(platforms);
        if findings.is_empty() {
            Ok(registry)
        } else {
            Err(findings)
        }
    }

    pub fn model(&self, name: &str) -> Option<&Arc<TypeModel>> {
        self.models.get(name)
    }

    /// All types, by name.
    pub fn models(&self) -> impl Iterator<Item = &Arc<TypeModel>> {
        self.models.values()
    }

    pub fn platform(&self, name: &str) -> Option<&Arc<Platform>> {
        self.platforms.get(name)
    }

    /// All platforms, by name.
    pub fn platforms(&self) -> impl Iterator<Item = &Arc<Platform>> {
        self.platforms.values()
    }

    /// Runs the self-tests of all definitions, or of one type's.
    pub fn test(&self, only: Option<&str>) -> Vec<TestResult> {
        let mut results = Vec::new();
        for (platform, definition) in self.definitions() {
            if only.is_none_or(|only| only == definition.model.name) {
                let tests = definition.tests.iter();
                results.extend(tests.map(|test| self_test::run(platform, definition, test)));
            }
        }
        results
    }

    /// Checks the definitions beyond what loading needs: values without a command, templates that
    /// read back differently, lines claimed twice, tests that are missing.
    pub fn check(&self) -> Vec<Diagnostic> {
        let mut findings: Vec<Diagnostic> = Vec::new();
        for (platform, definition) in self.definitions() {
            for implementation in definition.implementations() {
                for finding in implementation.audit() {
                    if !findings.contains(&finding) {
                        findings.push(finding);
                    }
                }
            }
            findings.extend(missing_tests(platform, definition));
        }
        findings
    }

    fn definitions(&self) -> impl Iterator<Item = (&Arc<Platform>, &Arc<TypeDriver>)> {
        self.platforms.values().flat_map(|platform| {
            platform
                .types
                .values()
                .map(move |definition| (platform, definition))
        })
    }

    fn add_model(
        &mut self,
        path: &str,
        file: &DefinitionFile,
        model: TypeModel,
        findings: &mut Vec<Diagnostic>,
    ) {
        if path != format!("models/{}.toml", model.name) {
            findings.push(misnamed(&file.source, "type", &model.name));
        }
        self.models.insert(model.name.clone(), Arc::new(model));
    }

    fn add_type(
        &self,
        path: &str,
        chosen: &Chosen<'_>,
        platforms: &mut BTreeMap<String, Platform>,
        findings: &mut Vec<Diagnostic>,
    ) {
        let source = &chosen.file.source;
        let parts = path.split_once('/').and_then(|(directory, file)| {
            Some((
                directory,
                file.strip_suffix(".toml")
                    .filter(|name| !name.contains('/'))?,
            ))
        });
        let Some((directory, kind)) = parts else {
            findings.push(
                Diagnostic::error(
                    "misplaced-file",
                    format!("{path} is no place for a definition"),
                )
                .at(source, 0..0, "")
                .help("models/TYPE.toml, PLATFORM/platform.toml or PLATFORM/TYPE.toml"),
            );
            return;
        };
        let Some(platform) = platforms.get_mut(directory) else {
            let known: Vec<&str> = platforms.keys().map(String::as_str).collect();
            findings.push(
                Diagnostic::error(
                    "unknown-platform",
                    format!("there is no platform `{directory}`"),
                )
                .at(source, 0..0, "")
                .help(match nearest(directory, known.iter().copied()) {
                    Some(name) => format!("did you mean `{name}`?"),
                    None => format!("a platform needs {directory}/platform.toml"),
                }),
            );
            return;
        };
        let Some(model) = self.models.get(kind) else {
            let names = self.models.keys().map(String::as_str);
            findings.push(
                Diagnostic::error(
                    "unknown-type",
                    format!("there is no model of the type `{kind}`"),
                )
                .at(source, 0..0, "")
                .help(match nearest(kind, names) {
                    Some(name) => format!("did you mean `{name}`?"),
                    None => format!("a type needs models/{kind}.toml"),
                }),
            );
            return;
        };
        let loaded = with_root(chosen, findings, |root, source| {
            let context = Context {
                model,
                platform,
                source,
            };
            let table = root();
            for (key, expected) in [("platform", directory), ("type", kind)] {
                if let Some(item) = table.get(key)
                    && item.string().is_some_and(|name| name != expected)
                {
                    item.error(
                        "misnamed-file",
                        format!("the file is named for the {key} `{expected}`"),
                    );
                }
            }
            TypeDriver::load(&context, chosen.shipped, root)
        });
        if let Some(definition) = loaded {
            platform.types.insert(kind.to_owned(), Arc::new(definition));
        }
    }

    fn finish(&mut self, mut platforms: BTreeMap<String, Platform>) {
        let mut elsewhere: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, platform) in &platforms {
            for kind in platform.types.keys() {
                elsewhere
                    .entry(kind.clone())
                    .or_default()
                    .push(name.clone());
            }
        }
        for platform in platforms.values_mut() {
            platform.elsewhere.clone_from(&elsewhere);
        }
        self.platforms = platforms
            .into_iter()
            .map(|(name, platform)| (name, Arc::new(platform)))
            .collect();
    }
}

fn choose<'a>(
    shipped: &'a [DefinitionFile],
    own: &'a [DefinitionFile],
) -> BTreeMap<&'a str, Chosen<'a>> {
    let mut files: BTreeMap<&str, Chosen<'_>> = shipped
        .iter()
        .map(|file| {
            let chosen = Chosen {
                file,
                base: None,
                shipped: true,
            };
            (file.path.as_str(), chosen)
        })
        .collect();
    for file in own {
        let base = files.get(file.path.as_str()).map(|chosen| chosen.file);
        let chosen = Chosen {
            file,
            base,
            shipped: false,
        };
        files.insert(&file.path, chosen);
    }
    files
}

/// Reads a file, over the one it extends, and collects what is wrong with either.
fn with_root<T>(
    chosen: &Chosen<'_>,
    all: &mut Vec<Diagnostic>,
    read: impl for<'a> FnOnce(&dyn Fn() -> Table<'a>, &Arc<Source>) -> Option<T>,
) -> Option<T> {
    let findings = Findings::new(&chosen.file.source);
    let document = Document::parse(&findings);
    let extends = document.root().get("extends");
    if let Some(item) = &extends {
        load::word(item, &[("shipped", ())]);
        if chosen.base.is_none() {
            item.error(
                "extends",
                "there is no built-in file of this name to extend",
            );
        }
    }
    let base = chosen.base.filter(|_| extends.is_some());
    let base_findings = base.map(|file| Findings::new(&file.source));
    let base_document = base_findings.as_ref().map(Document::parse);
    let root = || match &base_document {
        Some(base) => document.root().over(base.root()),
        None => document.root(),
    };
    let result = read(&root, &chosen.file.source);
    drop(extends);
    let clean = findings.is_empty() && base_findings.as_ref().is_none_or(Findings::is_empty);
    drop(document);
    drop(base_document);
    all.extend(findings.into_list());
    all.extend(base_findings.map(Findings::into_list).unwrap_or_default());
    result.filter(|_| clean)
}

/// The kinds of test that a definition lacks.
fn missing_tests(platform: &Arc<Platform>, definition: &TypeDriver) -> Option<Diagnostic> {
    let mut covered: Vec<Covers> = Vec::new();
    for test in &definition.tests {
        covered.extend(self_test::run(platform, definition, test).covers);
    }
    let mut needed = vec![Covers::Read, Covers::Change, Covers::SecondRun];
    if definition.model.ensurable() && definition.base.creates() {
        needed.extend([Covers::Create, Covers::Remove]);
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

fn misnamed(source: &Arc<Source>, key: &str, name: &str) -> Diagnostic {
    Diagnostic::error(
        "misnamed-file",
        format!("the file's name does not fit the {key} `{name}`"),
    )
    .at(source, 0..0, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(findings: &[Diagnostic]) -> String {
        let lines: Vec<String> = findings
            .iter()
            .map(|finding| {
                let place = finding.labels.first().map_or_else(String::new, |label| {
                    let (line, column) = label.source.position(label.span.start);
                    format!("{}:{line}:{column}: ", label.source.name)
                });
                let help = finding
                    .help
                    .as_deref()
                    .map_or_else(String::new, |help| format!("\n    {help}"));
                format!("{place}{}{help}", finding.message)
            })
            .collect();
        lines.join("\n")
    }

    #[test]
    fn shipped_definitions_load_and_pass_their_own_tests_and_checks() {
        let registry = Registry::load(&[]).unwrap_or_else(|findings| panic!("{}", told(&findings)));
        let failed: Vec<String> = registry
            .test(None)
            .into_iter()
            .filter_map(|result| {
                Some(format!(
                    "{}: {}\n{}",
                    result.definition, result.name, result.failure?
                ))
            })
            .collect();
        assert!(failed.is_empty(), "\n{}", failed.join("\n\n"));
        let findings = registry.check();
        assert!(findings.is_empty(), "\n{}", told(&findings));
    }
}
