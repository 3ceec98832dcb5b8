//! Lines that a strict run refuses: those that no declared resource has.

use std::collections::BTreeSet;

use switchtender_devices::diagnostic::Diagnostic;

use super::LineClass;
use super::classification::CoveredLine;
use crate::words::words;

words! {
    /// The lines that must be managed.
    #[derive(clap::ValueEnum)]
    Strict {
        /// Lines in blocks, or with first words, that a declared resource has, too
        Sections = "sections",
        /// All lines that a person wrote
        All = "all",
    }
}

/// The code of the findings.
pub(crate) const CODE: &str = "unmanaged-line";

/// A finding for each line that is not managed.
pub(crate) fn findings(lines: &[CoveredLine], strict: Strict) -> Vec<Diagnostic> {
    unmanaged(lines, strict).map(finding).collect()
}

fn unmanaged(lines: &[CoveredLine], strict: Strict) -> impl Iterator<Item = &CoveredLine> {
    let managed = lines.iter().filter(|line| line.class == LineClass::Managed);
    let mut sections: BTreeSet<&str> = BTreeSet::new();
    for line in managed {
        sections.insert(section(line));
        if line.blocks.is_empty() {
            // It can be the header of a block.
            sections.insert(line.text.trim());
        }
    }
    lines.iter().filter(move |line| {
        let is_free = matches!(
            line.class,
            LineClass::Available | LineClass::NotUnderstood | LineClass::NotCovered
        );
        is_free && (strict == Strict::All || sections.contains(section(line)))
    })
}

/// The outermost block of a line, or its first word.
fn section(line: &CoveredLine) -> &str {
    let word = || line.keywords.split(' ').next().unwrap_or_default();
    line.blocks.first().map_or_else(word, String::as_str)
}

fn finding(line: &CoveredLine) -> Diagnostic {
    let text = line.text.trim();
    let block = match line.blocks.last() {
        Some(block) => format!(" in `{block}`"),
        None => String::new(),
    };
    let reason = match line.class {
        LineClass::Available => format!("{} reads it, and no file declares it", line.owner()),
        LineClass::NotUnderstood => format!("{} does not understand it", line.owner()),
        _ => "no type reads it".to_owned(),
    };
    Diagnostic::error(
        CODE,
        format!(
            "line {} `{text}`{block} is not managed: {reason}",
            line.line
        ),
    )
    .help("declare it, name it under `unmanaged` in a state file, or remove it from the device")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(blocks: &[&str], text: &str, class: LineClass) -> CoveredLine {
        CoveredLine {
            line: 1,
            text: text.to_owned(),
            class,
            type_name: None,
            title: None,
            attribute: None,
            also: Vec::new(),
            blocks: blocks.iter().map(|block| (*block).to_owned()).collect(),
            keywords: text.split(' ').take(1).collect(),
        }
    }

    #[test]
    fn sections_are_blocks_and_first_words_of_managed_lines() {
        let lines = [
            line(&[], "interface a", LineClass::Managed),
            line(&["interface a"], "mtu 9000", LineClass::Managed),
            line(&["interface a"], "verify x", LineClass::NotCovered),
            line(&[], "interface b", LineClass::Available),
            line(&["interface b"], "mtu 9000", LineClass::Available),
            line(&["interface a"], "no address", LineClass::Default),
            line(&[], "crypto x", LineClass::NotCovered),
            line(&[], "version 1", LineClass::Generated),
            line(&[], "logging x", LineClass::Excluded),
        ];
        let texts = |strict| -> Vec<&str> {
            let found = unmanaged(&lines, strict);
            found.map(|line| line.text.as_str()).collect()
        };
        assert_eq!(texts(Strict::Sections), ["verify x", "interface b"]);
        assert_eq!(
            texts(Strict::All),
            ["verify x", "interface b", "mtu 9000", "crypto x"]
        );
        let found = findings(&lines, Strict::Sections);
        assert_eq!(
            found[0].message,
            "line 1 `verify x` in `interface a` is not managed: no type reads it"
        );
    }
}
