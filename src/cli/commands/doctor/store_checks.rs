//! Checks of the store of runs: that it can be read, and what its server protects.

use std::path::Path;

use super::DoctorArgs;
use super::check_result::{CheckResult, CheckState};
use super::fleet_checks;
use crate::cli::exit::CommandError;
use crate::cli::options::serve_state;
use crate::error_chain::chain;
use crate::history::server_check::{self, ServerFinding, ServerState};
use crate::history::{HistoryCheck, HistoryError, HistoryStore, StoreLocation};
use crate::store::state_key::StateKey;

/// Checks the store that an option, the environment or the settings name; no checks without one.
pub(super) fn check_all(args: &DoctorArgs) -> Vec<CheckResult> {
    let location = match args.store.named_location() {
        Ok(Some(location)) => location,
        Ok(None) => return Vec::new(),
        Err(error) => return of_error("store", error),
    };
    if let Some(path) = location.file() {
        if !path.exists() && fleet_checks::is_worker() {
            // The store of a worker is that of its hubs.
            return Vec::new();
        }
        return vec![check_file(&location, path)];
    }
    let subject = format!("store {location}");
    let findings = match server_check::check(&location) {
        Ok(findings) => findings,
        Err(error) => return vec![of_history(&subject, &error)],
    };
    let has_tables = server_check::has_tables(&findings);
    let mut checks: Vec<CheckResult> = (findings.into_iter())
        .map(|finding| of_server(&subject, finding))
        .collect();
    if has_tables {
        let directory = match &args.state_dir {
            Some(directory) => Ok(directory.clone()),
            None => serve_state::default_directory(),
        };
        match directory {
            Ok(directory) => checks.push(check_key(&subject, &location, &directory)),
            Err(error) => checks.extend(of_error("store", error)),
        }
    }
    checks
}

fn check_file(location: &StoreLocation, path: &Path) -> CheckResult {
    let subject = format!("store {location}");
    if !path.exists() {
        let text = "does not exist yet; the first run creates it";
        return CheckResult::new(subject, CheckState::Ok, text);
    }
    match HistoryCheck::begin(location) {
        Ok(_) => CheckResult::new(subject, CheckState::Ok, "can be read"),
        Err(error) => of_history(&subject, &error),
    }
}

/// Checks that this host can read the state of devices in the database.
fn check_key(subject: &str, location: &StoreLocation, directory: &Path) -> CheckResult {
    let history = match HistoryStore::open(location.clone().into()) {
        Ok(history) => history,
        Err(error) => return of_history(subject, &error),
    };
    match StateKey::check(directory, &history) {
        Ok(Some(key)) => {
            let text = format!("state of devices: this host has its key {key}");
            CheckResult::new(subject, CheckState::Ok, text)
        }
        Ok(None) => {
            let text = "state of devices: there is none yet";
            CheckResult::new(subject, CheckState::Ok, text)
        }
        Err(error) => {
            CheckResult::new(subject, CheckState::Error, chain(&error)).hint(error.hint())
        }
    }
}

fn of_server(subject: &str, finding: ServerFinding) -> CheckResult {
    let state = match finding.state {
        ServerState::Good => CheckState::Ok,
        ServerState::Weak => CheckState::Warning,
        ServerState::Bad => CheckState::Error,
    };
    let text = format!("{}: {}", finding.aspect, finding.text);
    CheckResult::new(subject, state, text).hint(finding.hint)
}

fn of_history(subject: &str, error: &HistoryError) -> CheckResult {
    let hint = error.hint().map(str::to_owned);
    CheckResult::new(subject, CheckState::Error, chain(error)).hint(hint)
}

fn of_error(subject: &str, error: CommandError) -> Vec<CheckResult> {
    let findings = error.findings.iter();
    let mut checks: Vec<CheckResult> = findings
        .map(|found| CheckResult::finding(subject, found))
        .collect();
    if !error.message.is_empty() {
        let source = error.source.as_deref().map(|source| chain(source));
        let text = match source {
            Some(source) => format!("{}: {source}", error.message),
            None => error.message,
        };
        checks.push(CheckResult::new(subject, CheckState::Error, text).hint(error.hint));
    }
    checks
}
