//! `switchtender driver new`: drafts a platform or a type from the output of a device.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use switchtender_devices::definitions::DefinitionFile;
use switchtender_devices::diagnostic::{Diagnostic, Severity};
use switchtender_devices::draft::{Draft, draft_platform, draft_type};
use switchtender_devices::driver::Registry;
use switchtender_devices::names::{PlatformName, TypeName};
use switchtender_devices::regular_file;

use super::find_platform;
use crate::cli::exit::{CommandError, Exit, eprint_notice, print, print_document};
use crate::cli::options::definitions;
use crate::cli::options::global::Global;
use crate::diagnostic::terminal::{self, RenderOptions};

/// Draft a platform, or a type of a platform, from the output of a device
///
/// For a platform, the sample is a recorded session or a saved configuration. For a type, it has
/// lines of the configuration. `CHECK` marks guesses in the draft; existing files are never replaced.
///
/// Examples:
///   switchtender driver new my_os --from session.log --output definitions
///   switchtender driver new my_os my_ntp_server --from lines.cfg --definitions definitions
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct NewArgs {
    /// Name of the platform
    platform: PlatformName,

    /// Name of a type; without it, a platform is drafted. A model is drafted for a new type only
    #[arg(value_name = "TYPE")]
    type_name: Option<TypeName>,

    /// Sample: output of a device
    #[arg(long, value_name = "FILE")]
    from: PathBuf,

    /// Directory of models and drivers that override the built-in ones
    #[arg(long, value_name = "DIR")]
    definitions: Option<PathBuf>,

    /// Write the files below this directory [default: standard output]
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
}

pub(super) fn run(args: &NewArgs, global: &Global) -> Result<Exit, CommandError> {
    let own = definitions::read(args.definitions.as_deref())?;
    let registry = definitions::registry(&own)?;
    let sample = regular_file::read_text(&args.from, regular_file::LARGEST).map_err(|error| {
        CommandError::new(format!("cannot read {}", args.from.display())).with_source(error)
    })?;
    let drafted = match &args.type_name {
        None => {
            if registry.platform(&args.platform).is_some() {
                let text = format!("platform {} exists already", args.platform);
                let hint = format!("print it with `switchtender driver show {}`", args.platform);
                return Err(CommandError::new(text).hint(hint));
            }
            draft_platform(&args.platform, &sample)
        }
        Some(name) => {
            let platform = find_platform(&registry, &args.platform)?;
            if platform.has_type(name) {
                let text = format!("{} has the type {name} already", args.platform);
                let hint = format!(
                    "print it with `switchtender driver show {} {name}`",
                    args.platform
                );
                return Err(CommandError::new(text).hint(hint));
            }
            let existing = registry.model(name).map(AsRef::as_ref);
            draft_type(&own, platform, name, existing, &sample)
        }
    };
    let draft = drafted.map_err(|error| {
        let text = format!("cannot draft from {}", args.from.display());
        CommandError::new(text).with_source(error)
    })?;
    deliver(args.output.as_deref(), (&own, &draft), global)
}

/// Writes or prints a draft, with what its author must decide and the findings of `driver validate`.
pub(super) fn deliver(
    output: Option<&Path>,
    (own, draft): (&[DefinitionFile], &Draft),
    global: &Global,
) -> Result<Exit, CommandError> {
    match output {
        Some(directory) => write(directory, draft)?,
        None => {
            for file in &draft.files {
                print_document(&format!("# file: {}\n{}\n", file.path, file.source.text));
            }
        }
    }
    for guess in &draft.guesses {
        eprint_notice(&format!("check: {guess}"));
    }
    for left_out in &draft.left_out {
        eprint_notice(&format!("not drafted: {left_out}"));
    }
    let findings = findings(own, draft);
    let options = RenderOptions {
        colors: global.is_stdout_colored(),
    };
    print_findings(&findings, options);
    let is_bad = findings.iter().any(|one| one.severity == Severity::Error);
    Ok(if is_bad { Exit::FAILURE } else { Exit::SUCCESS })
}

/// Writes new files. No file is written if one of them exists.
fn write(directory: &Path, draft: &Draft) -> Result<(), CommandError> {
    let failed = |path: &Path, error: std::io::Error| {
        CommandError::new(format!("cannot write {}", path.display())).with_source(error)
    };
    let paths: Vec<PathBuf> = draft
        .files
        .iter()
        .map(|file| directory.join(&file.path))
        .collect();
    if let Some(path) = paths.iter().find(|path| path.exists()) {
        let error = CommandError::new(format!("cannot write {}: the file exists", path.display()));
        return Err(error.hint("remove it, or choose another directory with --output"));
    }
    for (file, path) in draft.files.iter().zip(&paths) {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|error| failed(parent, error))?;
        }
        let mut options = File::options();
        let opened = options.write(true).create_new(true).open(path);
        let mut opened = opened.map_err(|error| failed(path, error))?;
        let written = opened.write_all(file.source.text.as_bytes());
        written.map_err(|error| failed(path, error))?;
        eprint_notice(&format!("{} written", path.display()));
    }
    Ok(())
}

/// The findings of `driver validate` in the drafted files.
fn findings(own: &[DefinitionFile], draft: &Draft) -> Vec<Diagnostic> {
    let files = [own, &draft.files].concat();
    let all = match Registry::load(&files) {
        Ok(registry) => registry.check(),
        Err(findings) => findings,
    };
    let is_drafted = |name: &str| draft.files.iter().any(|file| file.source.name == name);
    let found = all.into_iter();
    found
        .filter(|one| {
            one.labels
                .iter()
                .any(|label| is_drafted(&label.source.name))
        })
        .collect()
}

fn print_findings(findings: &[Diagnostic], options: RenderOptions) {
    if !findings.is_empty() {
        print(&terminal::render_each(findings, options));
    }
}
