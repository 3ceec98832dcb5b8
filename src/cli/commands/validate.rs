//! `switchtender validate`: offline checks of catalogs.
//!
//! Catalogs are checked on several threads, each read and dropped by its thread. The output does not
//! depend on the number of threads.

mod checked;
pub(crate) mod device_files;
mod manifest_target;
mod output;
mod state_target;
mod strict_lines;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::{ArgGroup, ValueEnum};
use switchtender_devices::driver::{Driver, Registry};
use switchtender_devices::names::{Certname, PlatformName};

use crate::catalog::{self, Catalog, LoadError, Loading};
use crate::cli::exit::{CommandError, Exit};
use crate::cli::options::catalog_arguments::{files, read};
use crate::cli::options::global::Global;
use crate::cli::options::inventory_source::{DEFAULT_INVENTORY, SourceCommandArgs};
use crate::cli::options::limit_options::percent;
use crate::cli::options::manifest::ManifestArgs;
use crate::cli::options::selection::Selection;
use crate::cli::options::unknown_name::unknown_platform;
use crate::coverage::strict::Strict;
use crate::desired_state::{EntryKind, StateDirectory, StateEntry, Unmanaged};
use crate::diagnostic::{Diagnostic, PathMapping, Severity, map_paths};
use crate::inventory::{Device, Inventory, InventoryOptions};
use crate::manifest::ManifestCompiler;
use crate::parallel;
use crate::route::HostResourcePolicy;
use crate::serve::settings::CatalogPath;
use crate::validate::{
    CatalogTarget, Policy, RuleContext, TargetKind, TargetResolver, cross_catalog,
};
use checked::{CheckedFile, merge_equal};
use device_files::facts;
use manifest_target::check_manifest;
use output::print_findings;
use state_target::check_state;

/// Validate catalogs offline against models, drivers and inventory
///
/// Needs no network and no secret. Runs no command, except the compiler of --manifest and, with
/// --run-commands, that of [source] in the inventory.
///
/// Exit: 0 no errors, 1 errors (or warnings with --deny warnings), 2 could not run.
///
/// Examples:
///   switchtender validate --inventory inventory.toml catalogs/
///   switchtender validate --state state --deny warnings
///   switchtender validate catalogs --format github --path-map /srv/code=.
#[derive(Debug, clap::Args)]
#[command(
    verbatim_doc_comment,
    group(ArgGroup::new("desired").args(["paths", "state", "manifest"]).required(true))
)]
pub(crate) struct ValidateArgs {
    /// Catalogs: files, directories (all *.json below), or - for standard input
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Check the desired state in DIR for each device of the inventory, instead of catalogs
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,

    #[command(flatten)]
    manifest: ManifestArgs,

    #[command(flatten)]
    selection: Selection,

    /// State directory of apply; without --facts, --state and --manifest use its facts of the last runs
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,

    /// Check each catalog against the platform of its device [default: inventory.toml, if it exists]
    #[arg(short, long, value_name = "FILE")]
    inventory: Option<PathBuf>,

    #[command(flatten)]
    source: SourceCommandArgs,

    /// Target of the catalogs; auto: from the inventory, else from the resources
    #[arg(long = "for", value_enum, value_name = "TARGET", default_value_t)]
    kind: TargetKind,

    /// Platform of devices that are not in the inventory
    #[arg(short, long, value_name = "PLATFORM")]
    platform: Option<PlatformName>,

    /// How to report host resources in device catalogs and device resources in host catalogs
    #[arg(long, value_enum, default_value_t, value_name = "POLICY")]
    host_resources: HostResourcePolicy,

    /// Exit with 1 for warnings, too
    #[arg(long, value_enum)]
    deny: Option<Deny>,

    /// Output format
    #[arg(short, long, value_enum, default_value_t = ValidateFormat::Human)]
    format: ValidateFormat,

    /// Show manifests below the directory FROM below TO, a directory of the repository (repeatable)
    #[arg(long, value_name = "FROM=TO")]
    path_map: Vec<PathMapping>,

    /// Number of threads [default: number of processors]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,

    /// Facts for templates and for checks that depend on the model of the device: a file for one
    /// device, or a directory with <certname>.json for each
    #[arg(long, value_name = "FILE|DIR")]
    facts: Option<PathBuf>,

    /// Running configurations; their objects count as declared
    ///
    /// DIR/<device>.cfg is a running configuration. DIR/<device>.json is an object of
    /// answers, with the names of the reads as keys.
    #[arg(long, value_name = "DIR")]
    running: Option<PathBuf>,

