//! The coverage of configurations as text.

use super::Report;
use crate::cli::output::view::table;
use crate::coverage::LineClass;
use crate::coverage::classification::CoveredLine;
use crate::coverage::counts::ClassCounts;
use crate::terminal_text::TerminalText;

/// The most constructs that the text lists; JSON and HTML have all.
const MAX_CONSTRUCTS: usize = 20;

/// A summary, a table of devices, and what no type reads.
pub(super) fn render(report: &Report, colored: bool) -> TerminalText {
    let mut text = TerminalText::with_colors(colored);
    text.line(report.summary());
    text.end_line();
    text.append(&devices(report, colored));
    if !report.constructs.is_empty() {
        text.end_line();
        text.append(&constructs(report, colored));
    }
    if let [(_, lines)] = report.devices.as_slice() {
        let uncovered = lines.iter().filter(|line| is_uncovered(line));
        let rows: Vec<Vec<String>> = uncovered.map(row).collect();
        if !rows.is_empty() {
            text.end_line();
            text.append(&table::render(
                &["Line", "Text", "Class", "Type"],
                &rows,
                colored,
            ));
        }
    }
    text
}

fn devices(report: &Report, colored: bool) -> TerminalText {
    let counts = report.counts();
    let all: ClassCounts = counts.iter().sum();
    let used: Vec<LineClass> = LineClass::ALL
        .iter()
        .copied()
        .filter(|class| all.count(*class) > 0)
        .collect();
    let mut header = vec!["Device", "Lines", "Covered"];
    header.extend(used.iter().map(|class| heading(*class)));
    let rows = report
        .devices
        .iter()
        .zip(&counts)
        .map(|((name, _), counts)| {
            let mut row = vec![
                name.clone(),
                counts.total().to_string(),
                format!("{} %", counts.percent(counts.covered())),
            ];
            row.extend(used.iter().map(|class| counts.count(*class).to_string()));
            row
        });
    table::render(&header, &rows.collect::<Vec<_>>(), colored)
}

fn heading(class: LineClass) -> &'static str {
    match class {
        LineClass::Managed => "Managed",
        LineClass::Available => "Available",
        LineClass::Default => "Default",
        LineClass::Generated => "Generated",
        LineClass::Excluded => "Excluded",
        LineClass::NotUnderstood => "Not understood",
        LineClass::NotCovered => "Not covered",
    }
}

fn constructs(report: &Report, colored: bool) -> TerminalText {
    let rows = report.constructs.iter().take(MAX_CONSTRUCTS).map(|one| {
        vec![
            one.name.clone(),
            one.lines.to_string(),
            one.devices.to_string(),
        ]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let mut text = table::render(&["Not covered", "Lines", "Devices"], &rows, colored);
    let more = report.constructs.len().saturating_sub(MAX_CONSTRUCTS);
    if more > 0 {
        text.line(format_args!("and {more} more; --output json lists all"));
    }
    text
}

fn is_uncovered(line: &CoveredLine) -> bool {
    matches!(line.class, LineClass::NotCovered | LineClass::NotUnderstood)
}

/// A line with the headers of its blocks.
fn row(line: &CoveredLine) -> Vec<String> {
    vec![
        line.line.to_string(),
        line.path(),
        line.class.to_string(),
        line.owner(),
    ]
}
