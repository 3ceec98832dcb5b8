//! Diagnostics as SARIF 2.1.0, for code hosts and editors.
//!
//! The first location is the position in the manifest, the second the position in the catalog.
//! Relative paths are relative to the root of the repository.
//! Columns count characters (`columnKind`).

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::fingerprint::Fingerprints;
use super::main_position::manifest_position;
use super::{Diagnostic, Severity};

/// The documentation of a rule.
#[derive(Clone, Copy, Debug)]
pub struct RuleText {
    pub(crate) code: &'static str,
    pub(crate) severity: Severity,
    pub(crate) summary: &'static str,
    pub(crate) explanation: &'static str,
}

/// A log with one run. `rules`: the rules of the findings.
pub fn render(list: &[Diagnostic], rules: &[RuleText]) -> String {
    let rule_objects: Vec<Value> = rules
        .iter()
        .map(|rule| {
            json!({
                "id": rule.code,
                "shortDescription": { "text": rule.summary },
                "fullDescription": { "text": rule.explanation },
                "defaultConfiguration": { "level": level(rule.severity) },
            })
        })
        .collect();
    let mut fingerprints = Fingerprints::default();
    let results: Vec<Value> = list
        .iter()
        .map(|found| result(found, rules, &fingerprints.next(found)))
        .collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {
                "driver": {
                    "name": "switchtender",
                    "version": env!("CARGO_PKG_VERSION"),
                    "rules": rule_objects,
                }
            },
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": {
                ROOT: { "description": { "text": "The root of the repository" } },
            },
            "results": results,
        }],
    });
    format!("{log:#}\n")
}

/// The name of the directory of relative paths.
const ROOT: &str = "%SRCROOT%";

fn result(found: &Diagnostic, rules: &[RuleText], fingerprint: &str) -> Value {
    let mut locations = Vec::new();
    if let Some(position) = manifest_position(found) {
        locations.push(json!({
            "physicalLocation": {
                "artifactLocation": artifact(&position.file),
                "region": { "startLine": position.line.max(1) },
            }
        }));
    }
    let mut related = Vec::new();
    for label in &found.labels {
        let (line, column) = label.source.position(label.span.start);
        let (end_line, end_column) = label.source.position(label.span.end);
        let mut location = json!({
            "physicalLocation": {
                "artifactLocation": artifact(&label.source.name),
                "region": {
                    "startLine": line,
                    "startColumn": column,
                    "endLine": end_line,
                    "endColumn": end_column,
                },
            }
        });
        if !label.text.is_empty() {
            location["message"] = json!({ "text": label.text });
        }
        if label.primary {
            locations.push(location);
        } else {
            location["id"] = json!(related.len());
            related.push(location);
        }
    }
    let text = match &found.help {
        Some(help) => format!("{}\n{help}", found.message),
        None => found.message.clone(),
    };
    let mut result = json!({
        "ruleId": found.code,
        "level": level(found.severity),
        "message": { "text": text },
        "locations": locations,
        // The only fingerprint that GitHub reads.
        "partialFingerprints": { "primaryLocationLineHash": fingerprint },
    });
    if let Some(index) = rules.iter().position(|rule| rule.code == found.code) {
        result["ruleIndex"] = json!(index);
    }
    if !related.is_empty() {
        result["relatedLocations"] = json!(related);
    }
    result
}

fn level(severity: Severity) -> &'static str {
    super::severity_word(severity)
}

/// Bytes of a path that are percent-encoded in a URI (RFC 3986).
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');

/// The location of a file.
fn artifact(path: &str) -> Value {
    let encoded = utf8_percent_encode(path, ENCODED);
    if path.starts_with('/') {
        json!({ "uri": format!("file://{encoded}") })
    } else {
        json!({ "uri": encoded.to_string(), "uriBaseId": ROOT })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ManifestPosition, Source};
    use super::*;

    const RULE: RuleText = RuleText {
        code: "host-resource",
        severity: Severity::Warning,
        summary: "short",
        explanation: "long",
    };

    #[test]
    fn sarif_result_has_locations_in_manifest_and_catalog() {
        let source = Source::new("a b.json", "{\n  \"x\": 1\n}");
        let found = Diagnostic::error("host-resource", "wrong")
            .in_manifest(Some(ManifestPosition {
                file: "/etc/site.pp".into(),
                line: 7,
            }))
            .at(&source, 4..7, "")
            .at(&source, 0..1, "context")
            .help("do this");
        let log: Value = serde_json::from_str(&render(&[found], &[RULE])).unwrap();
        assert_eq!(log["version"], "2.1.0");
        let result = &log["runs"][0]["results"][0];
        let expected = json!({
            "ruleId": "host-resource",
            "ruleIndex": 0,
            "level": "error",
            "message": { "text": "wrong\ndo this" },
            "locations": [
                { "physicalLocation": {
                    "artifactLocation": { "uri": "file:///etc/site.pp" },
                    "region": { "startLine": 7 },
                } },
                { "physicalLocation": {
                    "artifactLocation": { "uri": "a%20b.json", "uriBaseId": "%SRCROOT%" },
                    "region": { "startLine": 2, "startColumn": 3, "endLine": 2, "endColumn": 6 },
                } },
            ],
            "partialFingerprints": {
                "primaryLocationLineHash": result["partialFingerprints"]["primaryLocationLineHash"],
            },
            "relatedLocations": [{
                "id": 0,
                "message": { "text": "context" },
                "physicalLocation": {
                    "artifactLocation": { "uri": "a%20b.json", "uriBaseId": "%SRCROOT%" },
                    "region": { "startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 2 },
                },
            }],
        });
        assert_eq!(*result, expected);
    }
}
