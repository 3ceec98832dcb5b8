//! The formats of `resource`: Puppet code, YAML, JSON and catalogs.

use std::sync::Arc;

use serde_json::{Map, Value as Json, json};
use switchtender_devices::model::{Role, TypeModel};
use switchtender_devices::not_understood::NotUnderstood;
use switchtender_devices::printable::{escape, is_printable};
use switchtender_devices::value::{Attributes, Value};

use super::compact;
use crate::catalog::rich_data;
use crate::cli::exit::escape_json;
use crate::cli::output::view::puppet_code;
use crate::desired_state;
use crate::fleet::inspect::Inspection;
use crate::fleet::manifest_resource::ManifestResource;
use crate::report::UnknownText;
use crate::terminal_text::TerminalText;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResourceFormat {
    /// Puppet code
    Puppet,
    /// Desired state for --state
    Yaml,
    /// JSON with the structure of the YAML
    Json,
    /// A catalog for --catalog
    Catalog,
    /// YAML as `puppet device --to_yaml` prints it, without templates.
    PuppetYaml,
}

/// The resources of one type on a device.
pub(crate) struct TypeResources {
    pub(super) model: Arc<TypeModel>,
    pub(crate) resources: Vec<ManifestResource>,
    /// Lines, rows and objects that are no resource.
    pub(crate) not_understood: Vec<NotUnderstood>,
}

impl TypeResources {
    /// The resources of each type that was read.
    pub(crate) fn list(inspection: Inspection, show_secrets: bool) -> Vec<Self> {
        let driver = inspection.driver;
        let types = inspection.types.into_iter();
        types
            .map(|found| Self {
                resources: ManifestResource::list(
                    &driver,
                    &found.model,
                    found.instances,
                    &found.not_understood,
                    show_secrets,
                ),
                not_understood: found.not_understood,
                model: found.model,
            })
            .collect()
    }

    #[cfg(test)]
    pub(super) fn one(model: &Arc<TypeModel>, resource: ManifestResource) -> Self {
        Self {
            model: Arc::clone(model),
            resources: vec![resource],
            not_understood: Vec::new(),
        }
    }

    /// Leaves only the resource with this name.
    pub(super) fn select(&mut self, name: &str) {
        let is_named = |one: &ManifestResource| one.title.eq_ignore_ascii_case(name);
        self.resources.retain(is_named);
        self.not_understood.retain(|text| text.may_be_of(name));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.resources.is_empty() && self.not_understood.is_empty()
    }
}

/// How resources are printed.
pub(crate) struct ResourceOutput<'a> {
    pub(crate) format: ResourceFormat,
    /// YAML with all attributes, also those that files need not have.
    pub(crate) with_defaults: bool,
    pub(crate) show_secrets: bool,
    /// The name of a catalog.
    pub(crate) certname: &'a str,
    /// Only this resource.
    pub(crate) name: Option<&'a str>,
}

/// The resources of a device as printable text.
pub(crate) struct RenderedDevice {
    pub(crate) text: String,
    /// A message about secrets that the text does not have.
    pub(crate) notice: Option<String>,
    pub(crate) is_empty: bool,
}

impl ResourceOutput<'_> {
    /// The types of an inspection in the chosen format.
    pub(crate) fn render(&self, inspection: Inspection) -> RenderedDevice {
        if self.format == ResourceFormat::Yaml && !self.with_defaults {
            return compact::render(inspection, self.show_secrets, self.name);
        }
        let mut types = TypeResources::list(inspection, self.show_secrets);
        for found in &mut types {
            self.name.into_iter().for_each(|name| found.select(name));
        }
        let is_empty = types.iter().all(TypeResources::is_empty);
        if types.len() > 1 {
            types.retain(|found| !found.is_empty());
        }
        RenderedDevice {
            text: render(self.format, &types, self.certname),
            notice: notice_of(self.format, &types),
            is_empty,
        }
    }
}

/// The notice about secrets that formats without comments leave out.
fn notice_of(format: ResourceFormat, types: &[TypeResources]) -> Option<String> {
    if format == ResourceFormat::Puppet {
        return None;
    }
    let resources = || types.iter().flat_map(|found| &found.resources);
    let hidden = resources().filter(|one| one.needs_secret).count();
    let left_out = resources().filter(|one| !one.left_out.is_empty());
    secrets_notice(left_out.count(), hidden)
}

