//! `switchtender validate`: what is wrong with catalogs, before any device is touched.
//!
//! Files are read by several threads, one catalog each at a time, so that memory follows the
//! number of threads and not of catalogs; what is shown does not depend on their number.

mod checked;
mod device_files;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::ValueEnum;
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use switchtender_devices::driver::Registry;

use super::Global;
use super::catalog_arguments::{files, read};
use super::exit::{CommandError, Exit, print};
use super::run::Mixed;
use crate::catalog::{self, Loading};
use crate::diagnostic::junit::{self, Suite};
use crate::diagnostic::sarif::{self, RuleText};
use crate::diagnostic::terminal::{self, RenderOptions};
use crate::diagnostic::{Counts, Diagnostic, Severity, Source, json, limit};
use crate::inventory::{Inventory, Reading};
use crate::validate::rule::RULES;
use crate::validate::{
    CatalogTarget, Policy, RuleContext, Severities, TargetKind, TargetResolver, cross_catalog,
};
use checked::Checked;
use device_files::facts;

/// Check catalogs against models, platforms and inventory; needs no network and no secret
///
/// Exit: 0 no errors, 1 errors (or warnings with --deny warnings), 2 could not run.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Catalogs: files, directories (all *.json below), or - for standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Check each catalog against the platform of the device it is for
    #[arg(short, long, value_name = "FILE")]
    inventory: Option<PathBuf>,

    /// Where the catalogs are going; auto asks the inventory, then looks at the resources
    #[arg(long = "for", value_enum, default_value_t = For::Auto)]
    wanted: For,

    /// Platform of catalogs whose device is not in the inventory
    #[arg(short, long, value_name = "PLATFORM")]
    platform: Option<String>,

    /// What to say about host resources in a device's catalog, and the other way round
    #[arg(long, value_enum, default_value_t = Mixed::Warn)]
    mixed: Mixed,

    /// Exit with 1 for warnings too
    #[arg(long, value_enum)]
    deny: Option<Deny>,

    /// How findings are shown
    #[arg(short, long, value_enum, default_value_t = Format::Human)]
    format: Format,

    /// Catalogs checked at once; as many as there are processors unless given
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,

    /// Facts of devices, DIR/<certname>.json: what their models exclude is told
    #[arg(long, value_name = "DIR")]
    facts: Option<PathBuf>,

    /// What devices have counts as declared: DIR/<device>.cfg, the running configuration, and
    /// DIR/<device>.json, an object of answers by name of the read
    #[arg(long, value_name = "DIR")]
    running: Option<PathBuf>,

    /// Refuse catalogs that shut down more than this share of their interfaces
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(..=100))]
    max_shutdown: Option<u8>,

    /// Findings of one code that are shown (human format); the rest is counted
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,

    /// Severities per rule; switchtender.toml in the current directory unless given
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,

    /// Search this directory for models and drivers before the built-in ones
    #[arg(long, value_name = "DIR")]
    definitions: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum For {
    Auto,
    Device,
    Host,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Deny {
    Warnings,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Human,
    /// One JSON object per finding and line
    Json,
    /// SARIF 2.1.0, for code hosts and editors
    Sarif,
    /// JUnit XML, for automation
    Junit,
}

/// What every thread looks at.
struct Given<'a> {
    registry: &'a Registry,
    inventory: Option<&'a Inventory>,
    routing: TargetResolver<'a>,
    policy: &'a Policy,
    facts: Option<&'a Path>,
    running: Option<&'a Path>,
}

