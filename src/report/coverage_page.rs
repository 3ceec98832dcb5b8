//! The lines of configurations as one HTML page, each with its class in the margin.

use minijinja::context;
use minijinja::value::Value;

use super::html;
use crate::coverage::LineClass;
use crate::coverage::classification::CoveredLine;
use crate::coverage::constructs::Construct;
use crate::coverage::counts::ClassCounts;

/// A page about configurations.
pub(crate) struct CoveragePage<'a> {
    pub(crate) title: String,
    /// What share of the lines is covered.
    pub(crate) totals: String,
    pub(crate) devices: &'a [(String, Vec<CoveredLine>)],
    /// Kinds of lines that no type reads.
    pub(crate) constructs: &'a [Construct],
}

impl CoveragePage<'_> {
    pub(crate) fn render(&self) -> String {
        let counts: Vec<ClassCounts> = self
            .devices
            .iter()
            .map(|(_, lines)| ClassCounts::of(lines))
            .collect();
        let all: ClassCounts = counts.iter().sum();
        let used = LineClass::ALL.iter().copied();
        let used: Vec<LineClass> = used.filter(|class| all.count(*class) > 0).collect();
        let devices = self.devices.iter().zip(&counts);
        let devices = devices.map(|((name, lines), counts)| device(name, lines, counts, &used));
        let classes = used.iter().map(|class| {
            context! { word => class.word(), style => style(*class), count => all.count(*class) }
        });
        let constructs = self.constructs.iter().map(|one| {
            context! { name => one.name, lines => one.lines, devices => one.devices }
        });
        let values = context! {
            title => self.title,
            totals => self.totals,
            classes => classes.collect::<Vec<_>>(),
            devices => devices.collect::<Vec<_>>(),
            constructs => constructs.collect::<Vec<_>>(),
        };
        html::render(include_str!("coverage_page.html"), values)
    }
}

fn device(name: &str, lines: &[CoveredLine], counts: &ClassCounts, used: &[LineClass]) -> Value {
    let classes = used.iter().map(|class| counts.count(*class));
    context! {
        name,
        total => counts.total(),
        percent => counts.percent(counts.covered()),
        classes => classes.collect::<Vec<_>>(),
        lines => lines.iter().map(line).collect::<Vec<_>>(),
    }
}

fn line(line: &CoveredLine) -> Value {
    context! {
        number => line.line,
        text => line.text,
        style => style(line.class),
        class => line.class.word(),
        owner => line.owner(),
    }
}

/// The class of the style sheet.
pub(crate) fn style(class: LineClass) -> String {
    class.word().replace(' ', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coverage_page_escapes_hostile_text() {
        let attack = "<img src=x onerror=alert(1)>\u{1b}[2J";
        let line = CoveredLine {
            line: 1,
            text: attack.to_owned(),
            class: LineClass::Managed,
            type_name: Some("network_vlan".into()),
            title: Some(attack.to_owned()),
            attribute: None,
            also: Vec::new(),
            blocks: Vec::new(),
            keywords: attack.to_owned(),
        };
        let page = CoveragePage {
            title: attack.to_owned(),
            totals: attack.to_owned(),
            devices: &[(attack.to_owned(), vec![line])],
            constructs: &[Construct {
                name: attack.to_owned(),
                lines: 1,
                devices: 1,
            }],
        };
        let html = page.render();
        for forbidden in ["<script", "<img", "\u{1b}", "src=\"", "<link", "@import"] {
            assert!(!html.contains(forbidden), "{forbidden}: {html}");
        }
        assert!(html.contains("&lt;img src=x"), "{html}");
    }
}
