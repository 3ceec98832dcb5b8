//! The policy for the changes of a run after a failed resource.

/// `on_failure`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum FailurePolicy {
    /// Changes stay; resources that do not depend on the failed one are applied
    #[default]
    Keep,
    /// The run ends, and its changes are undone
    Undo,
}

impl FailurePolicy {
    pub(crate) const WORDS: [(&str, FailurePolicy); 2] =
        [("keep", FailurePolicy::Keep), ("undo", FailurePolicy::Undo)];
}
