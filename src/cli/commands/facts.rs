//! `switchtender facts`: the facts of a device.

use futures_util::TryFutureExt as _;
use switchtender_devices::driver::Facts;
use switchtender_devices::session::Access;
use switchtender_devices::session::deadline::Deadline;
use tracing::Instrument as _;

use crate::cli::exit::{CommandError, Exit, eprint_notice, print_json};
use crate::cli::interrupt::{stop_read_on_signals, unless_stopped};
use crate::cli::options::device_access::DeviceAccess;
use crate::cli::options::one_device::ONE_DEVICE;
use crate::cli::options::saved_config::SavedConfig;
use crate::cli::output::view::of_device;
use crate::cli::runtime::block_on;
use crate::error_chain::chain;
use crate::fleet::inspect;
use crate::telemetry::device_span;

/// Show the facts of a device as JSON
///
/// Examples:
///   switchtender facts sw1
///   switchtender facts --device admin@192.0.2.1 --platform cisco_ios --ask-password
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct FactsArgs {
    /// Name of the device; omit it with --device and --config
    #[arg(
        value_name = "DEVICE",
        required_unless_present_any = ["config", "device"],
        conflicts_with_all = ["config", "device"]
    )]
    name: Option<String>,

    #[command(flatten)]
    saved: SavedConfig,

    #[command(flatten)]
    access: DeviceAccess,
}

/// Reads the facts from the device and prints them as JSON.
pub(crate) fn run(args: &FactsArgs) -> Result<Exit, CommandError> {
    block_on(async {
        if let Some((_, saved)) = args.saved.open_one(&args.access)? {
            let facts = inspect::facts(&saved.connector).await;
            let facts = facts.map_err(|error| CommandError::new(chain(&error)))?;
            if let Some(note) = saved.connector.unknown_facts_note() {
                eprint_notice(&note);
            }
            return Ok(print_facts(&facts));
        }
        let (connector, name) = args.access.one(args.name.as_deref(), ONE_DEVICE).await?;
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
        Ok(print_facts(&facts))
    })
}

fn print_facts(facts: &Facts) -> Exit {
    let text = serde_json::to_string_pretty(facts);
    print_json(&format!("{}\n", text.expect("facts are texts")));
    Exit::SUCCESS
}
