//! Declared differences from Puppet 7: the behavior of Puppet, the behavior here, and the reason.
//!
//! Each decision in the engine that follows a deviation calls [`Deviations::has`]. `--compat puppet7`
//! is the empty set. Defects of Puppet 7 are not copied: each difference has a reason and a test. `docs/compatibility.md` is generated from [`TABLE`].

/// A deliberate difference from Puppet 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Deviation {
    /// In a device run, events cross class and defined type boundaries; Puppet stops them there.
    ContainerEvents,
    /// The message about dependency cycles shows only the shortest path of each cycle.
    ShortCycles,
    /// An unusable schedule fails the resource and skips dependents; Puppet ends the run midway.
    UnusableScheduleFailsResource,
    /// An unknown type fails the resource and skips dependents; Puppet fails the catalog.
    UnknownTypeFailsResource,
    /// A stopped run counts as failed; Puppet reports it as completed and successful.
    StoppedRunFails,
    /// State stores a digest of an audited secret, and errors redact it; Puppet shows clear text.
    SecretsAreHidden,
    /// A difference in an audited property triggers no refresh; in Puppet it does.
    AuditDoesNotRefresh,
    /// A `network_interface` without `enable` retains its state; Puppet shuts it down.
    PortStateStays,
    /// Auditing a parameter is a warning; in Puppet it is an internal error.
    AuditOfParametersWarns,
    /// A desired `false` or empty list is enforced; Puppet never enforces either.
    FalseIsEnforced,
    /// A failed or noop change of a list stores the current list; Puppet stores no history.
    ListHistoryIsStored,
    /// A type is prefetched only if the run applies resources of it; Puppet always prefetches.
    PrefetchOnlyApplied,
    /// A resource without a suitable provider has an event; in Puppet it fails without one.
    NoProviderHasEvent,
    /// A resource of format 2 without `kind` is applied if its type exists; Puppet drops it.
    KindlessIsTyped,
    /// Paths always include the containers; after a message during loading Puppet omits them.
    PathsAreComplete,
    /// Complete periods are compared; Puppet compares only the day of the month or the hour.
    PeriodsAreCompared,
    /// Without a schedule, the time of a check is stored once a day; Puppet stores each.
    ChecksAreStoredDaily,
    /// `resources` is applied on devices, too; Puppet reports it as skipped, yet purges.
    PurgersApply,
    /// Events have the device's outcome; Puppet's Resource API logs success before writing.
    OutcomeBeforeEvent,
    /// Resource API types retain the tags of their classes; in Puppet they lose them.
    ResourceApiKeepsTags,
    /// Resource API types retain file and line; in Puppet they lose them.
    ResourceApiKeepsPosition,
    /// An audited, unmanaged Resource API attribute is not written; Puppet writes null.
    ResourceApiAuditReadsOnly,
    /// Resource API types show both booleans without quotes; Puppet quotes the new one.
    ResourceApiBooleansAlike,
    /// A change of an init-only attribute is a failure; Puppet reports success.
    InitOnlyIsChecked,
    /// The cause of a failed change is logged once, with the event; Puppet logs it twice.
    FailuresLoggedOnce,
    /// Noop events have the text of the change with ` (noop)`, as in Puppet 8.
    NoopText,
    /// A missing resource without `ensure` and tags without a match are warnings, not silent.
    SilentErrorsWarn,
    /// Conflicting values for one setting are refused; in Puppet they overwrite each other.
    ConflictsAreRefused,
    /// Another order of name servers, search domains or servers is a change.
    ListOrderIsCompared,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct DeviationRow {
    /// The deviation that the row describes.
    pub deviation: Deviation,
    /// The heading in `docs/compatibility.md`.
    pub name: &'static str,
    /// The behavior of Puppet 7, in Markdown.
    pub puppet: &'static str,
    /// The behavior of Switchtender, in Markdown.
    pub here: &'static str,
    /// The reason for the deviation, in Markdown.
    pub reason: &'static str,
}

