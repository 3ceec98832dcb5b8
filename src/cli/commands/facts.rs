//! `switchtender facts`: the facts of devices.

use std::collections::BTreeSet;

use clap::ValueEnum;
use futures_util::TryFutureExt as _;
use switchtender_devices::diagnostic::suggest;
use switchtender_devices::driver::Facts;
use switchtender_devices::map::IndexMap;
use switchtender_devices::session::Access;
use switchtender_devices::session::deadline::Deadline;
use tracing::Instrument as _;

use crate::cli::commands::read_many::read_many;
use crate::cli::exit::{CommandError, Exit, eprint_notice, print_json};
use crate::cli::interrupt::{stop_read_on_signals, unless_stopped};
use crate::cli::options::device_access::DeviceAccess;
use crate::cli::options::global::Global;
use crate::cli::options::one_device::ONE_DEVICE;
use crate::cli::options::saved_config::SavedConfig;
use crate::cli::options::selection::targets;
use crate::cli::output::device_table::DeviceTable;
use crate::cli::output::view::of_device;
use crate::cli::runtime::block_on;
use crate::error_chain::chain;
use crate::fleet::inspect::{self, InspectError};
use crate::inventory::DeviceSelection;
use crate::telemetry::device_span;

/// Show the facts of devices
///
/// The output of one device is JSON, for --facts of other commands. That of a pattern or of several
/// devices is a table.
///
/// Examples:
///   switchtender facts sw1
///   switchtender facts 'sw*, !sw7' --columns hardwaremodel,serialnumber
///   switchtender facts 'role = access' --output csv
///   switchtender facts --device admin@192.0.2.1 --platform cisco_ios --ask-password
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct FactsArgs {
    /// Devices, as with --target; omit them with --device and --config
    #[arg(
        value_name = "DEVICE",
        required_unless_present_any = ["config", "device"],
        conflicts_with_all = ["config", "device"]
    )]
    names: Vec<String>,

    /// Output format [default: json for one device, table for several]
    #[arg(short, long, value_enum)]
    output: Option<FactsOutput>,

    /// Only these facts [default: all as JSON, the most common ones in a table or as CSV]
    #[arg(long, value_name = "FACT,…", value_delimiter = ',')]
    columns: Vec<String>,

    #[command(flatten)]
    saved: SavedConfig,

    #[command(flatten)]
    access: DeviceAccess,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FactsOutput {
    /// The facts of a device, or an object with those of each device
    Json,
    /// A row for each device
    Table,
    /// A row for each device, with commas
    Csv,
}

/// The columns of a table, unless others are chosen. A column that is empty is left out.
const COLUMNS: [&str; 5] = [
    "hostname",
    "operatingsystem",
    "operatingsystemrelease",
    "hardwaremodel",
    "serialnumber",
];

/// Reads the facts from the devices and prints them.
pub(crate) fn run(args: &FactsArgs, global: &Global) -> Result<Exit, CommandError> {
    block_on(async {
        if let Some((_, saved)) = args.saved.open_one(&args.access)? {
            let facts = inspect::facts(&saved.connector).await;
            let facts = facts.map_err(|error| CommandError::new(chain(&error)))?;
            if let Some(note) = saved.connector.unknown_facts_note() {
                eprint_notice(&note);
            }
            return args.print_one(&saved.name, facts, global);
        }
        let selection = targets(&args.names)?;
        let is_one = args.names.is_empty() || selection.is_one_name();
        if is_one {
            let name = args.names.first().map(String::as_str);
            let (name, facts) = args.read_one(name).await?;
            return args.print_one(&name, facts, global);
        }
        args.run_many(&selection, global).await
    })
}

impl FactsArgs {
    async fn read_one(&self, name: Option<&str>) -> Result<(String, Facts), CommandError> {
        let (connector, name) = self.access.one(name, ONE_DEVICE).await?;
        let deadline = Deadline::default();
        stop_read_on_signals(&deadline);
        let read = async {
            let device = &connector.inventory.devices[&name];
            let mut connector = connector.connector(device, Access::ReadOnly).await?;
            connector.set_deadline(&deadline);
            inspect::facts(&connector).await
        };
        let read = read
            .instrument(device_span(&name))
            .map_err(|error| CommandError {
                hint: error.hint(),
                findings: error.findings().to_vec(),
                ..CommandError::new(of_device(&name, &error))
            });
        let facts = unless_stopped(&deadline, read).await?;
        Ok((name.to_string(), facts))
    }

