//! `switchtender fleet drain`: the runs of a node end, and other nodes get its shards.

use std::time::Duration;

use crate::cli::exit::{CommandError, Exit, eprint_notice, print};
use crate::cli::options::store_options::{StoreOption, store_error};
use crate::counted::counted;
use crate::history::leases::NodeRow;
use crate::serve::lease::node_problems::{late_seconds, silent_seconds};
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
    let mut printed = None;
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
        let row = rows.nodes.iter().find(|row| row.node.name == args.node);
        let row = row.ok_or_else(|| super::unknown_node(&args.node))?;
        let notice = progress(row, left)?;
        let is_late = row.age_seconds > late_seconds(&row.node);
        if printed != Some((left, is_late)) {
            eprint_notice(&notice);
            printed = Some((left, is_late));
        }
        std::thread::sleep(PAUSE);
    }
}

/// What a node with leases does.
///
/// # Errors
/// Its drain has no end.
fn progress(row: &NodeRow, leases: usize) -> Result<String, CommandError> {
    let (node, age) = (&row.node.name, row.age_seconds);
    if !row.is_draining {
        let text = format!("the drain of the node {node} has ended: it was restarted");
        return Err(CommandError::new(text).hint("run the command again"));
    }
    let evict = format!("when its host is off, run `switchtender fleet evict {node}`");
    if age > silent_seconds(&row.node) {
        let text = format!("the node {node} has not answered for {age} s");
        return Err(CommandError::new(text).hint(evict));
    }
    let next = if age > late_seconds(&row.node) {
        format!("it does not beat; {evict}")
    } else {
        "each moves when its runs have ended".to_owned()
    };
    let leases = counted(leases, "lease");
    Ok(format!(
        "the node {node} has {leases}, its last beat was {age} s ago: {next}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::leases::NodeRecord;

    #[test]
    fn drain_of_a_node_without_a_beat_names_evict() {
        let progress = |age_seconds, is_draining| {
            let node = NodeRecord {
                name: "ber-1".to_owned(),
                lease_ms: 120_000,
                ..NodeRecord::default()
            };
            let row = NodeRow {
                node,
                beat: 1,
                is_draining,
                is_evicted: false,
                age_seconds,
            };
            progress(&row, 1).map_err(|error| error.message)
        };
        let beats = "the node ber-1 has 1 lease, its last beat was 4 s ago: each moves when its runs have ended";
        assert_eq!(progress(4, true).unwrap(), beats);
        let late = progress(12, true).unwrap();
        assert!(late.contains("12 s ago: it does not beat;"), "{late}");
        assert!(late.contains("`switchtender fleet evict ber-1`"), "{late}");
        let silent = progress(31, true).unwrap_err();
        assert!(silent.contains("has not answered for 31 s"), "{silent}");
        let restarted = progress(0, false).unwrap_err();
        assert!(restarted.contains("it was restarted"), "{restarted}");
    }
}
