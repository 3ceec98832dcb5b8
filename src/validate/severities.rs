//! The severities of rules: `[validate]` of `switchtender.toml`.
//!
//! ```toml
//! [validate.severity]              # error, warning, note or off, per rule
//! clear-secret = "error"
//! audit-parameter = "off"
//!
//! [[validate.path]]                # for resources declared in these manifests
//! files = ["*/modules/legacy/**"]
//! severity = { skipped-relation = "off" }
//! ```

use std::collections::BTreeMap;

use globset::{Glob, GlobSet, GlobSetBuilder};
use switchtender_devices::diagnostic::{Diagnostic, Severity, suggest};
use switchtender_devices::document::Table;

use super::rule::{RULES, Rule};

/// Severities per rule and manifest; `None` switches a rule off.
#[derive(Debug, Default)]
pub(crate) struct Severities {
    rules: BTreeMap<&'static str, Option<Severity>>,
    paths: Vec<PathRule>,
}

#[derive(Debug)]
struct PathRule {
    files: GlobSet,
    rules: BTreeMap<&'static str, Option<Severity>>,
}

impl Severities {
    /// Reads `[validate]`.
    pub(super) fn read(table: &Table<'_>) -> Self {
        let rules = table.table("severity").map(|table| read_rules(&table));
        let paths = table.get("path").and_then(|item| item.list());
        let paths = paths
            .iter()
            .flatten()
            .filter_map(|item| read_path(&item.table()?))
            .collect();
        table.finish();
        Self {
            rules: rules.unwrap_or_default(),
            paths,
        }
    }

    /// The findings with the severities of the settings, without those that are off.
    pub(crate) fn applied(&self, mut findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
        findings.retain_mut(|found| {
            let file = found.position.as_ref().map(|position| &*position.file);
            let severity = self.of(found.code, found.severity, file);
            found.severity = severity.unwrap_or(found.severity);
            severity.is_some()
        });
        findings
    }

    /// The severity of a finding in a manifest. `None`: off.
    pub(crate) fn of(&self, code: &str, own: Severity, manifest: Option<&str>) -> Option<Severity> {
        if let Some(manifest) = manifest {
            for path in &self.paths {
                if let Some(desired) = path.rules.get(code)
                    && path.files.is_match(manifest)
                {
                    return *desired;
                }
            }
        }
        self.rules.get(code).copied().unwrap_or(Some(own))
    }
}

fn read_path(table: &Table<'_>) -> Option<PathRule> {
    let mut globs = GlobSetBuilder::new();
    match table.get("files") {
        None => table.missing("files"),
        Some(item) => {
            for text in item.strings()? {
                match Glob::new(&text) {
                    Ok(glob) => {
                        globs.add(glob);
                    }
                    Err(error) => item.error("pattern", format!("`{text}`: {}", error.kind())),
                }
            }
        }
    }
    let rules = table.table("severity").map(|table| read_rules(&table));
    if rules.is_none() {
        table.missing("severity");
    }
    table.finish();
    Some(PathRule {
        files: globs.build().ok()?,
        rules: rules?,
    })
}

fn read_rules(table: &Table<'_>) -> BTreeMap<&'static str, Option<Severity>> {
    let mut rules = BTreeMap::new();
    for (code, span, item) in table.entries() {
        let Some(rule) = Rule::find(&code) else {
            let help = suggest(
                &code,
                RULES.iter().map(|rule| rule.code),
                "list the rules with `switchtender explain`",
            );
            let message = format!("unknown rule `{code}`");
            table
                .findings
                .error_with_help("unknown-rule", span, message, help);
            continue;
        };
        let severity = match item.string().as_deref() {
            Some("error") => Some(Severity::Error),
            Some("warning") => Some(Severity::Warning),
            Some("note") => Some(Severity::Note),
            Some("off") => None,
            Some(other) => {
                item.error(
                    "unknown-word",
                    format!("`{other}` is not a severity: use error, warning, note or off"),
                );
                continue;
            }
            None => continue,
        };
        rules.insert(rule.code, severity);
    }
    rules
}

#[cfg(test)]
mod tests {
    use switchtender_devices::diagnostic::Source;

    use super::*;
    use crate::validate::SettingsFile;

    #[test]
    fn severities_depend_on_rule_and_manifest() {
        let text = r#"
[validate.severity]
clear-secret = "error"
audit-parameter = "off"
[[validate.path]]
files = "*/legacy/*"
severity = { clear-secret = "note" }
"#;
        let source = Source::new("switchtender.toml", text);
        let severities = SettingsFile::load(&source).unwrap().severities;
        let cases = [
            ("clear-secret", None, Some(Severity::Error)),
            ("clear-secret", Some("/m/new/a.pp"), Some(Severity::Error)),
            ("clear-secret", Some("/m/legacy/a.pp"), Some(Severity::Note)),
            ("audit-parameter", None, None),
            ("host-resource", None, Some(Severity::Warning)),
        ];
        for (code, manifest, expected) in cases {
            let found = severities.of(code, Severity::Warning, manifest);
            assert_eq!(found, expected, "{code} {manifest:?}");
        }
    }

    #[test]
    fn severities_report_errors_with_positions() {
        let text = "[validate.severity]\nclear-secrt = \"error\"\ncycle = \"fatal\"\n[valdate]\n";
        let source = Source::new("switchtender.toml", text);
        let messages: Vec<String> = SettingsFile::load(&source)
            .unwrap_err()
            .iter()
            .map(|found| {
                let (line, column) = source.position(found.labels[0].span.start);
                let help = found.help.as_deref().unwrap_or("-");
                format!("{line}:{column} {} | {help}", found.message)
            })
            .collect();
        assert_eq!(
            messages,
            [
                "2:1 unknown rule `clear-secrt` | did you mean `clear-secret`?",
                "3:9 `fatal` is not a severity: use error, warning, note or off | -",
                "4:2 unknown key `valdate` | did you mean `validate`?",
            ]
        );
    }
}
