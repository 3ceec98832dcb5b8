//! The catalog of a device: from files before the device is contacted, or from a source that needs its facts.

use switchtender_devices::driver::Facts;

use super::connect::{ConnectedDevice, ReadyDevice};
use super::supervision::{delivery_end, until};
use super::{DeviceRunError, Running};
use crate::fleet::catalog_check::{PreparedCatalog, check_catalog};
use crate::fleet::catalog_graph;
use crate::fleet::catalog_source::{
    CatalogSource, CatalogText, DeviceSettings, Preparation, PreparedSource,
};
use crate::report::declared_values::declared_values;

/// Catalogs above this size, in bytes, are checked on a thread of their own: each thread costs memory.
const LARGE_CATALOG: usize = 256 << 10;

/// A device that can be contacted.
pub(super) struct PreparedDevice<S> {
    pub(super) source: S,
    /// The settings of the device, overridden by those of the run.
    pub(super) settings: DeviceSettings,
    /// `None`: the source needs the facts of the device.
    pub(super) catalog: Option<PreparedCatalog>,
}

impl<S: PreparedSource> PreparedDevice<S> {
    /// Prepares the run and checks the catalog, if it needs no facts.
    ///
    /// # Errors
    /// The device is not contacted.
    pub(super) async fn prepare(
        run: &mut Running<'_>,
        source: impl CatalogSource<Prepared = S>,
    ) -> Result<Self, DeviceRunError> {
        let mask = run.events.mask.clone();
        let preparing = source.prepare(&mask, &mut run.events);
        let prepared = until(run.stop.cancelled(), preparing).await.flatten();
        let Preparation {
            source,
            settings,
            catalog,
            revision,
        } = prepared?;
        run.events.record.revision = revision;
        let request = run.request;
        let catalog = match catalog {
            Some(text) => Some(check(run, text)?),
            None => {
                // The transcripts wait for the secrets of the catalog.
                run.events.mask.expect_more();
                None
            }
        };
        Ok(Self {
            source,
            settings: DeviceSettings {
                limits: request.limits.or(settings.limits),
                protect: request.protect.unwrap_or(settings.protect),
                on_failure: request.on_failure.unwrap_or(settings.on_failure),
                ..settings
            },
            catalog,
        })
    }
}

/// The request for the catalog of a device with these facts.
pub(super) struct Exchange<R> {
    facts: Facts,
    /// `None`: there is no catalog.
    retrieved: Option<R>,
}

impl<R: Send + Sync> Exchange<R> {
    /// Retrieves and checks the catalog of a device. Facts that the source asks for again are read in a new session.
    pub(super) async fn retrieve<S: PreparedSource<Retrieved = R>>(
        run: &mut Running<'_>,
        source: &mut S,
        mut device: ConnectedDevice,
    ) -> (Result<ReadyDevice, DeviceRunError>, Self) {
        loop {
            let mut exchange = Self {
                facts: device.facts.clone(),
                retrieved: None,
            };
            let answer = source.retrieve(&exchange.facts, &mut run.events);
            let catalog = match until(run.stop.cancelled(), answer).await.flatten() {
                Ok(None) => match device.open_for_facts(run, source).await {
                    Ok(again) => {
                        device = again;
                        continue;
                    }
                    Err(error) => return (Err(error), exchange),
                },
                Ok(Some((text, retrieved))) => {
                    exchange.retrieved = Some(retrieved);
                    check(run, text)
                }
                Err(error) => Err(error),
            };
            let ready = match device.with_catalog(run, catalog).await {
                Ok(ready) => exchange.announce(run, source, ready).await,
                Err(error) => Err(error),
            };
            return (ready, exchange);
        }
    }

    /// Lets the source act before the catalog is applied.
    async fn announce<S: PreparedSource<Retrieved = R>>(
        &self,
        run: &mut Running<'_>,
        source: &mut S,
        mut ready: ReadyDevice,
    ) -> Result<ReadyDevice, DeviceRunError> {
        let Some(retrieved) = &self.retrieved else {
            return Ok(ready);
        };
        let accepted = source.before_transaction(retrieved, &mut run.events);
        match until(run.deadline.passed(), accepted).await.flatten() {
            Ok(()) => Ok(ready),
            Err(error) => {
                ready.device.session.close().await;
                Err(error)
            }
        }
    }

    /// Lets the source act after the run, whose result is passed on unless this fails.
    pub(super) async fn end<S: PreparedSource<Retrieved = R>>(
        self,
        run: &mut Running<'_>,
        source: &mut S,
        result: Result<(), DeviceRunError>,
    ) -> Result<(), DeviceRunError> {
        let deadline = run.deadline.clone();
        let after = source.after_run(&self.facts, self.retrieved.as_ref(), &mut run.events);
        let after = match until(delivery_end(&deadline), after).await {
            Ok(after) => after,
            Err(_) => {
                let text = "The steps after the run did not end in time and were stopped";
                run.events.run_log().error(text);
                Ok(())
            }
        };
        match (result, after) {
            (Ok(()), after) => after,
            (Err(error), Ok(())) => Err(error),
            (Err(error), Err(second)) => {
                run.events.run_log().error_chain(&second, None);
                Err(error)
            }
        }
    }
}

fn check(run: &mut Running<'_>, text: CatalogText) -> Result<PreparedCatalog, DeviceRunError> {
    if run.stop.is_cancelled() {
        return Err(DeviceRunError::Stopped);
    }
    let cached = text.cached;
    let record = &mut run.events.record;
    record.complete_context(|context| context.cached_catalog_status = cached);
    let is_large = text.source.text.len() > LARGE_CATALOG;
    // A refused catalog is drawn, too; its secrets are known after the check.
    let draws = run.request.draws;
    let graph = draws.then(|| catalog_graph::complete_svg(&text.source, &text.registry));
    let check = || {
        let cycles_file = run.cycles_file();
        check_catalog(text, run.request, cycles_file.as_deref(), &run.events.mask)
    };
    let prepared = if is_large {
        // It takes seconds: the other tasks of this thread continue on another one.
        tokio::task::block_in_place(check)
    } else {
        check()
    };
    let mask = &run.events.mask;
    run.events.record.graph = graph.map(|graph| match graph {
        Ok(svg) => Ok(mask.apply(&svg)),
        Err(reason) => Err(mask.apply(&reason)),
    });
    let prepared = prepared?;
    let mut declared = declared_values(&prepared.resources);
    for (_, text) in declared.values_mut().flatten() {
        *text = run.events.mask.apply(text);
    }
    run.events.record.declared = Some(declared);
    tracing::info!(
        resources = prepared.resources.len(),
        "the catalog is loaded and checked"
    );
    Ok(prepared)
}
