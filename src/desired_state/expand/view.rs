//! The views that the types of a platform make: `interface:` has a flat type and sections.

use std::collections::BTreeMap;

use switchtender_devices::diagnostic::did_you_mean;
use switchtender_devices::driver::Registry;
use switchtender_devices::map::IndexMap;
use switchtender_devices::model::TypeModel;

/// What a key of a file names.
pub(in crate::desired_state) enum FileKey<'v, 'a> {
    Type,
    View(&'v StateView<'a>),
    /// A view without types of the platform.
    OtherView,
}

/// The views of one platform.
pub(in crate::desired_state) struct Views<'a> {
    pub(in crate::desired_state) registry: &'a Registry,
    pub(in crate::desired_state) platform: &'a str,
    by_name: BTreeMap<&'a str, StateView<'a>>,
}

/// A view with the types of a platform.
#[derive(Default)]
pub(in crate::desired_state) struct StateView<'a> {
    pub(in crate::desired_state) name: &'a str,
    /// The type whose attributes stand next to the sections.
    pub(in crate::desired_state) flat: Option<&'a TypeModel>,
    /// By key.
    pub(in crate::desired_state) sections: IndexMap<&'a str, &'a TypeModel>,
}

impl<'a> Views<'a> {
    /// The views of a platform. Reads the models of their types.
    pub(in crate::desired_state) fn new(registry: &'a Registry, platform: &'a str) -> Self {
        let mut by_name: BTreeMap<&str, StateView<'_>> = BTreeMap::new();
        for model in registry.placed_types(platform) {
            let Some(location) = &model.location else {
                continue;
            };
            let view = by_name.entry(&location.view).or_insert_with(|| StateView {
                name: &location.view,
                ..StateView::default()
            });
            match &location.section {
                Some(section) => {
                    view.sections.insert(section, model);
                }
                None => view.flat = Some(model),
            }
        }
        Self {
            registry,
            platform,
            by_name,
        }
    }

    /// What a key of a file names, unless it is one of the file itself.
    pub(in crate::desired_state) fn key(&self, name: &str) -> FileKey<'_, 'a> {
        if let Some(view) = self.by_name.get(name) {
            return FileKey::View(view);
        }
        let mut places = self.registry.all_placed_types();
        let is_type = self.registry.type_names().any(|known| known == name);
        if !is_type && places.any(|model| model.location.as_ref().is_some_and(|at| at.view == name))
        {
            FileKey::OtherView
        } else {
            FileKey::Type
        }
    }

    /// The message about a name that is no type, and what to write.
    pub(in crate::desired_state) fn no_type(&self, name: &str) -> (String, String) {
        let message = format!("there is no type `{name}`");
        let help = match self.by_name.get(name) {
            Some(view) => {
                let types: Vec<&str> = view.types().collect();
                format!("`{name}` is a view: write its types {}", types.join(", "))
            }
            None => {
                let types = self.registry.type_names().map(|name| name.as_str());
                let form = "`switchtender type` lists the types".to_owned();
                did_you_mean(name, types).unwrap_or(form)
            }
        };
        (message, help)
    }

    /// The name of the view that has a type.
    pub(in crate::desired_state) fn with_type(&self, type_name: &str) -> Option<&'a str> {
        let mut views = self.by_name.values();
        let found = views.find(|view| view.types().any(|name| name == type_name));
        found.map(|view| view.name)
    }

    /// The names of the views.
    pub(in crate::desired_state) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.by_name.keys().copied()
    }
}

impl<'a> StateView<'a> {
    /// The names of its types, the flat one first.
    pub(in crate::desired_state) fn types(&self) -> impl Iterator<Item = &'a str> {
        let flat = self.flat.into_iter();
        let all = flat.chain(self.sections.values().copied());
        all.map(|model| model.name.as_str())
    }

    /// The section whose type has an attribute with this name.
    pub(in crate::desired_state) fn section_with(&self, attribute: &str) -> Option<&'a str> {
        let mut sections = self.sections.iter();
        let found = sections.find(|(_, model)| model.attributes.contains_key(attribute));
        found.map(|(section, _)| *section)
    }
}