    fn print_one(&self, name: &str, facts: Facts, global: &Global) -> Result<Exit, CommandError> {
        let all = IndexMap::from_iter([(name.to_owned(), facts)]);
        self.check_columns(&all)?;
        match self.output.unwrap_or(FactsOutput::Json) {
            FactsOutput::Json => print_pretty(&self.chosen(&all[name])),
            output => self.print_table(&all, output, global),
        }
        Ok(Exit::SUCCESS)
    }

    async fn run_many(
        &self,
        selection: &DeviceSelection,
        global: &Global,
    ) -> Result<Exit, CommandError> {
        let (connector, names) = self.access.select(selection).await?;
        let work = |connector| async move {
            let facts = inspect::facts(&connector).await;
            facts.map_err(InspectError::from)
        };
        let all = read_many(&connector, names, global.is_stderr_colored(), work).await;
        let read = all.read.into_iter();
        let facts: IndexMap<String, Facts> = read
            .map(|(name, facts)| (name.to_string(), facts))
            .collect();
        self.check_columns(&facts)?;
        match self.output.unwrap_or(FactsOutput::Table) {
            FactsOutput::Json => {
                let chosen = facts.iter().map(|(name, facts)| (name, self.chosen(facts)));
                print_pretty(&chosen.collect::<IndexMap<_, _>>());
            }
            output if !facts.is_empty() => self.print_table(&facts, output, global),
            _ => {}
        }
        Ok(all.exit)
    }

    /// A misspelled fact must not be an empty column.
    fn check_columns(&self, all: &IndexMap<String, Facts>) -> Result<(), CommandError> {
        let known = all.values().flat_map(|facts| facts.keys());
        let known: BTreeSet<&str> = known.map(String::as_str).collect();
        let mut columns = self.columns.iter();
        let unknown = columns.find(|column| !known.contains(column.as_str()));
        let Some(unknown) = unknown.filter(|_| !all.is_empty()) else {
            return Ok(());
        };
        let list = format!(
            "facts: {}",
            Vec::from_iter(known.iter().copied()).join(", ")
        );
        let error = CommandError::new(format!("no device has the fact `{unknown}`"));
        Err(error.hint(suggest(unknown, known, list)))
    }

    fn chosen<'f>(&'f self, facts: &'f Facts) -> IndexMap<&'f str, &'f str> {
        let is_chosen =
            |name: &str| self.columns.is_empty() || self.columns.iter().any(|one| one == name);
        let facts = facts.iter().filter(|(name, _)| is_chosen(name));
        facts
            .map(|(name, fact)| (name.as_str(), fact.as_str()))
            .collect()
    }

    fn print_table(&self, all: &IndexMap<String, Facts>, output: FactsOutput, global: &Global) {
        let columns: Vec<&str> = match self.columns.as_slice() {
            [] => COLUMNS.to_vec(),
            columns => columns.iter().map(String::as_str).collect(),
        };
        let row = |(name, facts): (&String, &Facts)| {
            let cells = columns.iter().map(|column| facts.get(*column));
            let cells = cells.map(|fact| fact.cloned().unwrap_or_default());
            std::iter::once(name.clone()).chain(cells).collect()
        };
        let header = std::iter::once("device").chain(columns.iter().copied());
        let table = DeviceTable {
            header: header.map(str::to_owned).collect(),
            rows: all.iter().map(row).collect(),
        };
        let table = if self.columns.is_empty() {
            table.without_empty_columns(1)
        } else {
            table
        };
        match output {
            FactsOutput::Csv => table.print_csv(),
            _ => table.print_text(global.is_stdout_colored()),
        }
    }
}

fn print_pretty(value: &impl serde::Serialize) {
    let text = serde_json::to_string_pretty(value).expect("facts are texts");
    print_json(&format!("{text}\n"));
}
