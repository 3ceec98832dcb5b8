//! `switchtender coverage`: which lines of configurations are managed, and which no type reads.

mod text;

use std::path::PathBuf;

use clap::ValueEnum;
use serde_json::json;
use switchtender_devices::driver::Registry;
use tokio_util::sync::CancellationToken;

use crate::cli::commands::resource::read_error;
use crate::cli::exit::{
    CommandError, Exit, eprint_notice, eprint_text, print, print_document, print_json,
};
use crate::cli::interrupt::stop_reads_on_signals;
use crate::cli::options::desired_state::directory;
use crate::cli::options::device_access::DeviceAccess;
use crate::cli::options::global::Global;
use crate::cli::options::saved_config::{OpenConfigs, SavedConfig};
use crate::cli::options::selection::targets;
use crate::cli::output::view::of_device;
use crate::cli::runtime::block_on;
use crate::coverage::classification::CoveredLine;
use crate::coverage::constructs::{self, Construct};
use crate::coverage::counts::ClassCounts;
use crate::error_chain::chain;
use crate::fleet::catalog_files::{CatalogFiles, InventoryCatalogs};
use crate::fleet::coverage::{SurveyedDevice, declared_lines, survey};
use crate::fleet::inspect::InspectError;
use crate::fleet::read_devices::{CONCURRENCY, read_devices};
use crate::inventory::Inventory;
use crate::report::coverage_page::CoveragePage;

/// Show which lines are managed, and which no type reads
///
/// Each line has one class: managed (a declared resource has it), available (a type
/// reads it), default, generated (the device makes it), excluded, not understood or
/// not covered. Without --state and --catalog, no line is managed.
///
/// Examples:
///   switchtender coverage sw1
///   switchtender coverage 'sw*' --state state --output html > coverage.html
///   switchtender coverage --config backups --platform cisco_ios
#[derive(Debug, clap::Args)]
#[command(
    verbatim_doc_comment,
    override_usage = "switchtender coverage [OPTIONS] [DEVICE]...
       switchtender coverage [OPTIONS] --config PATH"
)]
pub(crate) struct CoverageArgs {
    /// Devices of the inventory, or patterns; default: all
    #[arg(value_name = "DEVICE")]
    names: Vec<String>,

    #[command(flatten)]
    saved: SavedConfig,

    #[command(flatten)]
    access: DeviceAccess,

    /// Directory of desired state in YAML
    #[arg(long, value_name = "DIR", conflicts_with = "catalog")]
    state: Option<PathBuf>,

    /// Catalog file, or directory with <device>.json for each device
    #[arg(short, long, value_name = "FILE|DIR")]
    catalog: Option<PathBuf>,

