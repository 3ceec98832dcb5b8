//! Findings as JUnit XML, which every automation shows as test results.
//!
//! A checked file is a test suite. A finding that fails is a failed test case of it; a file
//! without any is one passed case. What does not fail goes to `system-out`.

use std::fmt::Write as _;

use super::terminal::{Look, render_each};
use super::{Diagnostic, Severity};

/// A checked file with its findings.
#[derive(Clone, Debug)]
pub struct Suite {
    pub name: String,
    pub findings: Vec<Diagnostic>,
}

/// A report. Findings as severe as `fails`, or more, are failures.
pub fn render(suites: &[Suite], fails: Severity) -> String {
    let is_failure = |found: &&Diagnostic| found.severity >= fails;
    let failures = |suite: &Suite| suite.findings.iter().filter(is_failure).count();
    let all: usize = suites.iter().map(failures).sum();
    let cases: usize = suites.iter().map(|suite| failures(suite).max(1)).sum();
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        xml,
        "<testsuites name=\"switchtender validate\" tests=\"{cases}\" failures=\"{all}\" errors=\"0\">"
    );
    for suite in suites {
        let failed = failures(suite);
        let name = escape(&suite.name);
        let _ = writeln!(
            xml,
            "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{failed}\" errors=\"0\" skipped=\"0\">",
            failed.max(1)
        );
        if failed == 0 {
            let _ = writeln!(xml, "    <testcase classname=\"{name}\" name=\"valid\"/>");
        }
        for found in suite.findings.iter().filter(is_failure) {
            let place = match &found.place {
                Some(place) => format!(" ({}:{})", place.file, place.line),
                None => String::new(),
            };
            let _ = writeln!(
                xml,
                "    <testcase classname=\"{name}\" name=\"{}\">\n      <failure type=\"{}\" message=\"{}\">{}</failure>\n    </testcase>",
                escape(&format!("{}{place}", found.code)),
                escape(found.code),
                escape(&found.message),
                escape(&render_each([found], Look::PLAIN)),
            );
        }
        let rest: Vec<&Diagnostic> = suite.findings.iter().filter(|f| !is_failure(f)).collect();
        if !rest.is_empty() {
            let text = render_each(rest, Look::PLAIN);
            let _ = writeln!(xml, "    <system-out>{}</system-out>", escape(&text));
        }
        xml.push_str("  </testsuite>\n");
    }
    xml.push_str("</testsuites>\n");
    xml
}

/// Text for XML 1.0: markup escaped, characters that it cannot hold replaced.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' | '\r' => escaped.push(character),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            other if u32::from(other) < 0x20 => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_cases_and_the_rest_is_output() {
        let findings = [
            Diagnostic::error("cycle", "a < b & \"c\"\u{1}"),
            Diagnostic::warning("clear-secret", "w"),
        ];
        let suites = [
            Suite {
                name: "a.json".to_owned(),
                findings: findings.to_vec(),
            },
            Suite {
                name: "b.json".to_owned(),
                findings: Vec::new(),
            },
        ];
        let expected = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="switchtender validate" tests="2" failures="1" errors="0">
  <testsuite name="a.json" tests="1" failures="1" errors="0" skipped="0">
    <testcase classname="a.json" name="cycle">
      <failure type="cycle" message="a &lt; b &amp; &quot;c&quot;�">error[cycle]: a &lt; b &amp; &quot;c&quot;\u{1}

</failure>
    </testcase>
    <system-out>warning[clear-secret]: w

</system-out>
  </testsuite>
  <testsuite name="b.json" tests="1" failures="0" errors="0" skipped="0">
    <testcase classname="b.json" name="valid"/>
  </testsuite>
</testsuites>
"#;
        assert_eq!(render(&suites, Severity::Error), expected);
        let denied = render(&suites, Severity::Warning);
        assert!(denied.contains("failures=\"2\""), "{denied}");
    }
}