pub fn run(args: &Args, global: &Global) -> Result<Exit, CommandError> {
    let registry =
        super::definitions::load(args.definitions.as_deref()).map_err(|error| error.exit(2))?;
    if let Some(name) = &args.platform
        && registry.platform(name).is_none()
    {
        return Err(unknown_platform(name, &registry));
    }
    let inventory = match &args.inventory {
        Some(path) => Some(load_inventory(path, &registry)?),
        None => None,
    };
    let policy = Policy {
        mixed: args.mixed.into(),
        force_name: false,
        max_shutdown: args.max_shutdown,
        severities: severities(args.settings.as_deref())?,
    };
    for directory in [&args.facts, &args.running].into_iter().flatten() {
        // A misspelt one would go for one in which no device has a file.
        fs::read_dir(directory).map_err(|error| {
            let message = format!("cannot read directory {}", directory.display());
            CommandError::new(message).because(error).exit(2)
        })?;
    }
    let files = files(&args.paths)?;
    let given = Given {
        registry: &registry,
        inventory: inventory.as_ref(),
        routing: TargetResolver {
            wanted: match args.wanted {
                For::Auto => TargetKind::Auto,
                For::Device => TargetKind::Device,
                For::Host => TargetKind::Host,
            },
            inventory: inventory.as_ref(),
            platform: args.platform.as_deref(),
        },
        policy: &policy,
        facts: args.facts.as_deref(),
        running: args.running.as_deref(),
    };
    let mut checked = check_all(&files, args.jobs, &given)?;
    let summaries: Vec<cross_catalog::Summary> = checked
        .iter_mut()
        .filter_map(|one| one.summary.take())
        .collect();
    let complete = args.paths.iter().any(|path| path.is_dir());
    let across = cross_catalog::check(&summaries, given.inventory, complete, &policy);
    if !across.is_empty() {
        let mut all = Checked::new("all catalogs".to_owned());
        all.keep(across);
        checked.push(all);
    }
    print(&shown(&checked, files.len(), args, global));
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

fn fails(args: &Args) -> Severity {
    match args.deny {
        Some(Deny::Warnings) => Severity::Warning,
        None => Severity::Error,
    }
}

fn unknown_platform(name: &str, registry: &Registry) -> CommandError {
    let known: Vec<&str> = registry.platforms().map(|p| p.name.as_str()).collect();
    let hint = match crate::diagnostic::nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known platforms: {}", known.join(", ")),
    };
    CommandError::new(format!("there is no platform `{name}`"))
        .hint(hint)
        .exit(2)
}

fn load_inventory(path: &Path, registry: &Registry) -> Result<Inventory, CommandError> {
    let reading = Reading {
        platforms: Some(registry.platforms().map(|p| p.name.clone()).collect()),
        // No secret is looked at here, so nobody need be kept from one.
        allow_readable: true,
        ..Reading::default()
    };
    Inventory::load(path, &reading).map_err(|found| CommandError::findings(found).exit(2))
}

fn severities(path: Option<&Path>) -> Result<Severities, CommandError> {
    let default = Path::new("switchtender.toml");
    let (path, given) = path.map_or((default, false), |path| (path, true));
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound && !given => {
            return Ok(Severities::default());
        }
        Err(error) => {
            let message = format!("cannot read settings {}", path.display());
            return Err(CommandError::new(message).because(error).exit(2));
        }
    };
    Severities::load(&Source::new(path.display().to_string(), text))
        .map_err(|found| CommandError::findings(found).exit(2))
}

fn check_all(
    files: &[PathBuf],
    jobs: Option<u16>,
    given: &Given<'_>,
) -> Result<Vec<Checked>, CommandError> {
    // 0: as many threads as processors.
    let threads = rayon::ThreadPoolBuilder::new()
        .num_threads(jobs.map_or(0, usize::from))
        .build()
        .map_err(|error| {
            CommandError::new("cannot start threads")
                .because(error)
                .exit(2)
        })?;
    Ok(threads.install(|| {
        files
            .par_iter()
            .map(|path| check_file(path, given))
            .collect()
    }))
}

