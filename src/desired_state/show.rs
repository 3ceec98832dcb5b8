//! The merged state as YAML, each value with its file and line.

use serde_json::{Map, Value as Json, json};
use switchtender_devices::driver::Registry;
use switchtender_devices::secret::MASK;

use super::merged_state::{MergedState, MergedValue, ValueOrigin};
use super::secret_values::is_secret;
use super::yaml_value::{YamlNode, YamlValue};

impl MergedState {
    /// YAML of the merged state; `only`: this type alone. Templates and secret sources are as written;
    /// a secret in clear text is masked.
    pub(crate) fn render(&self, only: Option<&str>, registry: &Registry) -> String {
        let mut text = String::new();
        let types = self.types.iter();
        for (name, resources) in types.filter(|(name, _)| only.is_none_or(|only| only == *name)) {
            text += &format!("{}:\n", scalar(name));
            let model = registry.model(name);
            for (title, resource) in resources {
                let empty = if resource.attributes.is_empty() {
                    " {}"
                } else {
                    ""
                };
                text += &format!("  {}:{empty}{}\n", scalar(title), comment(&resource.origin));
                for (name, value) in &resource.attributes {
                    let attribute = model.and_then(|model| model.attributes.get(name.as_str()));
                    let is_masked = attribute.is_some_and(|attribute| attribute.sensitive);
                    text += &line("    ", name, value, is_masked);
                }
            }
        }
        if only.is_some() {
            return text;
        }
        text += &self.own_keys();
        text
    }

    /// What is no resource.
    fn own_keys(&self) -> String {
        let mut text = String::new();
        if !self.variables.is_empty() {
            text += "vars:\n";
            for (name, value) in &self.variables {
                text += &line("  ", name, value, false);
            }
        }
        if !self.purge.is_empty() {
            text += "purge:\n";
            for (name, origin) in &self.purge {
                text += &format!("  - {}{}\n", scalar(name), comment(origin));
            }
        }
        if !self.completion.is_empty() {
            text += "complete:\n";
            for (name, item) in self.completion.items() {
                text += &format!("  - {}{}\n", scalar(name), comment(&item.origin));
            }
        }
        let mut unmanaged = self.unmanaged.items().peekable();
        if unmanaged.peek().is_some() {
            text += "unmanaged:\n";
        }
        for (item, origin) in unmanaged {
            text += &format!("  - {}{}\n", scalar(item), comment(origin));
        }
        if let Some(strict) = self.strict {
            text += &format!("strict: {strict}\n");
        }
        text
    }
}

fn line(indent: &str, name: &str, value: &MergedValue, is_masked: bool) -> String {
    let rendered = match &*value.value {
        YamlValue::Map(entries) if is_secret(entries) => json(&value.value).to_string(),
        _ if is_masked => MASK.to_owned(),
        YamlValue::Text(text) => scalar(text),
        YamlValue::Plain(plain) => plain.written.clone(),
        // JSON is YAML in flow style.
        other => json(other).to_string(),
    };
    if value.is_default {
        let at = &value.origin;
        let (name, location) = (scalar(name), format!("{}:{}", at.source.name, at.line()));
        return format!("{indent}{name}: {rendered}  # default, complete: {location}\n");
    }
    let through = value.through.as_ref().map(|used| {
        let at = &used.origin;
        format!(", {} at {}:{}", used.name, at.source.name, at.line())
    });
    format!(
        "{indent}{}: {rendered}{}{}\n",
        scalar(name),
        comment(&value.origin),
        through.unwrap_or_default()
    )
}

fn comment(origin: &ValueOrigin) -> String {
    format!("  # {}:{}", origin.source.name, origin.line())
}

/// A text in one line, quoted where YAML needs it.
fn scalar(text: &str) -> String {
    let yaml = serde_saphyr::to_string(&text).unwrap_or_default();
    match yaml.trim_end() {
        one_line if !one_line.is_empty() && !one_line.contains('\n') => one_line.to_owned(),
        _ => json!(text).to_string(),
    }
}

fn json(value: &YamlValue) -> Json {
    match value {
        YamlValue::Null => Json::Null,
        YamlValue::Plain(plain) => plain.as_variable(),
        YamlValue::Text(text) => json!(text),
        YamlValue::List(items) => items
            .iter()
            .map(|item: &YamlNode| json(&item.value))
            .collect(),
        YamlValue::Map(entries) => {
            let entries = entries.iter();
            let entries = entries.map(|(key, node)| (key.name.clone(), json(&node.value)));
            Json::Object(entries.collect::<Map<_, _>>())
        }
    }
}
