//! Metaparameters: attributes of every resource (`docs/reference/transaction.md`, section 15).

use std::borrow::Cow;
use std::sync::Arc;

use switchtender_devices::model::TypeModel;
use switchtender_devices::model::view::METAPARAMETERS;
use switchtender_devices::value::{Attributes, Name, Value};

use super::Level;
use super::load::texts;
use super::node::{Metaparameters, Relation};
use super::resource_ref::{ResourceRef, is_lowercase_ascii};
use super::tag_list::TagList;

/// Unresolved relationships of a resource, in Puppet's order: `require`, `subscribe`, `before`,
/// `notify`.
pub(crate) type Relations = Vec<(Relation, ResourceRef)>;

/// An invalid metaparameter, in Puppet's words.
pub(crate) struct BadMetaparameter {
    pub(crate) name: &'static str,
    pub(crate) message: String,
    /// The message contains the position.
    pub(crate) positioned: bool,
}

/// Reads the metaparameters of a resource. `attribute` returns whether the type has an attribute,
/// for `audit`.
pub(crate) fn read(
    parameters: &Attributes,
    reference: &ResourceRef,
    attribute: impl Fn(&str) -> bool,
) -> Result<(Metaparameters, Relations), BadMetaparameter> {
    let mut meta = Metaparameters::default();
    let mut relations = Relations::new();
    for name in METAPARAMETERS {
        let Some(value) = parameters.get(name).map(Value::unwrap_sensitive) else {
            continue;
        };
        let bad = |message: String| BadMetaparameter {
            name,
            message,
            positioned: false,
        };
        match name {
            "noop" => {
                meta.noop = Some(match value.ruby_to_s().as_str() {
                    "true" => true,
                    "false" => false,
                    _ => {
                        return Err(bad(format!(
                            "Invalid value {}. Valid values are true, false.",
                            value.inspect()
                        )));
                    }
                });
            }
            // Puppet ignores false here.
            "schedule" if *value == Value::Bool(false) => {}
            "schedule" => meta.schedule = Some(value.ruby_to_s()),
            "audit" => {
                meta.audit = texts(value).into_iter().map(Name::from).collect();
                if meta.audit != ["all"]
                    && let Some(unknown) = meta.audit.iter().find(|name| !attribute(name))
                {
                    return Err(bad(format!(
                        "Cannot audit {unknown}: not a valid attribute for {reference}"
                    )));
                }
            }
            "loglevel" => {
                meta.level = Some(Level::parse(&value.ruby_to_s()).ok_or_else(|| {
                    let names: Vec<&str> = Level::names().collect();
                    bad(format!(
                        "Invalid value {}. Valid values are {}.",
                        value.inspect(),
                        names.join(", ")
                    ))
                })?);
            }
            "alias" => meta.aliases = texts(value),
            "tag" => {
                meta.tags = texts(value);
                if let Some(tag) = meta.tags.iter().find(|tag| !is_valid_tag(tag)) {
                    return Err(BadMetaparameter {
                        positioned: true,
                        ..bad(format!("Invalid tag '{tag}'"))
                    });
                }
            }
            "stage" | "provider" => {}
            _ => {
                let relation = Relation::ALL
                    .into_iter()
                    .find(|relation| relation.name() == name)
                    .expect("all other metaparameters are handled above");
                let mut values = Vec::new();
                flatten(value, &mut values);
                relations.reserve_exact(values.len());
                for value in values {
                    let other = ResourceRef::of(value).map_err(|error| bad(error.to_string()))?;
                    relations.push((relation, other));
                }
            }
        }
    }
    Ok((meta, relations))
}

/// The properties of the model that `audit` names; `all` names every property.
pub(crate) fn audited(parameters: &Attributes, model: &TypeModel) -> Vec<Name> {
    let names = parameters.get("audit").map(texts).unwrap_or_default();
    let is_all = names == ["all"];
    let properties = model.properties().map(|property| &property.name);
    properties
        .filter(|name| is_all || names.iter().any(|audited| **name == **audited))
        .cloned()
        .collect()
}

fn flatten<'a>(value: &'a Value, out: &mut Vec<&'a Value>) {
    match value {
        Value::List(items) => items.iter().for_each(|item| flatten(item, out)),
        other => out.push(other),
    }
}

/// Letters, digits and `_` first, then also `:`, `.` and `-` (section 13).
pub(super) fn is_valid_tag(tag: &str) -> bool {
    let mut chars = tag.chars();
    chars
        .next()
        .is_some_and(|first| first.is_alphanumeric() || first == '_')
        && chars.all(|c| c.is_alphanumeric() || "_:.-".contains(c))
}

/// Tags in Puppet's form: lower case, with the segments of qualified names, without duplicates.
pub(super) fn normalize_tags(
    tags: Vec<Arc<str>>,
    intern: &mut impl FnMut(&str) -> Arc<str>,
) -> TagList {
    // Compilers send this form, except for qualified names.
    let is_normalized = |tag: &Arc<str>| {
        tag.bytes()
            .all(|byte| is_lowercase_ascii(byte) && byte != b':')
    };
    if tags.iter().all(is_normalized) {
        return tags.into_iter().collect();
    }
    let mut normalized = TagList::default();
    for tag in &tags {
        add_tag(&mut normalized, tag, intern);
    }
    normalized
}

/// Adds a tag in Puppet's form: lower case, with the segments of a qualified name.
pub(super) fn add_tag(tags: &mut TagList, tag: &str, intern: &mut impl FnMut(&str) -> Arc<str>) {
    let tag = if tag.bytes().all(is_lowercase_ascii) {
        Cow::Borrowed(tag)
    } else {
        tag.to_lowercase().into()
    };
    tags.add(&tag, intern);
    if tag.contains("::") {
        tag.split("::").for_each(|part| tags.add(part, intern));
    }
}
