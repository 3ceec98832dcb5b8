//! Checks of the fleet: the nodes and sites of the database in ./serve.toml.

use super::check_result::{CheckResult, CheckState};
use crate::cli::options::serve_state;
use crate::history::{HistoryCheck, HistoryError, HistoryStore, StoreLocation};
use crate::serve::lease::fleet_status::FleetStatus;

const SUBJECT: &str = "fleet";

/// Checks the fleet, if ./serve.toml has a PostgreSQL database.
pub(super) fn check_all() -> Vec<CheckResult> {
    // What else is wrong with the file is an error of `serve`.
    let Ok(Some(settings)) = serve_state::default_settings() else {
        return Vec::new();
    };
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
    history.read(|reader| Ok(FleetStatus::new(reader.fleet_rows()?, reader.late_runs()?)))
}

fn results(status: &FleetStatus) -> Vec<CheckResult> {
    let (nodes, sites) = (status.nodes.len(), status.sites.len());
    let summary = format!("{nodes} nodes, {sites} sites");
    let mut results = vec![CheckResult::new(SUBJECT, CheckState::Ok, summary)];
    let problems = status.problems.iter();
    results.extend(problems.map(|problem| {
        let hint = "run `switchtender fleet status` for nodes and shards".to_owned();
        CheckResult::new(SUBJECT, CheckState::Error, problem).hint(Some(hint))
    }));
    if status.late_runs > 0 {
        let text = format!(
            "{} results came after another node had acquired the shard",
            status.late_runs
        );
        results.push(CheckResult::new(SUBJECT, CheckState::Warning, text));
    }
    results
}
