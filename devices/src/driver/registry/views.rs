//! The views of desired state: which types of a platform are in one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::file::{SelectedFile, SelectedModel};
use super::{Platform, Registry};
use crate::diagnostic::Diagnostic;
use crate::model::TypeModel;
use crate::names::{PlatformName, TypeName};
use crate::value::Name;

/// The key of a place in a view. The text of a model without it needs no parser to tell that it has none.
pub(super) const VIEW: &str = "\nview ";

impl Registry {
    /// The types of a platform that are in a view, by name.
    pub fn placed_types(&self, platform: &str) -> impl Iterator<Item = &Arc<TypeModel>> {
        let platform = self.platform(platform);
        let names = self.placed.iter();
        let names = names.filter(move |name| platform.is_some_and(|found| found.has_type(name)));
        self.with_location(names)
    }

    /// The types of all platforms that are in a view, by name.
    pub fn all_placed_types(&self) -> impl Iterator<Item = &Arc<TypeModel>> {
        self.with_location(self.placed.iter())
    }

    fn with_location<'a>(
        &'a self,
        names: impl Iterator<Item = &'a TypeName>,
    ) -> impl Iterator<Item = &'a Arc<TypeModel>> {
        let models = names.filter_map(|name| self.model(name));
        models.filter(|model| model.location.is_some())
    }
}

/// Types with the name of a view, and types of one platform that have one place.
pub(super) fn conflicts(
    files: &BTreeMap<&str, SelectedFile<'_>>,
    models: &BTreeMap<TypeName, SelectedModel>,
    platforms: &BTreeMap<PlatformName, Platform>,
) -> Vec<Diagnostic> {
    let models = || models.values().map(|selected| &selected.model);
    let error = |model: &TypeModel, message: String, help: &str| {
        let found = Diagnostic::error("view", message).help(help);
        match files.get(format!("models/{}.toml", model.name).as_str()) {
            Some(chosen) => found.at(&chosen.file.source, 0..0, ""),
            None => found,
        }
    };
    let places = models().filter_map(|model| model.location.as_ref());
    let views: BTreeSet<&Name> = places.map(|location| &location.view).collect();
    let named = models().filter(|model| views.contains(&Name::from(model.name.as_str())));
    let mut found: Vec<Diagnostic> = named
        .map(|model| {
            let message = format!("`{}` is a view, no type can have its name", model.name);
            error(model, message, "use another name")
        })
        .collect();
    for platform in platforms.values() {
        let placed = models().filter(|model| model.location.is_some());
        let placed = placed.filter(|model| platform.has_type(&model.name));
        let placed: Vec<&Arc<TypeModel>> = placed.collect();
        for (index, model) in placed.iter().enumerate() {
            let others = placed[..index].iter();
            let conflict = others
                .filter_map(|other| model.location_conflict(other))
                .next();
            if let Some(conflict) = conflict {
                let message = format!("{}: {conflict}", platform.name);
                found.push(error(
                    model,
                    message,
                    "use another `section` in one of them",
                ));
            }
        }
    }
    found
}