    /// Report lines of the running configuration that are not managed (`explain unmanaged-line`)
    #[arg(long, value_enum, value_name = "LINES", requires = "running")]
    strict: Option<Strict>,

    /// Report catalogs that shut down more than this share of their interfaces
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    max_shutdown: Option<u8>,

    /// Maximum number of findings per code (human format); the rest is counted
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,

    /// File with severities per rule and host types [default: ./switchtender.toml]
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,

    /// Directory of models and drivers that override the built-in ones
    #[arg(long, value_name = "DIR")]
    pub(crate) definitions: Option<PathBuf>,
}

impl ValidateArgs {
    /// The checks of the catalogs of an inventory.
    pub(crate) fn of_inventory(inventory: &Path, catalog: CatalogPath, devices: Selection) -> Self {
        let (paths, state, selection) = match catalog {
            CatalogPath::Catalogs(path) => (vec![path], None, Selection::default()),
            CatalogPath::State(path) => (Vec::new(), Some(path), devices),
        };
        Self {
            paths,
            state,
            manifest: ManifestArgs::default(),
            selection,
            state_dir: None,
            inventory: Some(inventory.to_owned()),
            source: SourceCommandArgs { run_commands: true },
            kind: TargetKind::default(),
            platform: None,
            host_resources: HostResourcePolicy::default(),
            deny: None,
            format: ValidateFormat::Human,
            path_map: Vec::new(),
            jobs: None,
            facts: None,
            running: None,
            strict: None,
            max_shutdown: None,
            limit: 20,
            settings: None,
            definitions: None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Deny {
    Warnings,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ValidateFormat {
    /// Text with excerpts
    Human,
    /// One JSON object per finding and line
    Json,
    /// SARIF 2.1.0, for code hosts and editors
    Sarif,
    /// JUnit XML, for automation
    Junit,
    /// Annotations of GitHub Actions
    Github,
    /// Code Quality report of GitLab
    Gitlab,
}

/// The inputs of all checks.
struct Inputs<'a> {
    registry: &'a Registry,
    inventory: Option<&'a Inventory>,
    resolver: TargetResolver<'a>,
    policy: &'a Policy,
    facts: Option<&'a Path>,
    running: Option<&'a Path>,
    strict: Option<Strict>,
    state_dir: Option<&'a Path>,
}

/// Validates the catalogs and prints the findings; an unusable input leads to exit code 2.
pub(crate) fn run(args: &ValidateArgs, global: &Global) -> Result<Exit, CommandError> {
    let settings = crate::cli::options::settings_file::load(args.settings.as_deref());
    let settings = settings.map_err(|error| error.exit(2))?;
    let registry = crate::cli::options::definitions::load(args.definitions.as_deref())
        .map_err(|error| error.exit(2))?;
    let registry = registry.with_host_types(settings.host_types);
    if let Some(name) = &args.platform
        && registry.platform(name).is_none()
    {
        return Err(unknown_platform(&registry, name).exit(2));
    }
    let default = Some(Path::new(DEFAULT_INVENTORY));
    let compiler = args
        .manifest
        .compiler(&registry)
        .map_err(|error| error.exit(2))?;
    let is_required = args.state.is_some() || compiler.is_some();
    let default = default.filter(|path| is_required || path.exists());
    let inventory = match args.inventory.as_deref().or(default) {
        Some(path) => Some(load_inventory(path, &registry, args.source)?),
        None => None,
    };
    let policy = Policy {
        host_resources: args.host_resources,
        allow_name_mismatch: false,
        max_shutdown: args.max_shutdown,
        severities: settings.severities,
        ..Policy::default()
    };
    for path in [&args.facts, &args.running].into_iter().flatten() {
        // A missing directory would count as a directory without files.
        fs::metadata(path).map_err(|error| {
            let message = format!("cannot read {}", path.display());
            CommandError::new(message).with_source(error).exit(2)
        })?;
    }
    let directory = match (&args.state, &inventory) {
        (Some(path), Some(inventory)) => {
            let directory = crate::cli::options::desired_state::directory(path, inventory);
            Some(directory.map_err(|error| error.exit(2))?)
        }
        _ => None,
    };
    let files = if is_required {
        Vec::new()
    } else {
        files(&args.paths)?
    };
    let selection = args.selection.parse().map_err(|error| error.exit(2))?;
    if !is_required && !args.selection.is_empty() {
        let error = CommandError::new("--target and --label select devices, not catalogs");
        let error =
            error.hint("use them with --state or --manifest, or name the files of the catalogs");
        return Err(error.exit(2));
    }
    let mut devices = match &inventory {
        Some(inventory) if is_required => {
            let selected = inventory.select(&selection);
            selected.map_err(|found| CommandError::findings(found).exit(2))?
        }
        _ => Vec::new(),
    };
    let problems = match &inventory {
        Some(inventory) if !is_required => Inventory::device_problems(inventory.devices.values()),
        _ => Inventory::device_problems(devices.iter().copied()),
    };
    devices.retain(|device| device.problems.is_empty());
    let mut unmanaged = None;
    if let Some(directory) = &directory {
        let split = crate::cli::options::desired_state::managed(directory, devices, &selection);
        (devices, unmanaged) = match split {
            Ok((managed, others)) => {
                let warning = |found: Unmanaged| found.finding(Severity::Warning);
                (managed, others.map(warning))
            }
            Err(all) => (Vec::new(), Some(all.finding(Severity::Error))),
        };
    }
    let devices = devices.into_iter();
    let targets: Vec<CheckTarget<'_>> = match (&directory, &compiler) {
        (Some(directory), _) => devices
            .map(|device| CheckTarget::State(directory, device))
            .collect(),
        (None, Some(compiler)) => devices
            .map(|device| CheckTarget::Manifest(compiler, device))
            .collect(),
        (None, None) => files.iter().map(|path| CheckTarget::File(path)).collect(),
    };
    let inputs = Inputs {
        registry: &registry,
        inventory: inventory.as_ref(),
        resolver: TargetResolver {
            kind: args.kind,
            inventory: inventory.as_ref(),
            platform: args.platform.as_deref(),
        },
        policy: &policy,
        facts: args.facts.as_deref(),
        running: args.running.as_deref(),
        strict: args.strict,
        state_dir: args.state_dir.as_deref(),
    };
    let mut checked = check_all(&targets, args.jobs, &inputs);
    let summaries: Vec<cross_catalog::CatalogSummary> = checked
        .iter_mut()
        .filter_map(|one| one.summary.take())
        .collect();
    let complete = args.paths.iter().any(|path| path.is_dir());
    let mut cross = cross_catalog::check(&summaries, inputs.inventory, complete, &policy);
    if let (Some(directory), Some(inventory)) = (&directory, &inventory) {
        cross.extend(unmanaged);
        let entries = checked.iter().flat_map(|one| &one.entries);
        // Other devices can use a profile.
        let is_complete = args.selection.is_empty();
        let entries = entries.filter(|entry| is_complete || entry.kind == EntryKind::Removal);
        cross.extend(StateEntry::unused(entries));
        if args.selection.is_empty() {
            cross.extend(directory.unused(inventory));
        }
        for target in &checked {
            if let Some(origins) = &target.origins {
                origins.relocate(&mut cross);
            }
        }
    }
    let of_commands = inventory.iter().flat_map(Inventory::command_warnings);
    cross.extend(of_commands.cloned());
    cross.extend(problems);
    if !cross.is_empty() {
        let mut all = CheckedFile::new(ALL_CATALOGS.to_owned());
        all.add(cross);
        checked.push(all);
    }
    // A test case for each device has its own findings.
    if is_required && args.format != ValidateFormat::Junit {
        merge_equal(&mut checked);
    }
    // A reader of these formats opens a file.
    let needs_files = matches!(args.format, ValidateFormat::Sarif | ValidateFormat::Gitlab);
    let root = args.state.as_deref().or(args.manifest.path());
    let root = root.or(args.paths.first().map(PathBuf::as_path));
    for one in &mut checked {
        if needs_files {
            let is_file = !is_required && one.name != ALL_CATALOGS;
            let file = root.filter(|_| !is_file);
            one.add_positions(file.map_or(one.name.clone(), |root| root.display().to_string()));
        }
        map_paths(&mut one.findings, &args.path_map);
    }
    print_findings(&checked, targets.len(), inventory.is_some(), args, global);
    let fails = fails(args);
    let worst = checked
        .iter()
        .any(|one| one.counts().worst() >= Some(fails));
    Ok(match (checked.iter().any(|one| one.unreadable), worst) {
        (true, _) => Exit(2),
        (false, true) => Exit(1),
        (false, false) => Exit::SUCCESS,
    })
}

/// The name of what concerns several catalogs.
const ALL_CATALOGS: &str = "all catalogs";

fn fails(args: &ValidateArgs) -> Severity {
    match args.deny {
        Some(Deny::Warnings) => Severity::Warning,
        None => Severity::Error,
    }
}

fn load_inventory(
    path: &Path,
    registry: &Registry,
    source: SourceCommandArgs,
) -> Result<Inventory, CommandError> {
    let options = InventoryOptions {
        registry: Some(registry),
        // Secrets are not read here.
        allow_readable: true,
        skips_command: !source.run_commands,
        ..InventoryOptions::default()
    };
    Inventory::load(path, &options).map_err(|found| CommandError::findings(found).exit(2))
}

/// The origin of a catalog to check.
#[derive(Clone, Copy)]
enum CheckTarget<'a> {
    File(&'a Path),
    State(&'a StateDirectory, &'a Device),
    Manifest(&'a ManifestCompiler, &'a Device),
}

fn check_all(
    targets: &[CheckTarget<'_>],
    jobs: Option<u16>,
    inputs: &Inputs<'_>,
) -> Vec<CheckedFile> {
    let check = |target: &CheckTarget<'_>| match target {
        CheckTarget::File(path) => check_file(path, inputs),
        CheckTarget::State(directory, device) => check_state(directory, device, inputs),
        CheckTarget::Manifest(compiler, device) => check_manifest(compiler, device, inputs),
    };
    match jobs {
        Some(jobs) => parallel::with_threads(jobs.into(), || parallel::map(targets, check)),
        None => parallel::map(targets, check),
    }
}

fn check_file(path: &Path, inputs: &Inputs<'_>) -> CheckedFile {
    let name = if path == Path::new("-") {
        "standard input".to_owned()
    } else {
        path.display().to_string()
    };
    let mut checked = CheckedFile::new(name.clone());
    let bytes = match read(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            let message = format!("cannot read {name}: {error}");
            checked
                .findings
                .push(Diagnostic::error("cannot-read", message));
            checked.unreadable = true;
            return checked;
        }
    };
    let loaded = catalog::source(&name, bytes)
        .and_then(|source| catalog::load(&source, &Loading::default()));
    check_loaded(loaded, checked, inputs)
}

/// The driver of a device.
fn driver_of(target: &CatalogTarget) -> Option<&Driver> {
    match target {
        CatalogTarget::Device { driver, .. } => driver.as_ref(),
        CatalogTarget::Host => None,
    }
}

fn check_loaded(
    loaded: Result<Catalog, LoadError>,
    mut checked: CheckedFile,
    inputs: &Inputs<'_>,
) -> CheckedFile {
    let (catalog, damaged, mut loading) = match loaded {
        Ok(catalog) => (catalog, BTreeSet::new(), Vec::new()),
        Err(error) => {
            let found = inputs.policy.severities.applied(error.diagnostics);
            match error.readable {
                Some(readable) => (readable.catalog, readable.damaged, found),
                None => {
                    checked.add(found);
                    return checked;
                }
            }
        }
    };
    let certname = match Certname::parse(&catalog.name) {
        Ok(certname) => Some(certname),
        Err(error) => {
            if inputs.facts.is_some() || inputs.running.is_some() {
                let message = format!("cannot find the files of this catalog: {error}");
                checked.add(vec![
                    Diagnostic::warning("certname", message).help(error.hint),
                ]);
            }
            None
        }
    };
    let facts = match &certname {
        Some(certname) => facts(inputs.facts, certname, &mut checked),
        None => None,
    };
    let facts = facts.unwrap_or_default();
    let mut target = inputs.resolver.resolve(&catalog, inputs.registry, &facts);
    let device = inputs.resolver.device(&catalog);
    checked.no_platform = matches!(target, CatalogTarget::Device { driver: None, .. });
    if let (
        Some(directory),
        CatalogTarget::Device {
            driver: Some(driver),
            running,
            ..
        },
    ) = (inputs.running, &mut target)
    {
        let name = match device {
            Some(device) => Some(device.name.as_str()),
            None => certname.as_deref(),
        };
        *running =
            name.and_then(|name| device_files::running(directory, name, driver, &mut checked));
    }
    let context =
        RuleContext::new(&catalog, inputs.registry, inputs.policy, &target).without(damaged);
    context.mask(&mut loading);
    loading.extend(crate::validate::check(&context));
    checked.add(loading);
    checked.summary = Some(cross_catalog::CatalogSummary::new(&context, device));
    let name = device.map(|device| device.name.as_str());
    if let (Some(directory), Some(name), Some(driver)) = (
        inputs.running,
        name.or(certname.as_deref()),
        driver_of(&target),
    ) {
        let file = (directory, name);
        let policy = std::mem::take(&mut checked.line_policy);
        strict_lines::check(catalog, file, (driver, policy), inputs, &mut checked);
    }
    checked
}
