//! `switchtender resource`: the resources on a device, as in a manifest.

#[cfg(test)]
mod round_trip;
mod saved;

use std::sync::Arc;

use clap::ValueEnum;
use foldhash::{HashMap, HashSet};
use futures_util::TryFutureExt as _;
use serde_json::{Map, Value as Json, json};
use switchtender_devices::change::{Desired, Instance};
use switchtender_devices::driver::{Driver, Registry};
use switchtender_devices::model::TypeModel;
use switchtender_devices::not_understood::NotUnderstood;
use switchtender_devices::printable::{escape, is_printable};
use switchtender_devices::session::Access;
use switchtender_devices::session::deadline::Deadline;
use switchtender_devices::value::{Attributes, Name, Value};
use tracing::Instrument as _;

use super::block_on;
use super::exit::{CommandError, Exit, eprint_notice, print, print_document, print_json};
use super::interrupt::{stop_read_on_signals, unless_stopped};
use super::one_device::OneDevice;
use super::unknown_name::unknown_type;
use super::view::{of_device, puppet_code};
use crate::catalog::rich_data;
use crate::desired_state;
use crate::fleet::inspect::{self, InspectError, Inspection};
use crate::report;
use crate::telemetry::device_span;
use crate::terminal_text::TerminalText;

/// Show the resources of a type on a device
#[derive(Debug, clap::Args)]
pub struct ResourceArgs {
    #[command(flatten)]
    device: OneDevice,

    /// Type, such as network_vlan; all types of the platform if left out with --config
    #[arg(value_name = "TYPE", required_unless_present = "config")]
    type_name: Option<String>,

    /// Show only the resource with this name
    #[arg(value_name = "NAME")]
    name: Option<String>,

    /// Puppet code, YAML (as --state takes it) or JSON
    #[arg(short, long, value_enum, default_value_t = ResourceFormat::Puppet)]
    format: ResourceFormat,

