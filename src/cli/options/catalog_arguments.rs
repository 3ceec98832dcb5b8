//! The catalog files of a command line, and their content.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::cli::exit::CommandError;
use crate::fleet::catalog_files::{ReadCatalogError, read_catalog, read_catalog_file};

/// The files to check, without duplicates; directories recursively, sorted by name.
pub(crate) fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, CommandError> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            walk(path, &mut files)?;
            // A backup of switches has no other answers.
            if files.is_empty() {
                files.extend(saved_configuration(path));
            }
        } else if path == Path::new("-") || path.exists() {
            files.push(path.clone());
        } else {
            let message = format!("no such file or directory: {}", path.display());
            return Err(CommandError::new(message).exit(2));
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    files.retain(|path| seen.insert(path.clone()));
    if let Some(saved) = files.iter().find(|path| is_saved_configuration(path)) {
        let directory = match saved.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let message = format!(
            "{} belongs to a saved configuration, not to a catalog",
            saved.display()
        );
        let hint = format!(
            "pass the directory of `switchtender backup` as plan --running {}",
            directory.display()
        );
        return Err(CommandError::new(message).hint(hint).exit(2));
    }
    if files.is_empty() {
        let error = CommandError::new("no catalog found");
        return Err(error
            .hint("pass catalogs, or directories with *.json; for files in YAML use --state DIR")
            .exit(2));
    }
    Ok(files)
}

/// Whether a file is one of `backup`: DEVICE.json is next to DEVICE.cfg.
fn is_saved_configuration(path: &Path) -> bool {
    let is_configuration = path.extension().is_some_and(|extension| extension == "cfg");
    is_configuration || path.with_extension("cfg").is_file()
}

/// A saved configuration in a directory.
fn saved_configuration(directory: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(directory).ok()?;
    let mut paths = entries.flatten().map(|entry| entry.path());
    paths.find(|path| path.extension().is_some_and(|extension| extension == "cfg"))
}

fn walk(directory: &Path, files: &mut Vec<PathBuf>) -> Result<(), CommandError> {
    let failed = |error: io::Error| {
        CommandError::new(format!("cannot read directory {}", directory.display()))
            .with_source(error)
            .exit(2)
    };
    let mut entries = fs::read_dir(directory)
        .map_err(failed)?
        .collect::<Result<Vec<_>, _>>()
        .map_err(failed)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        // Links to directories are not followed: they can form a loop.
        if entry.file_type().map_err(failed)?.is_dir() {
            walk(&path, files)?;
        } else if path.extension().is_some_and(|ext| ext == "json") && path.is_file() {
            files.push(path);
        }
    }
    Ok(())
}

/// The bytes of a catalog, from a file or, for `-`, from standard input.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, ReadCatalogError> {
    if path == Path::new("-") {
        read_catalog(io::stdin().lock())
    } else {
        read_catalog_file(path)
    }
}
