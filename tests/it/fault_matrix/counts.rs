//! Counts per fault and phase.

use std::collections::BTreeMap;
use std::fmt;

use super::phase::Phase;

/// The result of a case.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cell {
    right: usize,
    wrong: usize,
    endless: usize,
}

/// The results of all cases.
#[derive(Debug, Default)]
pub(super) struct Counts {
    cells: BTreeMap<(&'static str, Phase), Cell>,
    findings: Vec<String>,
    /// The cases whose fault did not fire.
    idle: Vec<String>,
}

/// The end of a case.
#[derive(Debug)]
pub(super) enum CaseResult {
    Right,
    /// The reasons.
    Wrong(Vec<String>),
    /// The run of the device did not end.
    Endless,
}

impl Counts {
    /// Adds the result of a case.
    pub(super) fn add(
        &mut self,
        (fault, phase): (&'static str, Phase),
        case: &str,
        result: CaseResult,
    ) {
        let cell = self.cells.entry((fault, phase)).or_default();
        match result {
            CaseResult::Right => cell.right += 1,
            CaseResult::Endless => {
                cell.endless += 1;
                self.findings.push(format!("{case}: endless"));
            }
            CaseResult::Wrong(reasons) => {
                cell.wrong += 1;
                self.findings
                    .push(format!("{case}: {}", reasons.join("; ")));
            }
        }
    }

    /// Adds a case whose fault did not fire.
    pub(super) fn add_idle(&mut self, case: String) {
        self.idle.push(case);
    }

    /// Adds a finding about a device without a fault.
    pub(super) fn add_finding(&mut self, finding: String) {
        self.findings.push(finding);
    }

    /// Number of cases whose fault fired.
    pub(super) fn cases(&self) -> usize {
        let total = self.total();
        total.right + total.wrong + total.endless
    }

    pub(super) fn findings(&self) -> Vec<&str> {
        self.findings.iter().map(String::as_str).collect()
    }

    fn total(&self) -> Cell {
        let mut total = Cell::default();
        for cell in self.cells.values() {
            total.right += cell.right;
            total.wrong += cell.wrong;
            total.endless += cell.endless;
        }
        total
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "right/wrong/endless by fault and phase")?;
        write!(formatter, "{:18}", "")?;
        for phase in Phase::ALL {
            write!(formatter, "{:>14}", format!("{phase:?}").to_lowercase())?;
        }
        writeln!(formatter)?;
        let mut faults: Vec<&str> = self.cells.keys().map(|(fault, _)| *fault).collect();
        faults.dedup();
        for fault in faults {
            write!(formatter, "{fault:18}")?;
            for phase in Phase::ALL {
                let found = self.cells.iter().find(|(key, _)| **key == (fault, phase));
                let text = found.map_or("-".to_owned(), |(_, cell)| cell.to_string());
                write!(formatter, "{text:>14}")?;
            }
            writeln!(formatter)?;
        }
        for case in &self.idle {
            writeln!(formatter, "not fired: {case}")?;
        }
        let (cases, idle) = (self.cases(), self.idle.len());
        writeln!(
            formatter,
            "total {cases} cases: {}; {idle} not fired",
            self.total()
        )
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cell {
            right,
            wrong,
            endless,
        } = self;
        write!(formatter, "{right}/{wrong}/{endless}")
    }
}
