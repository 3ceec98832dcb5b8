//! `switchtender fleet drain`: the runs of a node end, and other nodes get its shards.

use std::time::Duration;

use crate::cli::exit::{CommandError, Exit, eprint_notice, print};
use crate::cli::options::store_options::{StoreOption, store_error};
use crate::serve::lease::node_problems::silent_seconds;
use crate::terminal_text::TerminalText;

/// Interval between looks at the leases.
const PAUSE: Duration = Duration::from_millis(500);

/// End the runs of a node in order, and give its shards to other nodes
///
/// No run begins on the node any more. Each shard moves when its runs have ended. The command waits
/// until the node has none. A restart of the node ends the drain.
///
/// Example: switchtender fleet drain ber-1
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct FleetDrainArgs {
    /// The node, as `fleet status` names it
    #[arg(value_name = "NODE")]
    node: String,

    #[command(flatten)]
    store: StoreOption,
}

pub(super) fn run(args: &FleetDrainArgs) -> Result<Exit, CommandError> {
    let history = super::open(&args.store)?;
    let node = args.node.clone();
    let is_known = history.write_and_wait(move |writer| writer.drain_node(&node));
    if !is_known.map_err(store_error)? {
        return Err(super::unknown_node(&args.node));
    }
    let mut printed = usize::MAX;
    loop {
        let rows = history
            .read(|reader| reader.fleet_rows())
            .map_err(store_error)?;
        let owned = rows.leases.iter();
        let left = owned
            .filter(|row| row.owner.as_ref() == Some(&args.node))
            .count();
        if left == 0 {
            let text = format!(
                "the node {} has no shard and no task: stop or restart it",
                args.node
            );
            print(&TerminalText::of_line(text));
            return Ok(Exit::SUCCESS);
        }
        if let Some(row) = rows.nodes.iter().find(|row| row.node.name == args.node) {
            if !row.is_draining {
                let text = format!(
                    "the drain of the node {} has ended: it was restarted",
                    args.node
                );
                return Err(CommandError::new(text).hint("run the command again"));
            }
            if row.age_seconds > silent_seconds(&row.node) {
                let (node, age) = (&args.node, row.age_seconds);
                let text = format!("the node {node} has not answered for {age} s");
                let hint = format!("when its host is off, run `switchtender fleet evict {node}`");
                return Err(CommandError::new(text).hint(hint));
            }
        }
        if left != printed {
            eprint_notice(&format!(
                "leases of the node: {left}; each moves when its runs have ended"
            ));
            printed = left;
        }
        std::thread::sleep(PAUSE);
    }
}
