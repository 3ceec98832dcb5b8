//! One YAML file with the positions of its values.

mod syntax_error;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;

use serde_saphyr::{DuplicateKeyPolicy, NonFiniteFloatPolicy};
use switchtender_devices::diagnostic::{Diagnostic, Source};

use super::yaml_value::{YamlKey, YamlNode, YamlValue};
use syntax_error::{budget, bytes, syntax_error};

/// The content of a file.
#[derive(Debug, PartialEq)]
pub(super) struct YamlDocument {
    pub(super) entries: Vec<(YamlKey, YamlNode)>,
    /// Errors about keys that a map has twice; the last one is in the map.
    pub(super) repeated: Vec<Diagnostic>,
}

/// Parses a file. An empty file is an empty map.
///
/// # Errors
/// The text is not YAML, or not a map.
pub(super) fn parse(source: &Arc<Source>) -> Result<YamlDocument, Diagnostic> {
    let read = |policy| {
        let options = serde_saphyr::options! {
            strict_booleans: true,
            duplicate_keys: policy,
            budget: budget(source.text.len()),
            non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
        };
        serde_saphyr::from_str_with_options::<YamlValue>(&source.text, options)
    };
    let mut repeated = Vec::new();
    let value = match read(DuplicateKeyPolicy::Error) {
        Ok(value) => value,
        Err(error) => {
            let Some(first) = repeated_key(source, &error) else {
                return Err(syntax_error(source, &error));
            };
            // The other errors of the file are of interest, too.
            repeated.push(first);
            let value = read(DuplicateKeyPolicy::LastWins);
            value.map_err(|error| syntax_error(source, &error))?
        }
    };
    match value {
        YamlValue::Map(mut entries) => {
            for (_, node) in &mut entries {
                node.value.insert_written(&source.text);
            }
            let position = |found: &Diagnostic| found.labels[0].span.start;
            let first = repeated.first().map(position);
            let others = repeated_keys(source, &entries).into_iter();
            repeated.extend(others.filter(|found| Some(position(found)) != first));
            Ok(YamlDocument { entries, repeated })
        }
        YamlValue::Null => Ok(YamlDocument {
            entries: Vec::new(),
            repeated,
        }),
        _ => Err(Diagnostic::error(
            "state-syntax",
            "the file must be a map of types to resources",
        )
        .at(source, 0..0, "")
        .help("write `TYPE:`, below it `TITLE:`, below it `ATTRIBUTE: VALUE`")),
    }
}

/// The error about a key that a map has twice, if it is one.
fn repeated_key(source: &Arc<Source>, error: &serde_saphyr::Error) -> Option<Diagnostic> {
    let serde_saphyr::Error::DuplicateMappingKey { key, location } = error.without_snippet() else {
        return None;
    };
    let name = key.as_deref().unwrap_or_default();
    let message = format!("`{name}` is declared twice");
    let found = Diagnostic::error("state-syntax", message);
    let found = found.at(source, bytes(source, location), "");
    Some(found.help("keep one of them"))
}

/// The keys that a map has twice. Numbers are not among them: of those, the parser returns the last one.
fn repeated_keys(source: &Arc<Source>, entries: &[(YamlKey, YamlNode)]) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    let mut before: HashMap<&str, &YamlKey> = HashMap::with_capacity(entries.len());
    for (key, node) in entries {
        if let Some(first) = before.get(key.name.as_str()) {
            let message = format!("`{}` is declared twice", key.name);
            findings.push(
                Diagnostic::error("state-syntax", message)
                    .at(source, key.span.clone(), "")
                    .at(source, first.span.clone(), "the first declaration")
                    .help("keep one of them"),
            );
        }
        before.entry(&key.name).or_insert(key);
        if let YamlValue::Map(inner) = &node.value {
            findings.extend(repeated_keys(source, inner));
        }
    }
    findings
}
