//! Runs the tests of platforms.

use super::TestResult;
use crate::dialogue::Dialect;
use crate::dialogue::cli_rules::CliRules;
use crate::driver::platform::Platform;
use crate::driver::self_test::platform_test::{PlatformExpectation, PlatformTest};

/// Runs a test of a platform.
pub(in crate::driver) fn run(platform: &Platform, test: &PlatformTest) -> TestResult {
    TestResult {
        definition: format!("{}/platform", platform.name),
        name: test.name.clone(),
        own: test.own,
        covers: Vec::new(),
        failure: failure(test, platform),
    }
}

fn failure(test: &PlatformTest, platform: &Platform) -> Option<String> {
    let rules = match &platform.protocol.dialect {
        Dialect::Cli(rules) => Some(rules.as_ref()),
        Dialect::Rest(_) | Dialect::Netconf(_) => None,
    };
    match (&test.expectation, rules) {
        (PlatformExpectation::Facts { answers, facts }, _) => {
            let mut answers_of_reads = answers.iter();
            let invalid = answers_of_reads
                .find_map(|(read, text)| super::check_answer(platform, read, text).err());
            if let Some(invalid) = invalid {
                return Some(invalid.to_string());
            }
            let found = platform.facts(answers);
            let different = facts
                .iter()
                .find(|(name, value)| found.get(*name) != Some(value));
            different.map(|(name, value)| {
                let found = found.get(name).map_or("unknown", String::as_str);
                difference(&format!("{name} = {value}"), &format!("{name} = {found}"))
            })
        }
        (PlatformExpectation::Prompt { line, mode }, Some(rules)) => {
            let found = rules
                .prompt(line, None)
                .map(|(id, _)| rules.modes[id].name.as_str());
            let found = found.unwrap_or("no prompt");
            (found != mode).then(|| difference(mode, found))
        }
        (PlatformExpectation::Class { line, class }, Some(rules)) => {
            let found = class_name(rules, line);
            (found != class).then(|| difference(class, found))
        }
        (PlatformExpectation::Sessions { output, sessions }, Some(rules)) => {
            let found = listed_sessions(rules, output).join("\n  ");
            let expected = sessions.join("\n  ");
            (found != expected).then(|| difference(&expected, &found))
        }
        (PlatformExpectation::Holder { output, holder }, Some(rules)) => {
            let found = rules.lock.as_ref().and_then(|lock| lock.holder(output));
            let found = found.unwrap_or_else(|| "nobody".to_owned());
            (found != *holder).then(|| difference(holder, &found))
        }
        (_, None) => Some("the platform has no command line".to_owned()),
    }
}

/// The sessions in an output, each `ID USER MARK`, the own one first.
fn listed_sessions(rules: &CliRules, output: &str) -> Vec<String> {
    let list = rules
        .sessions
        .as_ref()
        .map(|sessions| sessions.read(output));
    let list = list.unwrap_or_default();
    let sessions = list.own.into_iter().chain(list.others);
    let sessions =
        sessions.map(|session| format!("{} {} {}", session.id, session.user, session.mark));
    sessions.map(|text| text.trim_end().to_owned()).collect()
}

fn class_name(rules: &CliRules, line: &str) -> &'static str {
    rules
        .message_class(line)
        .map_or("none", |class| class.name())
}

fn difference(expected: &str, found: &str) -> String {
    format!("expected:\n  {expected}\nfound:\n  {found}")
}
