//! Secrets of desired state: `{secret: {env: NAME}}`, with the sources of the inventory.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use secrecy::SecretString;
use switchtender_devices::diagnostic::Diagnostic;

use super::error::StateError;
use super::merged_state::{MergedState, ValueOrigin};
use super::yaml_value::{YamlKey, YamlNode, YamlValue};
use crate::inventory::placeholders::{PlaceholderError, Placeholders};
use crate::inventory::secret_source::SecretSource;
use crate::inventory::secrets::LookupError;
use crate::inventory::{NO_VAULT_HELP, Secrets};

pub(super) const FORMS: &str = "write {secret: {env: VARIABLE}}, {secret: {file: PATH}}, {secret: {command: [PROGRAM, ARGUMENT]}}, \
     {secret: {credential: NAME}} or {secret: {vault: PATH, field: FIELD}}";

/// The secrets of a device's state by source.
#[derive(Clone, Debug)]
pub(crate) struct SecretValues {
    /// Relative paths of secret files start here.
    directory: PathBuf,
    values: HashMap<SecretSource, SecretString>,
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
                    values.insert(source, secret);
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
        Self {
            directory: directory.to_owned(),
            values: secrets.into_iter().collect(),
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
            values.entry(source).or_insert_with(placeholder);
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
        placeholders: &Placeholders,
    ) -> Result<Option<&SecretString>, InvalidSecretSource> {
        let source = secret_source(secret, &self.directory, placeholders)?;
        Ok(self.values.get(&source))
    }
}

/// A `{secret: …}` without a valid source.
#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum InvalidSecretSource {
    #[error("`secret` must have exactly one source")]
    Count,
    #[error("`secret` has an invalid source")]
    Form,
    #[error("{0}")]
    Problem(&'static str),
    #[error(transparent)]
    Placeholder(#[from] PlaceholderError),
}

impl InvalidSecretSource {
    /// What to write.
    pub(super) fn help(&self) -> String {
        match self {
            Self::Placeholder(error) => error.help(),
            _ => FORMS.to_owned(),
        }
    }
}

impl MergedState {
    /// Errors about secrets in Vault, for an inventory that has none.
    pub(super) fn secrets_without_vault(&self, directory: &Path) -> Vec<Diagnostic> {
        let sources = self.secret_sources(directory).into_iter();
        let in_vault = sources.filter(|(source, _)| matches!(source, SecretSource::Vault { .. }));
        let error = |(source, origin): (SecretSource, &ValueOrigin)| {
            let text = format!("{source} cannot be read: the table [vault] is missing");
            origin.error("missing-key", text).help(NO_VAULT_HELP)
        };
        in_vault.map(error).collect()
    }

    /// The valid sources of secrets in attributes.
    fn secret_sources(&self, directory: &Path) -> Vec<(SecretSource, &ValueOrigin)> {
        let resources = self.types.values().flat_map(|resources| resources.values());
        let values = resources.flat_map(|resource| resource.attributes.values());
        let mut found = Vec::new();
        for value in values {
            collect(&value.value, &mut |entries| {
                let source = secret_source(entries, directory, &self.placeholders);
                found.extend(source.map(|source| (source, &value.origin)));
            });
        }
        found
    }
}

fn collect(value: &YamlValue, found: &mut impl FnMut(&[(YamlKey, YamlNode)])) {
    match value {
        YamlValue::Map(entries) if is_secret(entries) => found(entries),
        YamlValue::Map(entries) => {
            for (_, node) in entries {
                collect(&node.value, found);
            }
        }
        YamlValue::List(items) => {
            for item in items {
                collect(&item.value, found);
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
    placeholders: &Placeholders,
) -> Result<SecretSource, InvalidSecretSource> {
    let [(_, node)] = secret else {
        return Err(InvalidSecretSource::Count);
    };
    let YamlValue::Map(entries) = &node.value else {
        return Err(InvalidSecretSource::Form);
    };
    let source = written_source(entries)?.filled(placeholders)?;
    if let Some(problem) = source.problem() {
        return Err(InvalidSecretSource::Problem(problem));
    }
    Ok(match source {
        SecretSource::File(path) => SecretSource::File(directory.join(path)),
        other => other,
    })
}

/// The source as it is written.
fn written_source(entries: &[(YamlKey, YamlNode)]) -> Result<SecretSource, InvalidSecretSource> {
    let text = |value: &YamlValue| match value {
        YamlValue::Text(text) => Ok(text.clone()),
        YamlValue::Plain(plain) => Ok(plain.written.clone()),
        _ => Err(InvalidSecretSource::Form),
    };
    let (key, value) = match entries {
        [(key, node)] => (key, &node.value),
        [(one, one_node), (other, other_node)] => {
            let (path, field) = match (one.name.as_str(), other.name.as_str()) {
                ("vault", "field") => (one_node, other_node),
                ("field", "vault") => (other_node, one_node),
                _ => return Err(InvalidSecretSource::Count),
            };
            let (path, field) = (text(&path.value)?, text(&field.value)?);
            return Ok(SecretSource::Vault { path, field });
        }
        _ => return Err(InvalidSecretSource::Count),
    };
    match (key.name.as_str(), value) {
        ("env", name) => text(name).map(SecretSource::Env),
        ("file", path) => text(path).map(|path| SecretSource::File(path.into())),
        ("credential", name) => text(name).map(SecretSource::Credential),
        ("command", YamlValue::List(words)) if !words.is_empty() => words
            .iter()
            .map(|word| text(&word.value))
            .collect::<Result<_, _>>()
            .map(SecretSource::Command),
        _ => Err(InvalidSecretSource::Form),
    }
}
