//! An instance on a device as a resource of a manifest.

use std::sync::Arc;

use foldhash::{HashMap, HashSet};
use switchtender_devices::change::{Desired, Instance};
use switchtender_devices::driver::Driver;
use switchtender_devices::model::TypeModel;
use switchtender_devices::not_understood::NotUnderstood;
use switchtender_devices::printable::escape;
use switchtender_devices::value::{Attributes, Name, Value};

/// An instance as a resource of a manifest: `ensure` first, the namevar as the title.
pub(crate) struct ManifestResource {
    pub(crate) title: String,
    pub(crate) attributes: Attributes,
    /// Secret attributes that are not printed.
    pub(crate) left_out: Vec<Name>,
    /// Attributes without a value, because their text on the device was not understood.
    pub(crate) not_understood: Vec<Name>,
    /// What the device has and no attribute expresses.
    pub(crate) notes: Vec<String>,
    /// A secret that is not printed is necessary.
    pub(crate) needs_secret: bool,
    /// Why the resource is a comment.
    pub(crate) comment: Option<String>,
    /// The device lets nobody change it: `comment` says so.
    pub(crate) is_reserved: bool,
}

/// The title of an instance in a form of its type, else its names. A secret is never a title: the other attributes replace it,
/// with a number among equal ones.
fn title(model: &TypeModel, instance: &Instance, equals: &mut HashMap<String, usize>) -> String {
    if !has_secret_name(model, instance) {
        if let Some(title) = model.title_of(&instance.attributes) {
            return title;
        }
        let names = model.namevars();
        let names = names.filter_map(|name| instance.attributes.get(name));
        return names.map(Value::ruby_to_s).collect::<Vec<_>>().join(" ");
    }
    let set = model.attributes.values().filter_map(|attribute| {
        let value = instance.attributes.get(&attribute.name)?;
        let is_reported = !value.contains_secret() && !attribute.is_unset(value);
        value.scalar_text().filter(|_| is_reported)
    });
    let mut title = model.name.to_string();
    for value in set {
        title = format!("{title} {value}");
    }
    let number = equals.entry(title.clone()).or_default();
    *number += 1;
    match *number {
        1 => title,
        number => format!("{title} ({number})"),
    }
}

/// Whether a name of the instance is a secret: in all instances of the type, or in this one.
fn has_secret_name(model: &TypeModel, instance: &Instance) -> bool {
    let is_secret = |name: &str| {
        let value = instance.attributes.get(name);
        model.attributes[name].sensitive || value.is_some_and(Value::contains_secret)
    };
    model.namevars().any(is_secret)
}

/// Why a resource whose secret is not printed is a comment.
const NEEDS_SECRET: &str = "needs a secret; print it with --show-secrets";

impl ManifestResource {
    /// The instances of a type as resources.
    pub(crate) fn list(
        driver: &Driver,
        model: &Arc<TypeModel>,
        instances: Vec<Instance>,
        not_understood: &[NotUnderstood],
        show_secrets: bool,
    ) -> Vec<Self> {
        let mut equals = HashMap::default();
        let mut resources: Vec<Self> = instances
            .into_iter()
            .map(|instance| {
                let title = title(model, &instance, &mut equals);
                let texts = not_understood.iter().filter(|text| text.is_of(&instance));
                let hidden = texts.filter(|text| text.hides_value());
                let hidden = hidden.filter_map(|text| text.attribute.clone()).collect();
                Self::new(driver, model, instance, title, show_secrets).without(model, hidden)
            })
            .collect();
        let mut titles: HashSet<String> = HashSet::default();
        for resource in &mut resources {
            if !titles.insert(resource.title.clone()) {
                let comment = "another line of the device has the same name";
                resource.comment.get_or_insert_with(|| comment.to_owned());
            }
        }
        resources
    }

    fn new(
        driver: &Driver,
        model: &Arc<TypeModel>,
        instance: Instance,
        title: String,
        show_secrets: bool,
    ) -> Self {
        let namevars: Vec<&str> = model.namevars().collect();
        let has_secret_name = has_secret_name(model, &instance);
        let mut instance = instance;
        let broken = model.without_conflicts(&mut instance.attributes);
        let desired = Desired {
            reference: title.as_str().into(),
            model: Arc::clone(model),
            attributes: instance.attributes.clone(),
        };
        let is_reserved = driver.reserved(&desired).is_some();
        let unmanageable = if is_reserved {
            Some("part of the device, cannot be changed".to_owned())
        } else if let Some(line) = &instance.not_understood {
            // Words that are not understood can be a secret.
            let has_secrets = model.attributes.values().any(|one| one.sensitive);
            let masked = driver.masked_text(line);
            Some(match show_secrets {
                true => format!("not understood, `{}`", escape(line)),
                false if has_secrets && masked == *line => {
                    "not understood; print the line with --show-secrets".to_owned()
                }
                false => format!("not understood, `{}`", escape(&masked)),
            })
        } else {
            broken.map(|error| {
                let text = format!("cannot be managed: {error}");
                escape(&text).into_owned()
            })
        };
        let mut attributes = Attributes::default();
        if model.is_ensurable() {
            attributes.insert("ensure".to_owned(), Value::string("present"));
        }
        let is_title = namevars.len() == 1 && !has_secret_name;
        let mut left_out = Vec::new();
        for (name, value) in instance.attributes {
            // The word for the default is not a secret.
            let value = match value {
                Value::Sensitive(inner) if model.is_unset(&name, &inner) => *inner,
                other => other,
            };
            let has_no_value = matches!(value, Value::Undef | Value::Absent);
            if has_no_value || (is_title && namevars.contains(&name.as_str())) {
                continue;
            }
            if value.contains_secret() && !show_secrets {
                left_out.push(name);
            } else {
                attributes.insert(name, value);
            }
        }
        let notes = instance.notes;
        // Without its secrets the resource can be invalid.
        let needs_secret = !left_out.is_empty()
            && (has_secret_name || model.resolve(&title, &attributes).is_err());
        Self {
            title,
            attributes,
            left_out,
            not_understood: Vec::new(),
            notes,
            needs_secret: needs_secret && unmanageable.is_none(),
            is_reserved,
            comment: unmanageable.or_else(|| needs_secret.then(|| NEEDS_SECRET.to_owned())),
        }
    }

    /// The resource without attributes whose text on the device was not understood, and without those that
    /// are not valid without them.
    fn without(mut self, model: &TypeModel, mut names: Vec<Name>) -> Self {
        names.dedup();
        let before = model.check_rules(&self.attributes);
        for name in &names {
            self.attributes.remove(name);
        }
        let broken = |attributes: &Attributes| {
            let mut errors = model.check_rules(attributes).into_iter();
            errors.find(|error| !names.is_empty() && !before.contains(error))
        };
        let mut dependent = Vec::new();
        while let Some(error) = broken(&self.attributes) {
            let name: Name = error.attribute.as_str().into();
            if self.attributes.remove(&name).is_none() {
                let text = format!("cannot be managed: {error}");
                self.comment
                    .get_or_insert_with(|| escape(&text).into_owned());
                break;
            }
            dependent.push(name);
        }
        names.extend(dependent);
        self.not_understood = names;
        self
    }
}
