//! `switchtender fleet publish`: validates a directory and publishes it as a release.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use switchtender_devices::diagnostic::Source;
use switchtender_devices::driver::Registry;

use crate::catalog;
use crate::cli::commands::validate::{self, ValidateArgs};
use crate::cli::exit::{CommandError, Exit, eprint_notice, print};
use crate::cli::options::definitions;
use crate::cli::options::global::Global;
use crate::cli::options::selection::Selection;
use crate::cli::options::store_options::{StoreOption, store_error};
use crate::cli::runtime::block_on;
use crate::cli::user_name;
use crate::clock;
use crate::counted::counted;
use crate::desired_state::clear_secrets;
use crate::diagnostic::{Diagnostic, Severity};
use crate::git::GitDirectory;
use crate::history::HistoryStore;
use crate::history::releases::{NewRelease, Published};
use crate::inventory;
use crate::serve::access::AccessRules;
use crate::serve::fleet::{LoadContext, LoadFleetError, ServeFleet};
use crate::serve::release::collect::{CollectError, ReleaseFiles};
use crate::serve::release::{RELEASE_ACCESS, named_files};
use crate::serve::settings::{CatalogPath, RELEASE_SETTINGS, ServeSettings};
use crate::serve::watched_files::WatchedFiles;
use crate::store::Store;
use crate::terminal_text::TerminalText;

/// Validate a directory, and publish it to all nodes as a numbered release
///
/// DIR has fleet.toml with the settings of all nodes, and what it names: the inventory, catalogs,
/// desired state and definitions. access.toml beside it has users and tokens. Secrets must be
/// references, which each node resolves. The same content makes no new release.
///
/// Examples:
///   switchtender fleet publish /srv/network --check
///   switchtender fleet publish /srv/network --store postgresql://hub@db/switchtender
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct FleetPublishArgs {
    /// Directory with fleet.toml
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    /// Only validate, without a store
    #[arg(long)]
    check: bool,

    #[command(flatten)]
    store: StoreOption,
}

pub(super) fn run(args: &FleetPublishArgs, global: &Global) -> Result<Exit, CommandError> {
    let store = if args.check {
        None
    } else {
        Some(shared(args.store.existing()?)?)
    };
    let directory = &args.directory;
    let settings = ServeSettings::load_release(directory).map_err(CommandError::findings)?;
    let mut files = ReleaseFiles::collect(directory, &settings).map_err(cannot_collect)?;
    let registry = definitions::load(settings.definitions.as_deref())?;
    let mut errors = secrets(&files, directory, &registry)?;
    if settings.definitions.is_some() {
        errors.extend(registry.check().into_iter().filter(is_error));
    }
    refuse(errors)?;
    let mut catalogs = Vec::new();
    // Only a proxy of a Puppet Server needs no inventory.
    let needs_inventory = settings.names_inventory() || !settings.catalog_paths().is_empty();
    if needs_inventory || settings.inventory.exists() {
        let fleet = block_on(load(&settings))?;
        let warnings = fleet.warnings.iter();
        warnings.for_each(|found| eprint_notice(&format!("warning: {}", found.message)));
        if let Some(inventory) = fleet.inventory() {
            let found = named_files::add(&mut files, inventory);
            refuse(found.map_err(cannot_collect)?)?;
        }
        catalogs = fleet.catalogs();
    }
    if !validate_catalogs(catalogs, &settings, directory, global)? {
        let text = "the catalogs have errors: nothing is published";
        return Err(CommandError::new(text));
    }
    match store {
        Some(store) => block_on(publish(&store, directory, files)),
        None => {
            let count = files.into_files().len();
            print(&TerminalText::of_line(format_args!(
                "{} can be published",
                counted(count, "file")
            )));
            Ok(Exit::SUCCESS)
        }
    }
}

/// A store of several processes.
fn shared(store: HistoryStore) -> Result<HistoryStore, CommandError> {
    if store.is_shared() {
        return Ok(store);
    }
    let text = "releases are for several processes, and a SQLite file has one";
    Err(CommandError::new(text).hint("name a PostgreSQL database with --store postgresql://…"))
}

