//! Diagnostics as JUnit XML, which automation shows as test results.
//!
//! A checked file is a test suite. Each finding that fails is a failed test case; a file without
//! failures has one successful case. The other findings are in `system-out`.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::main_position::main_position;
use super::terminal::{RenderOptions, render_each};
use super::{CheckedFindings, Diagnostic, Severity};

/// Renders a report. Findings of severity `fails` or above are failures.
pub(crate) fn render(suites: &[CheckedFindings], fails: Severity) -> String {
    let mut report = Report::new("switchtender validate");
    report.add_test_suites(suites.iter().map(|suite| test_suite(suite, fails)));
    report.to_string().expect("texts are XML")
}

fn test_suite(suite: &CheckedFindings, fails: Severity) -> TestSuite {
    let (failures, others): (Vec<&Diagnostic>, Vec<&Diagnostic>) = suite
        .findings
        .iter()
        .partition(|found| found.severity >= fails);
    let mut cases: Vec<TestCase> = failures.into_iter().map(failed_case).collect();
    if cases.is_empty() {
        cases.push(TestCase::new("valid", TestCaseStatus::success()));
    }
    for case in &mut cases {
        case.set_classname(suite.name.as_str());
    }
    let mut test_suite = TestSuite::new(suite.name.as_str());
    test_suite.add_test_cases(cases);
    if !others.is_empty() {
        test_suite.set_system_out(render_each(others, RenderOptions::PLAIN).as_str());
    }
    test_suite
}

fn failed_case(found: &Diagnostic) -> TestCase {
    let name = match &found.position {
        Some(position) => format!("{} ({}:{})", found.code, position.file, position.line),
        None => found.code.to_owned(),
    };
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status
        .set_type(found.code)
        .set_message(found.message.as_str())
        .set_description(render_each([found], RenderOptions::PLAIN).as_str());
    let mut case = TestCase::new(name, status);
    // Many readers link these two, although not all schemas have them.
    if let Some(position) = main_position(found) {
        case.extra.insert("file".into(), position.file.into());
        case.extra
            .insert("line".into(), position.line.to_string().into());
    }
    case
}

#[cfg(test)]
mod tests {
    use super::super::Source;
    use super::*;

    #[test]
    fn junit_failures_are_cases_and_other_findings_output() {
        let findings = [
            Diagnostic::error("cycle", "a < b & \"c\"\u{1}").at(
                &Source::new("a.json", ""),
                0..0,
                "",
            ),
            Diagnostic::warning("clear-secret", "w"),
        ];
        let suites = [
            CheckedFindings {
                name: "a.json".to_owned(),
                findings: findings.to_vec(),
            },
            CheckedFindings {
                name: "b.json".to_owned(),
                findings: Vec::new(),
            },
        ];
        let expected = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="switchtender validate" tests="2" failures="1" errors="0">
    <testsuite name="a.json" tests="1" disabled="0" errors="0" failures="1">
        <testcase name="cycle" classname="a.json" file="a.json" line="1">
            <failure message="a &lt; b &amp; &quot;c&quot;" type="cycle">error[cycle]: a &lt; b &amp; &quot;c&quot;\u{1}
 --&gt; a.json:1:1

</failure>
        </testcase>
        <system-out>warning[clear-secret]: w

</system-out>
    </testsuite>
    <testsuite name="b.json" tests="1" disabled="0" errors="0" failures="0">
        <testcase name="valid" classname="b.json">
        </testcase>
    </testsuite>
</testsuites>
"#;
        assert_eq!(render(&suites, Severity::Error), expected);
        let denied = render(&suites, Severity::Warning);
        assert!(denied.contains("failures=\"2\""), "{denied}");
    }
}