/// The notice about resources without their secrets, of which some are not printed.
pub(super) fn secrets_notice(left_out: usize, hidden: usize) -> Option<String> {
    match (left_out, hidden) {
        (0, _) => None,
        (count, 0) => Some(format!(
            "resources without their secrets: {count}; print the secrets with --show-secrets"
        )),
        (_, hidden) => Some(format!(
            "omitted resources that require a secret: {hidden}; print them with --show-secrets"
        )),
    }
}

/// Resources of a device as printable text.
pub(super) fn render(format: ResourceFormat, types: &[TypeResources], certname: &str) -> String {
    match format {
        ResourceFormat::Puppet => {
            let parts = types.iter().flat_map(|found| {
                let resources = found.resources.iter();
                let code = resources.map(|one| code(one, &found.model));
                let texts = found.not_understood.iter();
                code.chain(texts.map(|text| format!("# not understood: `{text}`\n")))
            });
            let code = parts.collect::<Vec<_>>().join("\n");
            // Literals escape by themselves; comments quote the device.
            TerminalText::new().block("", &code).as_str().to_owned()
        }
        ResourceFormat::Json => pretty(&tree(types, |_, one| attributes(one, plain_json))),
        ResourceFormat::Catalog => pretty(&catalog(types, certname)),
        ResourceFormat::Yaml => {
            let tree = tree(types, |_, one| attributes(one, plain_json));
            to_yaml(&literals(tree))
        }
        ResourceFormat::PuppetYaml => {
            let attributes = |model: &TypeModel, one: &ManifestResource| {
                let own = puppet_attributes(model, one).into_iter();
                let own = own.map(|(name, value)| (name.to_string(), plain_json(&value)));
                Json::Object(own.collect())
            };
            to_yaml(&tree(types, attributes))
        }
    }
}

/// The attributes of a manifest: Puppet's modules have no word for the default of the device, and refuse what is
/// only read. What else the original module does not take, a model does not know.
fn puppet_attributes(model: &TypeModel, resource: &ManifestResource) -> Attributes {
    let mut attributes = resource.attributes.clone();
    attributes.retain(|name, value| {
        let attribute = model.attributes.get(name);
        let is_read_only = attribute.is_some_and(|attribute| attribute.role == Role::ReadOnly);
        !is_read_only && !attribute.is_some_and(|attribute| attribute.is_unset(value))
    });
    attributes
}

/// Puppet code; a comment if the resource cannot be managed.
fn code(resource: &ManifestResource, model: &TypeModel) -> String {
    let left_out = resource.left_out.iter();
    let secrets = left_out.map(|name| format!("{name} is a secret; print it with --show-secrets"));
    let unread = resource.not_understood.iter();
    let unread = unread.map(|name| format!("{name} was not understood"));
    let notes = resource.notes.iter();
    let notes = notes.map(|note| escape(note).into_owned());
    let notes: Vec<String> = secrets.chain(unread).chain(notes).collect();
    let attributes = puppet_attributes(model, resource);
    let code = puppet_code::resource(&model.name, &resource.title, &attributes, &notes);
    let Some(comment) = &resource.comment else {
        return code;
    };
    let lines = code.lines().map(|line| format!("# {line}\n"));
    format!("# {comment}:\n") + &lines.collect::<String>()
}

fn pretty(tree: &Json) -> String {
    let text = serde_json::to_string_pretty(tree).expect("a tree of texts is JSON") + "\n";
    escape_json(&text).into_owned()
}

/// A tree as printable YAML that Psych reads. Psych refuses some block scalars that begin with a
/// blank.
pub(crate) fn to_yaml(tree: &Json) -> String {
    let options = serde_saphyr::ser_options! { prefer_block_scalars: !begins_with_blank(tree) };
    let yaml = serde_saphyr::to_string_with_options(tree, options);
    let yaml = yaml.expect("a tree of texts is YAML");
    if yaml.chars().all(|c| c == '\n' || is_printable(c)) {
        return yaml;
    }
    // JSON is YAML, and all its strings can be escaped.
    let json = serde_json::to_string_pretty(tree).expect("a tree of texts is JSON");
    let escaped = json.chars().map(|c| match c {
        c if c == '\n' || is_printable(c) => c.to_string(),
        c => format!("\\U{:08x}", u32::from(c)),
    });
    escaped.collect::<String>() + "\n"
}