async fn publish(
    store: &HistoryStore,
    directory: &Path,
    files: ReleaseFiles<'_>,
) -> Result<Exit, CommandError> {
    let revision = match GitDirectory::find(directory) {
        Some(found) => found.revision().await.map_err(|error| {
            CommandError::new("cannot read the commit of the directory").with_source(error)
        })?,
        None => None,
    };
    let origin = match &revision {
        Some(revision) => format!(" of commit {revision}"),
        None => String::new(),
    };
    let release = NewRelease {
        files: files.into_files(),
        publisher: user_name::author(),
        revision,
        published: clock::timestamp(),
    };
    let count = release.files.len();
    let published = store.write(move |writer| writer.publish(&release)).await;
    let text = match published.map_err(store_error)? {
        Published::New(number) => format!("release {number}: {}{origin}", counted(count, "file")),
        Published::Same(number) => {
            format!("release {number} has this content: nothing is published")
        }
    };
    print(&TerminalText::of_line(text));
    Ok(Exit::SUCCESS)
}

/// Loads the devices as a node does. No device is contacted.
async fn load(settings: &ServeSettings) -> Result<ServeFleet, CommandError> {
    let node = ServeSettings::parse(&Source::new("serve.toml", ""), Path::new(""));
    let joined = node.and_then(|node| node.with_release(settings));
    let context = LoadContext::of_own_files(Store::at(Path::new("")));
    let settings = joined.map_err(CommandError::findings)?;
    let loaded = ServeFleet::load(settings, &context, &mut WatchedFiles::default()).await;
    loaded.map_err(|error| match error {
        LoadFleetError::Findings(findings) => CommandError::findings(findings),
        other => CommandError::new("cannot load the devices").with_source(other),
    })
}

/// Validates the catalogs and the desired state of the devices. False: they have errors.
fn validate_catalogs(
    catalogs: Vec<(CatalogPath, Vec<String>)>,
    settings: &ServeSettings,
    directory: &Path,
    global: &Global,
) -> Result<bool, CommandError> {
    let rules = directory.join("switchtender.toml");
    let rules = rules.exists().then_some(rules);
    let has_one_directory = catalogs.len() == 1;
    let mut are_valid = true;
    for (catalog, devices) in catalogs {
        // All devices: files that no device uses are reported, too.
        let devices = if has_one_directory {
            Vec::new()
        } else {
            devices
        };
        let selection = Selection {
            target: devices,
            label: Vec::new(),
        };
        let mut args = ValidateArgs::of_inventory(&settings.inventory, catalog, selection);
        args.settings.clone_from(&rules);
        args.definitions.clone_from(&settings.definitions);
        are_valid &= validate::run(&args, global)? == Exit::SUCCESS;
    }
    Ok(are_valid)
}

/// Errors about the secrets of all files.
fn secrets(
    files: &ReleaseFiles<'_>,
    directory: &Path,
    registry: &Registry,
) -> Result<Vec<Diagnostic>, CommandError> {
    let is_secret = |type_name: &str, attribute: &str| {
        let model = registry.model(type_name);
        let attribute = model.and_then(|model| model.attributes.get(attribute));
        attribute.is_some_and(|attribute| attribute.sensitive)
    };
    let mut errors = Vec::new();
    for (path, content) in files.files() {
        let name = directory.join(path);
        let text = std::str::from_utf8(content).map_err(|error| {
            CommandError::new(format!("{} is not UTF-8", name.display())).with_source(error)
        })?;
        let source = || Arc::clone(&Source::new(name.display().to_string(), text));
        if path == RELEASE_ACCESS {
            AccessRules::parse(&name, text).map_err(|error| {
                CommandError::new("cannot publish users and tokens").with_source(error)
            })?;
        } else if name.extension().is_some_and(|ending| ending == "yaml") {
            errors.extend(clear_secrets::check(&source(), registry));
        } else if name.extension().is_some_and(|ending| ending == "json") {
            errors.extend(catalog::clear_secrets(&source(), &is_secret));
        } else if path != RELEASE_SETTINGS {
            errors.extend(inventory::clear_secrets(&name.display().to_string(), text));
        }
    }
    Ok(errors)
}

fn refuse(errors: Vec<Diagnostic>) -> Result<(), CommandError> {
    if errors.is_empty() {
        Ok(())
    } else {
        Err(CommandError::findings(errors))
    }
}

fn is_error(found: &Diagnostic) -> bool {
    found.severity == Severity::Error
}

fn cannot_collect(error: CollectError) -> CommandError {
    let is_outside = matches!(error, CollectError::Outside { .. });
    let error = CommandError::new("cannot publish").with_source(error);
    if is_outside {
        error.hint("move the file into the directory")
    } else {
        error
    }
}
