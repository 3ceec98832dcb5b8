//! Diagnostics as a Code Quality report of GitLab.

use serde_json::{Value, json};

use super::fingerprint::Fingerprints;
use super::main_position::main_position;
use super::{CheckedFindings, Diagnostic, Severity};

/// The report, a JSON list. A finding without a position is at the first line of its file.
pub(crate) fn render(files: &[CheckedFindings]) -> String {
    let mut fingerprints = Fingerprints::default();
    let issues: Vec<Value> = files
        .iter()
        .flat_map(|file| file.findings.iter().map(move |found| (file, found)))
        .map(|(file, found)| issue(&file.name, found, fingerprints.next(found)))
        .collect();
    format!("{:#}\n", Value::from(issues))
}

fn issue(name: &str, found: &Diagnostic, fingerprint: String) -> Value {
    let (path, line) = match main_position(found) {
        Some(position) => (position.file, position.line),
        None => (name, 1),
    };
    let description = match &found.help {
        Some(help) => format!("{} ({})", found.message, help.replace('\n', "; ")),
        None => found.message.clone(),
    };
    json!({
        "description": description,
        "check_name": found.code,
        "fingerprint": fingerprint,
        "severity": match found.severity {
            Severity::Error => "major",
            Severity::Warning => "minor",
            Severity::Note => "info",
        },
        "location": { "path": path, "lines": { "begin": line } },
    })
}

#[cfg(test)]
mod tests {
    use super::super::ManifestPosition;
    use super::*;

    #[test]
    fn issue_has_the_documented_keys() {
        let found = Diagnostic::warning("shuts-down", "a")
            .in_manifest(Some(ManifestPosition {
                file: "site.pp".into(),
                line: 7,
            }))
            .help("b\nc");
        assert_eq!(
            issue("sw1.json", &found, "f".to_owned()),
            json!({
                "description": "a (b; c)",
                "check_name": "shuts-down",
                "fingerprint": "f",
                "severity": "minor",
                "location": { "path": "site.pp", "lines": { "begin": 7 } },
            })
        );
        let file = CheckedFindings {
            name: "sw1.json".to_owned(),
            findings: vec![Diagnostic::error("cannot-read", "a")],
        };
        let report: Value = serde_json::from_str(&render(&[file])).expect("JSON");
        let location = json!({ "path": "sw1.json", "lines": { "begin": 1 } });
        assert_eq!(report[0]["location"], location);
    }
}
