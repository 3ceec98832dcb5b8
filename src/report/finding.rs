//! Findings about the catalog of a run.

use serde::{Deserialize, Serialize};
use switchtender_devices::diagnostic::{Diagnostic, Severity};

use crate::transaction::file_line;
use crate::validate::{Effect, effect_of};

/// A finding about a catalog; secrets are masked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = StoredFinding)]
pub(crate) struct FindingRecord {
    pub(crate) code: String,
    #[schema(value_type = String)]
    pub(crate) severity: Severity,
    pub(crate) message: String,
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u64>,
    pub(crate) help: Option<String>,
    /// A plan shows it with its resource.
    #[serde(skip)]
    pub(crate) is_note: bool,
}

impl FindingRecord {
    /// `mask` hides the secrets of the device.
    pub(crate) fn new(finding: &Diagnostic, mask: impl Fn(&str) -> String) -> Self {
        let position = finding.position.as_ref();
        Self {
            code: finding.code.to_owned(),
            severity: finding.severity,
            message: mask(&finding.message),
            file: position.map(|position| position.file.to_string()),
            line: position.map(|position| position.line),
            help: finding.help.as_deref().map(mask),
            is_note: effect_of(finding) == Effect::Inform,
        }
    }

    /// `file:line` in the manifest.
    pub(crate) fn position(&self) -> Option<String> {
        file_line(self.file.as_deref(), self.line)
    }
}
