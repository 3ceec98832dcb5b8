//! Credentials files: accepted readers, attributes, and sources of secrets.
//!
//! A secret is a text, or `{ env = NAME }`, `{ file = PATH }`, `{ command = [PROGRAM, ARGUMENT…] }`.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::regular_file;

use super::hocon::{self, ConfigIo, HoconField, HoconValue};
use super::{RawAttribute, RawAttributeValue, RawAttributes, ResolveContext};
use crate::inventory::secret_source::SecretSource;
use crate::inventory::setting::{InventoryTable, SettingOrigin, TableSetting};

/// Users who are allowed to read credentials files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum CredentialsReaders {
    /// Owner and group; files that all users can read are refused
    #[default]
    Group,
    /// All users
    Anyone,
}

struct CredentialFiles;

impl ConfigIo for CredentialFiles {
    fn read(&self, path: &Path) -> std::io::Result<String> {
        regular_file::read_text(path, regular_file::LARGEST)
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }
}

/// Reads a credentials file. `locate` adds the position of the file's name to findings about the
/// file.
///
/// # Cancellation
/// May be dropped at any time.
pub(super) async fn read(
    device: &str,
    path: &Path,
    context: ResolveContext<'_>,
    locate: &(dyn Fn(Diagnostic) -> Diagnostic + Sync),
) -> Result<RawAttributes, Vec<Diagnostic>> {
    let failed =
        |message: String| vec![locate(Diagnostic::error("credentials-unreadable", message))];
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(failed(format!(
                "Trying to load config from '{}', but file does not exist.",
                path.display()
            )));
        }
        Err(error) => return Err(failed(format!("cannot read {}: {error}", path.display()))),
    };
    if context.readers == CredentialsReaders::Group && metadata.mode() & 0o007 != 0 {
        return Err(vec![locate(
            Diagnostic::error(
                "credentials-mode",
                format!(
                    "all users can read {} (mode {:04o})",
                    path.display(),
                    metadata.mode() & 0o7777
                ),
            )
            .help(format!(
                "run `chmod 0640 {}`, or allow it with --credentials-readers=anyone",
                path.display()
            )),
        )]);
    }
    let text = regular_file::read_text(path, regular_file::LARGEST)
        .map_err(|error| failed(format!("cannot read {}: {error}", path.display())))?;
    let root = hocon::read(path, &text, &CredentialFiles).map_err(|found| vec![*found])?;
    let source = root.mark.source.clone();
    let HoconValue::Object(fields) = root.value else {
        return Err(failed(format!(
            "the content of {} is not an object",
            path.display()
        )));
    };
    let mut values = Vec::new();
    let mut found = Vec::new();
    for field in fields {
        match attribute(device, field, context).await {
            Ok(attribute) => values.extend(attribute),
            Err(error) => found.push(error),
        }
    }
    if found.is_empty() {
        Ok(RawAttributes { values, source })
    } else {
        Err(found)
    }
}

/// The attribute of a field; `null` is a missing value.
async fn attribute(
    device: &str,
    field: HoconField,
    context: ResolveContext<'_>,
) -> Result<Option<RawAttribute>, Diagnostic> {
    let mark = field.node.mark.clone();
    let value = match field.node.value {
        HoconValue::Null => return Ok(None),
        HoconValue::Bool(truth) => RawAttributeValue::Bool(truth),
        HoconValue::Integer(number) => RawAttributeValue::Integer(number),
        HoconValue::String(text) => RawAttributeValue::Text(text.into()),
        other => match secret_source(&other) {
            Some(source) => {
                let setting = TableSetting {
                    value: source,
                    origin: SettingOrigin {
                        table: InventoryTable::Device(device.to_owned()),
                        source: mark.source.clone(),
                        span: field.key_mark.span.clone(),
                    },
                };
                RawAttributeValue::Text(context.secrets.get(&setting).await?)
            }
            None => RawAttributeValue::Other(other.kind()),
        },
    };
    Ok(Some(RawAttribute {
        key: field.key,
        key_mark: field.key_mark,
        mark,
        value,
    }))
}

