//! Where a command has the state of devices: in files, or in the database of the store.

use std::path::Path;
use std::sync::Arc;

use crate::cli::exit::CommandError;
use crate::cli::options::serve_state;
use crate::cli::options::store_options::StoreOption;
use crate::history::HistoryStore;
use crate::store::state_key::StateKeyError;
use crate::store::{SharedState, Store};

/// The state of devices of a command. With a database it is there, and `key_directory` has the key. The first command that
/// stores something secret creates it.
///
/// # Errors
/// This host does not have the key of the state in the database.
pub(crate) fn with_database(
    store: Store,
    history: Option<&HistoryStore>,
    key_directory: &Path,
) -> Result<Store, CommandError> {
    let Some(history) = history.filter(|history| history.is_shared()) else {
        return Ok(store);
    };
    let shared = SharedState::of_command(key_directory, Arc::new(history.clone()));
    let shared = shared.map_err(key_error)?;
    Ok(store.shared(Some(shared.with_locks(Arc::new(history.clone())))))
}

/// Refuses a command that changes devices beside the settings of a worker: it has no lease, and another node can run
/// them. With the database, devices are locked for all nodes.
///
/// # Errors
/// This host is a worker, or the settings or the store cannot be used.
pub(crate) fn check_changes(store: &StoreOption) -> Result<(), CommandError> {
    let settings = serve_state::default_settings()?;
    let is_worker = settings.is_some_and(|settings| settings.fleet.join.is_some());
    if !is_worker {
        return Ok(());
    }
    let store = store.named_location()?;
    if store.is_some_and(|store| store.file().is_none()) {
        return Ok(());
    }
    let text = "this directory is that of a worker: the nodes of its fleet change the devices";
    let hint = "run `switchtender run DEVICE` in the directory of a hub; plans are possible here";
    Err(CommandError::new(text).hint(hint))
}

/// The state of devices of a process, which creates the key if it is the first one.
///
/// # Errors
/// As [`with_database`].
pub(crate) fn of_process(
    store: Store,
    history: &HistoryStore,
    directory: &Path,
) -> Result<Store, CommandError> {
    if !history.is_shared() {
        return Ok(store);
    }
    let shared = SharedState::open(directory, Arc::new(history.clone()));
    Ok(store.shared(Some(shared.map_err(key_error)?)))
}

/// An error about the key of the state in a database.
pub(crate) fn key_error(error: StateKeyError) -> CommandError {
    let hint = error.hint();
    CommandError::new("cannot use the state of devices")
        .with_source(error)
        .optional_hint(hint)
}
