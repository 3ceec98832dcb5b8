//! Checks of the fleet: the nodes and sites of the database in ./serve.toml.

use super::check_result::{CheckResult, CheckState};
use super::worker_checks;
use crate::cli::options::serve_state;
use crate::clock;
use crate::counted::counted;
use crate::history::{HistoryCheck, HistoryError, HistoryStore, StoreLocation};
use crate::serve::lease::fleet_status::FleetStatus;

const SUBJECT: &str = "fleet";

/// Whether ./serve.toml is that of a node whose devices come from releases.
pub(super) fn is_node() -> bool {
    let settings = serve_state::default_settings();
    settings.is_ok_and(|settings| {
        settings
            .is_some_and(|settings| !settings.uses_own_files() && settings.puppet_server.is_none())
    })
}

/// Whether ./serve.toml is that of a worker.
pub(super) fn is_worker() -> bool {
    let settings = serve_state::default_settings();
    settings.is_ok_and(|settings| settings.is_some_and(|settings| settings.fleet.join.is_some()))
}

/// Checks the fleet, if ./serve.toml has a PostgreSQL database, or makes this host a worker.
pub(super) async fn check_all() -> Vec<CheckResult> {
    // What else is wrong with the file is an error of `serve`.
    let Ok(Some(settings)) = serve_state::default_settings() else {
        return Vec::new();
    };
    if let Some(join) = &settings.fleet.join {
        return worker_checks::check_all(join, &settings.fleet).await;
    }
    let Some(location @ StoreLocation::Server(_)) = settings.store else {
        return Vec::new();
    };
    let text = location.to_string();
    match status(location) {
        Ok(status) => results(&status),
        // A check creates nothing; that of the store has this finding.
        Err(HistoryError::NoTables) => Vec::new(),
        Err(error) => {
            let hint = error.hint().map(str::to_owned);
            let text = format!("cannot read {text}: {}", crate::error_chain::chain(&error));
            vec![CheckResult::new(SUBJECT, CheckState::Error, text).hint(hint)]
        }
    }
}

fn status(location: StoreLocation) -> Result<FleetStatus, HistoryError> {
    HistoryCheck::begin(&location)?;
    let history = HistoryStore::open(location.into())?;
    history.read(|reader| FleetStatus::read(reader, clock::timestamp()))
}

fn results(status: &FleetStatus) -> Vec<CheckResult> {
    let (nodes, sites) = (status.nodes.len(), status.sites.len());
    let summary = [counted(nodes, "node"), counted(sites, "site")].join(", ");
    let mut results = vec![CheckResult::new(SUBJECT, CheckState::Ok, summary)];
    let problems = status.problems.iter();
    results.extend(problems.map(|problem| {
        let hint = "run `switchtender fleet status` for nodes and shards".to_owned();
        CheckResult::new(SUBJECT, CheckState::Error, problem).hint(Some(hint))
    }));
    let warnings = status.warnings.iter();
    results.extend(warnings.map(|warning| CheckResult::new(SUBJECT, CheckState::Warning, warning)));
    if status.late_runs > 0 {
        let late = counted(status.late_runs, "result");
        let text = format!("{late} came after another node had acquired the shard");
        results.push(CheckResult::new(SUBJECT, CheckState::Warning, text));
    }
    results
}
