//! The definition files of types and platforms: shipped files and a user's directory.
//!
//! Names are paths below the directory of definitions: `models/<type>.toml`,
//! `<platform>/platform.toml`, `<platform>/<type>.toml`. [`model::load`](crate::model::load) and
//! [`driver`](crate::driver) parse them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

use crate::diagnostic::Source;
use crate::regular_file;

/// The end of keys of `given` that name a file instead of a text.
pub(crate) const FILE_SUFFIX: &str = "_file";

/// The text of a definition file.
#[derive(Clone, Debug)]
pub struct DefinitionFile {
    /// `cisco_ios/ntp_server.toml`.
    pub path: String,
    /// The TOML text, with the file name that findings show.
    pub source: Arc<Source>,
    /// The file is part of this program, so that its self-tests can be read on first use.
    is_built_in: bool,
}

impl DefinitionFile {
    pub(crate) fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        let path = path.into();
        Self {
            source: Source::new(path.clone(), text),
            path,
            is_built_in: false,
        }
    }

    /// Where the self-tests start that are read on first use. They are the last tables of the file.
    pub(crate) fn deferred_tests(&self) -> Option<usize> {
        let tests = || self.source.text.find("\n[[test]]\n");
        self.is_built_in.then(tests).flatten()
    }
}

const SHIPPED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/definitions.rs"));

/// The shipped definitions.
pub(crate) fn shipped() -> Vec<DefinitionFile> {
    SHIPPED
        .iter()
        .map(|(path, text)| DefinitionFile {
            is_built_in: true,
            ..DefinitionFile::new(*path, *text)
        })
        .collect()
}

/// Paths and texts of the shipped definitions.
pub fn shipped_texts() -> &'static [(&'static str, &'static str)] {
    SHIPPED
}

/// The text of the shipped file with this path, `cisco_ios/platform.toml`.
pub fn shipped_text(path: &str) -> Option<&'static str> {
    let file = SHIPPED.iter().find(|(other, _)| *other == path);
    file.map(|(_, text)| *text)
}

/// The definitions of a directory in the order of their names. Findings contain the path of the
/// file, starting with the given directory.
///
/// # Errors
/// The directory or a file in it cannot be read; the message names it.
pub fn from_directory(directory: &Path) -> io::Result<Vec<DefinitionFile>> {
    let mut files = Vec::new();
    collect(directory, directory, &mut files)?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn collect(root: &Path, directory: &Path, files: &mut Vec<DefinitionFile>) -> io::Result<()> {
    let named = |path: &Path, error: io::Error| {
        io::Error::new(error.kind(), format!("{}: {error}", path.display()))
    };
    for entry in fs::read_dir(directory).map_err(|error| named(directory, error))? {
        let path = entry.map_err(|error| named(directory, error))?.path();
        if path.is_dir() {
            collect(root, &path, files)?;
        } else if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            let text = regular_file::read_text(&path, regular_file::LARGEST)
                .map_err(|error| named(&path, error))?;
            let below = path.strip_prefix(root).unwrap_or(&path);
            let inputs = test_inputs(directory, &text);
            files.push(DefinitionFile {
                path: below.to_string_lossy().replace('\\', "/"),
                source: Source::with_inputs(path.display().to_string(), text, inputs),
                is_built_in: false,
            });
        }
    }
    Ok(())
}

/// The files that `given.NAME_file` of the tests in a definition names, below its directory.
fn test_inputs(directory: &Path, text: &str) -> BTreeMap<String, Result<String, String>> {
    let document: toml::Table = text.parse().unwrap_or_default();
    let tests = document.get("test").and_then(toml::Value::as_array);
    let supplied = tests
        .into_iter()
        .flatten()
        .filter_map(|test| test.get("given")?.as_table());
    let named = supplied
        .flatten()
        .filter(|(read, _)| read.ends_with(FILE_SUFFIX));
    let names = named.filter_map(|(_, name)| name.as_str());
    names
        .map(|name| (name.to_owned(), read_below(directory, name)))
        .collect()
}

/// Reads a file; a path that leaves the directory is refused, also by a symbolic link.
fn read_below(directory: &Path, name: &str) -> Result<String, String> {
    let read = || -> io::Result<Option<String>> {
        let path = fs::canonicalize(directory.join(name))?;
        if !path.starts_with(fs::canonicalize(directory)?) {
            return Ok(None);
        }
        regular_file::read_text(&path, regular_file::LARGEST).map(Some)
    };
    match read() {
        Ok(Some(text)) => Ok(text.replace("\r\n", "\n")),
        Ok(None) => Err("the file is not below the directory of the definition".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
