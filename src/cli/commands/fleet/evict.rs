//! `switchtender fleet evict`: the operator confirms that the host of a node is off.

use crate::cli::exit::{CommandError, Exit, print};
use crate::cli::options::store_options::{StoreOption, store_error};
use crate::clock;
use crate::counted::counted;
use crate::history::HistoryStore;
use crate::serve::lease::node_problems::silent_seconds;
use crate::terminal_text::TerminalText;

/// Confirm that the host of a node is off, so that other nodes take its shards at once
///
/// Without it, they wait until the leases of the node expire. A node that still runs stops its runs
/// when it learns it, but can change a device until then: switch the host off before. A node that
/// beats is only evicted with --force.
///
/// Example: switchtender fleet evict ber-1
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct FleetEvictArgs {
    /// The node, as `fleet status` names it
    #[arg(value_name = "NODE")]
    node: String,

    /// Forget the node, too: nodes without `sites` may run the devices of its sites
    #[arg(long)]
    forget: bool,

    /// Evict the node although its last beat was just now
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    store: StoreOption,
}

pub(super) fn run(args: &FleetEvictArgs) -> Result<Exit, CommandError> {
    let history = super::open(&args.store)?;
    if !args.force {
        refuse_live(&history, &args.node)?;
    }
    let (node, forgets, now) = (args.node.clone(), args.forget, clock::timestamp());
    let freed = history.write_and_wait(move |writer| writer.evict_node(&node, forgets, now));
    let Some(freed) = freed.map_err(store_error)? else {
        return Err(super::unknown_node(&args.node));
    };
    print(&TerminalText::of_line(format_args!(
        "freed {} of the node {}",
        counted(freed, "lease"),
        args.node
    )));
    Ok(Exit::SUCCESS)
}

/// Refuses a node that is not silent, unless it has stopped in order.
fn refuse_live(history: &HistoryStore, name: &str) -> Result<(), CommandError> {
    let rows = history.read(|reader| reader.fleet_rows());
    let nodes = rows.map_err(store_error)?.nodes;
    let Some(found) = nodes.iter().find(|found| found.node.name == name) else {
        return Err(super::unknown_node(name));
    };
    let (age, silence) = (found.age_seconds, silent_seconds(&found.node));
    if found.node.is_stopped || age > silence {
        return Ok(());
    }
    let text = format!("cannot evict the node {name}: it is alive, its last beat was {age} s ago");
    Err(CommandError::new(text).hint(format!(
        "switch its host off and wait {} s, or add --force; `switchtender fleet drain {name}` \
         moves its devices without a risk",
        silence - age
    )))
}
