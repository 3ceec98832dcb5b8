//! Plans in files: `plan --save`, `plan show` and `apply PLAN`.

use std::path::{Path, PathBuf, absolute};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clap::ValueEnum;
use switchtender_devices::duration;

use crate::cli::commands::run::PreparedRun;
use crate::cli::exit::{CommandError, Exit, eprint_notice, print, print_document};
use crate::cli::options::run_arguments::ResourceFilterArgs;
use crate::cli::options::target_options::TargetArgs;
use crate::cli::output::view::device_groups;
use crate::cli::user_name::author;
use crate::clock;
use crate::error_chain::chain;
use crate::fleet::stored_plan::{
    PlanSources, PlanUse, PlannedDevice, PlannedDevices, StoredPlan, definitions_digest,
};
use crate::natural_order::natural_order;
use crate::report::alike::{AlikeDevice, AlikeDevices, OwnWords};
use crate::report::page::{self, Page, PageDevice};
use crate::terminal_text::TerminalText;

/// Show a plan of `plan --save`
///
/// Examples:
///   switchtender plan show change.plan
///   switchtender plan show change.plan --output html > change.html
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ShowPlanArgs {
    /// The plan
    file: PathBuf,

    /// Output format
    #[arg(short, long, value_enum, default_value_t = PlanOutput::Human)]
    output: PlanOutput,
}

/// The output of a stored plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PlanOutput {
    /// Text
    Human,
    /// The file of the plan as JSON
    Json,
    /// An HTML page in one file
    Html,
}

/// A plan that is made.
pub(crate) struct NewPlan<'a> {
    file: &'a Path,
    planned: Arc<PlannedDevices>,
}

impl<'a> NewPlan<'a> {
    pub(crate) fn new(file: &'a Path, targets: &TargetArgs) -> Result<Self, CommandError> {
        let planned = PlannedDevices {
            id: uuid::Uuid::new_v4().to_string(),
            definitions: definitions_digest_of(targets.definitions.as_deref())?,
            devices: Mutex::default(),
        };
        Ok(Self {
            file,
            planned: Arc::new(planned),
        })
    }

    pub(crate) fn plan_use(&self) -> PlanUse {
        PlanUse::Save(Arc::clone(&self.planned))
    }

    /// Writes the plan. Names the devices that it does not have.
    pub(crate) fn save(
        &self,
        prepared: &PreparedRun,
        targets: &TargetArgs,
        filter: &ResourceFilterArgs,
    ) -> Result<(), CommandError> {
        let devices = self.planned.devices.lock();
        let devices = devices.unwrap_or_else(PoisonError::into_inner).clone();
        let missing = prepared.names().iter();
        let missing = missing.filter(|name| !devices.contains_key(name.as_str()));
        for name in missing {
            eprint_notice(&format!(
                "{name}: not in the plan: it could not be planned completely, or `apply` would refuse it"
            ));
        }
        let path = |path: &Option<PathBuf>| {
            let path = path.as_ref().map(absolute).transpose();
            path.map_err(|error| CommandError::new("cannot save the plan").with_source(error))
        };
        let plan = StoredPlan {
            id: self.planned.id.clone(),
            created: format!("{:.0}", clock::timestamp()),
            author: author(),
            program: env!("CARGO_PKG_VERSION").to_owned(),
            sources: PlanSources {
                catalog: path(&targets.catalog)?,
                state: path(&targets.state)?,
                definitions: path(&targets.definitions)?,
                tags: filter.tags.clone(),
                skip_tags: filter.skip_tags.clone(),
            },
            devices,
        };
        plan.write(self.file)
            .map_err(|error| CommandError::new(chain(&error)))?;
        let (file, count) = (self.file.display(), plan.devices.len());
        eprint_notice(&format!("saved the plan in {file}, devices: {count}"));
        Ok(())
    }
}

/// A plan that is applied.
pub(crate) struct FollowedPlan {
    pub(crate) plan: Arc<StoredPlan>,
    pub(crate) plan_use: PlanUse,
    pub(crate) targets: TargetArgs,
    pub(crate) filter: ResourceFilterArgs,
}

/// Loads a plan. The arguments have its sources and tags unless they name others.
///
/// # Errors
/// The file is no plan, was edited, or is older than `max_age`.
pub(crate) fn follow(
    file: &Path,
    max_age: Option<Duration>,
    mut targets: TargetArgs,
    mut filter: ResourceFilterArgs,
) -> Result<FollowedPlan, CommandError> {
    let plan = load(file)?;
    if let Some(limit) = max_age {
        check_age(&plan, limit)?;
    }
    let has_source =
        targets.catalog.is_some() || targets.state.is_some() || targets.manifest.is_set();
    if !has_source {
        targets.catalog.clone_from(&plan.sources.catalog);
        targets.state.clone_from(&plan.sources.state);
    }
    if targets.definitions.is_none() {
        targets.definitions.clone_from(&plan.sources.definitions);
    }
    if filter.tags.is_empty() && filter.skip_tags.is_empty() {
        filter.tags.clone_from(&plan.sources.tags);
        filter.skip_tags.clone_from(&plan.sources.skip_tags);
    }
    let definitions = definitions_digest_of(targets.definitions.as_deref())?;
    let plan = Arc::new(plan);
    Ok(FollowedPlan {
        plan_use: PlanUse::Check {
            plan: Arc::clone(&plan),
            digest: plan.digest(),
            definitions,
        },
        plan,
        targets,
        filter,
    })
}

