//! Loads a platform or type from a definition file.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::definitions::DefinitionFile;
use crate::diagnostic::{Diagnostic, Source, suggest};
use crate::document::{DEVICE_PLACEHOLDER, Document, Findings, Table};
use crate::driver::parameter::{Parameter, ParameterValues};
use crate::driver::platform::Platform;
use crate::driver::platform::sections::PlatformSections;
use crate::driver::self_test::test_source::TestSource;
use crate::driver::type_driver::TypeDriver;
use crate::model::{TypeModel, load};
use crate::names::{PlatformName, TypeName};
use crate::value::Name;

/// A selected file: the user's with the files that it extends, or the shipped one.
pub(super) struct SelectedFile<'a> {
    pub(crate) file: &'a DefinitionFile,
    /// The file that `extends` names, the file that this one extends, and so on.
    bases: Vec<&'a DefinitionFile>,
    /// The shipped file in whose place the user's is.
    replaced: Option<&'a DefinitionFile>,
    shipped: bool,
}

/// The value of `extends` for the shipped file of the same name. All others are platforms.
const SHIPPED: &str = "shipped";

/// A type's model.
pub(super) struct SelectedModel {
    pub(crate) model: Arc<TypeModel>,
    /// Attributes that the shipped model of the type lacks.
    pub(crate) added: Vec<Name>,
}

impl<'a> SelectedFile<'a> {
    /// A shipped file.
    pub(crate) fn shipped(file: &'a DefinitionFile) -> Self {
        Self {
            file,
            bases: Vec::new(),
            replaced: None,
            shipped: true,
        }
    }
}

impl SelectedFile<'_> {
    /// The file and those that it extends, the nearest first.
    pub(super) fn files(&self) -> impl Iterator<Item = &DefinitionFile> {
        [self.file].into_iter().chain(self.bases.iter().copied())
    }

    /// Where the tests are. Those of the extended file remain if it is that of the same platform:
    /// another platform has other lines.
    fn tests<'t>(&self, extended: Option<Table<'t>>) -> TestSource<'t> {
        if self.file.deferred_tests().is_some() {
            return TestSource::Deferred(Arc::clone(&self.file.source));
        }
        let base = self.bases.first();
        let is_same_path = base.is_some_and(|base| base.path == self.file.path);
        TestSource::File {
            extended: extended.filter(|_| is_same_path),
        }
    }

    /// Attributes of the user's model that the shipped model of the type lacks.
    pub(crate) fn added_attributes(&self, model: &TypeModel) -> Vec<Name> {
        let shipped = self.replaced.map(|file| load::load(&file.source));
        let Some(Ok(shipped)) = shipped else {
            return Vec::new();
        };
        let names = model.attributes.keys();
        names
            .filter(|name| !shipped.attributes.contains_key(*name))
            .cloned()
            .collect()
    }
}

/// Loads a model.
pub(super) fn load_model(
    chosen: &SelectedFile<'_>,
    findings: &mut Vec<Diagnostic>,
) -> Option<TypeModel> {
    let none = ParameterValues::new();
    let values = ParameterSource::Platform(&none);
    with_root((chosen, values), findings, |root, _, _| {
        load::read_model(&root())
    })
}

/// Loads a platform without its types.
pub(super) fn load_platform(
    directory: &str,
    chosen: &SelectedFile<'_>,
    supplied: &ParameterValues,
    findings: &mut Vec<Diagnostic>,
) -> Option<Platform> {
    let values = ParameterSource::Declared(supplied);
    let platform = with_root((chosen, values), findings, |root, extended, _| {
        Platform::load(&root(), chosen.tests(extended()), chosen.shipped, supplied)
    })?;
    if platform.name != directory {
        findings.push(misnamed(&chosen.file.source, "platform", &platform.name));
    }
    Some(platform)
}

/// A file that is no definition by its path.
pub(super) fn misplaced(path: &str, chosen: &SelectedFile<'_>) -> Diagnostic {
    Diagnostic::error("misplaced-file", format!("unexpected file {path}"))
        .at(&chosen.file.source, 0..0, "")
        .help("name it models/TYPE.toml, PLATFORM/platform.toml or PLATFORM/TYPE.toml")
}

