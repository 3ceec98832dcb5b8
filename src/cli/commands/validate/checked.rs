//! The findings of one file, limited in number.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::desired_state::{OriginMap, StateEntry};
use crate::diagnostic::{CheckedFindings, Counts, Diagnostic, ManifestPosition, Rest, limit};
use crate::fleet::coverage::LinePolicy;
use crate::inventory::range;
use crate::validate::cross_catalog;

/// Maximum number of findings of one code per catalog.
const LIMIT: usize = 1000;

/// Merges equal findings at one position, such as a file that is a part of many catalogs. The first file keeps the
/// finding, with the names of all in its message.
pub(super) fn merge_equal(all: &mut [CheckedFile]) {
    type Positions = (Option<(Arc<str>, u64)>, Vec<(String, Range<usize>)>);
    let mut known: HashMap<(&'static str, String, Positions), Vec<String>> = HashMap::new();
    let key = |found: &Diagnostic| {
        let labels = found.labels.iter();
        let manifest = found
            .position
            .as_ref()
            .map(|at| (Arc::clone(&at.file), at.line));
        let positions = labels.map(|label| (label.source.name.clone(), label.span.clone()));
        (
            found.code,
            found.message.clone(),
            (manifest, positions.collect()) as Positions,
        )
    };
    for file in all.iter_mut() {
        let name = file.name.clone();
        file.findings.retain(|found| {
            if found.labels.is_empty() && found.position.is_none() {
                return true;
            }
            let names = known.entry(key(found)).or_default();
            // One file may have the same finding twice.
            if names.last() != Some(&name) {
                names.push(name.clone());
            }
            names.len() == 1
        });
    }
    for found in all.iter_mut().flat_map(|file| &mut file.findings) {
        if let Some(names) = known.get(&key(found))
            && names.len() > 1
        {
            let names = range::of_names(names.iter().map(String::as_str));
            found.message = format!("{} ({})", found.message, names.join(", "));
        }
    }
}

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
    pub(crate) entries: Vec<StateEntry>,
    /// What desired state files say about lines that no resource has.
    pub(crate) line_policy: LinePolicy,
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
            entries: Vec::new(),
            line_policy: LinePolicy::default(),
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

    /// Findings without a position are at the first line of a file.
    pub(crate) fn add_positions(&mut self, file: String) {
        let file: Arc<str> = file.into();
        for found in &mut self.findings {
            if found.labels.is_empty() && found.position.is_none() {
                found.position = Some(ManifestPosition {
                    file: Arc::clone(&file),
                    line: 1,
                });
            }
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
