//! What a file declares and removes, type by type: a title of a view becomes one declaration for each of its types.

use std::rc::Rc;

use switchtender_devices::diagnostic::{Diagnostic, did_you_mean};
use switchtender_devices::model::view::{METAPARAMETERS, USE};

use super::title_range::{self, Titles};
use super::view::{FileKey, StateView, Views};
use crate::desired_state::merge::Layer;
use crate::desired_state::yaml_value::{YamlKey, YamlNode, YamlValue};

/// Attributes of one type, for the titles of one key.
pub(in crate::desired_state) struct Declaration<'a> {
    /// The type, or the view: its attribute is `use`.
    pub(in crate::desired_state) type_name: &'a str,
    /// The key of the type, or of the section.
    pub(in crate::desired_state) key: &'a YamlKey,
    pub(in crate::desired_state) title: &'a YamlKey,
    pub(in crate::desired_state) titles: Rc<Titles>,
    pub(in crate::desired_state) attributes: Vec<&'a (YamlKey, YamlNode)>,
    /// It stands below a view.
    pub(in crate::desired_state) is_view: bool,
}

/// A `~` for a resource, or for an object with the resources of all types of a view.
pub(in crate::desired_state) struct RemovedTitles<'a> {
    pub(in crate::desired_state) key: &'a YamlKey,
    pub(in crate::desired_state) types: Vec<&'a str>,
    pub(in crate::desired_state) titles: Rc<Titles>,
    /// What it removes, for messages.
    pub(in crate::desired_state) subject: String,
    /// The names of profiles are removed, too: later ones count again.
    pub(in crate::desired_state) is_object: bool,
}

/// A `~` for a type or a view.
pub(in crate::desired_state) struct RemovedTypes<'a> {
    pub(in crate::desired_state) key: &'a YamlKey,
    pub(in crate::desired_state) types: Vec<&'a str>,
    /// The view that has the type.
    pub(in crate::desired_state) view: Option<&'a str>,
}

/// The declarations of one file.
#[derive(Default)]
pub(in crate::desired_state) struct Declarations<'a> {
    pub(in crate::desired_state) removed_types: Vec<RemovedTypes<'a>>,
    pub(in crate::desired_state) removed_titles: Vec<RemovedTitles<'a>>,
    pub(in crate::desired_state) resources: Vec<Declaration<'a>>,
    pub(in crate::desired_state) findings: Vec<Diagnostic>,
    /// Errors of profiles, by name: they count where the profile is used.
    pub(in crate::desired_state) of_profiles: Vec<(&'a str, Diagnostic)>,
}

/// What the titles of a map are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::desired_state) enum TitleKind {
    /// Titles of resources. They can be ranges.
    Resource,
    /// Names of profiles.
    Profile,
}

/// Reads the entries of a file, or those of its profiles.
pub(in crate::desired_state) struct DeclarationReader<'a> {
    pub(in crate::desired_state) views: &'a Views<'a>,
    pub(in crate::desired_state) layer: &'a Layer<'a>,
    pub(in crate::desired_state) kind: TitleKind,
    pub(in crate::desired_state) found: Declarations<'a>,
}

/// An entry of a map of titles or attributes.
type FileEntry = (YamlKey, YamlNode);

