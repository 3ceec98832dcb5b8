//! Parts of files that have an effect for some devices only.

use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::map::IndexMap;

use super::merged_state::ValueOrigin;

/// A `~` or a profile of a file, for one device.
#[derive(Clone, Debug)]
pub(crate) struct StateEntry {
    pub(crate) origin: ValueOrigin,
    pub(crate) kind: EntryKind,
    /// What it removes, or the profile.
    pub(crate) subject: String,
    /// It has an effect for this device.
    pub(crate) is_effective: bool,
}

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    /// A `~`. It has an effect if something is there before.
    Removal,
    /// It has an effect if a resource uses it.
    Profile,
}

impl StateEntry {
    /// Warnings about entries that have no effect for any device.
    pub(crate) fn unused<'a>(all: impl Iterator<Item = &'a StateEntry>) -> Vec<Diagnostic> {
        let mut by_position: IndexMap<(&str, usize), (&StateEntry, bool)> = IndexMap::default();
        for entry in all {
            let ValueOrigin { source, span } = &entry.origin;
            let found = by_position
                .entry((source.name.as_str(), span.start))
                .or_insert((entry, false));
            found.1 |= entry.is_effective;
        }
        let unused = by_position
            .into_values()
            .filter(|(_, is_effective)| !is_effective);
        unused.map(|(entry, _)| entry.warning()).collect()
    }

    fn warning(&self) -> Diagnostic {
        let subject = &self.subject;
        let found = match self.kind {
            EntryKind::Removal => {
                let message = format!("no earlier file sets {subject}: the removal has no effect");
                Diagnostic::warning("unused-removal", message)
                    .help("check the name, or remove the line")
            }
            EntryKind::Profile => {
                let message = format!("no resource uses {subject}");
                Diagnostic::warning("unused-profile", message)
                    .help("write `use: NAME` at a resource, or remove the profile")
            }
        };
        found.at(&self.origin.source, self.origin.span.clone(), "")
    }
}