/// Loads a type of one of these platforms.
pub(super) fn add_type(
    (directory, kind): (&str, &str),
    chosen: &SelectedFile<'_>,
    models: &BTreeMap<TypeName, SelectedModel>,
    platforms: &mut BTreeMap<PlatformName, Platform>,
    findings: &mut Vec<Diagnostic>,
) {
    let source = &chosen.file.source;
    let Some(platform) = platforms.get_mut(directory) else {
        let names = platforms.keys().map(PlatformName::as_str);
        let help = suggest(directory, names, format!("add {directory}/platform.toml"));
        let message = format!("unknown platform `{directory}`");
        let found = Diagnostic::error("unknown-platform", message).at(source, 0..0, "");
        findings.push(found.help(help));
        return;
    };
    let Some(selected) = models.get(kind) else {
        let names = models.keys().map(TypeName::as_str);
        let help = suggest(kind, names, format!("add models/{kind}.toml"));
        let message = format!("no model for the type `{kind}`");
        let found = Diagnostic::error("unknown-type", message).at(source, 0..0, "");
        findings.push(found.help(help));
        return;
    };
    if let Some(definition) = load_type(chosen, selected, directory, platform, findings) {
        platform.types.insert(kind.into(), definition.into());
    }
}

/// Loads a type of a platform.
pub(super) fn load_type(
    chosen: &SelectedFile<'_>,
    selected: &SelectedModel,
    directory: &str,
    platform: &Platform,
    findings: &mut Vec<Diagnostic>,
) -> Option<TypeDriver> {
    let model = &selected.model;
    let values = ParameterSource::Platform(&platform.parameter_values);
    let mut definition = with_root((chosen, values), findings, |root, extended, source| {
        let lacking = if chosen.shipped {
            selected.added.as_slice()
        } else {
            &[]
        };
        let context = platform.context(model, lacking, source);
        let table = root();
        for (key, expected) in [("platform", directory), ("type", &model.name)] {
            if let Some(item) = table.get(key)
                && item.string().is_some_and(|name| name != expected)
            {
                item.error(
                    "misnamed-file",
                    format!("the path of the file requires the {key} `{expected}`"),
                );
            }
        }
        TypeDriver::load(&context, chosen.shipped, root, chosen.tests(extended()))
    })?;
    definition.added.clone_from(&selected.added);
    Some(definition)
}

/// The selected files by path.
pub(super) fn select_files<'a>(
    shipped: &'a [DefinitionFile],
    own: &'a [DefinitionFile],
) -> BTreeMap<&'a str, SelectedFile<'a>> {
    let by_path = |files: &'a [DefinitionFile]| -> BTreeMap<&'a str, &'a DefinitionFile> {
        files
            .iter()
            .map(|file| (file.path.as_str(), file))
            .collect()
    };
    let (shipped, own) = (by_path(shipped), by_path(own));
    let selected = shipped.values().map(|file| SelectedFile::shipped(file));
    let mut files: BTreeMap<&str, SelectedFile<'_>> = selected
        .map(|chosen| (chosen.file.path.as_str(), chosen))
        .collect();
    for (path, file) in &own {
        let chosen = SelectedFile {
            file,
            bases: bases(file, &shipped, &own),
            replaced: shipped.get(path).copied(),
            shipped: false,
        };
        files.insert(path, chosen);
    }
    files
}

/// The files that a file extends, directly or not. If they extend one another, there are none.
fn bases<'a>(
    file: &'a DefinitionFile,
    shipped: &BTreeMap<&str, &'a DefinitionFile>,
    own: &BTreeMap<&str, &'a DefinitionFile>,
) -> Vec<&'a DefinitionFile> {
    let mut bases: Vec<&DefinitionFile> = Vec::new();
    let mut last = file;
    while let Some(name) = declared_text(last, "extends") {
        let base = match (name.as_str(), last.path.split_once('/')) {
            (SHIPPED, _) => shipped.get(last.path.as_str()),
            (_, None | Some(("models", _))) => None,
            (platform, Some((_, file))) => {
                let path = format!("{platform}/{file}");
                own.get(path.as_str())
                    .or_else(|| shipped.get(path.as_str()))
            }
        };
        let Some(base) = base.copied() else {
            break;
        };
        if std::ptr::eq(base, file) || bases.iter().any(|other| std::ptr::eq(*other, base)) {
            return Vec::new();
        }
        bases.push(base);
        last = base;
    }
    bases
}

