//! Diagnostics as text: position in the manifest, excerpt with labels, help.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::excerpt::{Excerpt, excerpt};
use super::{Counts, Diagnostic, Label, Limited, ManifestPosition, Severity, escape_line};
use crate::terminal_text::TerminalText;

/// Options of the text output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenderOptions {
    pub(crate) colors: bool,
}

impl RenderOptions {
    /// Text without colors.
    pub const PLAIN: RenderOptions = RenderOptions { colors: false };
}

/// Renders findings, each followed by an empty line, and the numbers of further findings.
pub(crate) fn render(limited: &Limited, options: RenderOptions) -> TerminalText {
    let mut text = render_each(&limited.findings, options);
    for (code, number) in &limited.rest {
        text.line(format_args!("… and {} more of `{code}`", number.total()));
    }
    if !limited.rest.is_empty() {
        text.end_line();
    }
    text
}

/// Renders findings, each followed by an empty line.
pub(crate) fn render_each<'a>(
    list: impl IntoIterator<Item = &'a Diagnostic>,
    options: RenderOptions,
) -> TerminalText {
    let mut text = TerminalText::new();
    for found in list {
        text.append(&TerminalText::of_renderer(&render_one(found, options)))
            .end_line()
            .end_line();
    }
    text
}

/// Renders findings and their numbers. Empty for an empty list.
pub fn render_all(list: &[Diagnostic], options: RenderOptions) -> TerminalText {
    if list.is_empty() {
        return TerminalText::new();
    }
    let mut text = render_each(list, options);
    text.line(Counts::of(list));
    text
}

