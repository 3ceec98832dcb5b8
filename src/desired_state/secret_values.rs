//! Secrets of desired state: `{secret: {env: NAME}}`, with the sources of the inventory.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use secrecy::SecretString;

use super::document::{YamlKey, YamlNode, YamlValue};
use super::error::StateError;
use super::merged_state::{MergedState, ValueOrigin};
use crate::inventory::Secrets;
use crate::inventory::secret_source::SecretSource;
use crate::inventory::secrets::LookupError;

pub(super) const FORMS: &str = "write {secret: {env: VARIABLE}}, {secret: {file: PATH}} or {secret: {command: [PROGRAM, ARGUMENT]}}";

/// The secrets of a device's state by source.
#[derive(Clone, Debug)]
pub(crate) struct SecretValues {
    /// Relative paths of secret files start here.
    directory: PathBuf,
    values: HashMap<String, SecretString>,
    /// Environment variables that are not set, with the first attribute that needs each.
    unset: BTreeMap<String, ValueOrigin>,
}

impl SecretValues {
    /// Reads the secrets of a state. Relative paths start at `directory`. Attributes whose environment variable is
    /// not set are not managed.
    ///
    /// # Errors
    /// A source cannot be read.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    pub(crate) async fn read(
        state: &MergedState,
        directory: &Path,
        secrets: &Secrets,
    ) -> Result<Self, StateError> {
        let mut values = HashMap::new();
        let mut unset = BTreeMap::new();
        let mut findings = Vec::new();
        for (source, origin) in state.secret_sources(directory) {
            match secrets.of_state(&source).await {
                Ok(secret) => {
                    values.insert(source.to_string(), secret);
                }
                Err(LookupError::NotSet(name)) => {
                    unset.entry(name).or_insert_with(|| origin.clone());
                }
                Err(error) => findings.push(error.complete(origin.error("secret", ""))),
            }
        }
        if !findings.is_empty() {
            return Err(StateError::Invalid(findings));
        }
        Ok(Self {
            directory: directory.to_owned(),
            values,
            unset,
        })
    }

    /// Secrets that are known. Relative paths start at `directory`.
    pub(crate) fn known(
        directory: &Path,
        secrets: impl IntoIterator<Item = (SecretSource, SecretString)>,
    ) -> Self {
        let secrets = secrets.into_iter();
        Self {
            directory: directory.to_owned(),
            values: secrets
                .map(|(source, secret)| (source.to_string(), secret))
                .collect(),
            unset: BTreeMap::new(),
        }
    }

    /// Warnings about attributes, or resources that have them as names, that are not managed: their environment variable
    /// is not set.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let unset = self.unset.iter();
        let text = |(name, origin): (&String, &ValueOrigin)| {
            let (file, line) = (&origin.source.name, origin.line());
            format!(
                "{file}:{line}: the secret is not managed: the environment variable {name} is not set"
            )
        };
        unset.map(text).collect()
    }

    /// A placeholder for each secret, for commands that read no secret. Different sources have
    /// different placeholders, because a secret can be the name of a resource.
    pub(crate) fn placeholders(state: &MergedState, directory: &Path) -> Self {
        let mut values = HashMap::new();
        for (source, _) in state.secret_sources(directory) {
            let number = values.len() + 1;
            let placeholder = || SecretString::from(format!("placeholder{number}"));
            values.entry(source.to_string()).or_insert_with(placeholder);
        }
        Self {
            directory: directory.to_owned(),
            values,
            unset: BTreeMap::new(),
        }
    }

    /// The secret of `{secret: {…}}`; `None`: its environment variable is not set.
    ///
    /// # Errors
    /// The source is not valid.
    pub(super) fn get(
        &self,
        secret: &[(YamlKey, YamlNode)],
    ) -> Result<Option<&SecretString>, InvalidSecretSource> {
        let source = secret_source(secret, &self.directory)?;
        Ok(self.values.get(&source.to_string()))
    }
}

/// A `{secret: …}` without a valid source.
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub(super) enum InvalidSecretSource {
    #[error("`secret` must have exactly one source")]
    Count,
    #[error("`secret` has an invalid source")]
    Form,
}

impl MergedState {
    /// The valid sources of secrets in attributes.
    fn secret_sources(&self, directory: &Path) -> Vec<(SecretSource, &ValueOrigin)> {
        let resources = self.types.values().flat_map(|resources| resources.values());
        let values = resources.flat_map(|resource| resource.attributes.values());
        let mut found = Vec::new();
        for value in values {
            collect(&value.value, directory, &mut |source| {
                found.push((source, &value.origin));
            });
        }
        found
    }
}

fn collect(value: &YamlValue, directory: &Path, found: &mut impl FnMut(SecretSource)) {
    match value {
        YamlValue::Map(entries) if is_secret(entries) => {
            secret_source(entries, directory)
                .into_iter()
                .for_each(found);
        }
        YamlValue::Map(entries) => {
            for (_, node) in entries {
                collect(&node.value, directory, found);
            }
        }
        YamlValue::List(items) => {
            for item in items {
                collect(&item.value, directory, found);
            }
        }
        _ => {}
    }
}

/// Whether a map is `{secret: …}`.
pub(super) fn is_secret(entries: &[(YamlKey, YamlNode)]) -> bool {
    matches!(entries, [(key, _)] if key.name == "secret")
}

/// The source of `{secret: {…}}`.
fn secret_source(
    secret: &[(YamlKey, YamlNode)],
    directory: &Path,
) -> Result<SecretSource, InvalidSecretSource> {
    let [(_, node)] = secret else {
        return Err(InvalidSecretSource::Count);
    };
    let YamlValue::Map(entries) = &node.value else {
        return Err(InvalidSecretSource::Form);
    };
    let [(key, node)] = entries.as_slice() else {
        return Err(InvalidSecretSource::Count);
    };
    let text = |value: &YamlValue| match value {
        YamlValue::Text(text) => Ok(text.clone()),
        YamlValue::Plain(plain) => Ok(plain.written.clone()),
        _ => Err(InvalidSecretSource::Form),
    };
    match (key.name.as_str(), &node.value) {
        ("env", name) => text(name).map(SecretSource::Env),
        ("file", path) => text(path).map(|path| SecretSource::File(directory.join(path))),
        ("command", YamlValue::List(words)) if !words.is_empty() => words
            .iter()
            .map(|word| text(&word.value))
            .collect::<Result<_, _>>()
            .map(SecretSource::Command),
        _ => Err(InvalidSecretSource::Form),
    }
}
