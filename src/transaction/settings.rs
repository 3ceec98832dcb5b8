//! Settings of a run.

use super::tags::TagSelection;
use crate::compat::Deviations;
use crate::route::HostResourcePolicy;

/// Settings of a run. The default is for a device run.
#[derive(Clone, Debug)]
pub struct TransactionSettings {
    /// Apply only resources with one of these tags. Empty: apply all.
    pub tags: TagSelection,
    /// Skip resources with one of these tags. Takes precedence over `tags`.
    pub skip_tags: TagSelection,
    /// Apply resources even outside of their schedule.
    pub ignore_schedules: bool,
    /// Log the start and the duration of each evaluation.
    pub evaltrace: bool,
    /// Log one warning per class, not per resource, if the class has failed dependencies.
    pub merge_dependency_warnings: bool,
    /// Whether the run is for a device: then host types are skipped, otherwise device types.
    pub for_device: bool,
    /// How to report resources that belong to the other kind of run.
    pub host_resources: HostResourcePolicy,
    /// End the run after the first failed resource.
    pub stop_at_failure: bool,
    /// Emit graph files. The message about cycles names this file.
    pub cycles_file: Option<String>,
    /// Deviations from Puppet 7. Use [`Deviations::puppet7`] for none.
    pub deviations: Deviations,
}

impl Default for TransactionSettings {
    fn default() -> Self {
        Self {
            tags: TagSelection::default(),
            skip_tags: TagSelection::default(),
            ignore_schedules: false,
            evaltrace: false,
            merge_dependency_warnings: false,
            for_device: true,
            host_resources: HostResourcePolicy::Warn,
            stop_at_failure: false,
            cycles_file: None,
            deviations: Deviations::default(),
        }
    }
}
