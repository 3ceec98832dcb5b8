//! What a device writes into its configuration by itself.

use crate::document::keys;
use crate::pattern::{Pattern, Patterns};

/// Between a block and a line in it.
const SEPARATOR: &str = " / ";

keys! {
    /// What the device writes into its configuration by itself.
    pub(super) struct CoverageKeys {
        /// Patterns of lines that nobody wrote, each with its blocks: `block / line`.
        generated: Vec<Pattern>,
    }
}

/// `[coverage]` of `platform.toml`.
#[derive(Clone, Debug, Default)]
pub(crate) struct CoverageRules {
    /// Lines that the device makes by itself, with the blocks around them: versions, licenses, certificates.
    generated: Patterns,
}

impl From<CoverageKeys> for CoverageRules {
    fn from(keys: CoverageKeys) -> Self {
        Self {
            generated: keys.generated.into_iter().collect(),
        }
    }
}

impl CoverageRules {
    /// Whether the device makes a line, which is the last of a path of blocks.
    pub(super) fn is_generated(&self, path: &[&str]) -> bool {
        self.generated.is_match(&path.join(SEPARATOR))
    }
}
