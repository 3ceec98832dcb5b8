//! Where we deliberately do not do as Puppet 7 does: what it does, what we do, why.
//!
//! The one table of it. Each decision in the engine that follows it asks [`Deviations::take`], so
//! that a run can tell which of them made a difference, and `compat = "puppet7"` is the empty set.
//! The documentation of compatibility is made from [`TABLE`].

use std::sync::atomic::{AtomicU32, Ordering};

/// A place where we do better, or otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Deviation {
    ContainerEvents,
    CyclesAreShort,
    UnusableScheduleFailsResource,
    UnknownTypeFailsResource,
    StoppedRunFails,
    SecretsAreHidden,
    AuditDoesNotRefresh,
    AuditKeepsDefaults,
    AuditOfParametersWarns,
    FalseIsEnforced,
    ListHistoryIsKept,
    PrefetchOnlyWhatIsApplied,
    ProviderlessHasEvent,
    KindlessIsTyped,
    PathsAreWhole,
    PeriodNumbersAreSound,
    PurgersApply,
    OutcomeBeforeEvent,
    ResourceApiKeepsTags,
    ResourceApiKeepsPosition,
    ResourceApiAuditReadsOnly,
    ResourceApiBooleansAlike,
    InitOnlyIsChecked,
    FailuresAreToldOnce,
    NoopText,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub deviation: Deviation,
    /// Stable name, for settings and documents.
    pub name: &'static str,
    pub puppet: &'static str,
    pub ours: &'static str,
    pub why: &'static str,
}

