//! The source of a secret: an environment variable, a file, the output of a command.

use std::fmt;
use std::path::PathBuf;

use secrecy::{ExposeSecret, SecretString};
use switchtender_devices::document::Item;
use switchtender_devices::secret::MASK;

use super::file_context::FileContext;

/// The source of a secret. Only [`Secrets`](super::Secrets) reads it.
#[derive(Clone)]
pub(crate) enum SecretSource {
    Env(String),
    File(PathBuf),
    /// Program and arguments, without a shell. The output is the secret.
    Command(Vec<String>),
    /// The secret in clear text in the inventory.
    Literal(SecretString),
}

impl SecretSource {
    /// Reads `{ env = "…" }`, `{ file = "…" }`, `{ command = ["…"] }` or a literal.
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
        let env = table.string("env").map(SecretSource::Env);
        let path = table
            .string("file")
            .map(|path| SecretSource::File(file.path(&path)));
        let command = table.strings("command").map(SecretSource::Command);
        table.finish();
        let mut found = [env, path, command].into_iter().flatten();
        match (found.next(), found.next()) {
            (Some(SecretSource::Command(words)), None) if words.is_empty() => {
                item.error("empty-command", "the command has no program");
                None
            }
            (Some(one), None) => Some(one),
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
}

const FORMS: &str = "write { env = \"VARIABLE\" }, { file = \"path\" } or { command = [\"program\", \"argument\"] }";

/// Renders the source, never the secret.
impl fmt::Display for SecretSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SecretSource::Env(name) => write!(f, "environment variable {name}"),
            SecretSource::File(path) => write!(f, "file {}", path.display()),
            SecretSource::Command(words) => write!(f, "command `{}`", words.join(" ")),
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
            (SecretSource::Env(a), SecretSource::Env(b)) => a == b,
            (SecretSource::File(a), SecretSource::File(b)) => a == b,
            (SecretSource::Command(a), SecretSource::Command(b)) => a == b,
            (SecretSource::Literal(a), SecretSource::Literal(b)) => {
                a.expose_secret() == b.expose_secret()
            }
            _ => false,
        }
    }
}

impl Eq for SecretSource {}