/// A tree whose texts are not templates of desired state.
fn literals(tree: Json) -> Json {
    match tree {
        Json::String(text) => desired_state::literal(&text).into(),
        Json::Array(items) => items.into_iter().map(literals).collect(),
        Json::Object(entries) => {
            let entries = entries.into_iter();
            let entries = entries.map(|(name, value)| (name, literals(value)));
            Json::Object(entries.collect())
        }
        other => other,
    }
}

/// Whether a text of the tree begins with a blank or a line end.
fn begins_with_blank(tree: &Json) -> bool {
    match tree {
        Json::String(text) => text.starts_with(char::is_whitespace),
        Json::Array(items) => items.iter().any(begins_with_blank),
        Json::Object(entries) => entries.values().any(begins_with_blank),
        _ => false,
    }
}

/// The resources by type and title. Those that cannot be managed as they are printed are apart, with
/// the reason, so that the others are desired state.
pub(super) fn tree(
    types: &[TypeResources],
    attributes: impl Fn(&TypeModel, &ManifestResource) -> Json,
) -> Json {
    let (mut tree, mut not_managed, mut not_understood) = (Map::new(), Vec::new(), Vec::new());
    for found in types {
        let mut managed = Map::new();
        for one in found.resources.iter().filter(|one| !one.needs_secret) {
            let attributes = attributes(&found.model, one);
            match &one.comment {
                None => {
                    managed.insert(one.title.clone(), attributes);
                }
                // Several can have one title.
                Some(reason) => not_managed.push(json!({
                    "type": found.model.name.as_str(), "title": one.title,
                    "reason": reason, "attributes": attributes,
                })),
            }
        }
        tree.insert(found.model.name.to_string(), Json::Object(managed));
        let texts = found.not_understood.iter();
        not_understood.extend(texts.map(|found| json!(UnknownText::from(found))));
    }
    let apart = [
        ("not_managed", not_managed),
        ("not_understood", not_understood),
    ];
    for (name, entries) in apart {
        if !entries.is_empty() {
            tree.insert(name.to_owned(), Json::Array(entries));
        }
    }
    Json::Object(tree)
}

/// A catalog of the resources that can be managed.
fn catalog(types: &[TypeResources], certname: &str) -> Json {
    let resources = types.iter().flat_map(|found| {
        let managed = found.resources.iter().filter(|one| one.comment.is_none());
        managed.map(|one| {
            json!({
                "type": found.model.name.as_str(),
                "title": one.title,
                "kind": "compilable_type",
                "parameters": attributes(one, rich),
            })
        })
    });
    json!({ "name": certname, "resources": resources.collect::<Vec<_>>() })
}

pub(super) fn attributes(resource: &ManifestResource, json: impl Fn(&Value) -> Json) -> Json {
    let attributes = resource.attributes.iter();
    let attributes = attributes.map(|(name, value)| (name.to_string(), json(value)));
    Json::Object(attributes.collect())
}

/// A value of a catalog.
fn rich(value: &Value) -> Json {
    match value {
        Value::Sensitive(secret) => json!({"__ptype": "Sensitive", "__pvalue": plain_json(secret)}),
        value => plain_json(value),
    }
}

/// A value as JSON, secrets in clear text.
pub(crate) fn plain_json(value: &Value) -> Json {
    match value {
        Value::Sensitive(secret) => plain_json(secret),
        Value::List(items) => items.iter().map(plain_json).collect(),
        Value::Hash(entries) => entries
            .iter()
            .map(|(key, value)| (key.ruby_to_s(), plain_json(value)))
            .collect::<Map<_, _>>()
            .into(),
        value => rich_data::write_plain(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yaml_with_leading_blanks_has_no_block_scalar() {
        // Psych: "found a tab character where an indentation space is expected".
        let yaml = to_yaml(&serde_json::json!({"a": {"motd": "\n\ttext\nmore\n"}}));
        assert_eq!(yaml, "a:\n  motd: \"\\n\\ttext\\nmore\\n\"\n");
        let yaml = to_yaml(&serde_json::json!({"a": {"motd": "text\nmore\n"}}));
        assert_eq!(yaml, "a:\n  motd: |\n    text\n    more\n");
    }
}
