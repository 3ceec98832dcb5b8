//! `access link`: one login as the operator of the host.

use std::path::Path;

use crate::cli::exit::{CommandError, print};
use crate::cli::options::store_options::cannot_open;
use crate::clock;
use crate::history::{HistoryStore, StoreLocation};
use crate::serve::access::{AccessPaths, OnceSecrets, TokenText};
use crate::terminal_text::TerminalText;

/// Prints a link with a new code.
pub(super) fn print_link(paths: &AccessPaths) -> Result<(), CommandError> {
    let url = read(&paths.url())?;
    let code = new_login_code(paths)?;
    // The last line is the address for browsers.
    let url = url.lines().last().unwrap_or_default();
    let link = format!("{url}/login?code={}", code.expose());
    print(&TerminalText::of_line(link));
    Ok(())
}

/// A code in the store of the process.
fn new_login_code(paths: &AccessPaths) -> Result<TokenText, CommandError> {
    let store = read(&paths.store())?;
    let failed = || CommandError::new("cannot create a link");
    let location = StoreLocation::parse(store.as_ref(), "".as_ref());
    let location = location.map_err(|error| failed().with_source(error))?;
    let history = HistoryStore::open(location.clone().into());
    let history = history.map_err(|error| cannot_open(&location, error))?;
    let code = OnceSecrets::of(history).new_login_code(clock::timestamp());
    code.map_err(|error| failed().with_source(error))
}

/// The text of a file of the running process.
fn read(path: &Path) -> Result<String, CommandError> {
    std::fs::read_to_string(path).map_err(|error| {
        CommandError::new(format!("cannot read {}", path.display()))
            .with_source(error)
            .hint("start `switchtender serve` with the same state directory")
    })
}
