//! Diagnostics as annotations of GitHub Actions: workflow commands, one per line.
//!
//! GitHub reads a command at the start of a line and decodes `%25`, `%0D` and `%0A`, in properties
//! also `%3A` and `%2C`.

use super::main_position::main_position;
use super::{Diagnostic, Severity, escape_line};

/// One line per finding, each ended by `\n`.
pub(crate) fn lines<'a>(list: impl IntoIterator<Item = &'a Diagnostic>) -> String {
    list.into_iter().map(annotation).collect()
}

fn annotation(found: &Diagnostic) -> String {
    let command = match found.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    let mut properties = Vec::new();
    if let Some(position) = main_position(found) {
        properties.push(("file", position.file.to_owned()));
        properties.push(("line", position.line.to_string()));
        if let Some((column, end)) = position.columns {
            properties.push(("col", column.to_string()));
            // Ours is exclusive.
            properties.push(("endColumn", end.saturating_sub(1).max(column).to_string()));
        }
    }
    properties.push(("title", found.code.to_owned()));
    let properties: Vec<String> = properties
        .into_iter()
        .map(|(name, value)| format!("{name}={}", property(&value)))
        .collect();
    let help = found.help.iter().flat_map(|help| help.split('\n'));
    let message: Vec<String> = std::iter::once(found.message.as_str())
        .chain(help)
        .map(|line| data(&escape_line(line)))
        .collect();
    format!(
        "::{command} {}::{}\n",
        properties.join(","),
        message.join("%0A")
    )
}

fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(&escape_line(text))
        .replace(':', "%3A")
        .replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::super::{ManifestPosition, Source};
    use super::*;

    #[test]
    fn annotation_has_file_line_title_and_help() {
        let found = Diagnostic::error("cycle", "a: 100 %")
            .in_manifest(Some(ManifestPosition {
                file: "site,a:b.pp".into(),
                line: 7,
            }))
            .help("one\ntwo");
        assert_eq!(
            lines([&found]),
            "::error file=site%2Ca%3Ab.pp,line=7,title=cycle::a: 100 %25%0Aone%0Atwo\n"
        );
        let source = Source::new("c.json", "{\n  \"x\": 1\n}");
        let found = Diagnostic::warning("null-value", "x").at(&source, 4..7, "");
        assert_eq!(
            lines([&found]),
            "::warning file=c.json,line=2,col=3,endColumn=5,title=null-value::x\n"
        );
        let found = Diagnostic::new("no-catalog", Severity::Note, "sw1");
        assert_eq!(lines([&found]), "::notice title=no-catalog::sw1\n");
    }

    #[test]
    fn annotation_has_the_columns_of_a_label_in_the_line_of_the_position() {
        let source = Source::new("common.yaml", "vlan:\n  10: {mtu: x}\n");
        let found = Diagnostic::error("invalid-value", "x")
            .in_manifest(Some(ManifestPosition {
                file: "common.yaml".into(),
                line: 2,
            }))
            .at(&source, 18..19, "");
        assert_eq!(
            lines([&found]),
            "::error file=common.yaml,line=2,col=13,endColumn=13,title=invalid-value::x\n"
        );
    }

    #[test]
    fn annotation_of_hostile_text_is_one_command() {
        let found = Diagnostic::error("x", "a\n::stop-commands::t\r\n\u{1b}[2J").help("b\r::c::");
        let text = lines([&found]);
        assert_eq!(text.matches('\n').count(), 1, "{text}");
        assert!(!text.contains(['\r', '\u{1b}']), "{text}");
        assert!(text.starts_with("::error title=x::a\\n::stop"), "{text}");
    }
}