/// All deviations, in the order of the enumeration.
pub const TABLE: [Row; 25] = [
    Row {
        deviation: Deviation::ContainerEvents,
        name: "container-events",
        puppet: "In a device run events stop at the boundaries of classes and defined types.",
        ours: "They are delivered, as the relationship rules say and as on a host.",
        why: "`Class[a] ~> Class[b]` silently doing nothing is what nobody means.",
    },
    Row {
        deviation: Deviation::CyclesAreShort,
        name: "cycles-are-short",
        puppet: "The message about dependency cycles shows the first walk that meets itself, \
                 with what leads to the cycle, and contains a backslash and an n.",
        ours: "It shows the shortest way round of each, on a line of its own.",
        why: "It is meant to be read, and what only leads to a cycle need not go.",
    },
    Row {
        deviation: Deviation::UnusableScheduleFailsResource,
        name: "unusable-schedule-fails-resource",
        puppet: "A resource whose schedule is unknown, or has a `repeat` of 0, ends the run half \
                 way, and history is lost.",
        ours: "That resource fails and what depends on it is skipped.",
        why: "One wrong word must not leave a device half configured.",
    },
    Row {
        deviation: Deviation::UnknownTypeFailsResource,
        name: "unknown-type-fails-resource",
        puppet: "A resource of an unknown type fails the whole catalog.",
        ours: "That resource fails and what depends on it is skipped.",
        why: "The rest of the catalog is as good as it was.",
    },
    Row {
        deviation: Deviation::StoppedRunFails,
        name: "stopped-run-fails",
        puppet: "A run that was told to stop counts as completed and successful, and what still \
                 waited for a provider is not told of.",
        ours: "It counts as not completed, and failed; all that was not done is told as skipped.",
        why: "What was not done must not look done.",
    },
    Row {
        deviation: Deviation::SecretsAreHidden,
        name: "secrets-are-hidden",
        puppet: "Audited sensitive values are stored in clear, and the error of a failed `ensure` \
                 shows a sensitive one.",
        ours: "A digest of them is stored, which is enough to see a change; errors show \
               `[redacted]`.",
        why: "Secrets do not belong into state files, nor into messages.",
    },
    Row {
        deviation: Deviation::AuditDoesNotRefresh,
        name: "audit-does-not-refresh",
        puppet: "A difference that is only audited triggers refreshes.",
        ours: "It does not.",
        why: "Nothing was changed.",
    },
    Row {
        deviation: Deviation::AuditKeepsDefaults,
        name: "audit-keeps-defaults",
        puppet: "Auditing a property removes its default, that of `ensure` too.",
        ours: "The default stays.",
        why: "Watching something must not change what is wanted of it.",
    },
    Row {
        deviation: Deviation::AuditOfParametersWarns,
        name: "audit-of-parameters-warns",
        puppet: "Auditing a parameter fails the resource with an internal error.",
        ours: "It is a warning: a parameter has no value on the device.",
        why: "Internal errors tell nobody what to do.",
    },
    Row {
        deviation: Deviation::FalseIsEnforced,
        name: "false-is-enforced",
        puppet: "A wanted `false`, and a wanted empty list, are never enforced.",
        ours: "They are.",
        why: "The catalog says so.",
    },
    Row {
        deviation: Deviation::ListHistoryIsKept,
        name: "list-history-is-kept",
        puppet: "After a failed or noop change of a list there is no history of it.",
        ours: "The current list is kept, as other values are.",
        why: "Otherwise the next drift is not recognised as one.",
    },
    Row {
        deviation: Deviation::PrefetchOnlyWhatIsApplied,
        name: "prefetch-only-what-is-applied",
        puppet: "A type is prefetched even when all of its resources are for another kind of run.",
        ours: "It is not.",
        why: "Reading costs time on the device.",
    },
    Row {
        deviation: Deviation::ProviderlessHasEvent,
        name: "providerless-has-event",
        puppet: "A resource without a usable provider fails without an event.",
        ours: "It has an event that says why.",
        why: "A report must explain its failures.",
    },
    Row {
        deviation: Deviation::KindlessIsTyped,
        name: "kindless-is-typed",
        puppet: "A resource without `kind` in a format 2 catalog is silently dropped.",
        ours: "It is a resource if its type is known, a container otherwise.",
        why: "Nothing that was declared may get lost without a word.",
    },
    Row {
        deviation: Deviation::PathsAreWhole,
        name: "paths-are-whole",
        puppet: "A message while the catalog loads freezes the resource's path without containers.",
        ours: "Paths are always whole.",
        why: "Messages of one resource must have one source.",
    },
    Row {
        deviation: Deviation::PeriodNumbersAreSound,
        name: "period-numbers-are-sound",
        puppet: "`periodmatch => number` compares days of months and hours of days, and what was \
                 never checked counts as checked at the start of 1970.",
        ours: "Whole periods are compared, and what was never checked is due.",
        why: "Otherwise nothing new runs on the first of a month.",
    },
    Row {
        deviation: Deviation::PurgersApply,
        name: "purgers-apply",
        puppet: "`resources` is skipped on devices, yet purges.",
        ours: "It applies everywhere (as from Puppet 8 on).",
        why: "The report must say what happens.",
    },
    Row {
        deviation: Deviation::OutcomeBeforeEvent,
        name: "outcome-before-event",
        puppet: "Resource API types log success before anything is written.",
        ours: "Events carry the outcome that the device gave.",
        why: "A report that says changed when the device refused is wrong.",
    },
    Row {
        deviation: Deviation::ResourceApiKeepsTags,
        name: "resource-api-keeps-tags",
        puppet: "Resource API types lose the tags of their classes.",
        ours: "They keep them.",
        why: "`--tags` must select what it names.",
    },
    Row {
        deviation: Deviation::ResourceApiKeepsPosition,
        name: "resource-api-keeps-position",
        puppet: "Resource API types lose file and line.",
        ours: "They keep them.",
        why: "People look for the place.",
    },
    Row {
        deviation: Deviation::ResourceApiAuditReadsOnly,
        name: "resource-api-audit-reads-only",
        puppet: "An audited, unmanaged attribute of a Resource API type is written as null.",
        ours: "It is not written.",
        why: "Watching an attribute must not remove it.",
    },
    Row {
        deviation: Deviation::ResourceApiBooleansAlike,
        name: "resource-api-booleans-alike",
        puppet: "Resource API types show old booleans as true and new ones as 'true'.",
        ours: "Both are shown alike, without quotes.",
        why: "`up changed true to 'false'` reads like a change of type.",
    },
    Row {
        deviation: Deviation::InitOnlyIsChecked,
        name: "init-only-is-checked",
        puppet: "Changing an init-only attribute is told as done, and refused with a warning only \
                 for types with `ensure`.",
        ours: "Its event is a failure, and the attribute is not written.",
        why: "It cannot be changed, so it was not.",
    },
    Row {
        deviation: Deviation::FailuresAreToldOnce,
        name: "failures-are-told-once",
        puppet: "What a failed change died of is logged by itself, and again with the event.",
        ours: "It is logged once, with the event.",
        why: "One fault must read as one.",
    },
    Row {
        deviation: Deviation::NoopText,
        name: "noop-text",
        puppet: "Puppet 7 says `current_value OLD, should be NEW (noop)`.",
        ours: "The text of the change with ` (noop)`, as Puppet 8 does.",
        why: "It is the newer wording, and reads better.",
    },
];

