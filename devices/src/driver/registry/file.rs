//! Loads a platform or type from a definition file.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::layers::Layer;
use crate::definitions::DefinitionFile;
use crate::diagnostic::{Diagnostic, Source, nearest};
use crate::document::{Document, Findings, Table};
use crate::driver::platform::Platform;
use crate::driver::type_driver::TypeDriver;
use crate::model::{TypeModel, load};
use crate::names::{PlatformName, TypeName};
use crate::value::Name;

/// A type's model.
pub(super) struct SelectedModel {
    pub(crate) model: Arc<TypeModel>,
    /// Attributes that the shipped model of the type lacks.
    pub(crate) added: Vec<Name>,
}

/// Attributes of a model that the shipped model of the type lacks.
pub(super) fn added_attributes(shipped: Option<&DefinitionFile>, model: &TypeModel) -> Vec<Name> {
    let Some(shipped) = shipped.and_then(|file| load::load(&file.source).ok()) else {
        return Vec::new();
    };
    let names = model.attributes.keys();
    names
        .filter(|name| !shipped.attributes.contains_key(*name))
        .cloned()
        .collect()
}

/// Loads a model.
pub(super) fn load_model(
    layers: &[Layer<'_>],
    findings: &mut Vec<Diagnostic>,
) -> Option<TypeModel> {
    with_roots(layers, findings, |roots| load::read_model(&roots.merged()))
}

/// Loads a platform without its types. Aliases of the platform that it is based on are not its own.
pub(super) fn load_platform(
    directory: &str,
    layers: &[Layer<'_>],
    findings: &mut Vec<Diagnostic>,
) -> Option<Platform> {
    let is_own = |layer: &Layer<'_>| layer.file.path.starts_with(&format!("{directory}/"));
    let own = layers.iter().filter(|layer| is_own(layer)).count();
    let platform = with_roots(layers, findings, |roots| {
        let mut platform = Platform::load(&roots.merged())?;
        let aliases = (0..own).find_map(|layer| roots.of(layer).strings("aliases"));
        platform.aliases = aliases.unwrap_or_default();
        Some(platform)
    })?;
    if platform.name != directory {
        findings.push(misnamed(&layers[0].file.source, "platform", &platform.name));
    }
    Some(platform)
}

/// Loads a type of one of these platforms, if the file has the path of one.
pub(super) fn add_type(
    path: &str,
    layers: &[Layer<'_>],
    models: &BTreeMap<TypeName, SelectedModel>,
    platforms: &mut BTreeMap<PlatformName, Platform>,
    findings: &mut Vec<Diagnostic>,
) {
    let source = &layers[0].file.source;
    let Some((directory, kind)) = parts(path) else {
        findings.push(
            Diagnostic::error(
                "misplaced-file",
                format!("unexpected file {path}"),
            )
            .at(source, 0..0, "")
            .help("definitions are models/TYPE.toml, PLATFORM/platform.toml or PLATFORM/TYPE.toml"),
        );
        return;
    };
    let Some(platform) = platforms.get_mut(directory) else {
        let known: Vec<&str> = platforms.keys().map(PlatformName::as_str).collect();
        findings.push(
            Diagnostic::error(
                "unknown-platform",
                format!("unknown platform `{directory}`"),
            )
            .at(source, 0..0, "")
            .help(match nearest(directory, known.iter().copied()) {
                Some(name) => format!("did you mean `{name}`?"),
                None => format!("add {directory}/platform.toml"),
            }),
        );
        return;
    };
    let Some(selected) = models.get(kind) else {
        let names = models.keys().map(TypeName::as_str);
        findings.push(
            Diagnostic::error("unknown-type", format!("no model for the type `{kind}`"))
                .at(source, 0..0, "")
                .help(match nearest(kind, names) {
                    Some(name) => format!("did you mean `{name}`?"),
                    None => format!("add models/{kind}.toml"),
                }),
        );
        return;
    };
    load_type(layers, selected, directory, platform, findings);
}

/// Loads a type of a platform.
pub(super) fn load_type(
    layers: &[Layer<'_>],
    selected: &SelectedModel,
    directory: &str,
    platform: &mut Platform,
    findings: &mut Vec<Diagnostic>,
) {
    let model = &selected.model;
    let kind = &model.name;
    let Layer { file, shipped } = layers[0];
    let loaded = with_roots(layers, findings, |roots| {
        let lacking = match shipped {
            true => selected.added.as_slice(),
            false => &[],
        };
        let context = platform.context(model, lacking, &file.source);
        // A file that another platform takes over has the name of its own platform.
        let of_file = parts(&file.path).map_or(directory, |(directory, _)| directory);
        let table = roots.of(0);
        for (key, expected) in [("platform", of_file), ("type", kind)] {
            if let Some(item) = table.get(key)
                && item.string().is_some_and(|name| name != expected)
            {
                item.error(
                    "misnamed-file",
                    format!("the path of the file requires the {key} `{expected}`"),
                );
            }
        }
        TypeDriver::load(&context, layers, roots)
    });
    if let Some(mut definition) = loaded {
        definition.added.clone_from(&selected.added);
        platform.types.insert(kind.clone(), Arc::new(definition));
    }
}

/// The roots of the files of a definition.
pub(crate) struct Roots<'a, 'f> {
    documents: &'a [Document<'f>],
}

impl<'a> Roots<'a, '_> {
    /// The root of one file alone.
    pub(crate) fn of(&self, layer: usize) -> Table<'a> {
        self.documents[layer].root()
    }

    /// The root of the first file, over those that it extends.
    pub(crate) fn merged(&self) -> Table<'a> {
        let mut roots = self.documents.iter().rev().map(Document::root);
        let lowest = roots.next().expect("a definition has a file");
        roots.fold(lowest, |below, root| root.over(below))
    }
}

/// Parses the files of a definition, and collects the problems of all.
fn with_roots<T>(
    layers: &[Layer<'_>],
    all: &mut Vec<Diagnostic>,
    read: impl FnOnce(&Roots<'_, '_>) -> Option<T>,
) -> Option<T> {
    let findings: Vec<Findings> = layers
        .iter()
        .map(|layer| Findings::new(&layer.file.source))
        .collect();
    let documents: Vec<Document<'_>> = findings.iter().map(Document::parse).collect();
    let result = read(&Roots {
        documents: &documents,
    });
    let clean = findings.iter().all(Findings::is_empty);
    drop(documents);
    all.extend(findings.into_iter().flat_map(Findings::into_list));
    result.filter(|_| clean)
}

/// The directory and the name of a definition file.
pub(crate) fn parts(path: &str) -> Option<(&str, &str)> {
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
