//! `access audit`: the audit log.

use jiff::Timestamp;

use crate::cli::commands::history::{print_lines, seconds};
use crate::cli::exit::{CommandError, print};
use crate::cli::options::global::Global;
use crate::cli::options::output_format::Output;
use crate::cli::output::view::table;
use crate::serve::access::{AccessPaths, AuditEntry, AuditError, AuditFilter, AuditLog};
use crate::terminal_text::TerminalText;

const AUDIT_COLUMNS: [&str; 7] = [
    "Time",
    "Actor",
    "Identified by",
    "Address",
    "Action",
    "Target",
    "Result",
];

#[derive(Debug, clap::Args)]
pub(super) struct AuditArgs {
    /// Show only entries from this time on
    #[arg(long, value_name = "TIME")]
    since: Option<Timestamp>,

    /// Show only entries up to this time
    #[arg(long, value_name = "TIME")]
    until: Option<Timestamp>,

    /// Show only entries of this user or token
    #[arg(long, value_name = "NAME")]
    user: Option<String>,

    /// Show only this action, such as `login`, `plan` or `apply`
    #[arg(long, value_name = "ACTION")]
    action: Option<String>,

    /// Maximum number of entries, newest first
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,

    /// Output format
    #[arg(short, long, value_enum, default_value_t = Output::Human)]
    output: Output,
}

/// Prints the newest entries.
pub(super) fn print_entries(
    paths: &AccessPaths,
    args: &AuditArgs,
    global: &Global,
) -> Result<(), CommandError> {
    let filter = AuditFilter {
        since: args.since,
        until: args.until,
        actor: args.user.clone(),
        action: args.action.clone(),
    };
    let log = AuditLog::at(paths.audit_log());
    let count = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let entries = log.newest(&filter, count).map_err(audit_failed)?;
    match args.output {
        Output::Json => print_lines(&entries),
        Output::Human if entries.is_empty() => print(&TerminalText::of_line(format_args!(
            "{} has no such entry",
            log.path().display()
        ))),
        Output::Human => {
            let rows: Vec<Vec<String>> = entries.iter().map(audit_row).collect();
            let colored = global.is_stdout_colored();
            print(&table::render(&AUDIT_COLUMNS, &rows, colored));
        }
    }
    Ok(())
}

fn audit_row(entry: &AuditEntry) -> Vec<String> {
    vec![
        seconds(entry.time),
        entry.actor.clone(),
        entry.method.clone(),
        entry.address.clone(),
        entry.action.clone(),
        entry.target.clone(),
        entry.result.word().to_owned(),
    ]
}

pub(super) fn audit_failed(error: AuditError) -> CommandError {
    CommandError::new("cannot use the audit log").with_source(error)
}
