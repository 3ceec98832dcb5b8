//! `switchtender fleet status`: nodes, sites and shards.

use crate::cli::exit::{CommandError, Exit, print, print_json};
use crate::cli::options::output_format::Output;
use crate::cli::options::store_options::{StoreOption, store_error};
use crate::clock;
use crate::counted::counted;
use crate::serve::lease::fleet_status::FleetStatus;
use crate::terminal_text::TerminalText;

/// Show the nodes, sites and shards; exits with 1 if there are errors
///
/// Example: switchtender fleet status
#[derive(Debug, clap::Args)]
pub(crate) struct FleetStatusArgs {
    /// Output format
    #[arg(short, long, value_enum, default_value_t = Output::Human)]
    output: Output,

    #[command(flatten)]
    store: StoreOption,
}

pub(super) fn run(args: &FleetStatusArgs) -> Result<Exit, CommandError> {
    let history = super::open(&args.store)?;
    let status = history.read(|reader| FleetStatus::read(reader, clock::timestamp()));
    let status = status.map_err(store_error)?;
    let exit = if status.problems.is_empty() {
        Exit::SUCCESS
    } else {
        Exit::FAILURE
    };
    if args.output == Output::Json {
        let json = serde_json::to_string(&status).expect("a status is JSON");
        print_json(&format!("{json}\n"));
        return Ok(exit);
    }
    print(&human(&status));
    Ok(exit)
}

fn human(status: &FleetStatus) -> TerminalText {
    let mut text = TerminalText::new();
    for node in &status.nodes {
        let sites = if node.sites.is_empty() {
            "all other sites".to_owned()
        } else {
            node.sites.join(", ")
        };
        let release = node
            .release
            .map_or_else(|| "-".to_owned(), |release| release.to_string());
        text.line(format_args!(
            "node {}: {}, {}, {}, {} s late, load {} %, release {release}, {} (protocol {}), \
             last beat {} s ago, {sites}",
            node.name,
            node.state,
            counted(node.shards, "shard"),
            counted(node.running, "run"),
            node.lateness_seconds,
            node.load_percent,
            node.program,
            node.protocol,
            node.age_seconds
        ));
    }
    for site in &status.sites {
        let next = site
            .next_shards
            .map(|next| format!(", {next} soon"))
            .unwrap_or_default();
        text.line(format_args!(
            "site {}: {}{next}, {} s late, guarantees: {}",
            site.name,
            counted(site.shards, "shard"),
            site.lateness_seconds,
            site.guarantee_counts()
        ));
        for shard in &site.owners {
            let owner = shard.owner.as_deref().unwrap_or("free");
            text.line(format_args!(
                "  {}: {owner}, epoch {}",
                shard.shard, shard.epoch
            ));
        }
    }
    for task in &status.tasks {
        let owner = task.owner.as_deref().unwrap_or("free");
        text.line(format_args!("task {}: {owner}", task.task));
    }
    if status.late_runs > 0 {
        text.line(counted(status.late_runs, "late result"));
    }
    for problem in &status.problems {
        text.line(format_args!("error: {problem}"));
    }
    for warning in &status.warnings {
        text.line(format_args!("warning: {warning}"));
    }
    text
}
