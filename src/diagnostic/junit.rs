//! Diagnostics as JUnit XML, which automation shows as test results.
//!
//! A checked file is a test suite. Each finding that fails is a failed test case; a file without
//! failures has one successful case. The other findings are in `system-out`.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::terminal::{RenderOptions, render_each};
use super::{Diagnostic, Severity};

/// A checked file with its findings.
#[derive(Clone, Debug)]
pub(crate) struct Suite {
    pub(crate) name: String,
    pub(crate) findings: Vec<Diagnostic>,
}

/// Renders a report. Findings of severity `fails` or above are failures.
pub(crate) fn render(suites: &[Suite], fails: Severity) -> String {
    let mut report = Report::new("switchtender validate");
    report.add_test_suites(suites.iter().map(|suite| test_suite(suite, fails)));
    report.to_string().expect("texts are XML")
}

fn test_suite(suite: &Suite, fails: Severity) -> TestSuite {
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
    TestCase::new(name, status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn junit_failures_are_cases_and_other_findings_output() {
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
    <testsuite name="a.json" tests="1" disabled="0" errors="0" failures="1">
        <testcase name="cycle" classname="a.json">
            <failure message="a &lt; b &amp; &quot;c&quot;" type="cycle">error[cycle]: a &lt; b &amp; &quot;c&quot;\u{1}

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