impl<'a> DeclarationReader<'a> {
    /// Reads the entry of a type or a view.
    pub(in crate::desired_state) fn read(&mut self, key: &'a YamlKey, node: &'a YamlNode) {
        let view = match self.views.key(&key.name) {
            FileKey::View(view) => Some(view),
            FileKey::Type => None,
            // The file is also for platforms that have it.
            FileKey::OtherView if self.kind == TitleKind::Profile => return,
            FileKey::OtherView => return self.other_view(key),
        };
        let titles = match &node.value {
            YamlValue::Null => {
                let own = [key.name.as_str()].into_iter();
                let types = own
                    .chain(view.into_iter().flat_map(StateView::types))
                    .collect();
                self.found.removed_types.push(RemovedTypes {
                    key,
                    types,
                    view: self.views.with_type(&key.name),
                });
                return;
            }
            YamlValue::Map(titles) => titles,
            _ => return self.no_titles(key, node),
        };
        for (title, resource) in titles {
            let Some(titles) = self.titles(title) else {
                continue;
            };
            match (&resource.value, view) {
                (YamlValue::Null, _) => {
                    let own = [key.name.as_str()].into_iter();
                    let of_view = view.into_iter().flat_map(StateView::types);
                    self.found.removed_titles.push(RemovedTitles {
                        key: title,
                        types: own.chain(of_view).collect(),
                        titles,
                        subject: format!("{} {}", key.name, title.name),
                        is_object: view.is_some(),
                    });
                }
                (YamlValue::Map(attributes), Some(view)) => {
                    self.object(view, (key, title, titles), attributes);
                }
                (YamlValue::Map(attributes), None) => {
                    self.declare(
                        (&key.name, key),
                        (title, titles),
                        attributes.iter().collect(),
                    );
                }
                _ => self.no_attributes(title, resource),
            }
        }
    }

    /// Reads an object of a view: attributes of the flat type, sections, and profiles.
    fn object(
        &mut self,
        view: &StateView<'a>,
        (key, title, titles): (&'a YamlKey, &'a YamlKey, Rc<Titles>),
        entries: &'a [FileEntry],
    ) {
        let (mut own, mut profiles) = (Vec::new(), Vec::new());
        let is_own = |name: &str| {
            let attributes = view.flat.map(|model| &model.attributes);
            METAPARAMETERS.contains(&name)
                || attributes.is_some_and(|attributes| attributes.contains_key(name))
        };
        for entry in entries {
            let (name, node) = entry;
            let section = view.sections.get(name.name.as_str());
            match (&node.value, section) {
                _ if name.name == USE => profiles.push(entry),
                (_, None) if view.flat.is_some() && is_own(&name.name) => own.push(entry),
                (_, None) => self.unknown_name(view, title, entry),
                (YamlValue::Null, Some(model)) => {
                    self.found.removed_titles.push(RemovedTitles {
                        key: name,
                        types: vec![&model.name],
                        titles: Rc::clone(&titles),
                        subject: format!("{} {}", model.name, title.name),
                        is_object: false,
                    });
                }
                (YamlValue::Map(attributes), Some(model)) => {
                    let attributes = attributes.iter().collect();
                    let at = (title, Rc::clone(&titles));
                    self.declare_in_view((&model.name, name), at, attributes);
                }
                (_, Some(_)) => self.no_attributes(name, node),
            }
        }
        let at = (title, Rc::clone(&titles));
        if let Some(flat) = view.flat {
            self.declare_in_view((&flat.name, key), at, own);
        }
        self.declare_in_view((&key.name, key), (title, titles), profiles);
    }

