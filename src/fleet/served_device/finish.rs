//! The end of a run: its report, sent or kept, and the numbers for monitoring.

use std::time::Duration;

use super::ServedFleet;
use super::attempt::Attempt;
use super::error::ServedError;
use crate::agent::PROTOCOL_VERSION;
use crate::agent::client::report_spool::Delivery;
use crate::agent::run::{AgentRun, CachedStatus};
use crate::clock;
use crate::error_chain::chain;
use crate::fleet::state_files::LastRun;
use crate::report::{CachedCatalog, Context, Report};
use crate::store::{DeviceStore, blocking_io};
use crate::transaction::RunEvent;

impl ServedFleet {
    /// The report of what was said and done so far.
    pub(super) fn report(
        &self,
        agent: &AgentRun,
        attempt: &Attempt<'_>,
        started: jiff::Timestamp,
        error: Option<&ServedError>,
        took: Duration,
    ) -> Report {
        let mut report = Report::new(Context {
            host: attempt.device.to_owned(),
            time: started,
            transaction_uuid: Some(agent.transaction_uuid.clone()),
            puppet_version: PROTOCOL_VERSION.to_owned(),
            noop: self.settings.noop,
            environment: Some(agent.environment().to_owned()),
            server_used: agent.server_used(),
            job_id: None,
            cached_catalog_status: match attempt.cached {
                CachedStatus::NotUsed => CachedCatalog::NotUsed,
                CachedStatus::ExplicitlyRequested => CachedCatalog::ExplicitlyRequested,
                CachedStatus::OnFailure => CachedCatalog::OnFailure,
            },
            log_level: self.log_level,
        });
        for event in &attempt.events {
            report.fold(event);
        }
        for (name, seconds) in &agent.times {
            report.measured(name, Duration::from_secs_f64(*seconds));
        }
        report.measured("total", took);
        if attempt.flawed {
            report.fail();
        }
        if let Some(error) = error {
            // Whatever was applied, a run with an error in it is a failed one.
            report.fold(&RunEvent::Finished {
                completed: false,
                failed_to_generate: false,
                error: Some(attempt.masked(chain(error))),
                time: clock::timestamp(),
            });
        }
        report
    }

    /// Sends the report and keeps it beside the numbers for monitoring.
    pub(super) async fn finish(
        &self,
        agent: &mut AgentRun,
        attempt: &mut Attempt<'_>,
        store: &DeviceStore,
        report: &Report,
    ) {
        let mut json = report.to_json();
        if self.proxy.settings.exclude_unchanged_resources {
            leave_out_unchanged(&mut json);
        }
        if self.catalog.is_none() {
            match agent.deliver(&json, attempt.run_log()).await {
                Ok(Some(Delivery::Spooled(error))) => {
                    let hint = error.hint().map(|hint| format!("; {hint}"));
                    attempt.run_log().warning(format!(
                        "Could not send report, it is kept and sent later: {error}{}",
                        hint.unwrap_or_default()
                    ));
                }
                Ok(Some(Delivery::Refused(error, file))) => attempt.run_log().error(format!(
                    "The server does not take the report, it lies in {}: {error}",
                    file.display()
                )),
                Ok(Some(Delivery::Sent { earlier })) if earlier > 0 => {
                    attempt
                        .run_log()
                        .notice(format!("Sent {earlier} reports of earlier runs"));
                }
                Ok(_) => {}
                Err(error) => attempt
                    .run_log()
                    .error(format!("Could not keep the report: {}", chain(&error))),
            }
        }
        let (last_run, store) = (LastRun::new(report, &json), store.clone());
        if let Err(error) = blocking_io::run(move || last_run.write(&store)).await {
            attempt.run_log().error(chain(&error));
        }
    }
}

/// What is as it should be needs no line in a report; the metrics still count it.
fn leave_out_unchanged(report: &mut serde_json::Value) {
    let Some(statuses) = report["resource_statuses"].as_object_mut() else {
        return;
    };
    let flags = ["failed", "failed_to_restart", "out_of_sync", "skipped"];
    statuses.retain(|_, status| flags.iter().any(|flag| status[flag] == true));
}
