//! `[candidate]` of a command line: configuration that takes effect when it is committed.

use std::fmt;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use crate::document::{keys, text_with, word_values};

/// The placeholder in commands of a platform for the name of a candidate.
const NAME: &str = "{candidate}";

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

/// The name of a candidate. Devices keep those of committed candidates, so that each has another one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CandidateName {
    session: u32,
    number: u32,
}

impl CandidateName {
    /// The first name of a session, unlike those of other sessions.
    pub(crate) fn first() -> Self {
        let random = RandomState::new().build_hasher().finish();
        Self {
            session: u32::try_from(random >> 32).unwrap_or_default(),
            number: 1,
        }
    }

    /// The name of the next candidate.
    pub(crate) fn advance(&mut self) {
        self.number += 1;
    }

    /// A command of the platform with the name.
    pub(crate) fn fill(self, command: &str) -> String {
        command.replace(NAME, &self.to_string())
    }
}

impl fmt::Display for CandidateName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "st{:08x}x{}", self.session, self.number)
    }
}

text_with! {
    /// A command with the name of a candidate.
    pub(crate) struct CandidateCommand("candidate");
}

keys! {
    /// Configuration of a command line that takes effect when it is committed.
    pub(crate) struct CandidateKeys {
        /// Command that checks the candidate.
        check: Option<CandidateCommand>,
        /// Command that prints the difference from the running configuration.
        diff: Option<CandidateCommand>,
        /// Command that commits.
        commit: CandidateCommand,
        /// Command that discards the candidate.
        abort: CandidateCommand,
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
        commit: CandidateCommand,
        /// Command that confirms the commit.
        keep: CandidateCommand,
        /// Commands that restore the configuration before.
        revert: Vec<CandidateCommand>,
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
            check: keys.check.map(|line| line.0),
            diff: keys.diff.map(|line| line.0),
            commit: keys.commit.0,
            abort: keys.abort.0,
            confirm: keys.confirm.map(|keys| ConfirmRules {
                commit: keys.commit.0,
                keep: keys.keep.0,
                revert: keys.revert.into_iter().map(|line| line.0).collect(),
            }),
            spans_run: keys.scope == CandidateScope::Run,
        }
    }
}
