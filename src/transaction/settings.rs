//! How a catalog is applied.

use super::tags::TagSelection;
use crate::compat::Deviations;

/// How a catalog is applied. The default is what a device run does.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Change nothing, say what would change. A resource's own `noop` wins.
    pub noop: bool,
    /// Apply only what has one of these tags; empty selects all.
    pub tags: TagSelection,
    /// Apply nothing that has one of these tags; wins over `tags`.
    pub skip_tags: TagSelection,
    pub ignore_schedules: bool,
    /// Say when each vertex is start and how long it elapsed.
    pub evaltrace: bool,
    pub merge_dependency_warnings: bool,
    /// Whether the run is for a device; host types are skipped then. Otherwise device types are.
    pub for_device: bool,
    pub mixed: Mixed,
    /// Emit the graphs; the name of the file that shows cycles is told in the message about them.
    pub cycles_file: Option<String>,
    /// Deviations from Puppet 7; [`Deviations::puppet7`] for none.
    pub deviations: Deviations,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            noop: false,
            tags: TagSelection::default(),
            skip_tags: TagSelection::default(),
            ignore_schedules: false,
            evaltrace: false,
            merge_dependency_warnings: false,
            for_device: true,
            mixed: Mixed::Warn,
            cycles_file: None,
            deviations: Deviations::default(),
        }
    }
}

/// What is said about host resources in a device's catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mixed {
    /// They are listed once, as a warning.
    Warn,
    /// Nothing, as Puppet.
    Silent,
}
