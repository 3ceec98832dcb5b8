//! `switchtender driver import`: drafts types from references of commands.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use switchtender_devices::draft::{Draft, DraftError, draft_reference};
use switchtender_devices::names::PlatformName;
use switchtender_devices::regular_file;

use super::find_platform;
use super::new::deliver;
use crate::cli::exit::{CommandError, Exit};
use crate::cli::options::definitions;
use crate::cli::options::global::Global;

/// Draft types of a platform from references of commands
///
/// A reference is a YAML file with the line that sets each property, the line by which it is read, the
/// blocks around it and its default, as `lib/cisco_node_utils/cmd_ref/*.yaml` of
/// `cisco/cisco-network-node-utils`. Each file becomes a type. `CHECK` marks guesses in the drafts, and
/// what was not drafted is listed; existing files are never replaced.
///
/// Example:
///   switchtender driver import cisco_nxos cmd_ref/vrf.yaml --variant N9k --output definitions
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct DriverImportArgs {
    /// Name of the platform
    platform: PlatformName,

    /// References of commands
    #[arg(required = true, value_name = "FILE")]
    references: Vec<PathBuf>,

    /// Devices whose forms are taken; later ones override earlier ones
    #[arg(long = "variant", value_name = "NAME")]
    variants: Vec<String>,

    /// Beginning of the names of types, before the name of the file
    #[arg(long, value_name = "TEXT", default_value = "")]
    prefix: String,

    /// Directory of models and drivers that override the built-in ones
    #[arg(long, value_name = "DIR")]
    definitions: Option<PathBuf>,

    /// Write the files below this directory [default: standard output]
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
}

pub(super) fn run(args: &DriverImportArgs, global: &Global) -> Result<Exit, CommandError> {
    let own = definitions::read(args.definitions.as_deref())?;
    let registry = definitions::registry(&own)?;
    let platform = find_platform(&registry, &args.platform)?;
    let mut all = Draft::default();
    for path in &args.references {
        let reference = read(path)?;
        let name = type_name(path, &args.prefix)?;
        if platform.has_type(&name) {
            let reason = format!("{} has the type {name} already", args.platform);
            all.left_out.push(format!("{}: {reason}", path.display()));
            continue;
        }
        let existing = registry.model(&name).map(AsRef::as_ref);
        let drafted = draft_reference(
            &own,
            platform,
            (&name, existing),
            (&reference, &args.variants),
        );
        match drafted {
            Ok(draft) => {
                all.files.extend(draft.files);
                all.guesses.extend(draft.guesses);
                all.left_out.extend(draft.left_out);
            }
            Err(error) => {
                all.left_out.push(format!("{}: {error}", path.display()));
                if let DraftError::NoLine { reasons } = error {
                    let reasons = reasons.into_iter();
                    all.left_out
                        .extend(reasons.map(|reason| format!("{}: {reason}", path.display())));
                }
            }
        }
    }
    let is_empty = all.files.is_empty();
    let exit = deliver(args.output.as_deref(), (&own, &all), global)?;
    if is_empty {
        return Err(CommandError::new("no type was drafted")
            .hint("choose the devices of the references with --variant"));
    }
    Ok(exit)
}

fn read(path: &Path) -> Result<Json, CommandError> {
    let failed = |error: Box<dyn std::error::Error + Send + Sync>| {
        CommandError::new(format!("cannot read {}", path.display())).with_source(error)
    };
    let text = regular_file::read_text(path, regular_file::LARGEST);
    let text = text.map_err(|error| failed(error.into()))?;
    serde_saphyr::from_str(&text).map_err(|error| failed(error.into()))
}

fn type_name(path: &Path, prefix: &str) -> Result<String, CommandError> {
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    let name = format!("{prefix}{}", stem.unwrap_or_default());
    let is_valid = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if stem.is_some()
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(is_valid)
    {
        return Ok(name);
    }
    let text = format!("`{name}` is no name of a type");
    Err(CommandError::new(text).hint("name the file as the type, and the beginning with --prefix"))
}