fn render_one(found: &Diagnostic, options: RenderOptions) -> String {
    let message = escape_line(&found.message);
    let level = match found.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let mut group = Group::with_title(level.primary_title(message).id(found.code));
    let views = excerpts(found);
    let is_first_line = |position: &ManifestPosition| {
        let first = views.first().filter(|view| !view.text.is_empty());
        first.is_some_and(|view| view.name == &*position.file && view.line as u64 == position.line)
    };
    // The excerpt has the position, too.
    let position = found
        .position
        .as_ref()
        .filter(|position| !is_first_line(position));
    if let Some(position) = position {
        let origin = Origin::path(escape_line(&position.file));
        group = group.element(match usize::try_from(position.line) {
            Ok(line) if line > 0 => origin.line(line),
            _ => origin,
        });
    }
    let mut positions = Vec::new();
    for view in views {
        let position = format!("{}:{}:{}", escape_line(view.name), view.line, view.column);
        if view.text.is_empty() {
            group = group.element(Origin::path(position));
            continue;
        }
        // The renderer appends line and column of the window, not of the file.
        positions.push((position.clone(), view.line));
        let marks = view.marks.into_iter().map(|(label, mark)| {
            let kind = if label.primary {
                AnnotationKind::Primary
            } else {
                AnnotationKind::Context
            };
            let text = (!label.text.is_empty()).then(|| escape_line(&label.text));
            kind.span(mark).label(text)
        });
        group = group.element(
            Snippet::source(view.text)
                .path(position)
                .line_start(view.line)
                .annotations(marks),
        );
    }
    if let Some(help) = &found.help {
        let lines: Vec<String> = help.split('\n').map(escape_line).collect();
        group = group.element(Level::HELP.message(lines.join("\n")));
    }
    let renderer = if options.colors {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let mut text = renderer
        .decor_style(DecorStyle::Ascii)
        .term_width(200)
        .render(&[group]);
    // Without an excerpt there is no column of line numbers; the text is aligned with others.
    if positions.is_empty() {
        text = text.replace("\n", "\n ");
    }
    for (position, line) in positions {
        remove_appended(&mut text, &position, line);
    }
    text
}

/// Turns `place:line:12` into `place`.
fn remove_appended(text: &mut String, position: &str, line: usize) {
    let appended = format!("{position}:{line}:");
    if let Some(at) = text.find(&appended) {
        let digits = at + appended.len();
        let end = text[digits..]
            .find(|character: char| !character.is_ascii_digit())
            .map_or(text.len(), |number| digits + number);
        text.replace_range(at + position.len()..end, "");
    }
}

/// A line or a window of it, with its labels.
struct SourceView<'a> {
    name: &'a str,
    line: usize,
    column: usize,
    text: String,
    marks: Vec<(&'a Label, std::ops::Range<usize>)>,
}

/// The excerpt of the primary label first. Labels in one complete line share an excerpt.
fn excerpts(found: &Diagnostic) -> Vec<SourceView<'_>> {
    let mut labels: Vec<&Label> = found.labels.iter().collect();
    labels.sort_by_key(|label| !label.primary);
    let mut views: Vec<(bool, SourceView<'_>)> = Vec::new();
    for label in labels {
        let Excerpt {
            line,
            column,
            text,
            mark,
            is_complete,
        } = excerpt(&label.source, &label.span).escaped();
        let name = label.source.name.as_str();
        let same = views
            .iter_mut()
            .find(|(other, view)| *other && is_complete && view.name == name && view.line == line);
        match same {
            Some((_, view)) => view.marks.push((label, mark)),
            None => views.push((
                is_complete,
                SourceView {
                    name,
                    line,
                    column,
                    text,
                    marks: vec![(label, mark)],
                },
            )),
        }
    }
    views.into_iter().map(|(_, view)| view).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Source, limit};
    use super::*;

    fn assert_rendered(list: &[Diagnostic], expected: &str) {
        let rendered = render_all(list, RenderOptions::PLAIN);
        let rendered = rendered.as_str();
        assert!(
            rendered == expected,
            "rendered:\n{rendered}\nexpected:\n{expected}"
        );
    }

    #[test]
    fn terminal_renders_manifest_excerpt_and_help() {
        let text = format!(
            r#"{{"resources":[{}"vlan_name":"Guests & visitors"{}"#,
            " ".repeat(300),
            ",".repeat(300)
        );
        let start = text.find("\"Guests").unwrap();
        let source = Source::new("catalogs/sw1.json", text);
        let found = Diagnostic::error("value-pattern", "`vlan_name` holds blanks")
            .in_manifest(Some(ManifestPosition {
                file: "site.pp".into(),
                line: 24,
            }))
            .at(&source, start..start + 19, "not allowed here")
            .help("use a name without blanks");
        assert_rendered(
            &[found],
            r#"error[value-pattern]: `vlan_name` holds blanks
 --> site.pp:24
  |
 ::: catalogs/sw1.json:1:327
  |
1 | …                            "vlan_name":"Guests & visitors",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,…
  |                                          ^^^^^^^^^^^^^^^^^^^ not allowed here
  |
  = help: use a name without blanks

1 error
"#,
        );
    }

    #[test]
    fn terminal_renders_several_findings_and_their_number() {
        let source = Source::new("i.toml", "a = 1\nb = 2\n");
        let list = [
            Diagnostic::error("x", "first")
                .at(&source, 0..1, "main")
                .at(&source, 4..5, "context"),
            Diagnostic::warning("y", "second"),
        ];
        assert_rendered(
            &list,
            "error[x]: first
 --> i.toml:1:1
  |
1 | a = 1
  | ^   - context
  | |
  | main

warning[y]: second

1 error, 1 warning
",
        );
    }

    #[test]
    fn terminal_position_is_that_of_the_primary_label() {
        let source = Source::new("i.toml", "a = 1, b = 2\n");
        let found = Diagnostic::error("x", "y")
            .in_manifest(Some(ManifestPosition {
                file: "m.pp".into(),
                line: 1,
            }))
            .at(&source, 7..8, "")
            .at(&source, 0..1, "");
        let rendered = render_all(&[found], RenderOptions::PLAIN);
        let rendered = rendered.as_str();
        assert!(rendered.contains("::: i.toml:1:8\n"), "{rendered}");
    }

    #[test]
    fn terminal_shows_the_position_of_a_state_file_once() {
        let source = Source::new("common.yaml", "a:\n  b: c\n");
        let found = Diagnostic::error("x", "y")
            .in_manifest(Some(ManifestPosition {
                file: "common.yaml".into(),
                line: 2,
            }))
            .at(&source, 8..9, "");
        assert_rendered(
            &[found],
            "error[x]: y\n --> common.yaml:2:6\n  |\n2 |   b: c\n  |      ^\n\n1 error\n",
        );
    }

    #[test]
    fn terminal_escapes_control_characters() {
        let found = Diagnostic::error("x", "title \u{1b}[2J\nx").help("one\ntwo");
        let rendered = render_all(&[found], RenderOptions::PLAIN);
        let rendered = rendered.as_str();
        assert!(!rendered.contains('\u{1b}'), "{rendered}");
        assert!(rendered.contains("\\u{1b}[2J\\nx"), "{rendered}");
        let source = Source::new("x", "ü = \"\u{1b}[2J\u{9b}\u{202e}\", y = 1\n");
        let found = Diagnostic::error("x", "").at(&source, 20..25, "here");
        let rendered = render_all(&[found], RenderOptions { colors: true });
        let rendered = rendered.as_str();
        assert!(
            rendered.contains("\\u{1b}[2J\\u{9b}\\u{202e}"),
            "{rendered}"
        );
        assert!(!rendered.contains(['\u{9b}', '\u{202e}']), "{rendered}");
    }

    #[test]
    fn terminal_counts_further_findings() {
        let list = vec![
            Diagnostic::error("x", "1"),
            Diagnostic::error("x", "2"),
            Diagnostic::error("x", "3"),
        ];
        let rendered = render(&limit(list, 1), RenderOptions::PLAIN);
        assert_eq!(rendered.as_str(), "error[x]: 1\n\n… and 2 more of `x`\n\n");
    }

    #[test]
    fn terminal_colors_depend_on_the_options() {
        let found = [Diagnostic::error("x", "y")];
        let colored = render_all(&found, RenderOptions { colors: true });
        assert!(colored.as_str().contains("\u{1b}["));
        let plain = render_all(&found, RenderOptions::PLAIN);
        assert!(!plain.as_str().contains("\u{1b}["));
    }
}
