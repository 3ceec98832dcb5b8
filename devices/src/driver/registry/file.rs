//! Loads a platform or type from a definition file.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::definitions::DefinitionFile;
use crate::diagnostic::{Diagnostic, Source, suggest};
use crate::document::{Document, Findings, Table};
use crate::driver::platform::Platform;
use crate::driver::type_driver::TypeDriver;
use crate::model::{TypeModel, load};
use crate::names::{PlatformName, TypeName};
use crate::value::Name;

/// A selected file: the user's with the shipped file that it extends, or the shipped one.
pub(super) struct SelectedFile<'a> {
    pub(crate) file: &'a DefinitionFile,
    /// The shipped file that `extends = "shipped"` refers to.
    base: Option<&'a DefinitionFile>,
    shipped: bool,
}

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
            base: None,
            shipped: true,
        }
    }
}

impl SelectedFile<'_> {
    /// Attributes of the user's model that the shipped model of the type lacks.
    pub(crate) fn added_attributes(&self, model: &TypeModel) -> Vec<Name> {
        let shipped = self.base.and_then(|base| load::load(&base.source).ok());
        let Some(shipped) = shipped else {
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
    with_root(chosen, findings, |root, _, _| load::read_model(&root()))
}

/// Loads a platform without its types.
pub(super) fn load_platform(
    directory: &str,
    chosen: &SelectedFile<'_>,
    findings: &mut Vec<Diagnostic>,
) -> Option<Platform> {
    let platform = with_root(chosen, findings, |root, _, _| Platform::load(&root()))?;
    if platform.name != directory {
        findings.push(misnamed(&chosen.file.source, "platform", &platform.name));
    }
    Some(platform)
}

/// Loads a type of one of these platforms, if the file has the path of one.
pub(super) fn add_type(
    path: &str,
    chosen: &SelectedFile<'_>,
    models: &BTreeMap<TypeName, SelectedModel>,
    platforms: &mut BTreeMap<PlatformName, Platform>,
    findings: &mut Vec<Diagnostic>,
) {
    let source = &chosen.file.source;
    let Some((directory, kind)) = parts(path) else {
        findings.push(
            Diagnostic::error("misplaced-file", format!("unexpected file {path}"))
                .at(source, 0..0, "")
                .help("name it models/TYPE.toml, PLATFORM/platform.toml or PLATFORM/TYPE.toml"),
        );
        return;
    };
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
    load_type(chosen, selected, directory, platform, findings);
}

/// Loads a type of a platform.
pub(super) fn load_type(
    chosen: &SelectedFile<'_>,
    selected: &SelectedModel,
    directory: &str,
    platform: &mut Platform,
    findings: &mut Vec<Diagnostic>,
) {
    let model = &selected.model;
    let kind = &model.name;
    let loaded = with_root(chosen, findings, |root, extended, source| {
        let lacking = match chosen.shipped {
            true => selected.added.as_slice(),
            false => &[],
        };
        let context = platform.context(model, lacking, source);
        let table = root();
        for (key, expected) in [("platform", directory), ("type", kind)] {
            if let Some(item) = table.get(key)
                && item.string().is_some_and(|name| name != expected)
            {
                item.error(
                    "misnamed-file",
                    format!("the path of the file requires the {key} `{expected}`"),
                );
            }
        }
        TypeDriver::load(&context, chosen.shipped, root, extended())
    });
    if let Some(mut definition) = loaded {
        definition.added.clone_from(&selected.added);
        platform.types.insert(kind.clone(), Arc::new(definition));
    }
}

/// The selected files by path.
pub(super) fn select_files<'a>(
    shipped: &'a [DefinitionFile],
    own: &'a [DefinitionFile],
) -> BTreeMap<&'a str, SelectedFile<'a>> {
    let mut files: BTreeMap<&str, SelectedFile<'_>> = shipped
        .iter()
        .map(|file| (file.path.as_str(), SelectedFile::shipped(file)))
        .collect();
    for file in own {
        let base = files.get(file.path.as_str()).map(|chosen| chosen.file);
        let chosen = SelectedFile {
            file,
            base,
            shipped: false,
        };
        files.insert(&file.path, chosen);
    }
    files
}

/// Loads a file, merged over the one it extends, and collects the problems of both. `read` gets
/// functions for the root of the merged file and for that of the extended file.
fn with_root<T>(
    chosen: &SelectedFile<'_>,
    all: &mut Vec<Diagnostic>,
    read: impl for<'a> FnOnce(
        &dyn Fn() -> Table<'a>,
        &dyn Fn() -> Option<Table<'a>>,
        &Arc<Source>,
    ) -> Option<T>,
) -> Option<T> {
    let findings = Findings::new(&chosen.file.source);
    let document = Document::parse(&findings);
    let extends = document.root().get("extends");
    if let Some(item) = &extends {
        load::word(item, &[("shipped", ())]);
        if chosen.base.is_none() {
            item.error("extends", "no built-in file with this name exists");
        }
    }
    let base = chosen.base.filter(|_| extends.is_some());
    let base_findings = base.map(|file| Findings::new(&file.source));
    let base_document = base_findings.as_ref().map(Document::parse);
    let root = || match &base_document {
        Some(base) => document.root().over(base.root()),
        None => document.root(),
    };
    let extended = || base_document.as_ref().map(Document::root);
    let result = read(&root, &extended, &chosen.file.source);
    drop(extends);
    let clean = findings.is_empty() && base_findings.as_ref().is_none_or(Findings::is_empty);
    drop(document);
    drop(base_document);
    all.extend(findings.into_list());
    all.extend(base_findings.map(Findings::into_list).unwrap_or_default());
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
