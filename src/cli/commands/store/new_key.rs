//! `switchtender store new-key`: goes on without the key of the state of devices.

use std::path::PathBuf;

use crate::cli::exit::{CommandError, Exit, print};
use crate::cli::options::device_state::key_error;
use crate::cli::options::serve_state;
use crate::cli::options::store_options::{StoreOption, store_error};
use crate::store::state_key::{FILE, StateKey};
use crate::store::state_table::StateTable as _;
use crate::terminal_text::TerminalText;

/// Give up the lost key of the state of devices in a database
///
/// Copy state.key from another host instead, if one has it. Without the key, undo of earlier runs, the
/// digests of secrets and the recorded values of audit are lost. Times and results of resources, facts,
/// and the records of protected runs stay. Creates a key if this host has none; copy it to all hosts.
///
/// Example: switchtender store new-key
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct NewKeyArgs {
    /// State directory with the key; default: that of ./serve.toml, else $SWITCHTENDER_STATE, else
    /// /var/lib/switchtender for root, ~/.local/state/switchtender for others
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,

    #[command(flatten)]
    store: StoreOption,
}

pub(super) fn run(args: &NewKeyArgs) -> Result<Exit, CommandError> {
    let history = args.store.existing()?;
    if !history.is_shared() {
        let error = CommandError::new(format!(
            "{} has no state of devices: it is in files of the state directory",
            history.location()
        ));
        return Err(error.hint("name a database with `--store postgresql://USER@HOST/DATABASE`"));
    }
    let directory = args.state_dir.clone();
    let directory = directory.map_or_else(serve_state::default_directory, Ok)?;
    let before = history
        .key()
        .map_err(|error| CommandError::new("cannot use the store").with_source(error))?;
    let key = StateKey::read_or_create(&directory).map_err(key_error)?;
    let own = key.fingerprint();
    let path = directory.join(FILE);
    let path = path.display();
    let mut text = TerminalText::new();
    if before.as_ref() == Some(&own) {
        text.line(format_args!("{path} is the key {own} of the store already"));
        print(&text);
        return Ok(Exit::SUCCESS);
    }
    let fingerprint = own.clone();
    let replaced = history.write_and_wait(move |writer| writer.replace_state_key(&fingerprint));
    replaced.map_err(store_error)?;
    text.line(format_args!(
        "the key of the store is {own}: copy {path} to its other hosts, and restart their processes"
    ));
    if let Some(before) = before {
        text.line(format_args!(
            "it replaces {before}: undo of earlier runs and the digests of secrets are lost"
        ));
    }
    print(&text);
    Ok(Exit::SUCCESS)
}
