//! `switchtender store copy`: moves a store to another file or database.

use std::path::PathBuf;

use crate::cli::exit::{CommandError, Exit, eprint_notice, print, print_json};
use crate::cli::options::output_format::Output;
use crate::cli::options::serve_state;
use crate::cli::options::store_options::{cannot_open, named, require_file};
use crate::error_chain::chain;
use crate::history::store_copy::{self, CopiedTable};
use crate::history::{HistoryStore, StoreLocation};
use crate::serve::process_lock;
use crate::store::FileLock;
use crate::store::state_key::StateKey;
use crate::terminal_text::TerminalText;

/// Copy the store into an empty one: from a file to a database, or back
///
/// Stop `switchtender serve` first. The copy is one transaction: if it is interrupted, the other
/// store stays empty, and the command can be repeated.
///
/// Example: switchtender store copy --from history.db --to postgresql://switchtender@db/switchtender
#[derive(Debug, clap::Args)]
pub(super) struct StoreCopyArgs {
    /// The store to copy: a file, or `postgresql://USER@HOST/DATABASE`
    #[arg(long, value_name = "STORE")]
    from: PathBuf,

    /// The empty store: a new file, or a database
    #[arg(long, value_name = "STORE")]
    to: PathBuf,

    /// Output format
    #[arg(short, long, value_enum, default_value_t = Output::Human)]
    output: Output,
}

pub(super) fn run(args: &StoreCopyArgs) -> Result<Exit, CommandError> {
    let from = named(args.from.as_os_str())?.location;
    let to = named(args.to.as_os_str())?.location;
    require_file(&from)?;
    if from == to {
        let text = format!("cannot copy the store: {from} is both source and target");
        return Err(CommandError::new(text).hint("name a new file, or an empty database"));
    }
    let _locks = [lock(&from)?, lock(&to)?];
    let copied = store_copy::copy(&from, &to).map_err(|error| {
        let hint = error.hint();
        let text = format!("cannot copy the store {from} to {to}");
        CommandError::new(text)
            .with_source(error)
            .optional_hint(hint)
    })?;
    match args.output {
        Output::Json => {
            let json = serde_json::to_string(&copied).expect("counts are JSON");
            print_json(&format!("{json}\n"));
        }
        Output::Human => print(&summary(&copied)),
    }
    warn_about_key(&to)?;
    Ok(Exit::SUCCESS)
}

/// No process of `serve` may use a file meanwhile.
fn lock(location: &StoreLocation) -> Result<Option<FileLock>, CommandError> {
    let lock = location.file().map(process_lock::lock_store).transpose();
    lock.map_err(|error| {
        CommandError::new("cannot copy the store")
            .with_source(error)
            .hint("stop the process first; `switchtender store export` copies a store in use")
    })
}

fn summary(copied: &[CopiedTable]) -> TerminalText {
    let mut text = TerminalText::new();
    for table in copied.iter().filter(|table| table.rows > 0) {
        text.line(format_args!("{:>10} {}", table.rows, table.table));
    }
    let rows: u64 = copied.iter().map(|table| table.rows).sum();
    let tables = copied.len();
    text.line(format_args!(
        "{rows} rows of {tables} tables are copied, and counted in both stores"
    ));
    text
}

/// The state of devices is sealed: the hosts of the new store need its key.
fn warn_about_key(to: &StoreLocation) -> Result<(), CommandError> {
    let history = HistoryStore::open(to.clone().into()).map_err(|error| cannot_open(to, error))?;
    if let Err(error) = StateKey::check(&serve_state::default_directory()?, &history) {
        eprint_notice(&format!("note: {}", chain(&error)));
        if let Some(hint) = error.hint() {
            eprint_notice(&format!("hint: {hint}"));
        }
    }
    Ok(())
}
