//! Diagnostics as JUnit XML, which automation shows as test results.
//!
//! A checked file is a test suite. Each finding that fails is a failed test case; a file without
//! failures has one successful case. The other findings are in `system-out`.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use switchtender_devices::printable::escape;

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
        case.set_classname(&*escape(&suite.name));
    }
    let mut test_suite = TestSuite::new(&*escape(&suite.name));
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
        .set_message(&*escape(&found.message))
        .set_description(render_each([found], RenderOptions::PLAIN).as_str());
    let mut case = TestCase::new(&*escape(&name), status);
    // Many readers link these two, although not all schemas have them.
    if let Some(position) = main_position(found) {
        let file = escape(position.file);
        case.extra.insert("file".into(), (&*file).into());
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
            <failure message="a &lt; b &amp; &quot;c&quot;\u{1}" type="cycle">error[cycle]: a &lt; b &amp; &quot;c&quot;\u{1}
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

    /// Each text can be of a catalog; XML 1.0 has no other characters than these.
    #[test]
    fn junit_has_only_characters_of_xml_and_none_that_hides_text() {
        let hostile = "a\u{0}\u{b}\u{1b}[2J\u{7f}\u{85}\u{202e}b\u{2066}\u{fffe}\u{ffff}ü😀";
        let source = Source::new(hostile, hostile);
        let mut placed = Diagnostic::error("cycle", hostile).at(&source, 0..1, hostile);
        placed.help = Some(hostile.to_owned());
        let suite = CheckedFindings {
            name: hostile.to_owned(),
            findings: vec![placed, Diagnostic::warning("clear-secret", hostile)],
        };
        let xml = render(&[suite], Severity::Error);
        let wrong: Vec<char> = xml
            .chars()
            .filter(|c| !matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..))
            .chain(xml.chars().filter(|c| ['\u{202e}', '\u{2066}'].contains(c)))
            .collect();
        assert_eq!(wrong, Vec::<char>::new(), "{xml}");
        assert_eq!(
            xml.matches("\\u{202e}b").count(),
            xml.matches("ü😀").count(),
            "{xml}"
        );
    }
}