/// All deviations, in the order of the enumeration.
pub const TABLE: [DeviationRow; 29] = [
    DeviationRow {
        deviation: Deviation::ContainerEvents,
        name: "container-events",
        puppet: "In a device run, events stop at the boundaries of classes and defined types.",
        here: "Events cross these boundaries, as on a host.",
        reason: "With Puppet's behavior `Class[a] ~> Class[b]` does nothing on a device, without \
                 a message.",
    },
    DeviationRow {
        deviation: Deviation::ShortCycles,
        name: "short-cycles",
        puppet: "The message about dependency cycles shows the first path that meets itself, \
                 including the resources that only lead to the cycle, and contains the \
                 characters `\\n`.",
        here: "The message shows the shortest path of each cycle on a line of its own.",
        reason: "The message names only the resources that must change.",
    },
    DeviationRow {
        deviation: Deviation::UnusableScheduleFailsResource,
        name: "unusable-schedule-fails-resource",
        puppet: "A resource whose schedule is unknown, or has a `repeat` of 0, ends the run \
                 midway, and history is lost.",
        here: "The resource fails and its dependents are skipped.",
        reason: "One invalid value must not leave a device partly configured.",
    },
    DeviationRow {
        deviation: Deviation::UnknownTypeFailsResource,
        name: "unknown-type-fails-resource",
        puppet: "A resource of an unknown type fails the complete catalog.",
        here: "The resource fails and its dependents are skipped.",
        reason: "The other resources of the catalog are valid.",
    },
    DeviationRow {
        deviation: Deviation::StoppedRunFails,
        name: "stopped-run-fails",
        puppet: "A run that was stopped counts as completed and successful. The report omits \
                 resources that still waited for a provider.",
        here: "The run counts as failed and not completed. The report lists every remaining \
                 resource as skipped.",
        reason: "A report must not hide that resources were not applied.",
    },
    DeviationRow {
        deviation: Deviation::SecretsAreHidden,
        name: "secrets-are-hidden",
        puppet: "Audited sensitive values are stored in clear text, and the error of a failed \
                 `ensure` shows a sensitive value.",
        here: "A digest is stored, which is enough to detect a change. Errors show \
                 `[redacted]`.",
        reason: "State files and messages must not contain secrets.",
    },
    DeviationRow {
        deviation: Deviation::AuditDoesNotRefresh,
        name: "audit-does-not-refresh",
        puppet: "A difference in an audited property triggers refreshes.",
        here: "It does not.",
        reason: "Nothing was changed.",
    },
    DeviationRow {
        deviation: Deviation::PortStateStays,
        name: "port-state-stays",
        puppet: "A `network_interface` without `enable` is shut down, because the module's default is \
                 `false`.",
        here: "The state of the interface does not change.",
        reason: "A resource that only sets a description must not take a port out of service.",
    },
    DeviationRow {
        deviation: Deviation::AuditOfParametersWarns,
        name: "audit-of-parameters-warns",
        puppet: "Auditing a parameter fails the resource with an internal error.",
        here: "It is a warning: a parameter has no value on the device.",
        reason: "An internal error has no hint for the user.",
    },
    DeviationRow {
        deviation: Deviation::FalseIsEnforced,
        name: "false-is-enforced",
        puppet: "A desired `false` and a desired empty list are never enforced.",
        here: "They are enforced.",
        reason: "The catalog declares them.",
    },
    DeviationRow {
        deviation: Deviation::ListHistoryIsStored,
        name: "list-history-is-stored",
        puppet: "After a failed or noop change of a list, no history of the property is stored.",
        here: "The current list is stored, as for other values.",
        reason: "Without history the next drift is not reported as corrective.",
    },
    DeviationRow {
        deviation: Deviation::PrefetchOnlyApplied,
        name: "prefetch-only-applied",
        puppet: "A type is prefetched even if none of its resources is applied in this kind of \
                 run.",
        here: "It is not prefetched.",
        reason: "Reading costs time on the device.",
    },
    DeviationRow {
        deviation: Deviation::NoProviderHasEvent,
        name: "no-provider-has-event",
        puppet: "A resource without a suitable provider fails without an event.",
        here: "It has an event with the reason.",
        reason: "A report must explain its failures.",
    },
    DeviationRow {
        deviation: Deviation::KindlessIsTyped,
        name: "kindless-is-typed",
        puppet: "A resource without `kind` in a catalog of format 2 is dropped without a \
                 message.",
        here: "It is a resource if its type exists, otherwise a container.",
        reason: "A declared resource must not disappear without a message.",
    },
    DeviationRow {
        deviation: Deviation::PathsAreComplete,
        name: "paths-are-complete",
        puppet: "A message while the catalog loads fixes the resource's path without its \
                 containers.",
        here: "Paths always include the containers.",
        reason: "All messages about a resource must have the same source.",
    },
    DeviationRow {
        deviation: Deviation::PeriodsAreCompared,
        name: "periods-are-compared",
        puppet: "`periodmatch => number` compares days of months and hours of days, and a \
                 resource that was never checked counts as checked at the start of 1970.",
        here: "Complete periods are compared, and a resource that was never checked is due.",
        reason: "With Puppet's behavior no new resource is applied on the first day of a month.",
    },
    DeviationRow {
        deviation: Deviation::ChecksAreStoredDaily,
        name: "checks-are-stored-daily",
        puppet: "The time of each check of a resource is stored.",
        here: "The time of a resource without a schedule is stored once a day. A schedule that is \
               added later can apply the resource once more.",
        reason: "A run without changes does not write the state for the next run.",
    },
    DeviationRow {
        deviation: Deviation::PurgersApply,
        name: "purgers-apply",
        puppet: "`resources` is skipped on devices, yet purges.",
        here: "`resources` is applied everywhere, as in Puppet 8.",
        reason: "The report must match the actions.",
    },
    DeviationRow {
        deviation: Deviation::OutcomeBeforeEvent,
        name: "outcome-before-event",
        puppet: "Resource API types log success before they write anything.",
        here: "Events have the outcome that the device returned.",
        reason: "A report must not show a change that the device refused.",
    },
    DeviationRow {
        deviation: Deviation::ResourceApiKeepsTags,
        name: "resource-api-keeps-tags",
        puppet: "Resource API types lose the tags of their classes.",
        here: "They keep them.",
        reason: "`--tags` must select the resources of a class.",
    },
    DeviationRow {
        deviation: Deviation::ResourceApiKeepsPosition,
        name: "resource-api-keeps-position",
        puppet: "Resource API types lose file and line.",
        here: "They keep them.",
        reason: "Messages must lead to the manifest.",
    },
    DeviationRow {
        deviation: Deviation::ResourceApiAuditReadsOnly,
        name: "resource-api-audit-reads-only",
        puppet: "An audited, unmanaged attribute of a Resource API type is written as null.",
        here: "It is not written.",
        reason: "Auditing an attribute must not remove its value.",
    },
    DeviationRow {
        deviation: Deviation::ResourceApiBooleansAlike,
        name: "resource-api-booleans-alike",
        puppet: "Resource API types show the old boolean as true and the new one as 'true'.",
        here: "Both are shown without quotes.",
        reason: "`up changed true to 'false'` appears to be a change of type.",
    },
    DeviationRow {
        deviation: Deviation::InitOnlyIsChecked,
        name: "init-only-is-checked",
        puppet: "A change of an init-only attribute is reported as success. Only types with \
                 `ensure` refuse it, with a warning.",
        here: "The event is a failure, and the attribute is not written.",
        reason: "The device cannot change the attribute.",
    },
    DeviationRow {
        deviation: Deviation::FailuresLoggedOnce,
        name: "failures-logged-once",
        puppet: "The cause of a failed change is logged separately and again with the event.",
        here: "It is logged once, with the event.",
        reason: "One fault must appear as one message.",
    },
    DeviationRow {
        deviation: Deviation::NoopText,
        name: "noop-text",
        puppet: "Puppet 7 logs `current_value OLD, should be NEW (noop)`.",
        here: "The message is that of the change with ` (noop)`, as in Puppet 8.",
        reason: "It is the newer wording and easier to read.",
    },
    DeviationRow {
        deviation: Deviation::SilentErrorsWarn,
        name: "silent-errors-warn",
        puppet: "A resource without `ensure` that does not exist is logged at debug level. Tags that \
                 select no resource are not mentioned.",
        here: "Both are warnings.",
        reason: "In both cases the run does nothing, although it is successful.",
    },
    DeviationRow {
        deviation: Deviation::ConflictsAreRefused,
        name: "conflicts-are-refused",
        puppet: "Two resources with different values for one setting overwrite each other in each \
                 run.",
        here: "`apply` and `plan` refuse the catalog. In `device`, both resources fail.",
        reason: "The order of the resources must not decide the configuration of a device.",
    },
    DeviationRow {
        deviation: Deviation::ListOrderIsCompared,
        name: "list-order-is-compared",
        puppet: "Name servers, search domains and servers of a group are sorted before they are \
                 compared and sent.",
        here: "They are sent in the order of the catalog, and another order is a change.",
        reason: "The device uses them in order.",
    },
];