    /// Output format
    #[arg(short, long, value_enum, default_value_t = CoverageFormat::Human)]
    output: CoverageFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CoverageFormat {
    /// Tables, and the lines of one device that no type reads
    Human,
    /// All lines
    Json,
    /// A page with all lines, their classes in the margin
    Html,
}

/// The lines of all devices.
struct Report {
    devices: Vec<(String, Vec<CoveredLine>)>,
    constructs: Vec<Construct>,
    /// It is known what files declare.
    has_desired_state: bool,
}

pub(crate) fn run(args: &CoverageArgs, global: &Global) -> Result<Exit, CommandError> {
    block_on(async {
        let mut exit = Exit::SUCCESS;
        let devices = match args.saved.open(&args.access)? {
            Some(opened) => saved(args, opened, global, &mut exit).await?,
            None => live(args, global, &mut exit).await?,
        };
        let (devices, empty): (Vec<_>, Vec<_>) = devices
            .into_iter()
            .partition(|(_, lines)| !lines.is_empty());
        for (name, _) in &empty {
            eprint_notice(&format!("{name}: its platform reads no configuration"));
        }
        if devices.is_empty() {
            return Ok(Exit::FAILURE);
        }
        let by_device: Vec<_> = devices
            .iter()
            .map(|(_, lines)| constructs::of_device(lines))
            .collect();
        let report = Report {
            constructs: constructs::of_all(by_device.iter()),
            devices,
            has_desired_state: args.state.is_some() || args.catalog.is_some(),
        };
        match args.output {
            CoverageFormat::Human => print(&text::render(&report, global.is_stdout_colored())),
            CoverageFormat::Json => print_json(&report.json()),
            CoverageFormat::Html => print_document(&report.html()),
        }
        Ok(exit)
    })
}

/// The lines of devices of the inventory, in its order.
async fn live(
    args: &CoverageArgs,
    global: &Global,
    exit: &mut Exit,
) -> Result<Vec<(String, Vec<CoveredLine>)>, CommandError> {
    let selection = targets(&args.names)?;
    let (connector, names) = args.access.select(&selection).await?;
    let catalogs = args.catalogs(&connector.inventory)?;
    let stop = CancellationToken::new();
    stop_reads_on_signals(&stop);
    let order = names.clone();
    let mut devices = Vec::new();
    read_devices(
        &connector,
        names,
        CONCURRENCY,
        &stop,
        survey,
        |name, read| {
            let (inventory, registry) = (&connector.inventory, &connector.registry);
            let classified = read
                .map_err(|error| read_error(&name, &error))
                .and_then(|device| {
                    classify(device, &name, catalogs.as_ref(), (inventory, registry))
                });
            match classified {
                Ok(lines) => devices.push((name.to_string(), lines)),
                Err(error) => {
                    eprint_text(&error.text(global.is_stderr_colored()));
                    *exit = Exit::FAILURE;
                }
            }
        },
    )
    .await;
    devices.sort_by_key(|(name, _)| order.iter().position(|own| own.as_str() == name));
    Ok(devices)
}

/// The lines of saved configurations, by name.
async fn saved(
    args: &CoverageArgs,
    opened: OpenConfigs,
    global: &Global,
    exit: &mut Exit,
) -> Result<Vec<(String, Vec<CoveredLine>)>, CommandError> {
    let inventory = (args.state.is_some() || args.catalog.is_some())
        .then(|| args.access.source.load(&opened.registry, true))
        .transpose()?;
    let catalogs = inventory.as_ref().map(|inventory| args.catalogs(inventory));
    let catalogs = catalogs.transpose()?.flatten();
    let mut devices = Vec::new();
    for device in opened.devices {
        let surveyed: Result<SurveyedDevice, InspectError> = survey(device.connector).await;
        let classified = surveyed
            .map_err(|error| read_error(&device.file.display().to_string(), &error))
            .and_then(|surveyed| match &inventory {
                Some(inventory) => {
                    let context = (inventory, &opened.registry);
                    classify(surveyed, &device.name, catalogs.as_ref(), context)
                }
                None => {
                    note_objects(&device.name, &surveyed);
                    Ok(surveyed.classified(None))
                }
            });
        match classified {
            Ok(lines) => devices.push((device.name.to_string(), lines)),
            Err(error) => {
                eprint_text(&error.text(global.is_stderr_colored()));
                *exit = Exit::FAILURE;
            }
        }
    }
    Ok(devices)
}

/// Says what the lines of a device without a configuration are.
fn note_objects(name: &str, surveyed: &SurveyedDevice) {
    if surveyed.driver.surveys_objects() {
        eprint_notice(&format!(
            "{name}: each object and field is a line; collections that no type reads are unknown"
        ));
    }
    for error in &surveyed.not_read {
        eprint_notice(&format!("warning: not read: {}", of_device(name, error)));
    }
}

/// The lines of a device with their classes.
fn classify(
    surveyed: SurveyedDevice,
    name: &str,
    catalogs: Option<&InventoryCatalogs>,
    (inventory, registry): (&Inventory, &Registry),
) -> Result<Vec<CoveredLine>, CommandError> {
    note_objects(name, &surveyed);
    let Some(catalogs) = catalogs else {
        return Ok(surveyed.classified(None));
    };
    let Some(device) = inventory.devices.get(name) else {
        eprint_notice(&format!(
            "{name} is not in the inventory: none of its lines is managed"
        ));
        return Ok(surveyed.classified(None));
    };
    let platform = surveyed.driver.platform();
    let declared = declared_lines(catalogs, device, registry, &surveyed.facts, platform);
    let declared = declared.map_err(|error| {
        let text = format!("{name}: the desired state is unknown: {}", chain(&error));
        CommandError::new(text).hint("check the files with `switchtender validate`")
    })?;
    Ok(surveyed.classified(Some(&declared)))
}

impl CoverageArgs {
    fn catalogs(&self, inventory: &Inventory) -> Result<Option<InventoryCatalogs>, CommandError> {
        if let Some(path) = &self.state {
            let directory = directory(path, inventory)?;
            return Ok(Some(InventoryCatalogs::State(directory.into())));
        }
        let files = self.catalog.clone().map(|path| CatalogFiles { path });
        Ok(files.map(InventoryCatalogs::Files))
    }
}

impl Report {
    /// The counts of each device.
    fn counts(&self) -> Vec<ClassCounts> {
        let lines = self.devices.iter().map(|(_, lines)| lines);
        lines.map(|lines| ClassCounts::of(lines)).collect()
    }

    /// One sentence about all devices.
    fn summary(&self) -> String {
        let counts: ClassCounts = self.counts().iter().sum();
        let devices = match self.devices.len() {
            1 => "1 device".to_owned(),
            count => format!("{count} devices"),
        };
        let share = |lines: usize| counts.percent(lines);
        let managed = if self.has_desired_state {
            format!(", {} % are managed", share(counts.managed()))
        } else {
            String::new()
        };
        format!(
            "{devices}, {} lines: {} % of the {} that somebody wrote have a type{managed}",
            counts.total(),
            share(counts.covered()),
            counts.written(),
        )
    }

    fn json(&self) -> String {
        let counts = self.counts();
        let devices = self.devices.iter().zip(&counts);
        let devices = devices.map(|((name, lines), counts)| {
            json!({
                "device": name,
                "lines": lines.len(),
                "covered_percent": counts.percent(counts.covered()),
                "classes": counts,
            })
        });
        let lines = self.devices.iter();
        let lines = lines.flat_map(|(name, lines)| lines.iter().map(|line| line.json(name)));
        let report = json!({
            "devices": devices.collect::<Vec<_>>(),
            "not_covered": self.constructs,
            "lines": lines.collect::<Vec<_>>(),
        });
        let text = serde_json::to_string_pretty(&report).expect("JSON has text keys");
        text + "\n"
    }

    fn html(&self) -> String {
        let page = CoveragePage {
            title: "Coverage of configurations".to_owned(),
            totals: self.summary(),
            devices: &self.devices,
            constructs: &self.constructs,
        };
        page.render()
    }
}