impl FollowedPlan {
    /// Limits a run to the devices of the plan.
    ///
    /// # Errors
    /// A device of the plan is not in the inventory, or the plan has no selected device.
    pub(crate) fn limit(&self, prepared: &mut PreparedRun) -> Result<(), CommandError> {
        let planned = self.plan.devices.keys();
        if self.targets.selection.is_empty() {
            let is_known = |name: &&String| {
                let mut names = prepared.names().iter();
                names.any(|known| known.as_str() == name.as_str())
            };
            if let Some(name) = planned.clone().find(|name| !is_known(name)) {
                let text = format!("the inventory does not have {name} of the plan");
                return Err(CommandError::new(text)
                    .hint("name the inventory of the plan with --inventory, or make a new plan"));
            }
        }
        prepared.retain(planned.map(String::as_str));
        match prepared.len() {
            0 => Err(CommandError::new(
                "the plan has none of the selected devices",
            )),
            _ => Ok(()),
        }
    }
}

pub(crate) fn load(file: &Path) -> Result<StoredPlan, CommandError> {
    StoredPlan::load(file).map_err(|error| {
        CommandError::new(chain(&error)).hint(
            "make a plan with `switchtender plan --save FILE`; name devices with --target DEVICE",
        )
    })
}

fn check_age(plan: &StoredPlan, limit: Duration) -> Result<(), CommandError> {
    let created: Result<jiff::Timestamp, _> = plan.created.parse();
    let created = created
        .map_err(|error| CommandError::new("the plan has no valid time").with_source(error))?;
    let age = clock::timestamp().duration_since(created);
    if Duration::try_from(age).is_ok_and(|age| age <= limit) {
        return Ok(());
    }
    let text = format!(
        "the plan of {} is older than {}",
        plan.created,
        duration::render(limit)
    );
    Err(CommandError::new(text).hint("make a new plan"))
}

/// The digest of models and drivers, the built-in ones and those of a directory.
fn definitions_digest_of(directory: Option<&Path>) -> Result<String, CommandError> {
    let own = crate::cli::options::definitions::read(directory)?;
    Ok(definitions_digest(&own))
}

/// Shows a plan.
pub(crate) fn show(args: &ShowPlanArgs, colors: bool) -> Result<Exit, CommandError> {
    let plan = load(&args.file)?;
    match args.output {
        PlanOutput::Human => print(&render(&plan, colors)),
        PlanOutput::Json => {
            print_document(&(serde_json::to_string_pretty(&plan).expect("a plan is JSON") + "\n"));
        }
        PlanOutput::Html => print_document(&page::render(&page_of(&plan))),
    }
    Ok(Exit::SUCCESS)
}

/// The page of a plan.
pub(super) fn page_of(plan: &StoredPlan) -> Page {
    let mut devices: Vec<(&String, &PlannedDevice)> = plan.devices.iter().collect();
    devices.sort_by_key(|(name, _)| natural_order(name));
    let page_device = |(name, device): (&String, &PlannedDevice)| PageDevice {
        platform: Some(device.platform.clone()),
        ..PageDevice::new(name.as_str(), device.record(&plan.created))
    };
    let mut facts = vec![
        ("Author", plan.author.clone()),
        ("Plan", plan.id.clone()),
        ("Devices", plan.devices.len().to_string()),
    ];
    facts.extend(totals(plan));
    Page {
        title: format!("Plan of {}", local_time(&plan.created)),
        facts,
        totals: None,
        devices: devices.into_iter().map(page_device).collect(),
    }
}

/// The numbers of changes and commands.
fn totals(plan: &StoredPlan) -> [(&'static str, String); 2] {
    let resources = || plan.devices.values().flat_map(|device| &device.resources);
    let commands: usize = resources().map(|planned| planned.operations.len()).sum();
    [
        ("Resources to change", resources().count().to_string()),
        ("Commands", commands.to_string()),
    ]
}

/// The time of a plan in the zone of this host.
fn local_time(created: &str) -> String {
    created
        .parse()
        .map_or_else(|_| created.to_owned(), clock::local_text)
}

/// Devices with alike changes are shown once.
pub(super) fn render(plan: &StoredPlan, colors: bool) -> TerminalText {
    let mut text = TerminalText::with_colors(colors);
    let created = local_time(&plan.created);
    text.line(format_args!(
        "plan of {created} by {}, {}",
        plan.author, plan.id
    ));
    let numbers = totals(plan).map(|(name, value)| format!("{}: {value}", name.to_lowercase()));
    let (devices, numbers) = (plan.devices.len(), numbers.join(", "));
    text.line(format_args!("devices: {devices}, {numbers}"))
        .end_line();
    let mut alike = AlikeDevices::default();
    for (name, device) in &plan.devices {
        alike.add(AlikeDevice {
            name: name.clone(),
            platform: device.platform.clone(),
            own: OwnWords::of_name(name),
            record: device.record(&plan.created),
        });
    }
    for group in alike.groups(None) {
        text.append(&device_groups::render(&group, colors));
    }
    text
}
