//! Files about the devices of catalogs: facts and running configurations.

use std::fs;
use std::io;
use std::path::Path;

use switchtender_devices::driver::{Driver, Facts};
use switchtender_devices::names::Certname;
use switchtender_devices::read::{ReadError, Reads};

use super::checked::CheckedFile;
use crate::diagnostic::Diagnostic;
use crate::validate::RunningConfig;

/// The facts of a device by dotted name, from `DIR/<certname>.json`.
pub(crate) fn facts(
    directory: Option<&Path>,
    certname: &Certname,
    checked: &mut CheckedFile,
) -> Facts {
    let mut facts = Facts::default();
    let Some(directory) = directory else {
        return facts;
    };
    let path = directory.join(format!("{certname}.json"));
    let read = match fs::read(&path) {
        Ok(bytes) => serde_json::from_slice::<serde_json::Value>(&bytes).map_err(io::Error::from),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return facts,
        Err(error) => Err(error),
    };
    match read {
        // An agent sends its facts as an object with name, time and values.
        Ok(json) => flatten("", json.get("values").unwrap_or(&json), &mut facts),
        Err(error) => report_unreadable(&path, &error.to_string(), checked),
    }
    facts
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

/// The instances on a device: from its running configuration in `DIR/<name>.cfg`, and from its
/// answers by name of the read in `DIR/<name>.json`. `name` is the device's, or its certname.
pub(crate) fn running(
    directory: &Path,
    name: &str,
    driver: &Driver,
    checked: &mut CheckedFile,
) -> Option<RunningConfig> {
    let mut reads = Reads::default();
    for (extension, parse) in [
        (
            "json",
            parse_answers as fn(String) -> Result<Reads, RunningFileError>,
        ),
        ("cfg", parse_configuration),
    ] {
        let path = directory.join(format!("{name}.{extension}"));
        let answers = match fs::read_to_string(&path) {
            Ok(text) => parse(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => Err(error.into()),
        };
        let answers = answers.and_then(|answers| {
            // Parsed alone, so that an error names its file.
            RunningConfig::new(driver, &answers)?;
            Ok(answers)
        });
        match answers {
            Ok(answers) => {
                warn_of_incomplete(&path, &answers, driver, checked);
                reads.extend(answers);
            }
            Err(error) => report_unreadable(&path, &error.to_string(), checked),
        }
    }
    (!reads.is_empty()).then(|| RunningConfig::new(driver, &reads).ok())?
}

/// Warns about answers without the end that the platform declares: objects may be missing.
fn warn_of_incomplete(path: &Path, answers: &Reads, driver: &Driver, checked: &mut CheckedFile) {
    for (name, text) in answers {
        let Some(command) = driver.platform().incomplete_command(name, text) else {
            continue;
        };
        let message = format!(
            "{}: `{command}` is incomplete: its last line is not the end of the output",
            path.display()
        );
        let help = "save the complete output; objects after the end of the file count as missing";
        checked
            .findings
            .push(Diagnostic::warning("incomplete-answer", message).help(help));
    }
}

/// An error of reading the answers of a device.
#[derive(Debug, thiserror::Error)]
enum RunningFileError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Answer(#[from] ReadError),
}

fn parse_configuration(text: String) -> Result<Reads, RunningFileError> {
    Ok(Reads::from_iter([("config".to_owned(), text)]))
}

/// Answers by name of the read, `{"GET /mgmt/tm/ltm/pool": {"items": []}, "vlan_brief": "…"}`.
fn parse_answers(text: String) -> Result<Reads, RunningFileError> {
    let answers: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&text)?;
    let named = |(name, answer): (String, serde_json::Value)| {
        let name = match name.starts_with('/') {
            true => format!("GET {name}"),
            false => name,
        };
        let text = match answer {
            serde_json::Value::String(text) => text,
            other => other.to_string(),
        };
        (name, text)
    };
    Ok(answers.into_iter().map(named).collect())
}

fn report_unreadable(path: &Path, cause: &str, checked: &mut CheckedFile) {
    let message = format!("cannot read {}: {cause}", path.display());
    checked
        .findings
        .push(Diagnostic::error("cannot-read", message));
    checked.unreadable = true;
}
