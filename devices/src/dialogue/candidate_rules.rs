//! `[candidate]` of a command line: configuration that takes effect when it is committed.

use crate::document::Table;
use crate::document::word;

/// The commands for a candidate configuration, sent in the configuration mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CandidateRules {
    /// Checks the candidate.
    pub(crate) check: Option<String>,
    /// Prints the difference from the running configuration.
    pub(crate) diff: Option<String>,
    pub(crate) commit: String,
    /// Discards the candidate.
    pub(crate) abort: String,
    pub(crate) confirm: Option<ConfirmRules>,
    /// Changes of several resources are committed together.
    pub(crate) spans_run: bool,
}

/// Reads `scope`: whether changes of several resources take effect together.
pub(super) fn spans_run(table: &Table<'_>) -> bool {
    let scopes = [("resource", false), ("run", true)];
    let scope = table.get("scope").and_then(|item| word(&item, &scopes));
    scope.unwrap_or(false)
}

/// A commit that the device reverts unless it is confirmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfirmRules {
    /// Commits for a limited time.
    pub(crate) commit: String,
    /// Confirms the commit.
    pub(crate) keep: String,
    /// Restores the configuration before the commit.
    pub(crate) revert: Vec<String>,
}

impl ConfirmRules {
    /// The commands that confirm the changes, or restore the configuration before them.
    pub(crate) fn end(&self, keep: bool) -> &[String] {
        if keep {
            std::slice::from_ref(&self.keep)
        } else {
            &self.revert
        }
    }
}

impl CandidateRules {
    /// Reads the section. Mistakes become findings of the table.
    pub(super) fn read(table: &Table<'_>) -> Option<Self> {
        let commit = table.required_string("commit");
        let abort = table.required_string("abort");
        let confirm = table.table("confirm").and_then(|table| {
            let commit = table.required_string("commit");
            let keep = table.required_string("keep");
            let revert = table.required("revert");
            table.finish();
            Some(ConfirmRules {
                commit: commit?,
                keep: keep?,
                revert: revert?.strings()?,
            })
        });
        let rules = Self {
            check: table.string("check"),
            diff: table.string("diff"),
            commit: commit?,
            abort: abort?,
            confirm,
            spans_run: spans_run(table),
        };
        table.finish();
        Some(rules)
    }
}
