//! `switchtender model`: what types may say.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use switchtender_devices::model::load;
use switchtender_devices::model::resource_api::{Import, import};

use super::exit::{CommandError, Exit, print};
use crate::diagnostic::Source;

/// Make models of a site's own types
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Import(ImportArgs),
}

/// Make models from type files of the Resource API; what cannot be taken over is listed
///
/// The models go to DIR/models; `--definitions DIR` makes them known to the other commands.
#[derive(Debug, clap::Args)]
struct ImportArgs {
    /// Type files, or directories (all lib/puppet/type/*.rb below)
    #[arg(required = true, value_name = "FILE.rb|DIR")]
    paths: Vec<PathBuf>,

    /// Write models to DIR/models instead of standard output
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,

    /// Replace models that are there already
    #[arg(long, requires = "to")]
    force: bool,
}

pub fn run(args: &Args) -> Result<Exit, CommandError> {
    let Command::Import(args) = &args.command;
    let mut files = Vec::new();
    for path in &args.paths {
        if path.is_dir() {
            walk(path, &mut files)?;
        } else {
            files.push(path.clone());
        }
    }
    if files.is_empty() {
        return Err(CommandError::new("there is no type file")
            .hint("in directories, files are taken that stand in lib/puppet/type"));
    }
    files.sort();
    let mut report = String::new();
    let mut made = 0;
    for file in &files {
        match read(file) {
            Ok(found) => {
                made += 1;
                match &args.to {
                    Some(directory) => {
                        let path = write(directory, &found, args.force)?;
                        report.push_str(&format!("{} → {}\n", file.display(), path.display()));
                    }
                    None => {
                        report.push_str(&found.model);
                        report.push('\n');
                    }
                }
                for left in &found.left_out {
                    // As a comment, so that what is printed stays a model.
                    let place = format!("{}:{}", file.display(), left.line);
                    report.push_str(&format!("# not taken over: {place}: {}\n", left.what));
                }
            }
            Err(why) => {
                report.push_str(&format!("# not taken over: {}: {why}\n", file.display()));
            }
        }
    }
    print(&report);
    if made == 0 {
        return Err(CommandError::new("no model could be made"));
    }
    Ok(Exit::SUCCESS)
}

fn read(file: &Path) -> Result<Import, String> {
    let text = fs::read_to_string(file).map_err(|error| error.to_string())?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let found = import(&text, &name).map_err(|error| error.to_string())?;
    // What was written must load; the type may say something that no model can.
    let source = Source::new(name, found.model.as_str());
    match load::load(&source) {
        Ok(_) => Ok(found),
        Err(findings) => {
            let messages: Vec<String> = findings.into_iter().map(|found| found.message).collect();
            Err(format!("its model would not load: {}", messages.join("; ")))
        }
    }
}

fn write(directory: &Path, found: &Import, force: bool) -> Result<PathBuf, CommandError> {
    let models = directory.join("models");
    let path = models.join(format!("{}.toml", found.name));
    let failed = |error: std::io::Error| {
        CommandError::new(format!("cannot write {}", path.display())).because(error)
    };
    if path.exists() && !force {
        return Err(
            CommandError::new(format!("{} is there already", path.display()))
                .hint("--force replaces it"),
        );
    }
    fs::create_dir_all(&models).map_err(failed)?;
    fs::write(&path, &found.model).map_err(failed)?;
    Ok(path)
}

/// All `lib/puppet/type/*.rb` below a directory.
fn walk(directory: &Path, files: &mut Vec<PathBuf>) -> Result<(), CommandError> {
    let failed = |error: std::io::Error| {
        CommandError::new(format!("cannot read directory {}", directory.display())).because(error)
    };
    let is_type = directory.ends_with("puppet/type");
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