    /// Print secrets in clear text
    #[arg(long)]
    show_secrets: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResourceFormat {
    Puppet,
    Yaml,
    Json,
}

/// Reads the resources of the type from the device and prints them in the chosen format.
pub fn run(args: &ResourceArgs) -> Result<Exit, CommandError> {
    block_on(async {
        if let Some(device) = args.device.saved()? {
            return saved::run(args, &device).await;
        }
        let (connector, device) = args.device.connector().await?;
        let type_name = args.type_name.as_deref().unwrap_or_default();
        let model = find_model(&connector.registry, type_name)?;
        let deadline = Deadline::default();
        stop_read_on_signals(&deadline);
        let read = async {
            let device = &connector.inventory.devices[&device];
            let mut connector = connector.connector(device, Access::ReadOnly).await?;
            connector.set_deadline(&deadline);
            inspect::instances(&connector, &model).await
        };
        let read = read.instrument(device_span(&device)).map_err(|error| {
            let findings = match &error {
                InspectError::Run(error) => error.findings().to_vec(),
                _ => Vec::new(),
            };
            CommandError {
                hint: error.hint(),
                findings,
                ..CommandError::new(of_device(&device, &error))
            }
        });
        let inspection = unless_stopped(&deadline, read).await?;
        show(args, &device, &model, inspection, args.name.as_deref())?;
        Ok(Exit::SUCCESS)
    })
}

fn find_model(registry: &Registry, name: &str) -> Result<Arc<TypeModel>, CommandError> {
    let type_name = name.to_lowercase();
    let model = registry.model(&type_name).cloned();
    model.ok_or_else(|| unknown_type(registry, &type_name))
}

/// Prints the resources of a type, or one with this name. `device` is for messages.
fn show(
    args: &ResourceArgs,
    device: &str,
    model: &Arc<TypeModel>,
    inspection: Inspection,
    name: Option<&str>,
) -> Result<(), CommandError> {
    let type_name = &model.name;
    let (driver, instances) = (inspection.driver, inspection.instances);
    let mut not_understood = inspection.not_understood;
    not_understood.retain(|text| !text.is_instance_of_any(&instances));
    let mut resources = ManifestResource::list(
        &driver,
        model,
        instances,
        &not_understood,
        args.show_secrets,
    );
    if let Some(name) = name {
        let name = name_on_device(&driver, model, name);
        resources.retain(|one| one.title.eq_ignore_ascii_case(&name));
        not_understood.retain(|text| text.may_be_of(&name));
        if resources.is_empty() && not_understood.is_empty() {
            return Err(CommandError::new(format!(
                "{device} has no {type_name} `{name}`"
            )));
        }
    }
    let is_empty = resources.is_empty() && not_understood.is_empty();
    if is_empty && args.format == ResourceFormat::Puppet {
        eprint_notice(&format!("{device} has no {type_name}"));
    }
    if let Some(notice) = notices(args.format, &resources) {
        eprint_notice(&notice);
    }
    print_resources(args.format, type_name, &resources, &not_understood);
    Ok(())
}

/// The name in the platform's own spelling: `GigabitEthernet1/0/1` for `Gi1/0/1`.
fn name_on_device(driver: &Driver, model: &TypeModel, name: &str) -> String {
    let namevars: Vec<&str> = model.namevars().collect();
    let [namevar] = namevars[..] else {
        return name.to_owned();
    };
    let supplied = Attributes::from_iter([(namevar.to_owned(), Value::string(name))]);
    match driver.canonicalize(model, supplied) {
        Ok(spelt) => spelt.get(namevar).map_or(name.to_owned(), Value::ruby_to_s),
        Err(_) => name.to_owned(),
    }
}

/// An instance as a resource of a manifest: `ensure` first, the namevar as the title.
pub(crate) struct ManifestResource {
    pub(crate) title: String,
    attributes: Attributes,
    /// Secret attributes that are not printed.
    left_out: Vec<Name>,
    /// Attributes without a value, because their text on the device was not understood.
    not_understood: Vec<Name>,
    /// What the device has and no attribute expresses.
    notes: Vec<String>,
    /// A secret that is not printed is necessary.
    needs_secret: bool,
    /// Why the resource is a comment.
    comment: Option<String>,
}

/// The title of an instance: its name. A secret is never a title: the other attributes replace it,
/// with a number among equal ones.
fn title(model: &TypeModel, instance: &Instance, equals: &mut HashMap<String, usize>) -> String {
    if !has_secret_name(model) {
        let names = model.namevars();
        let names = names.filter_map(|name| instance.attributes.get(name));
        return names.map(Value::ruby_to_s).collect::<Vec<_>>().join(" ");
    }
    let values = model.attributes.keys();
    let values = values.filter_map(|name| instance.attributes.get(name));
    let values = values.filter(|value| !contains_secret(value));
    let values = values.filter_map(|value| value.scalar_text());
    let mut title = model.name.to_string();
    for value in values.filter(|value| value != "unset") {
        title = format!("{title} {value}");
    }
    let number = equals.entry(title.clone()).or_default();
    *number += 1;
    match *number {
        1 => title,
        number => format!("{title} ({number})"),
    }
}

fn has_secret_name(model: &TypeModel) -> bool {
    let mut namevars = model.namevars();
    namevars.any(|name| model.attributes[name].sensitive)
}

/// The key of the resources that are comments in Puppet code.
const NOT_MANAGED: &str = "not_managed";

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
                Self::new(driver, model, instance, title, show_secrets).without(hidden)
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
        let has_secret_name = has_secret_name(model);
        let desired = Desired {
            reference: title.as_str().into(),
            model: Arc::clone(model),
            attributes: instance.attributes.clone(),
        };
        let broken = model.check_rules(&instance.attributes).into_iter().next();
        let unmanageable = if driver.reserved(&desired).is_some() {
            Some("part of the device, cannot be changed".to_owned())
        } else if let Some(line) = &instance.not_understood {
            // Words that are not understood can be a secret.
            let has_secrets = model.attributes.values().any(|one| one.sensitive);
            Some(match has_secrets && !show_secrets {
                true => "not understood; print the line with --show-secrets".to_owned(),
                false => format!("not understood, `{}`", escape(line)),
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
            // An unset secret is not a secret.
            let value = match value {
                Value::Sensitive(inner) if inner.as_str() == Some("unset") => *inner,
                other => other,
            };
            let unset = matches!(value, Value::Undef | Value::Absent);
            if unset || (is_title && namevars.contains(&name.as_str())) {
                continue;
            }
            if contains_secret(&value) && !show_secrets {
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
            comment: unmanageable.or_else(|| needs_secret.then(|| NEEDS_SECRET.to_owned())),
        }
    }

    /// The resource without attributes whose text on the device was not understood.
    fn without(mut self, mut names: Vec<Name>) -> Self {
        names.dedup();
        for name in &names {
            self.attributes.remove(name);
        }
        self.not_understood = names;
        self
    }

    /// Puppet code; a comment if the resource cannot be managed.
    fn code(&self, type_name: &str) -> String {
        let left_out = self.left_out.iter();
        let secrets =
            left_out.map(|name| format!("{name} is a secret; print it with --show-secrets"));
        let unread = self.not_understood.iter();
        let unread = unread.map(|name| format!("{name} was not understood"));
        let notes = self.notes.iter().map(|note| escape(note).into_owned());
        let notes: Vec<String> = secrets.chain(unread).chain(notes).collect();
        let code = puppet_code::resource(type_name, &self.title, &self.attributes, &notes);
        let Some(comment) = &self.comment else {
            return code;
        };
        let lines = code.lines().map(|line| format!("# {line}\n"));
        format!("# {comment}:\n") + &lines.collect::<String>()
    }
}

/// Whether a value is or contains a secret.
fn contains_secret(value: &Value) -> bool {
    match value {
        Value::Sensitive(_) => true,
        Value::List(items) => items.iter().any(contains_secret),
        Value::Hash(entries) => entries.iter().any(|(_, value)| contains_secret(value)),
        _ => false,
    }
}

/// Notices about secrets that YAML and JSON leave out without a comment.
pub(crate) fn notices(format: ResourceFormat, resources: &[ManifestResource]) -> Option<String> {
    if format == ResourceFormat::Puppet {
        return None;
    }
    let hidden = resources.iter().filter(|one| one.needs_secret).count();
    let left_out = resources.iter().filter(|one| !one.left_out.is_empty());
    match (left_out.count(), hidden) {
        (0, _) => None,
        (count, 0) => Some(format!(
            "secrets of {count} resources are left out; print them with --show-secrets"
        )),
        (_, hidden) => Some(format!(
            "{hidden} resources that need a secret are left out; print them with --show-secrets"
        )),
    }
}

/// Prints resources.
pub(crate) fn print_resources(
    format: ResourceFormat,
    type_name: &str,
    resources: &[ManifestResource],
    not_understood: &[NotUnderstood],
) {
    let text = render(format, type_name, resources, not_understood);
    match format {
        // Literals escape by themselves; comments quote the device.
        ResourceFormat::Puppet => print(TerminalText::new().block("", &text)),
        ResourceFormat::Json => print_json(&text),
        ResourceFormat::Yaml => print_document(&text),
    }
}

pub(crate) fn render(
    format: ResourceFormat,
    type_name: &str,
    resources: &[ManifestResource],
    not_understood: &[NotUnderstood],
) -> String {
    let tree = || tree(type_name, resources, not_understood);
    match format {
        ResourceFormat::Puppet => {
            let code = resources.iter().map(|one| one.code(type_name));
            let texts = not_understood.iter();
            let texts = texts.map(|text| format!("# not understood: `{text}`\n"));
            code.chain(texts).collect::<Vec<_>>().join("\n")
        }
        ResourceFormat::Json => {
            serde_json::to_string_pretty(&tree()).expect("a tree of texts is JSON") + "\n"
        }
        ResourceFormat::Yaml => to_yaml(&literals(tree())),
    }
}

/// A tree as printable YAML that Psych reads. Psych refuses some block scalars that begin with a
/// blank.
fn to_yaml(tree: &Json) -> String {
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
/// the reason, so that the others are a catalog's or Hiera's data.
fn tree(type_name: &str, resources: &[ManifestResource], not_understood: &[NotUnderstood]) -> Json {
    let attributes = |one: &ManifestResource| {
        let attributes = one.attributes.iter();
        let attributes = attributes.map(|(name, value)| (name.to_string(), clear(value)));
        Json::Object(attributes.collect())
    };
    let (mut managed, mut not_managed) = (Map::new(), Vec::new());
    for one in resources.iter().filter(|one| !one.needs_secret) {
        let (title, attributes) = (&one.title, attributes(one));
        match &one.comment {
            None => {
                managed.insert(title.clone(), attributes);
            }
            // Several can have one title.
            Some(reason) => not_managed
                .push(json!({ "title": title, "reason": reason, "attributes": attributes })),
        }
    }
    let mut tree = Map::from_iter([(type_name.to_owned(), Json::Object(managed))]);
    if !not_managed.is_empty() {
        tree.insert(NOT_MANAGED.to_owned(), not_managed.into());
    }
    if !not_understood.is_empty() {
        let texts = not_understood.iter().map(report::json::not_understood);
        tree.insert("not_understood".to_owned(), texts.collect());
    }
    Json::Object(tree)
}

/// A value as JSON, secrets in clear text.
fn clear(value: &Value) -> Json {
    match value {
        Value::Sensitive(secret) => clear(secret),
        Value::List(items) => items.iter().map(clear).collect(),
        Value::Hash(entries) => entries
            .iter()
            .map(|(key, value)| (key.ruby_to_s(), clear(value)))
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
