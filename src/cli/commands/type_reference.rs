//! The reference of a type: meaning, values, commands of each platform, examples.
//!
//! All of it comes from models, drivers and their self-tests. `packages/handbook.sh` makes a page of each type;
//! `docs/reference/types.md` is their index.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value as Json, json};
use switchtender_devices::driver::{AttributeExplanation, Facts, Platform, Registry};
use switchtender_devices::model::{ArrayKind, AttributeModel, AutoKind, Role, RunsOn, TypeModel};
use switchtender_devices::names::TypeName;
use switchtender_devices::value::{Attributes, Value};

use crate::cli::commands::resource::format::{plain_json, to_yaml};
use crate::cli::output::view::puppet_code;

/// A part of a page.
pub(crate) enum Part {
    /// The heading of a section. The page itself has level 1.
    Heading(usize, String),
    Paragraph(String),
    Items(Vec<String>),
    /// Code in a language.
    Code(&'static str, String),
}

/// The page of a type, or the section of one of its attributes.
pub(crate) fn parts(
    registry: &Registry,
    model: &TypeModel,
    attribute: Option<&AttributeModel>,
) -> Vec<Part> {
    let explanations = explanations(registry, model);
    if let Some(attribute) = attribute {
        return attribute_parts(attribute, &explanations);
    }
    let mut parts = vec![Part::Heading(1, model.name.to_string())];
    let doc = model.doc.trim();
    if !doc.is_empty() {
        parts.push(Part::Paragraph(doc.to_owned()));
    }
    let names: Vec<&str> = explanations.iter().map(|(name, _)| *name).collect();
    let mut items = vec![format!("Platforms: {}", or_none(&names))];
    let titles: Vec<String> = match &model.titles[..] {
        [] => model.namevars().map(|name| format!("{{{name}}}")).collect(),
        titles => titles.iter().map(|title| title.text.clone()).collect(),
    };
    let titles: Vec<String> = titles.iter().map(|title| format!("`{title}`")).collect();
    items.push(format!("Title: {}", titles.join(" or ")));
    items.extend(relations(registry, model));
    parts.push(Part::Items(items));
    if let Some((title, attributes)) = example(registry, model) {
        parts.push(Part::Heading(2, "Example".to_owned()));
        parts.push(Part::Paragraph("As desired state:".to_owned()));
        parts.push(Part::Code("yaml", yaml(model, &title, &attributes)));
        parts.push(Part::Paragraph("As a Puppet manifest:".to_owned()));
        let code = puppet_code::resource(&model.name, &title, &attributes, &[]);
        parts.push(Part::Code("puppet", code));
    }
    parts.push(Part::Heading(2, "Attributes".to_owned()));
    for attribute in model.attributes.values() {
        parts.extend(attribute_parts(attribute, &explanations));
    }
    parts
}

/// The automatic relations of a type, in both directions.
fn relations(registry: &Registry, model: &TypeModel) -> Vec<String> {
    let mut named: BTreeMap<&TypeName, Vec<&str>> = BTreeMap::new();
    for reference in model.references() {
        let attributes = named.entry(&reference.target).or_default();
        if !attributes.contains(&reference.attribute.as_str()) {
            attributes.push(&reference.attribute);
        }
    }
    let required = model
        .relations
        .iter()
        .filter(|one| one.kind == AutoKind::Require);
    for relation in required {
        named.entry(&relation.target).or_default();
    }
    let first = named
        .iter()
        .map(|(target, attributes)| match &attributes[..] {
            [] => format!("`{target}`"),
            attributes => format!("`{target}` that `{}` names", attributes.join("`, `")),
        });
    let first: Vec<String> = first.collect();
    let is_user = |other: &&TypeModel| {
        let mut references = other.references().map(|one| &one.target);
        let mut required = other.relations.iter().map(|one| &one.target);
        references.any(|target| *target == model.name)
            || required.any(|target| *target == model.name)
    };
    let users = registry.models().map(AsRef::as_ref).filter(is_user);
    let users: Vec<String> = users.map(|other| format!("`{}`", other.name)).collect();
    let line = |word: &str, types: &[String]| {
        (!types.is_empty()).then(|| format!("{word}: {}", types.join(", ")))
    };
    let lines = [line("Comes after", &first), line("Comes before", &users)];
    lines.into_iter().flatten().collect()
}

/// The page as Markdown.
pub(crate) fn markdown(parts: &[Part]) -> String {
    let mut text = String::new();
    for part in parts {
        if !text.is_empty() {
            text.push('\n');
        }
        let written = match part {
            Part::Heading(level, heading) => writeln!(text, "{} {heading}", "#".repeat(*level)),
            Part::Paragraph(paragraph) => writeln!(text, "{paragraph}"),
            Part::Items(items) => items.iter().try_for_each(|item| writeln!(text, "- {item}")),
            Part::Code(language, code) => writeln!(text, "```{language}\n{}\n```", code.trim_end()),
        };
        written.expect("a string grows");
    }
    text
}

/// The index of the types of devices, by name.
pub(crate) fn index(registry: &Registry) -> String {
    let mut text = "# Types

Each type has the platforms that manage it. `switchtender type NAME` describes a type offline: attributes, values,
commands of each platform, an example.

| type | platforms | meaning |
|---|---|---|
"
    .to_owned();
    for model in registry.models() {
        if model.runs_on != RunsOn::Device {
            continue;
        }
        let platforms = registry.platforms();
        let platforms = platforms.filter(|platform| platform.has_type(&model.name));
        let platforms: Vec<_> = platforms.map(|platform| platform.name.as_str()).collect();
        let (name, doc) = (&model.name, model.doc.lines().next().unwrap_or_default());
        let platforms = or_none(&platforms);
        writeln!(
            text,
            "| [`{name}`](types/{name}.md) | {platforms} | {doc} |"
        )
        .expect("a string grows");
    }
    text
}

/// How each platform with the type reads and writes each attribute.
fn explanations<'a>(
    registry: &'a Registry,
    model: &TypeModel,
) -> Vec<(&'a str, Vec<AttributeExplanation>)> {
    let of_platform = |platform: &'a Platform| {
        let driver = platform.type_driver(&model.name)?;
        let implementation = driver.choose(&Facts::default()).ok()?;
        Some((platform.name.as_str(), implementation.explain().attributes))
    };
    let platforms = registry.platforms().map(AsRef::as_ref);
    platforms.filter_map(of_platform).collect()
}