    fn declare(
        &mut self,
        of_type: (&'a str, &'a YamlKey),
        at: (&'a YamlKey, Rc<Titles>),
        attributes: Vec<&'a FileEntry>,
    ) {
        self.add(of_type, at, attributes, false);
    }

    fn declare_in_view(
        &mut self,
        of_type: (&'a str, &'a YamlKey),
        at: (&'a YamlKey, Rc<Titles>),
        attributes: Vec<&'a FileEntry>,
    ) {
        self.add(of_type, at, attributes, true);
    }

    fn add(
        &mut self,
        (type_name, key): (&'a str, &'a YamlKey),
        (title, titles): (&'a YamlKey, Rc<Titles>),
        mut attributes: Vec<&'a FileEntry>,
        is_view: bool,
    ) {
        if self.kind == TitleKind::Profile {
            let names = attributes.iter().filter(|(name, _)| name.name == USE);
            let errors = names.map(|(name, _)| {
                let message = "a profile cannot use a profile";
                let finding = self.layer.origin(&name.span).error("state-form", message);
                finding.help("name both where they are used: `use: [FIRST, SECOND]`")
            });
            self.found.findings.extend(errors);
            attributes.retain(|(name, _)| name.name != USE);
        }
        self.found.resources.push(Declaration {
            type_name,
            key,
            title,
            titles,
            attributes,
            is_view,
        });
    }

    fn titles(&mut self, title: &'a YamlKey) -> Option<Rc<Titles>> {
        if self.kind == TitleKind::Profile {
            return Some(Rc::new(Titles::one(&title.name)));
        }
        match Titles::parse(&title.name) {
            Ok(titles) => Some(Rc::new(titles)),
            Err(error) => {
                let message = format!("cannot read the title `{}`: {error}", title.name);
                let finding = self.layer.origin(&title.span).error("state-range", message);
                self.found.findings.push(finding.help(title_range::HELP));
                None
            }
        }
    }

    fn other_view(&mut self, key: &YamlKey) {
        let message = format!(
            "{} has no type in the view `{}`",
            self.views.platform, key.name
        );
        let finding = self
            .layer
            .origin(&key.span)
            .error("unknown-section", message);
        let help =
            "declare it in platform/PLATFORM.yaml, for the devices of a platform that has it";
        self.found.findings.push(finding.help(help));
    }

    /// A name that is neither a section nor an attribute of the flat type.
    fn unknown_name(
        &mut self,
        view: &StateView<'a>,
        title: &'a YamlKey,
        (name, node): &'a FileEntry,
    ) {
        let (platform, name_text) = (self.views.platform, name.name.as_str());
        let is_section = matches!(node.value, YamlValue::Map(_));
        let what = if is_section { "section" } else { "attribute" };
        let message = format!(
            "the view `{}` of {platform} has no {what} `{name_text}`",
            view.name
        );
        let sections = view.sections.keys().copied();
        let attributes = view
            .flat
            .into_iter()
            .flat_map(|flat| flat.attributes.keys());
        let known = sections.chain(attributes.map(|name| name.as_str()));
        let help = match view.section_with(name_text) {
            Some(section) if !is_section => Some(format!(
                "write it in its section: `{section}: {{{name_text}: …}}`"
            )),
            _ => did_you_mean(name_text, known),
        };
        let help = help.unwrap_or_else(|| {
            let sections: Vec<&str> = view.sections.keys().copied().collect();
            format!(
                "the sections are {}; `switchtender type TYPE` lists the attributes",
                sections.join(", ")
            )
        });
        let finding = self
            .layer
            .origin(&name.span)
            .error("unknown-section", message);
        let finding = finding.help(help);
        match self.kind {
            TitleKind::Resource => self.found.findings.push(finding),
            TitleKind::Profile => self.found.of_profiles.push((&title.name, finding)),
        }
    }

    fn no_titles(&mut self, key: &YamlKey, node: &YamlNode) {
        let form = format!("`{}` must map titles to attributes", key.name);
        let finding = self.layer.origin(&node.span).error("state-form", form);
        let words = switchtender_devices::model::view::RESERVED;
        let help = did_you_mean(&key.name, words.into_iter().chain(self.views.names()));
        let title = first_text(&node.value).unwrap_or("TITLE");
        let form =
            format!("write `{title}: {{}}` below it, or `{title}:` with attributes below it");
        self.found.findings.push(finding.help(help.unwrap_or(form)));
    }

    fn no_attributes(&mut self, title: &YamlKey, node: &YamlNode) {
        let form = format!("`{}` must map attributes to values", title.name);
        let finding = self.layer.origin(&node.span).error("state-form", form);
        let help = format!("write `{}: {{ATTRIBUTE: VALUE}}`, or `{{}}`", title.name);
        self.found.findings.push(finding.help(help));
    }
}

/// The first text of a list: it was meant as a title.
fn first_text(value: &YamlValue) -> Option<&str> {
    match value {
        YamlValue::Text(text) => Some(text),
        YamlValue::List(items) => first_text(&items.first()?.value),
        _ => None,
    }
}
