//! The source of a secret: an environment variable, a file, the output of a command, a credential of systemd, or Vault.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;

use secrecy::{ExposeSecret, SecretString};
use switchtender_devices::document::{Item, Table};
use switchtender_devices::secret::MASK;

use super::file_context::FileContext;
use super::placeholders::{PlaceholderError, Placeholders, TextUse};

/// The source of a secret. Only [`Secrets`](super::Secrets) reads it.
#[derive(Clone)]
pub(crate) enum SecretSource {
    Env(String),
    File(PathBuf),
    /// Program and arguments, without a shell. The output is the secret.
    Command(Vec<String>),
    /// The name of a file in the directory that systemd has made for the process.
    Credential(String),
    /// A field of a secret in the server of `[vault]`.
    Vault {
        path: String,
        field: String,
    },
    /// The secret in clear text in the inventory.
    Literal(SecretString),
}

impl SecretSource {
    /// Reads a table with one source, or a literal.
    pub(crate) fn read(item: &Item<'_>, file: &FileContext<'_>) -> Option<Self> {
        if !item.is_table() {
            if item.as_str().is_none() {
                item.findings.hide(item.span.clone());
                item.findings.error_with_help(
                    "wrong-kind",
                    item.span.clone(),
                    format!("`{}` must be a secret source", item.path),
                    FORMS,
                );
                return None;
            }
            return Some(SecretSource::Literal(file.literal(item)));
        }
        let table = item.table()?;
        let sources = [
            table.string("env").map(SecretSource::Env),
            table
                .string("file")
                .map(|path| SecretSource::File(file.path(&path))),
            table.strings("command").map(SecretSource::Command),
            table.string("credential").map(SecretSource::Credential),
            read_vault(&table),
        ];
        table.finish();
        let mut found = sources.into_iter().flatten();
        match (found.next(), found.next()) {
            (Some(source), None) => match source.problem() {
                Some(problem) => {
                    item.error("secret-source", problem);
                    None
                }
                None => Some(source),
            },
            (None, _) if !item.findings.is_empty() => None,
            _ => {
                item.findings.error_with_help(
                    "secret-source",
                    item.span.clone(),
                    format!("`{}` must have exactly one secret source", item.path),
                    FORMS,
                );
                None
            }
        }
    }

    /// Why nothing can be read from this source.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        let is_component = |text: &str| !matches!(text, "" | "." | "..");
        match self {
            SecretSource::Command(words) if words.is_empty() => Some("the command has no program"),
            SecretSource::Credential(name) if !is_component(name) || name.contains('/') => {
                Some("a credential has a name, not a path")
            }
            SecretSource::Vault { field, .. } if field.is_empty() => Some("`field` is empty"),
            SecretSource::Vault { path, .. } if !path.split('/').all(is_component) => {
                Some("a path of Vault has names and `/` between them, such as `net/sw1`")
            }
            _ => None,
        }
    }

    /// The source with the values of its placeholders.
    ///
    /// # Errors
    /// A placeholder is not known, or has a value that is refused there.
    pub(crate) fn filled(&self, values: &Placeholders) -> Result<Self, PlaceholderError> {
        let path = |text: &str| values.fill(text, TextUse::Path);
        Ok(match self {
            SecretSource::Env(name) => SecretSource::Env(path(name)?),
            // A path that is no text has no placeholder.
            SecretSource::File(file) => match file.to_str() {
                Some(text) => SecretSource::File(path(text)?.into()),
                None => self.clone(),
            },
            SecretSource::Command(words) => {
                let filled = words.iter().enumerate().map(|(index, word)| {
                    let is_program = index == 0;
                    let text_use = if is_program {
                        TextUse::Path
                    } else {
                        TextUse::Argument
                    };
                    values.fill(word, text_use)
                });
                SecretSource::Command(filled.collect::<Result<_, _>>()?)
            }
            SecretSource::Credential(name) => SecretSource::Credential(path(name)?),
            SecretSource::Vault { path: of, field } => SecretSource::Vault {
                path: path(of)?,
                field: values.fill(field, TextUse::Text)?,
            },
            SecretSource::Literal(_) => self.clone(),
        })
    }
}

/// `vault` and `field` of a source.
fn read_vault(table: &Table<'_>) -> Option<SecretSource> {
    match (table.get("vault"), table.get("field")) {
        (Some(path), Some(field)) => {
            let (path, field) = (path.string()?, field.string()?);
            Some(SecretSource::Vault { path, field })
        }
        (Some(path), None) => {
            path.error(
                "secret-source",
                "`vault` needs `field`, the field of the secret",
            );
            None
        }
        (None, Some(field)) => {
            field.error(
                "secret-source",
                "`field` needs `vault`, the path of the secret",
            );
            None
        }
        (None, None) => None,
    }
}

const FORMS: &str = "write { env = \"VARIABLE\" }, { file = \"path\" }, { command = [\"program\", \"argument\"] }, \
                     { credential = \"name\" } or { vault = \"path\", field = \"field\" }";

/// Renders the source, never the secret.
impl fmt::Display for SecretSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SecretSource::Env(name) => write!(f, "environment variable {name}"),
            SecretSource::File(path) => write!(f, "file {}", path.display()),
            SecretSource::Command(words) => write!(f, "command `{}`", words.join(" ")),
            SecretSource::Credential(name) => write!(f, "credential {name}"),
            SecretSource::Vault { path, field } => write!(f, "field {field} of {path} in Vault"),
            SecretSource::Literal(_) => f.write_str(MASK),
        }
    }
}

impl fmt::Debug for SecretSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl PartialEq for SecretSource {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (SecretSource::Env(a), SecretSource::Env(b))
            | (SecretSource::Credential(a), SecretSource::Credential(b)) => a == b,
            (SecretSource::File(a), SecretSource::File(b)) => a == b,
            (SecretSource::Command(a), SecretSource::Command(b)) => a == b,
            (
                SecretSource::Vault { path, field },
                SecretSource::Vault {
                    path: other_path,
                    field: other_field,
                },
            ) => path == other_path && field == other_field,
            (SecretSource::Literal(a), SecretSource::Literal(b)) => {
                a.expose_secret() == b.expose_secret()
            }
            _ => false,
        }
    }
}

impl Eq for SecretSource {}

/// Secrets themselves have one hash.
impl Hash for SecretSource {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            SecretSource::Env(name) | SecretSource::Credential(name) => name.hash(state),
            SecretSource::File(path) => path.hash(state),
            SecretSource::Command(words) => words.hash(state),
            SecretSource::Vault { path, field } => (path, field).hash(state),
            SecretSource::Literal(_) => {}
        }
    }
}