/// A set of deviations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deviations(u32);

impl Default for Deviations {
    /// All of them.
    fn default() -> Self {
        TABLE.iter().map(|row| row.deviation).collect()
    }
}

impl FromIterator<Deviation> for Deviations {
    fn from_iter<I: IntoIterator<Item = Deviation>>(deviations: I) -> Self {
        let none = Self::puppet7();
        deviations.into_iter().fold(none, Self::with)
    }
}

impl Deviations {
    /// Puppet 7, defects included.
    pub const fn puppet7() -> Self {
        Self(0)
    }

    /// The set with one more.
    #[must_use]
    pub const fn with(self, deviation: Deviation) -> Self {
        Self(self.0 | 1 << deviation as u32)
    }

    /// The set without one.
    #[must_use]
    pub const fn without(self, deviation: Deviation) -> Self {
        Self(self.0 & !(1 << deviation as u32))
    }

    /// Whether to deviate from Puppet 7 here.
    pub(crate) const fn has(self, deviation: Deviation) -> bool {
        self.0 & (1 << deviation as u32) != 0
    }
}

/// The text of `docs/compatibility.md`.
#[cfg(test)]
fn render_document() -> String {
    let mut text = String::from(
        "# Compatibility with Puppet\n\n\
         Catalogs are applied as Puppet 7 applies them. `docs/reference/transaction.md` describes the rules, and recorded\n\
         runs of Puppet in `tests/fixtures/conformance` verify them. The differences below are deliberate, and the\n\
         list is complete. `--compat puppet7` (of `apply`, `plan` and `device`) switches all of them off.\n\n\
         Three differences in reports of devices have no switch. The previous value of a text that is not set is `unset`,\n\
         where some Ruby providers read an empty text. The events of a resource are in the order of the attributes of the\n\
         type. Unchanged resources are left out, as in Puppet 8: `exclude_unchanged_resources = false` restores them.\n",
    );
    for row in &TABLE {
        text += &format!(
            "\n## {}\n\nPuppet: {}\n\nSwitchtender: {}\n\nReason: {}\n",
            row.name, row.puppet, row.here, row.reason
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compat_page_matches_the_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/compatibility.md");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, render_document()).unwrap();
        }
        let written = std::fs::read_to_string(path).unwrap();
        assert!(
            written == render_document(),
            "{path} differs from the table; run the test with UPDATE_DOCS=1"
        );
    }

    #[test]
    fn table_has_one_row_with_a_unique_name_per_deviation() {
        for (index, row) in TABLE.iter().enumerate() {
            assert_eq!(row.deviation as usize, index, "{}", row.name);
            let same = TABLE.iter().filter(|other| other.name == row.name);
            assert_eq!(same.count(), 1, "{}", row.name);
        }
    }
}
