//! The status of a device, run or resource as a label with a class for its color.

/// A status in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StatusLabel(String);

impl StatusLabel {
    /// `word`: as in the summary of a run.
    pub(super) fn new(word: impl Into<String>) -> Self {
        Self(word.into())
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }

    pub(super) fn class(&self) -> String {
        self.0.replace([' ', '_'], "-")
    }
}
