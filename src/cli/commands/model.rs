//! `switchtender model`: models from the type files of modules, and types for Puppet from models.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use switchtender_devices::model::load;
use switchtender_devices::model::resource_api::{Import, ImportError, import};
use switchtender_devices::regular_file;

use crate::cli::exit::{CommandError, Exit, print};
use crate::diagnostic::Source;
use crate::manifest::write_types;
use crate::terminal_text::TerminalText;

/// Import models of your own types, and export types for Puppet
///
/// Example: switchtender model import --to definitions modules/
#[derive(Debug, clap::Args)]
pub(crate) struct ModelArgs {
    #[command(subcommand)]
    command: ModelCommand,
}

#[derive(Debug, Subcommand)]
enum ModelCommand {
    Import(ModelImportArgs),
    Export(ModelExportArgs),
}

/// Export the types as a module, for compilers of catalogs
///
/// Writes DIR/lib/puppet/type/*.rb with the names of types and attributes. `--manifest` does not need it.
///
/// Example: switchtender model export --puppet modules/switchtender
#[derive(Debug, clap::Args)]
struct ModelExportArgs {
    /// Directory of the module
    #[arg(long, value_name = "DIR")]
    puppet: PathBuf,

    /// Directory of models and drivers that override the built-in ones
    #[arg(long, value_name = "DIR")]
    definitions: Option<PathBuf>,
}

/// Import models from type files of modules
///
/// Writes the models to DIR/models and lists what cannot be imported. Other commands read them with
/// `--definitions DIR`.
///
/// Example: switchtender model import --to definitions modules/
#[derive(Debug, clap::Args)]
struct ModelImportArgs {
    /// Type files, or directories (all lib/puppet/type/*.rb below)
    #[arg(required = true, value_name = "FILE.rb|DIR")]
    paths: Vec<PathBuf>,

    /// Write models to DIR/models instead of standard output
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,

    /// Replace existing models
    #[arg(long, requires = "to")]
    force: bool,
}

pub(crate) fn run(args: &ModelArgs) -> Result<Exit, CommandError> {
    match &args.command {
        ModelCommand::Import(args) => import_types(args),
        ModelCommand::Export(args) => export_types(args),
    }
}

fn export_types(args: &ModelExportArgs) -> Result<Exit, CommandError> {
    let registry = crate::cli::options::definitions::load(args.definitions.as_deref())?;
    let directory = args.puppet.display();
    let count = write_types(&registry, &args.puppet).map_err(|error| {
        CommandError::new(format!("cannot write {directory}")).with_source(error)
    })?;
    print(&TerminalText::of_line(format_args!(
        "types in {directory}: {count}"
    )));
    Ok(Exit::SUCCESS)
}

fn import_types(args: &ModelImportArgs) -> Result<Exit, CommandError> {
    let mut files = Vec::new();
    for path in &args.paths {
        if path.is_dir() {
            walk(path, &mut files)?;
        } else {
            files.push(path.clone());
        }
    }
    if files.is_empty() {
        return Err(CommandError::new("no type file found")
            .hint("pass type files, or directories with lib/puppet/type/*.rb"));
    }
    files.sort();
    let mut report = TerminalText::new();
    let mut imported = 0;
    for file in &files {
        match read(file) {
            Ok(found) => {
                imported += 1;
                match &args.to {
                    Some(directory) => {
                        let path = write(directory, &found, args.force)?;
                        report.line(format_args!("{} → {}", file.display(), path.display()));
                    }
                    None => {
                        report.block("", &found.model).end_line();
                    }
                }
                for left in &found.left_out {
                    // As a comment, so that the output is a valid model.
                    let position = format!("{}:{}", file.display(), left.line);
                    report.line(format_args!("# not imported: {position}: {}", left.what));
                }
            }
            Err(error) => {
                report.line(format_args!("# not imported: {}: {error}", file.display()));
            }
        }
    }
    print(&report);
    if imported == 0 {
        return Err(CommandError::new("no model was imported"));
    }
    Ok(Exit::SUCCESS)
}

/// An error of importing one type file.
#[derive(Debug, thiserror::Error)]
enum ImportFileError {
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error(transparent)]
    Type(#[from] ImportError),
    #[error("its model is invalid: {0}")]
    Model(String),
}

fn read(file: &Path) -> Result<Import, ImportFileError> {
    let text = regular_file::read_text(file, regular_file::LARGEST)?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let found = import(&text, &name)?;
    // The model must load; a type file can contain what a model cannot express.
    let source = Source::new(name, found.model.as_str());
    match load::load(&source) {
        Ok(_) => Ok(found),
        Err(findings) => {
            let messages: Vec<String> = findings.into_iter().map(|found| found.message).collect();
            Err(ImportFileError::Model(messages.join("; ")))
        }
    }
}

fn write(directory: &Path, found: &Import, force: bool) -> Result<PathBuf, CommandError> {
    let models = directory.join("models");
    let path = models.join(format!("{}.toml", found.name));
    let failed = |error: std::io::Error| {
        CommandError::new(format!("cannot write {}", path.display())).with_source(error)
    };
    if path.exists() && !force {
        return Err(
            CommandError::new(format!("{} already exists", path.display()))
                .hint("replace it with --force"),
        );
    }
    fs::create_dir_all(&models).map_err(failed)?;
    fs::write(&path, &found.model).map_err(failed)?;
    Ok(path)
}

/// All `lib/puppet/type/*.rb` below a directory.
fn walk(directory: &Path, files: &mut Vec<PathBuf>) -> Result<(), CommandError> {
    let failed = |error: std::io::Error| {
        CommandError::new(format!("cannot read directory {}", directory.display()))
            .with_source(error)
    };
    let is_type = directory.ends_with("lib/puppet/type");
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        if entry.file_type().map_err(failed)?.is_dir() {
            walk(&path, files)?;
        } else if is_type && path.extension().is_some_and(|ext| ext == "rb") {
            files.push(path);
        }
    }
    Ok(())
}
