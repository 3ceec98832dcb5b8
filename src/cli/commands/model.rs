//! `switchtender model`: models from the types of modules, and types for Puppet from models.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use switchtender_devices::model::type_import::{ImportedFile, ImportedModel, import};
use switchtender_devices::regular_file;

use crate::cli::exit::{CommandError, Exit, print, print_document};
use crate::cli::runtime::block_on;
use crate::manifest::write_types;
use crate::module_types::{self, DescribeError};
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
    /// Print the Ruby program of `model import`, for a host that has Puppet
    ///
    /// The program prints the types of modules as JSON, which `model import` reads.
    ///
    /// Example: switchtender model program | ssh puppet /opt/puppetlabs/puppet/bin/ruby - MODULES > types.json
    Program,
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

/// Import models from types of modules
///
/// Runs a Ruby program with an installed Puppet or OpenVox. It loads the types, so that their code
/// is executed, and prints what they declare. `switchtender model program` prints the program, for
/// another host; its output is imported without Puppet. Writes the models to DIR/models and lists
/// what cannot be imported. Other commands read them with `--definitions DIR`.
///
/// Examples:
///   switchtender model import --to definitions modules/
///   switchtender model import --to definitions types.json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
struct ModelImportArgs {
    /// Directories (all lib/puppet/type/*.rb below), type files, or the output of `model program`
    #[arg(required = true, value_name = "DIR|FILE.rb|FILE.json")]
    paths: Vec<PathBuf>,

    /// Write models to DIR/models instead of standard output
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,

    /// Replace existing models
    #[arg(long, requires = "to")]
    force: bool,

    /// Ruby interpreter that has Puppet or OpenVox [default: that of their package, or `ruby`]
    #[arg(long, value_name = "PROGRAM")]
    ruby: Option<PathBuf>,
}

pub(crate) fn run(args: &ModelArgs) -> Result<Exit, CommandError> {
    match &args.command {
        ModelCommand::Import(args) => import_types(args),
        ModelCommand::Program => {
            print_document(module_types::PROGRAM);
            Ok(Exit::SUCCESS)
        }
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
    let files = read(args)?;
    if files.is_empty() {
        return Err(CommandError::new("no type file found")
            .hint("pass type files, or directories with lib/puppet/type/*.rb"));
    }
    let mut report = TerminalText::new();
    let mut imported = 0;
    for ImportedFile { file, outcome } in &files {
        let found = match outcome {
            Ok(found) => found,
            Err(error) => {
                report.line(format_args!("# not imported: {file}: {error}"));
                continue;
            }
        };
        imported += 1;
        match &args.to {
            Some(directory) => {
                let path = write(directory, found, args.force)?;
                report.line(format_args!("{file} → {}", path.display()));
            }
            None => {
                report.block("", &found.text).end_line();
            }
        }
        for left in &found.left_out {
            // As a comment, so that the output is a valid model.
            report.line(format_args!("# not imported: {file}: {left}"));
        }
    }
    print(&report);
    if imported == 0 {
        return Err(CommandError::new("no model was imported"));
    }
    Ok(Exit::SUCCESS)
}

/// Reads descriptions of types, and describes the types of the other paths.
fn read(args: &ModelImportArgs) -> Result<Vec<ImportedFile>, CommandError> {
    let is_description = |path: &PathBuf| path.extension().is_some_and(|end| end == "json");
    let (descriptions, modules): (Vec<PathBuf>, Vec<PathBuf>) =
        args.paths.iter().cloned().partition(is_description);
    let mut files = Vec::new();
    for path in &descriptions {
        let failed = |error: Box<dyn std::error::Error + Send + Sync>| {
            CommandError::new(format!("cannot read {}", path.display()))
                .with_source(error)
                .hint("make the file with `switchtender model program`")
        };
        let text = regular_file::read_text(path, regular_file::LARGEST);
        let text = text.map_err(|error| failed(error.into()))?;
        files.extend(import(&text).map_err(|error| failed(error.into()))?);
    }
    if !modules.is_empty() {
        let described = block_on(async {
            let described = module_types::describe(args.ruby.clone(), &modules).await;
            described.map_err(cannot_describe)
        })?;
        let imported = import(&described)
            .map_err(|error| CommandError::new("cannot import the types").with_source(error))?;
        files.extend(imported);
    }
    Ok(files)
}

fn cannot_describe(error: DescribeError) -> CommandError {
    CommandError::new("cannot load the types").with_source(error).hint(
        "install Puppet or OpenVox (Debian: `apt install puppet`), name its Ruby with --ruby, or import the output of \
         `switchtender model program` on a host that has it",
    )
}

fn write(directory: &Path, found: &ImportedModel, force: bool) -> Result<PathBuf, CommandError> {
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
    fs::write(&path, &found.text).map_err(failed)?;
    Ok(path)
}