fn attribute_parts(
    attribute: &AttributeModel,
    explanations: &[(&str, Vec<AttributeExplanation>)],
) -> Vec<Part> {
    let mut parts = vec![Part::Heading(3, attribute.name.to_string())];
    let doc = attribute.doc.trim();
    if !doc.is_empty() {
        parts.push(Part::Paragraph(doc.to_owned()));
    }
    let mut items = vec![format!("Values: {}", attribute.describe_values())];
    let role = match attribute.role {
        Role::Namevar => Some("part of the name"),
        Role::InitOnly => Some("set on creation only"),
        Role::ReadOnly => Some("read from the device, never set"),
        Role::Parameter => Some("never compared with the device"),
        Role::Property => None,
    };
    items.extend(role.map(|role| format!("Role: {role}")));
    let order = match attribute.array {
        Some(ArrayKind::Set) => Some("order does not matter"),
        Some(ArrayKind::List | ArrayKind::Sequence) => Some("order matters"),
        None => None,
    };
    items.extend(order.map(|order| format!("List: {order}")));
    if let Some(default) = &attribute.default {
        items.push(format!("Default: `{}`", default.ruby_to_s()));
    }
    if attribute.required {
        items.push("Required".to_owned());
    }
    let mut types: Vec<String> = Vec::new();
    for reference in &attribute.refers {
        let target = format!("`{}`", reference.target);
        if !types.contains(&target) {
            types.push(target);
        }
    }
    if !types.is_empty() {
        items.push(format!("Refers to: {}", types.join(" or ")));
    }
    if attribute.sensitive {
        items.push("Secret: the value is masked in all output".to_owned());
    }
    for (platform, attributes) in explanations {
        let explained = attributes.iter().find(|one| one.name == *attribute.name);
        let Some(explained) = explained else { continue };
        let commands = explained
            .write
            .iter()
            .map(|(value, command)| match &**value {
                "any" => format!("`{command}`"),
                _ => format!("{value}: `{command}`"),
            });
        let all: Vec<String> = commands.chain(explained.all_notes()).collect();
        if !all.is_empty() {
            items.push(format!("{platform}: {}", all.join("; ")));
        }
    }
    parts.push(Part::Items(items));
    parts
}

