//! Files with the facts of devices.

use std::io;
use std::path::{Path, PathBuf};

use switchtender_devices::driver::Facts;
use switchtender_devices::names::Certname;
use switchtender_devices::regular_file;

/// The facts of a device by dotted name, from a file or from `DIR/<certname>.json`. `None`: there is
/// no file.
///
/// # Errors
/// The path, and why it cannot be read.
pub(crate) fn read_facts(
    path: &Path,
    certname: &Certname,
) -> Result<Option<Facts>, (PathBuf, io::Error)> {
    let path = if path.is_dir() {
        path.join(format!("{certname}.json"))
    } else {
        path.to_owned()
    };
    let read = match regular_file::read(&path, regular_file::LARGEST) {
        Ok(bytes) => serde_json::from_slice::<serde_json::Value>(&bytes).map_err(io::Error::from),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => Err(error),
    };
    let json = read.map_err(|error| (path, error))?;
    let mut facts = Facts::default();
    // An agent sends its facts as an object with name, time and values.
    flatten("", json.get("values").unwrap_or(&json), &mut facts);
    Ok(Some(facts))
}

fn flatten(name: &str, value: &serde_json::Value, facts: &mut Facts) {
    match value {
        serde_json::Value::Object(entries) => {
            for (key, value) in entries {
                let name = match name {
                    "" => key.clone(),
                    name => format!("{name}.{key}"),
                };
                flatten(&name, value, facts);
            }
        }
        serde_json::Value::String(text) => {
            facts.insert(name.to_owned(), text.clone());
        }
        other => {
            facts.insert(name.to_owned(), other.to_string());
        }
    }
}
