//! `last_run_summary.yaml`: the numbers of a run, for monitoring (`docs/reference/transaction.md`, section
//! 17).

use switchtender_devices::map::IndexMap;

use serde::Serialize;

use super::{Number, RunRecord};
use crate::catalog::ConfigVersion;

/// The content of the file; then a hash of numbers for each metric.
#[derive(Serialize)]
struct RunSummary<'a> {
    version: SummaryVersion<'a>,
    application: Application<'a>,
    #[serde(flatten)]
    metrics: IndexMap<&'static str, IndexMap<String, Number>>,
}

#[derive(Serialize)]
struct SummaryVersion<'a> {
    config: Option<&'a ConfigVersion>,
    puppet: &'a str,
}

#[derive(Serialize)]
struct Application<'a> {
    run_mode: &'static str,
    initial_environment: Option<&'a str>,
    converged_environment: Option<&'a str>,
}

impl RunRecord {
    /// The text of the file.
    pub(crate) fn summary_yaml(&self) -> String {
        let metrics = self.metrics().into_iter().map(|metric| {
            let mut values: IndexMap<String, Number> = metric.values.into_iter().collect();
            if metric.name == "time" {
                let last_run = self.ended.unwrap_or(self.context.time).as_second();
                let last_run = u64::try_from(last_run).unwrap_or_default();
                values.insert("last_run".to_owned(), Number::Count(last_run));
            }
            (metric.name, values)
        });
        let summary = RunSummary {
            version: SummaryVersion {
                config: self.configuration_version.as_ref(),
                puppet: &self.context.puppet_version,
            },
            application: Application {
                run_mode: "agent",
                initial_environment: self.context.environment.as_deref(),
                converged_environment: self.environment.as_deref(),
            },
            metrics: metrics.collect(),
        };
        let yaml = serde_saphyr::to_string(&summary).expect("texts and numbers are YAML");
        format!("---\n{yaml}")
    }
}
