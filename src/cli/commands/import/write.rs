//! Writes the files of an import, with its inventory and secrets.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::ImportArgs;
use super::draft::ImportDraft;
use super::inventory_text::ImportInventory;
use crate::cli::exit::CommandError;
use crate::cli::runtime::block_on;
use crate::git::GitDirectory;
use crate::import::secret_references::{SECRET_DIRECTORY, SecretMode};
use crate::store::{self, StoreError};

/// The example of a file with variables of secrets.
pub(super) const SECRET_EXAMPLE: &str = "secrets.env.example";

/// The files of a draft that a directory does not have in this form.
pub(super) type ChangedFiles<'a> = BTreeMap<&'a str, &'a str>;

/// The files that must be written.
///
/// # Errors
/// A file cannot be read.
pub(super) fn changed<'a>(
    directory: &Path,
    draft: &'a ImportDraft,
) -> Result<ChangedFiles<'a>, CommandError> {
    let mut changed = ChangedFiles::new();
    for (name, text) in &draft.files {
        let path = directory.join(name);
        match fs::read(&path) {
            Ok(current) if current == text.as_bytes() => {}
            Ok(_) => {
                changed.insert(name, text);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                changed.insert(name, text);
            }
            Err(error) => {
                let text = format!("cannot read {}", path.display());
                return Err(CommandError::new(text).with_source(error));
            }
        }
    }
    Ok(changed)
}

/// Writes the files.
///
/// # Errors
/// A file has changes that are not committed, or cannot be written.
pub(super) fn write(
    args: &ImportArgs,
    inventory: &ImportInventory,
    draft: &ImportDraft,
    changed: &ChangedFiles<'_>,
) -> Result<(), CommandError> {
    let directory = &args.directory;
    let path_of_inventory = &args.access.source.inventory;
    if !args.force {
        let paths = changed.keys().map(|name| directory.join(name));
        let inventory = inventory.text.iter().map(|_| path_of_inventory.clone());
        let existing = paths.chain(inventory).filter(|path| path.exists());
        let existing = existing.map(|path| std::path::absolute(&path).unwrap_or(path));
        let existing: Vec<PathBuf> = existing.collect();
        let uncommitted = uncommitted(directory, &existing)?;
        if let [first, rest @ ..] = uncommitted.as_slice() {
            let more = match rest.len() {
                0 => String::new(),
                count => format!(" and {count} more files"),
            };
            let text =
                format!("{first}{more} would be overwritten, with changes that are not committed");
            return Err(CommandError::new(text).hint("commit them, or overwrite them with --force"));
        }
    }
    for (name, text) in changed {
        store::write_file(&directory.join(name), text).map_err(cannot_write)?;
    }
    write_secrets(args, draft)?;
    for plan in draft.plans.values() {
        plan.remember().map_err(cannot_write)?;
    }
    if let Some(text) = &inventory.text {
        store::write_file(path_of_inventory, text).map_err(cannot_write)?;
    }
    Ok(())
}

/// Those of these files that are not committed, if their directory is in a Git work tree.
fn uncommitted(directory: &Path, files: &[PathBuf]) -> Result<Vec<String>, CommandError> {
    let Some(work_tree) = GitDirectory::find(directory) else {
        return Ok(Vec::new());
    };
    let found = block_on(async { Ok(work_tree.uncommitted(files).await) })?;
    found.map_err(|error| {
        let error = CommandError::new("cannot compare the files with Git").with_source(error);
        error.hint("overwrite them with --force")
    })
}

fn cannot_write(error: StoreError) -> CommandError {
    CommandError::new("cannot write the files").with_source(error)
}

/// Writes the example of the variables, or the secrets themselves.
fn write_secrets(args: &ImportArgs, draft: &ImportDraft) -> Result<(), CommandError> {
    let directory = &args.directory;
    if draft.secrets.secrets.is_empty() {
        return Ok(());
    }
    match args.secrets {
        SecretMode::Skip => {}
        SecretMode::Env => {
            let example = directory.join(SECRET_EXAMPLE);
            store::write_file(&example, &draft.secrets.example()).map_err(cannot_write)?;
        }
        SecretMode::File => {
            for (name, secret) in &draft.secrets.secrets {
                let path = directory.join(SECRET_DIRECTORY).join(name);
                store::write_file(&path, secret.text()).map_err(cannot_write)?;
                let private = fs::Permissions::from_mode(0o600);
                fs::set_permissions(&path, private).map_err(|error| {
                    let text = format!("cannot protect {}", path.display());
                    CommandError::new(text).with_source(error)
                })?;
            }
            ignore_secrets(directory)?;
        }
    }
    Ok(())
}

/// Adds the directory of secrets to `.gitignore`.
fn ignore_secrets(directory: &Path) -> Result<(), CommandError> {
    let path = directory.join(".gitignore");
    let mut text = fs::read_to_string(&path).unwrap_or_default();
    let entry = format!("{SECRET_DIRECTORY}/");
    if text
        .lines()
        .any(|line| line.trim_matches('/') == SECRET_DIRECTORY)
    {
        return Ok(());
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text += &format!("{entry}\n");
    store::write_file(&path, &text).map_err(cannot_write)
}
