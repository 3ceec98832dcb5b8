//! Files of the device: uploaded ones, and those that objects import.

use serde_json::{Value, json};

use super::normalize::encrypted;
use super::refusal::Refusal;
use super::tree::{Fields, Object, Tree};

/// The directory of uploaded files.
const UPLOADS: &str = "/var/config/rest/downloads";

/// Files of a new device.
pub(super) const FACTORY: &[(&str, &str)] = &[
    (
        "/config/httpd/conf/ssl.crt/server.crt",
        "-----BEGIN CERTIFICATE-----\nfactory\n-----END CERTIFICATE-----\n",
    ),
    (
        "/config/httpd/conf/ssl.key/server.key",
        "-----BEGIN RSA PRIVATE KEY-----\nfactory\n-----END RSA PRIVATE KEY-----\n",
    ),
];

/// Stores an uploaded file; the name is the last part of the path.
pub(super) fn upload(tree: &mut Tree, name: &str, content: &Value) -> Result<Value, Refusal> {
    let content = content
        .as_str()
        .ok_or_else(|| Refusal::body("A file is needed."))?;
    let path = format!("{UPLOADS}/{name}");
    tree.files.insert(path.clone(), content.to_owned());
    Ok(json!({
        "remainingByteCount": 0,
        "usedChunks": {"0": content.len()},
        "totalByteCount": content.len(),
        "localFilePath": path,
    }))
}

/// Imports the file in `sourcePath` of a request into an object.
pub(super) fn import(
    tree: &Tree,
    kind: &str,
    object: &mut Object,
    supplied: &Fields,
) -> Result<(), Refusal> {
    let Some(source) = supplied.get("sourcePath").and_then(Value::as_str) else {
        return Ok(());
    };
    let path = source.strip_prefix("file:");
    let path = path.map(|path| format!("/{}", path.trim_start_matches('/')));
    let content = path.and_then(|path| tree.files.get(&path));
    let content = content.ok_or_else(|| {
        Refusal::configuration(&format!("Failed! exit_code (22). {source} was not found."))
    })?;
    let label = match kind {
        "sys/file/ssl-cert" => Some("CERTIFICATE-----"),
        "sys/file/ssl-key" => Some("PRIVATE KEY-----"),
        _ => None,
    };
    if let Some(label) = label
        && !content.contains(label)
    {
        return Err(Refusal::coded(format!(
            "01070712:3: Caught configuration exception (0), unable to read {}.",
            object.path.text()
        )));
    }
    object
        .fields
        .insert("size".to_owned(), json!(content.len()));
    let checksum = format!("SHA1:{}:{}", content.len(), encrypted(content));
    object.fields.insert("checksum".to_owned(), json!(checksum));
    Ok(())
}
