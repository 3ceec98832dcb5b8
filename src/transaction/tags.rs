//! Selection by tags (`docs/reference/transaction.md`, section 13).

use std::sync::Arc;

/// Tags that select resources. A resource needs one of them, in any case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagSelection(Vec<String>);

impl TagSelection {
    /// Reads a comma-separated list.
    pub fn parse(text: &str) -> Self {
        Self(
            text.split(',')
                .map(|tag| tag.trim().to_lowercase())
                .filter(|tag| !tag.is_empty())
                .collect(),
        )
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one of a resource's tags is selected.
    pub(crate) fn matches(&self, tags: &[Arc<str>]) -> bool {
        self.0
            .iter()
            .any(|desired| tags.iter().any(|tag| **tag == **desired))
    }

    /// The tags separated by commas, for messages.
    pub(crate) fn render(&self) -> String {
        self.0.join(", ")
    }
}
