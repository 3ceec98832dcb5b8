//! What came of one file: its findings, bounded, however many there are.

use crate::diagnostic::{Counts, Diagnostic, Rest, limit};
use crate::validate::cross_catalog;

/// Findings of one code that are kept of one catalog.
const KEPT: usize = 1000;

/// What came of one file.
pub struct Checked {
    pub name: String,
    pub findings: Vec<Diagnostic>,
    /// Findings beyond those kept.
    pub rest: Rest,
    pub summary: Option<cross_catalog::Summary>,
    /// It is for a device, and nobody said of which platform.
    pub no_platform: bool,
    /// The file could not be read at all.
    pub unreadable: bool,
}

impl Checked {
    pub fn new(name: String) -> Self {
        Self {
            name,
            findings: Vec::new(),
            rest: Rest::new(),
            summary: None,
            no_platform: false,
            unreadable: false,
        }
    }

    /// Keeps findings, in order, but no more of one code than [`KEPT`].
    pub fn keep(&mut self, findings: Vec<Diagnostic>) {
        let limited = limit(findings, KEPT);
        self.findings.extend(limited.shown);
        for (code, counts) in limited.rest {
            *self.rest.entry(code).or_default() += counts;
        }
    }

    pub fn counts(&self) -> Counts {
        let mut counts = Counts::of(&self.findings);
        for more in self.rest.values() {
            counts += *more;
        }
        counts
    }

    /// The findings for machines: what is not kept is one more, that says how many they are.
    pub fn for_machines(&self) -> Vec<Diagnostic> {
        let mut findings = self.findings.clone();
        for (code, counts) in &self.rest {
            if let Some(worst) = counts.worst() {
                let message = format!(
                    "{} more like this in {}: {counts}",
                    counts.total(),
                    self.name
                );
                findings.push(Diagnostic::new(code, worst, message));
            }
        }
        findings
    }
}
