//! The key `unmanaged`: types, attributes and lines that are left to others.

use regex::Regex;
use switchtender_devices::diagnostic::{Diagnostic, did_you_mean};
use switchtender_devices::map::IndexMap;

use super::view::Views;
use crate::desired_state::merged_state::{MergedResource, ValueOrigin};

/// How an item is written.
const FORMS: &str =
    "write TYPE, TYPE.ATTRIBUTE, TYPE[TITLE], TYPE[TITLE].ATTRIBUTE or '/REGEX/' for lines";

/// What the files of a device leave out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exclusions {
    /// By text: the lists of all files are combined.
    items: IndexMap<String, Exclusion>,
}

#[derive(Clone, Debug)]
struct Exclusion {
    origin: ValueOrigin,
    kind: ExclusionKind,
}

#[derive(Clone, Debug)]
enum ExclusionKind {
    Instances {
        type_name: String,
        title: Option<String>,
        attribute: Option<String>,
    },
    Lines(Regex),
}

impl Exclusions {
    /// Adds an item of a file.
    ///
    /// # Errors
    /// It names nothing.
    pub(in crate::desired_state) fn add(
        &mut self,
        text: &str,
        origin: ValueOrigin,
        views: &Views<'_>,
    ) -> Result<(), Box<Diagnostic>> {
        let kind = ExclusionKind::parse(text).ok_or_else(|| {
            let message = format!("cannot read `{text}` under `unmanaged`");
            Box::new(origin.error("state-form", message).help(FORMS))
        })?;
        if let Some((message, help)) = kind.problem(views) {
            return Err(Box::new(origin.error("state-form", message).help(help)));
        }
        let exclusion = Exclusion { origin, kind };
        self.items.entry(text.to_owned()).or_insert(exclusion);
        Ok(())
    }

    pub(in crate::desired_state) fn clear(&mut self) {
        self.items.clear();
    }

    /// The items with their origins.
    pub(in crate::desired_state) fn items(&self) -> impl Iterator<Item = (&str, &ValueOrigin)> {
        self.items
            .iter()
            .map(|(text, one)| (text.as_str(), &one.origin))
    }

    /// Whether a resource is left out, or with `attribute` that of the resource.
    pub(crate) fn excludes(&self, type_name: &str, title: &str, attribute: Option<&str>) -> bool {
        self.find(type_name, title, attribute).is_some()
    }

    /// Whether a line of the configuration is left out.
    pub(crate) fn excludes_line(&self, line: &str) -> bool {
        let mut items = self.items.values();
        items.any(|item| matches!(&item.kind, ExclusionKind::Lines(lines) if lines.is_match(line)))
    }

    fn find(&self, type_name: &str, title: &str, attribute: Option<&str>) -> Option<&Exclusion> {
        let mut items = self.items.values();
        items.find(|item| item.kind.has(type_name, title, attribute))
    }

    /// Errors about types that are purged although some of their instances are left out.
    pub(in crate::desired_state) fn purged_instances(
        &self,
        purge: &IndexMap<String, ValueOrigin>,
    ) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for item in self.items.values() {
            let ExclusionKind::Instances {
                type_name,
                title,
                attribute: None,
            } = &item.kind
            else {
                continue;
            };
            if let Some(other) = purge.get(type_name) {
                let message = format!("{type_name} is purged and unmanaged");
                let help = match title {
                    Some(title) => format!(
                        "declare it instead, which keeps it: `{type_name}: {{{title}: {{}}}}`"
                    ),
                    None => "remove it from one of the lists".to_owned(),
                };
                let finding = item.origin.error("state-conflict", message);
                let finding = finding.at(&other.source, other.span.clone(), "purged");
                found.push(finding.help(help));
            }
        }
        found
    }

    /// Removes what is left out. Returns a warning for each value that is not applied.
    pub(in crate::desired_state) fn remove_from(
        &self,
        types: &mut IndexMap<String, IndexMap<String, MergedResource>>,
    ) -> Vec<Diagnostic> {
        let mut ignored: IndexMap<(String, usize), Diagnostic> = IndexMap::default();
        if self.items.is_empty() {
            return Vec::new();
        }
        let mut ignore = |origin: &ValueOrigin, subject: String, item: &Exclusion| {
            let position = (origin.source.name.clone(), origin.span.start);
            ignored.entry(position).or_insert_with(|| {
                let message = format!("{subject} is unmanaged: it is not applied");
                Diagnostic::warning("unmanaged-value", message)
                    .at(&origin.source, origin.span.clone(), "")
                    .at(&item.origin.source, item.origin.span.clone(), "unmanaged")
                    .help("remove one of them")
            });
        };
        for (type_name, resources) in types.iter_mut() {
            resources.retain(|title, resource| {
                let found = self.find(type_name, title, None);
                if let Some(item) = found {
                    ignore(&resource.origin, format!("{type_name} {title}"), item);
                    return false;
                }
                resource.attributes.retain(|name, value| {
                    let found = self.find(type_name, title, Some(name));
                    if let Some(item) = found {
                        let subject = format!("{name} of {type_name} {title}");
                        ignore(&value.origin, subject, item);
                    }
                    found.is_none()
                });
                true
            });
        }
        types.retain(|_, resources| !resources.is_empty());
        ignored.into_values().collect()
    }
}

impl ExclusionKind {
    fn parse(text: &str) -> Option<Self> {
        if let Some(pattern) = text.strip_prefix('/') {
            return Regex::new(pattern.strip_suffix('/')?).ok().map(Self::Lines);
        }
        let end = text.find(['[', '.']).unwrap_or(text.len());
        let (type_name, rest) = text.split_at(end);
        let (title, rest) = match rest.strip_prefix('[') {
            None => (None, rest),
            Some(rest) => {
                let (title, rest) = rest.rsplit_once(']')?;
                (Some(title.to_owned()), rest)
            }
        };
        let attribute = match rest {
            "" => None,
            rest => Some(rest.strip_prefix('.')?.to_owned()),
        };
        Some(Self::Instances {
            type_name: type_name.to_owned(),
            title,
            attribute,
        })
    }

    /// What it names that does not exist, and what to write.
    fn problem(&self, views: &Views<'_>) -> Option<(String, String)> {
        let Self::Instances {
            type_name,
            attribute,
            ..
        } = self
        else {
            return None;
        };
        let Some(model) = views.registry.model(type_name) else {
            return Some(views.no_type(type_name));
        };
        let attribute = attribute.as_deref()?;
        if model.attributes.contains_key(attribute) {
            return None;
        }
        let names = model.attributes.keys().map(|name| name.as_str());
        let help = did_you_mean(attribute, names);
        let form = format!("`switchtender type {type_name}` lists the attributes");
        let message = format!("{type_name} has no attribute `{attribute}`");
        Some((message, help.unwrap_or(form)))
    }

    fn has(&self, of_type: &str, of_title: &str, of_attribute: Option<&str>) -> bool {
        let Self::Instances {
            type_name,
            title,
            attribute,
        } = self
        else {
            return false;
        };
        type_name == of_type
            && title.as_deref().is_none_or(|title| title == of_title)
            && attribute
                .as_deref()
                .is_none_or(|name| Some(name) == of_attribute)
    }
}
