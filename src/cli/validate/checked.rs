//! The findings of one file, limited in number.

use crate::desired_state::OriginMap;
use crate::diagnostic::{CheckedFindings, Counts, Diagnostic, Rest, limit};
use crate::validate::cross_catalog;

/// Maximum number of findings of one code per catalog.
const LIMIT: usize = 1000;

/// A checked file.
pub(crate) struct CheckedFile {
    pub(crate) name: String,
    pub(crate) findings: Vec<Diagnostic>,
    /// Number of further findings, by code.
    pub(crate) rest: Rest,
    pub(crate) summary: Option<cross_catalog::CatalogSummary>,
    /// It is for a device whose platform is unknown.
    pub(crate) no_platform: bool,
    /// The file cannot be read.
    pub(crate) unreadable: bool,
    /// Where the parts of a catalog from desired state files come from.
    pub(crate) origins: Option<OriginMap>,
}

impl CheckedFile {
    pub(crate) fn new(name: String) -> Self {
        Self {
            name,
            findings: Vec::new(),
            rest: Rest::new(),
            summary: None,
            no_platform: false,
            unreadable: false,
            origins: None,
        }
    }

    /// Adds findings, at most [`LIMIT`] of one code.
    pub(crate) fn add(&mut self, findings: Vec<Diagnostic>) {
        let limited = limit(findings, LIMIT);
        self.findings.extend(limited.findings);
        for (code, counts) in limited.rest {
            *self.rest.entry(code).or_default() += counts;
        }
    }

    pub(crate) fn counts(&self) -> Counts {
        let mut counts = Counts::of(&self.findings);
        for more in self.rest.values() {
            counts += *more;
        }
        counts
    }

    /// The findings for machine formats, and one more for each code above the limit with its number.
    pub(crate) fn for_machines(&self) -> CheckedFindings {
        let mut findings = self.findings.clone();
        for (code, counts) in &self.rest {
            if let Some(worst) = counts.worst() {
                let message = format!(
                    "{} more findings of this code in {}: {counts}",
                    counts.total(),
                    self.name
                );
                findings.push(Diagnostic::new(code, worst, message));
            }
        }
        CheckedFindings {
            name: self.name.clone(),
            findings,
        }
    }
}