fn or_none(names: &[&str]) -> String {
    match names {
        [] => "none".to_owned(),
        names => names.join(", "),
    }
}

/// The maximum number of attributes with a value in an example.
const LONGEST_EXAMPLE: usize = 8;

/// Title and attributes of a resource that a self-test applies: the first of those with most values.
fn example(registry: &Registry, model: &TypeModel) -> Option<(String, Attributes)> {
    let platforms = registry.platforms();
    let drivers = platforms.filter_map(|platform| platform.type_driver(&model.name));
    let desired = drivers.flat_map(|driver| driver.applied_resources());
    let set = |attributes: &Attributes| {
        let values = attributes.iter();
        values
            .filter(|(name, value)| !model.is_unset(name, value))
            .count()
    };
    // Longer ones test what nobody configures at once.
    let rank = |attributes: &&Attributes| match set(attributes) {
        count @ 0..=LONGEST_EXAMPLE => (count, usize::MAX - attributes.len()),
        _ => (0, 0),
    };
    let desired = desired.reduce(|best, other| {
        if rank(&other) > rank(&best) {
            other
        } else {
            best
        }
    })?;
    let mut attributes = Attributes::default();
    for (name, attribute) in &model.attributes {
        let value = match desired.get(name) {
            // The example has no list of secrets.
            Some(Value::List(_)) if attribute.sensitive => continue,
            Some(_) if attribute.sensitive => Value::Sensitive(Box::new("secret".into())),
            Some(value) => value.clone(),
            None if &**name == "ensure" => Value::string("present"),
            None => continue,
        };
        attributes.insert(name.clone(), value);
    }
    let namevars: Vec<&str> = model.namevars().collect();
    let has_secret_name = namevars
        .iter()
        .any(|name| model.attributes[*name].sensitive);
    if has_secret_name {
        return Some(("example".to_owned(), attributes));
    }
    let values = namevars.iter().filter_map(|name| attributes.get(name));
    let title = values.map(Value::ruby_to_s).collect::<Vec<_>>().join(" ");
    if let [name] = namevars[..] {
        attributes.remove(name);
    }
    Some((title, attributes))
}

/// The resource as desired state. A secret comes from a variable of the environment.
fn yaml(model: &TypeModel, title: &str, attributes: &Attributes) -> String {
    let value = |value: &Value| match value {
        Value::Sensitive(_) => json!({"secret": {"env": "DEVICE_SECRET"}}),
        value => plain_json(value),
    };
    let attributes = attributes.iter();
    let attributes: Map<String, Json> = attributes
        .map(|(name, attribute)| (name.to_string(), value(attribute)))
        .collect();
    to_yaml(&json!({ model.name.as_str(): { title: attributes } }))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn type_index_matches_the_definitions() {
        let index = index(&Registry::shipped());
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/types.md");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&path, &index).unwrap();
        }
        assert!(
            std::fs::read_to_string(&path).unwrap() == index,
            "docs/reference/types.md differs from the definitions; run the test with UPDATE_DOCS=1"
        );
    }

    #[test]
    fn type_pages_have_all_attributes() {
        let registry = Registry::shipped();
        for model in registry.models() {
            let page = markdown(&parts(&registry, model, None));
            let missing = |name: &&switchtender_devices::value::Name| {
                !page.contains(&format!("### {name}\n"))
            };
            assert_eq!(
                model.attributes.keys().find(missing),
                None,
                "{}",
                model.name
            );
        }
    }

    #[test]
    fn type_examples_are_valid_resources() {
        let registry = Registry::shipped();
        for model in registry.models() {
            if model.runs_on != RunsOn::Device {
                continue;
            }
            let (title, attributes) = example(&registry, model).expect(&model.name);
            if let Err(errors) = model.resolve(&title, &attributes) {
                panic!("{} {title} {attributes:?}: {errors:?}", model.name);
            }
        }
    }

    #[test]
    fn type_values_are_described_in_words() {
        let registry = Registry::shipped();
        for model in registry.models() {
            for attribute in model.attributes.values() {
                let values = attribute.describe_values();
                assert!(
                    !values.contains("matches"),
                    "{} {}: {values}",
                    model.name,
                    attribute.name
                );
            }
        }
    }
}