fn check_file(path: &Path, given: &Given<'_>) -> Checked {
    let name = match path == Path::new("-") {
        true => "standard input".to_owned(),
        false => path.display().to_string(),
    };
    let mut checked = Checked::new(name.clone());
    let bytes = match read(path) {
        Ok(bytes) => bytes,
        Err(why) => {
            let message = format!("cannot read {name}: {why}");
            checked
                .findings
                .push(Diagnostic::error("cannot-read", message));
            checked.unreadable = true;
            return checked;
        }
    };
    let loaded = catalog::source(&name, bytes)
        .and_then(|source| catalog::load(&source, &Loading::default()));
    let (catalog, damaged, mut loading) = match loaded {
        Ok(catalog) => (catalog, BTreeSet::new(), Vec::new()),
        Err(error) => {
            let found = given.policy.severities.applied(error.diagnostics);
            match error.readable {
                Some(readable) => (readable.catalog, readable.damaged, found),
                None => {
                    checked.keep(found);
                    return checked;
                }
            }
        }
    };
    let facts = facts(given.facts, &catalog.name, &mut checked);
    let mut target = given.routing.resolve(&catalog, given.registry, &facts);
    let device = given.routing.device(&catalog);
    checked.no_platform = matches!(target, CatalogTarget::Device { driver: None, .. });
    if let (
        Some(directory),
        CatalogTarget::Device {
            driver: Some(driver),
            running,
            ..
        },
    ) = (given.running, &mut target)
    {
        let name = device.map_or(catalog.name.as_str(), |device| device.name.as_str());
        *running = device_files::running(directory, name, driver, &mut checked);
    }
    let context =
        RuleContext::new(&catalog, given.registry, given.policy, &target).without(damaged);
    context.mask(&mut loading);
    loading.extend(crate::validate::check(&context));
    checked.keep(loading);
    checked.summary = Some(cross_catalog::Summary::new(&context, device));
    checked
}

fn shown(checked: &[Checked], catalogs: usize, args: &Args, global: &Global) -> String {
    let machines = || checked.iter().map(Checked::for_machines);
    match args.format {
        Format::Json => machines().map(|findings| json::lines(&findings)).collect(),
        Format::Sarif => {
            let findings: Vec<Diagnostic> = machines().flatten().collect();
            let rules: Vec<RuleText> = RULES
                .iter()
                .filter(|rule| findings.iter().any(|found| found.code == rule.code))
                .map(|rule| RuleText {
                    code: rule.code,
                    severity: rule.severity,
                    summary: rule.summary,
                    explanation: rule.explanation,
                })
                .collect();
            sarif::render(&findings, &rules)
        }
        Format::Junit => {
            let suites: Vec<Suite> = checked
                .iter()
                .map(|one| Suite {
                    name: one.name.clone(),
                    findings: one.for_machines(),
                })
                .collect();
            junit::render(&suites, fails(args))
        }
        Format::Human => {
            let options = RenderOptions {
                colors: global.colored_stdout(),
            };
            let mut counts = Counts::default();
            for one in checked {
                counts += one.counts();
            }
            let all = checked.iter().flat_map(|one| &one.findings);
            let mut limited = limit(all.cloned().collect(), args.limit);
            for (code, more) in checked.iter().flat_map(|one| &one.rest) {
                *limited.rest.entry(code).or_default() += *more;
            }
            let hint = limited.rest.keys().next().map(|code| {
                format!("`switchtender explain {code}` says more, --limit N shows more\n")
            });
            let plural = if catalogs == 1 { "" } else { "s" };
            let unknown = checked.iter().filter(|one| one.no_platform).count();
            let of_platforms = match unknown {
                0 => String::new(),
                number => format!(
                    "{number} of no known platform: --inventory FILE or --platform PLATFORM has its \
                     own rules checked, too\n"
                ),
            };
            format!(
                "{}{}{catalogs} catalog{plural} checked: {counts}\n{of_platforms}",
                terminal::render(&limited, options),
                hint.unwrap_or_default(),
            )
        }
    }
}