/// The source of a secret, if the value is one.
fn secret_source(value: &HoconValue) -> Option<SecretSource> {
    let HoconValue::Object(fields) = value else {
        return None;
    };
    let [field] = fields.as_slice() else {
        return None;
    };
    match (field.key.as_str(), &field.node.value) {
        ("env", HoconValue::String(name)) => Some(SecretSource::Env(name.clone())),
        ("file", HoconValue::String(path)) => Some(SecretSource::File(PathBuf::from(path))),
        ("credential", HoconValue::String(name)) => {
            let source = SecretSource::Credential(name.clone());
            source.problem().is_none().then_some(source)
        }
        ("command", HoconValue::List(items)) if !items.is_empty() => items
            .iter()
            .map(|item| match &item.value {
                HoconValue::String(text) => Some(text.clone()),
                HoconValue::Integer(number) => Some(number.to_string()),
                _ => None,
            })
            .collect::<Option<Vec<_>>>()
            .map(SecretSource::Command),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use secrecy::ExposeSecret as _;

    use super::*;
    use crate::inventory::Secrets;

    async fn read_text(
        text: &str,
        mode: u32,
        readers: CredentialsReaders,
    ) -> Result<RawAttributes, Vec<Diagnostic>> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sw1.conf");
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let secrets =
            Secrets::with_environment(false, |name| (name == "SW_PASS").then(|| "s3cret".into()));
        let context = ResolveContext {
            device_dir: dir.path(),
            readers,
            secrets: &secrets,
            definitions: None,
        };
        read("sw1", &path, context, &|found| found).await
    }

    async fn password(text: &str) -> Result<String, String> {
        let supplied = read_text(text, 0o600, CredentialsReaders::Group)
            .await
            .map_err(|found| found[0].message.clone())?;
        match &supplied.values[0].value {
            RawAttributeValue::Text(text) => Ok(text.expose_secret().to_owned()),
            RawAttributeValue::Other(kind) => Err((*kind).to_owned()),
            _ => panic!("not a text"),
        }
    }

    #[tokio::test]
    async fn credentials_resolve_secrets_from_each_source() {
        let dir = tempfile::tempdir().unwrap();
        let secret = dir.path().join("secret");
        std::fs::write(&secret, "s3cret\n").unwrap();
        std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o600)).unwrap();
        let file = format!("password {{ file = \"{}\" }}", secret.display());
        let cases = [
            ("password: s3cret", Ok("s3cret")),
            ("password { env = SW_PASS }", Ok("s3cret")),
            (file.as_str(), Ok("s3cret")),
            (
                "password { command = [printf, \"s3%s\", cret] }",
                Ok("s3cret"),
            ),
            (
                "password { env = NOPE }",
                Err("environment variable NOPE is not set"),
            ),
            (
                "password { command = [\"false\"] }",
                Err("`false` failed with exit code 1"),
            ),
            ("password { vault = x }", Err("an object")),
        ];
        for (text, expected) in cases {
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(password(text).await, expected, "{text}");
        }
    }

    #[tokio::test]
    async fn credentials_readable_by_all_users_are_refused_unless_allowed() {
        let Err(found) = read_text("host: h", 0o644, CredentialsReaders::Group).await else {
            panic!("it was accepted")
        };
        let message = &found[0].message;
        assert!(
            message.starts_with("all users can read ") && message.ends_with(" (mode 0644)"),
            "{found:?}"
        );
        assert!(
            found[0]
                .help
                .as_deref()
                .unwrap()
                .starts_with("run `chmod 0640 "),
            "{found:?}"
        );
        assert!(
            read_text("host: h", 0o640, CredentialsReaders::Group)
                .await
                .is_ok()
        );
        assert!(
            read_text("host: h", 0o644, CredentialsReaders::Anyone)
                .await
                .is_ok()
        );
    }
}