/// A set of deviations, and which of them a run has made use of.
#[derive(Debug)]
pub struct Deviations {
    active: u32,
    taken: AtomicU32,
}

impl Default for Deviations {
    fn default() -> Self {
        Self::of(TABLE.iter().map(|row| row.deviation))
    }
}

impl Clone for Deviations {
    /// The same set, with nothing made use of yet.
    fn clone(&self) -> Self {
        Self {
            active: self.active,
            taken: AtomicU32::new(0),
        }
    }
}

impl Deviations {
    /// Puppet 7, defects included.
    pub fn puppet7() -> Self {
        Self::of([])
    }

    pub fn of(deviations: impl IntoIterator<Item = Deviation>) -> Self {
        let active = deviations.into_iter().fold(0, |set, one| set | bit(one));
        Self {
            active,
            taken: AtomicU32::new(0),
        }
    }

    /// The same set without some, with nothing made use of yet.
    #[must_use]
    pub fn without(&self, deviations: &[Deviation]) -> Self {
        let gone = deviations.iter().fold(0, |set, one| set | bit(*one));
        Self {
            active: self.active & !gone,
            taken: AtomicU32::new(0),
        }
    }

    pub fn has(&self, deviation: Deviation) -> bool {
        self.active & bit(deviation) != 0
    }

    /// Asked where Puppet would do otherwise: whether to deviate. Kept in mind if so.
    pub fn take(&self, deviation: Deviation) -> bool {
        let take = self.has(deviation);
        if take {
            self.taken.fetch_or(bit(deviation), Ordering::Relaxed);
        }
        take
    }

    /// The deviations that made a difference so far.
    pub fn taken(&self) -> Vec<Deviation> {
        let taken = self.taken.load(Ordering::Relaxed);
        TABLE
            .iter()
            .map(|row| row.deviation)
            .filter(|one| taken & bit(*one) != 0)
            .collect()
    }
}

fn bit(deviation: Deviation) -> u32 {
    1 << deviation as u32
}

/// `docs/compatibility.md`.
pub fn document() -> String {
    let mut text = String::from(
        "# Compatibility with Puppet\n\n\
         Catalogs are applied as Puppet 7 applies them, which `docs/transaction.md` describes and the recorded\n\
         cases of `tests/fixtures/conformance` check. Where Puppet does something that nobody can want, we do\n\
         otherwise. This is the complete list; `compat = \"puppet7\"` switches all of it off.\n",
    );
    for row in &TABLE {
        text += &format!(
            "\n## {}\n\nPuppet: {}\n\nHere: {}\n\nWhy: {}\n",
            row.name, row.puppet, row.ours, row.why
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_about_compatibility_is_the_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/compatibility.md");
        let written = std::fs::read_to_string(path).unwrap();
        assert!(written == document(), "{path} should read:\n{}", document());
    }

    #[test]
    fn every_deviation_has_its_row_and_a_name_of_its_own() {
        for (index, row) in TABLE.iter().enumerate() {
            assert_eq!(row.deviation as usize, index, "{}", row.name);
            assert_eq!(
                TABLE.iter().filter(|other| other.name == row.name).count(),
                1
            );
        }
    }
}
