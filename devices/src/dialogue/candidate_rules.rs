//! `[candidate]` of a command line: configuration that takes effect when it is committed.

use crate::document::{keys, word_values};

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

/// Which changes take effect together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CandidateScope {
    Resource,
    Run,
}

word_values!(CandidateScope {
    "resource" => CandidateScope::Resource,
    "run" => CandidateScope::Run,
});

keys! {
    /// Configuration of a command line that takes effect when it is committed.
    pub(crate) struct CandidateKeys {
        /// Command that checks the candidate.
        check: Option<String>,
        /// Command that prints the difference from the running configuration.
        diff: Option<String>,
        /// Command that commits.
        commit: String,
        /// Command that discards the candidate.
        abort: String,
        /// A commit that is reverted unless it is confirmed; for NETCONF its seconds.
        confirm: Option<ConfirmKeys>,
        /// `resource` (default), or `run`: resources of a run are committed together.
        scope: CandidateScope = CandidateScope::Resource,
    }
}

keys! {
    /// A commit that the device reverts unless it is confirmed.
    pub(crate) struct ConfirmKeys {
        /// Command that commits for a limited time.
        commit: String,
        /// Command that confirms the commit.
        keep: String,
        /// Commands that restore the configuration before.
        revert: Vec<String>,
    }
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

impl From<CandidateKeys> for CandidateRules {
    fn from(keys: CandidateKeys) -> Self {
        Self {
            check: keys.check,
            diff: keys.diff,
            commit: keys.commit,
            abort: keys.abort,
            confirm: keys.confirm.map(|keys| ConfirmRules {
                commit: keys.commit,
                keep: keys.keep,
                revert: keys.revert,
            }),
            spans_run: keys.scope == CandidateScope::Run,
        }
    }
}
