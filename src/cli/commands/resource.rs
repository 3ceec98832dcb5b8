//! `switchtender resource`: the resources on devices, as in a manifest.

mod all;
mod compact;
pub(crate) mod format;
mod many;
#[cfg(test)]
mod round_trip;
mod saved;

use std::path::PathBuf;
use std::sync::Arc;

use clap::ValueEnum;
use futures_util::TryFutureExt as _;
use switchtender_devices::driver::{Driver, Registry};
use switchtender_devices::model::TypeModel;
use switchtender_devices::session::Access;
use switchtender_devices::session::deadline::Deadline;
use switchtender_devices::value::{Attributes, Value};
use tracing::Instrument as _;

use crate::cli::exit::{CommandError, Exit, eprint_notice, print_document};
use crate::cli::interrupt::{stop_read_on_signals, unless_stopped};
use crate::cli::options::device_access::DeviceAccess;
use crate::cli::options::global::Global;
use crate::cli::options::saved_config::{OpenConfigs, SavedConfig};
use crate::cli::options::selection::targets;
use crate::cli::options::unknown_name::unknown_type;
use crate::cli::output::view::of_device;
use crate::cli::runtime::block_on;
use crate::fleet::inspect::{self, InspectError, Inspection};
use crate::telemetry::device_span;

use many::TableOutput;

pub(crate) use format::{ResourceFormat, ResourceOutput, TypeResources};

/// Show the resources of a type, or of all types, on devices
///
/// A pattern or expression instead of a device, as with --target, shows a type on many
/// devices as a table.
///
/// --all leaves out resources at their defaults. Of two types for one setting,
/// such as network_trunk and ios_network_trunk, it shows the one with more
/// settings.
///
/// Examples:
///   switchtender resource sw1 network_vlan
///   switchtender resource 'sw*, !sw7' network_vlan --output csv
///   switchtender resource 'role = access' network_vlan 10
///   switchtender resource 'sw*' --all --output yaml --output-dir state
#[derive(Debug, clap::Args)]
#[command(
    verbatim_doc_comment,
    override_usage = "switchtender resource [OPTIONS] DEVICE|EXPRESSION TYPE [NAME]
       switchtender resource [OPTIONS] --all DEVICE...
       switchtender resource [OPTIONS] --device USER@ADDRESS --platform PLATFORM TYPE [NAME]
       switchtender resource [OPTIONS] --config FILE --platform PLATFORM [TYPE [NAME]]
       switchtender resource [OPTIONS] --config DIR [--platform PLATFORM] --all --output-dir DIR"
)]
pub(crate) struct ResourceArgs {
    /// A device, a type such as network_vlan and the name of a resource; with --all, devices
    #[arg(value_name = "NAME", required_unless_present_any = ["config", "device"])]
    names: Vec<String>,

    /// Show all types
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    saved: SavedConfig,

    #[command(flatten)]
    access: DeviceAccess,

    /// Show defaults, too: resources with --all or --config, all attributes in YAML
    #[arg(long)]
    with_defaults: bool,

    /// Output format [default: puppet for one device, table for several]
    #[arg(short, long, value_enum)]
    output: Option<OutputChoice>,

    /// Write a file for each device; with yaml a directory for --state, with catalog one for --catalog
    #[arg(long, value_name = "DIR", requires = "all")]
    output_dir: Option<PathBuf>,

    /// Replace files of --output-dir that differ
    #[arg(long, requires = "output_dir")]
    force: bool,

    /// Print secrets in clear text
    #[arg(long)]
    show_secrets: bool,
}

/// The formats of `--output`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OutputChoice {
    /// Puppet code
    Puppet,
    /// Desired state for --state
    Yaml,
    /// JSON with the structure of the YAML; of several devices, an object with that of each
    Json,
    /// A catalog for --catalog
    Catalog,
    /// A row for each resource of a type
    Table,
    /// A row for each resource of a type, with commas
    Csv,
}

/// Reads the resources from the devices and prints them in the chosen format.
pub(crate) fn run(args: &ResourceArgs, global: &Global) -> Result<Exit, CommandError> {
    block_on(async {
        let has_one_type = !args.all && !args.names.is_empty();
        if !has_one_type && args.output.is_some_and(|output| output.table().is_some()) {
            let error = CommandError::new("a table has the resources of one type");
            return Err(error.hint("name a type, or choose --output json"));
        }
        if args.all
            && let Some(OpenConfigs { devices, .. }) = args.saved.open(&args.access)?
        {
            return saved::run_all(args, global, &devices).await;
        }
        if let Some((registry, device)) = args.saved.open_one(&args.access)? {
            return saved::run(args, &registry, &device).await;
        }
        if args.all {
            return all::run(args, global).await;
        }
        let (device, names) = match args.names.as_slice() {
            names if args.access.source.device.is_some() => (None, names),
            [device, names @ ..] => (Some(device.as_str()), names),
            [] => (None, &[][..]),
        };
        let (type_name, name) = match names {
            [type_name] => (type_name, None),
            [type_name, name] => (type_name, Some(name.as_str())),
            _ => {
                let error = CommandError::new("a device and a type are required");
                return Err(error.hint("pass DEVICE TYPE [NAME], or devices and --all"));
            }
        };
        if let Some(device) = device {
            let selection = targets(&[device.to_owned()])?;
            if !selection.is_one_name() {
                return many::run(args, global, &selection, (type_name, name)).await;
            }
        }
        of_type(args, device, type_name, name).await
    })
}

