//! The last phase: the report of a run is completed, delivered and stored.

use super::locks::Locks;
use super::supervision::{delivery_end, until};
use super::{DeviceRun, DeviceRunError, Running};
use crate::error_chain::chain;
use crate::fleet::report_sink::{FinishedReport, ReportSink};
use crate::fleet::state_files::LastRun;
use crate::store::blocking_io;

/// A run whose report is not delivered yet. The device is locked until then.
pub(crate) struct UnreportedRun<'a> {
    pub(super) run: Running<'a>,
    pub(super) _locks: Locks<'a>,
    /// Where the desired state comes from.
    pub(super) origin: Option<String>,
    pub(super) result: Result<(), DeviceRunError>,
}

impl UnreportedRun<'_> {
    /// Completes and delivers the report.
    ///
    /// # Cancellation
    /// Must not be dropped midway.
    pub(crate) async fn report_to(self, sink: impl ReportSink) -> DeviceRun {
        let Self {
            mut run,
            _locks,
            origin,
            result,
        } = self;
        if matches!(result, Err(DeviceRunError::NotConfirmed)) {
            // For reports and history, there was no run.
            run.events.record.is_not_run = true;
            return run.end(origin, result);
        }
        let has_lock = result
            .as_ref()
            .err()
            .is_none_or(|error| !error.is_before_lock());
        match &result {
            Err(error) => {
                run.events.record_error(error);
                run.write_graphs().await;
            }
            Ok(()) if run.events.is_cut_short() => run
                .events
                .run_log()
                .error("the run was stopped; the remaining resources were skipped"),
            Ok(()) => {}
        }
        sink.complete_report(&mut run.events.record);
        let exclude_unchanged = sink.excludes_unchanged_resources();
        let json = run.events.record.to_raw_json(exclude_unchanged);
        // The delivery adds messages to the record.
        let record = run.events.record.clone();
        let report = FinishedReport {
            record: &record,
            json: &json,
        };
        let delivery = sink.deliver(report, result.as_ref().err(), &mut run.events);
        match until(delivery_end(&run.deadline), delivery).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                let text = format!("cannot write the report: {}", chain(&error));
                run.events.fail(text);
            }
            Err(_) => run
                .events
                .run_log()
                .warning("Could not send report in time, it is stored and sent later"),
        }
        if run.request.kind.writes_state() && has_lock {
            let last_run = LastRun::new(&run.events.record, json);
            let store = run.store.clone();
            if let Err(error) = blocking_io::run(move || last_run.write(&store)).await {
                run.events.fail(format!(
                    "cannot write the state of the device: {}",
                    chain(&error)
                ));
            }
        }
        run.end(origin, result)
    }
}

impl Running<'_> {
    pub(super) fn end(
        self,
        origin: Option<String>,
        result: Result<(), DeviceRunError>,
    ) -> DeviceRun {
        DeviceRun {
            stopped: self.stop.is_cancelled(),
            mask: self.events.mask,
            origin,
            record: self.events.record,
            waited: self.waited,
            result,
        }
    }
}