/// The text of a key of a file. Errors of the file are reported when it is loaded.
pub(super) fn declared_text(file: &DefinitionFile, key: &str) -> Option<String> {
    let findings = Findings::new(&file.source);
    let document = Document::parse(&findings);
    document.root().string(key)
}

/// Where the values of a device come from.
enum ParameterSource<'a> {
    /// The platform that the file belongs to.
    Platform(&'a ParameterValues),
    /// The declarations in the file, and the values of the device.
    Declared(&'a ParameterValues),
}

/// Loads a file, merged over those that it extends, and collects the problems of all. `read` gets
/// functions for the root of the merged file and for that of the extended file. `values` are those of
/// a device.
fn with_root<T>(
    (chosen, values): (&SelectedFile<'_>, ParameterSource<'_>),
    all: &mut Vec<Diagnostic>,
    read: impl for<'a> FnOnce(
        &dyn Fn() -> Table<'a>,
        &dyn Fn() -> Option<Table<'a>>,
        &Arc<Source>,
    ) -> Option<T>,
) -> Option<T> {
    let findings = Findings::new(&chosen.file.source);
    let mut document = match chosen.file.deferred_tests() {
        Some(end) => Document::parse_until(&findings, end),
        None => Document::parse(&findings),
    };
    let bases = chosen.bases.iter();
    let base_findings: Vec<Findings> = bases.map(|file| Findings::new(&file.source)).collect();
    let mut base_documents: Vec<Document<'_>> = base_findings.iter().map(Document::parse).collect();
    let is_used = |file: &DefinitionFile| file.source.text.contains(DEVICE_PLACEHOLDER);
    let values = match values {
        _ if !chosen.files().any(is_used) => ParameterValues::new(),
        ParameterSource::Platform(values) => values.clone(),
        ParameterSource::Declared(supplied) => {
            // The declarations are read again with the file, which reports what is wrong.
            let silent = chosen.files().map(|file| Findings::new(&file.source));
            let silent: Vec<Findings> = silent.collect();
            let documents: Vec<Document<'_>> = silent.iter().map(Document::parse).collect();
            let tables = documents.iter().rev().map(Document::root);
            let root = tables.reduce(|base, table| table.over(base));
            let declared = root.and_then(|root| PlatformSections::parameter(&root));
            let declared = declared.map(|item| Parameter::load_all(&item));
            Parameter::values(&declared.unwrap_or_default(), supplied)
        }
    };
    document.fill(&values);
    base_documents
        .iter_mut()
        .for_each(|base| base.fill(&values));
    let extends = document.root().get("extends");
    if let Some(item) = &extends
        && let Some(name) = item.string()
        && chosen.bases.is_empty()
    {
        let (_, file) = chosen.file.path.split_once('/').unwrap_or_default();
        let message = match name.as_str() {
            SHIPPED => "no built-in file with this name exists".to_owned(),
            platform => format!("no {platform}/{file} to extend"),
        };
        let help = "write `shipped` or the name of another platform";
        item.findings
            .error_with_help("extends", item.span.clone(), message, help);
    }
    let extended = || {
        let tables = base_documents.iter().rev().map(Document::root);
        tables.reduce(|base, table| table.over(base))
    };
    let root = || match extended() {
        Some(base) => document.root().over(base),
        None => document.root(),
    };
    let result = read(&root, &extended, &chosen.file.source);
    drop(extends);
    let is_model = chosen.file.path.starts_with("models/");
    if result.is_some() && findings.is_empty() && !is_model {
        document.report_unfilled();
    }
    let clean = findings.is_empty() && base_findings.iter().all(Findings::is_empty);
    drop(document);
    drop(base_documents);
    all.extend(findings.into_list());
    all.extend(base_findings.into_iter().flat_map(Findings::into_list));
    result.filter(|_| clean)
}

/// The directory and the name of a definition file.
pub(super) fn parts(path: &str) -> Option<(&str, &str)> {
    let (directory, file) = path.split_once('/')?;
    let name = file.strip_suffix(".toml")?;
    (!name.contains('/')).then_some((directory, name))
}

pub(super) fn misnamed(source: &Arc<Source>, key: &str, name: &str) -> Diagnostic {
    Diagnostic::error(
        "misnamed-file",
        format!("the file name does not match the {key} `{name}`"),
    )
    .at(source, 0..0, "")
}