async fn of_type(
    args: &ResourceArgs,
    device: Option<&str>,
    type_name: &str,
    name: Option<&str>,
) -> Result<Exit, CommandError> {
    let hint = "select one device, or read all types of several with --all and --output-dir DIR";
    let (connector, device) = args.access.one(device, hint).await?;
    let model = find_model(&connector.registry, type_name)?;
    let deadline = Deadline::default();
    stop_read_on_signals(&deadline);
    let read = async {
        let device = &connector.inventory.devices[&device];
        let mut connector = connector.connector(device, Access::ReadOnly).await?;
        connector.set_deadline(&deadline);
        inspect::instances(&connector, &model).await
    };
    let read = read
        .instrument(device_span(&device))
        .map_err(|error| read_error(&device, &error));
    let inspection = unless_stopped(&deadline, read).await?;
    let certname = &connector.inventory.devices[&device].certname;
    show(args, (&device, certname), &model, inspection, name)
}

fn find_model(registry: &Registry, name: &str) -> Result<Arc<TypeModel>, CommandError> {
    let type_name = name.to_lowercase();
    let model = registry.model(&type_name).cloned();
    model.ok_or_else(|| unknown_type(registry, &type_name))
}

/// Why a device could not be read.
pub(crate) fn read_error(device: &str, error: &InspectError) -> CommandError {
    let findings = match error {
        InspectError::Run(error) => error.findings().to_vec(),
        _ => Vec::new(),
    };
    CommandError {
        hint: error.hint(),
        findings,
        ..CommandError::new(of_device(device, error))
    }
}

/// Prints the resources of a type, or one with this name. `device` is for messages; its second name is that of a catalog.
fn show(
    args: &ResourceArgs,
    (device, certname): (&str, &str),
    model: &TypeModel,
    inspection: Inspection,
    name: Option<&str>,
) -> Result<Exit, CommandError> {
    let name = name.map(|name| name_on_device(&inspection.driver, model, name));
    if let Some(output) = args.output.and_then(OutputChoice::table) {
        let mut types = TypeResources::list(inspection, args.show_secrets);
        for found in &mut types {
            name.iter().for_each(|name| found.select(name));
        }
        output.print(&[(device.to_owned(), types)]);
        return Ok(Exit::SUCCESS);
    }
    let rendered = args.output(certname, name.as_deref()).render(inspection);
    if rendered.is_empty {
        let type_name = &model.name;
        match name {
            Some(name) => {
                let text = format!("{device} has no {type_name} `{name}`");
                return Err(CommandError::new(text));
            }
            None if args.format() == ResourceFormat::Puppet => {
                eprint_notice(&format!("{device} has no {type_name}"));
            }
            None => {}
        }
    }
    if let Some(notice) = rendered.notice {
        eprint_notice(&notice);
    }
    print_document(&rendered.text);
    Ok(Exit::SUCCESS)
}

impl ResourceArgs {
    /// How resources are printed, for a device with this name.
    fn output<'a>(&self, certname: &'a str, name: Option<&'a str>) -> ResourceOutput<'a> {
        ResourceOutput {
            format: self.format(),
            with_defaults: self.with_defaults,
            show_secrets: self.show_secrets,
            certname,
            name,
        }
    }

    /// The format of the resources of a device that are no table.
    fn format(&self) -> ResourceFormat {
        match self.output {
            Some(OutputChoice::Yaml) => ResourceFormat::Yaml,
            Some(OutputChoice::Json) => ResourceFormat::Json,
            Some(OutputChoice::Catalog) => ResourceFormat::Catalog,
            _ => ResourceFormat::Puppet,
        }
    }
}

impl OutputChoice {
    fn table(self) -> Option<TableOutput> {
        match self {
            Self::Table => Some(TableOutput::Text),
            Self::Csv => Some(TableOutput::Csv),
            _ => None,
        }
    }
}

/// The name in the platform's own spelling: `GigabitEthernet1/0/1` for `Gi1/0/1`.
fn name_on_device(driver: &Driver, model: &TypeModel, name: &str) -> String {
    let namevars: Vec<&str> = model.namevars().collect();
    let [namevar] = namevars[..] else {
        return name.to_owned();
    };
    let supplied = Attributes::from_iter([(namevar.to_owned(), Value::string(name))]);
    match driver.canonicalize(model, supplied) {
        Ok(spelt) => spelt.get(namevar).map_or(name.to_owned(), Value::ruby_to_s),
        Err(_) => name.to_owned(),
    }
}
