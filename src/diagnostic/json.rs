//! Diagnostics as JSON, one object per line.
//!
//! Keys: `code`, `severity`, `message`, `help`, `manifest` (`file`, `line`), `labels` (`file`,
//! `line`, `column`, `end_line`, `end_column`, `text`, `primary`; lines and columns from 1,
//! columns in characters, ends exclusive). Unknown values are `null`.

use serde_json::{Value, json};

use super::{Diagnostic, severity_word};

/// One line per finding, each ended by `\n`.
pub fn lines<'a>(list: impl IntoIterator<Item = &'a Diagnostic>) -> String {
    list.into_iter()
        .map(|found| format!("{}\n", object(found)))
        .collect()
}

/// A finding as an object.
pub(crate) fn object(found: &Diagnostic) -> Value {
    let labels: Vec<Value> = found
        .labels
        .iter()
        .map(|label| {
            let (line, column) = label.source.position(label.span.start);
            let (end_line, end_column) = label.source.position(label.span.end);
            json!({
                "file": label.source.name,
                "line": line,
                "column": column,
                "end_line": end_line,
                "end_column": end_column,
                "text": label.text,
                "primary": label.primary,
            })
        })
        .collect();
    json!({
        "code": found.code,
        "severity": severity_word(found.severity),
        "message": found.message,
        "help": found.help,
        "manifest": found.position.as_ref().map(|position| json!({
            "file": &*position.file,
            "line": position.line,
        })),
        "labels": labels,
    })
}

#[cfg(test)]
mod tests {
    use super::super::Source;
    use super::*;

    #[test]
    fn json_finding_is_one_line() {
        let source = Source::new("a.toml", "x\nwrong = 1\n");
        let found = Diagnostic::error("unknown-key", "unknown key").at(&source, 2..7, "here");
        assert_eq!(
            lines(&[found]),
            concat!(
                r#"{"code":"unknown-key","severity":"error","message":"unknown key","help":null,"#,
                r#""manifest":null,"labels":[{"file":"a.toml","line":2,"column":1,"end_line":2,"#,
                r#""end_column":6,"text":"here","primary":true}]}"#,
                "\n"
            )
        );
    }
}
