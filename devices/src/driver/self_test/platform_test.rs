//! Tests in `platform.toml`: prompts and their modes, messages and their classes, facts.

use super::run::TestResult;
use super::{supplied_answers, texts};
use crate::dialogue::Dialect;
use crate::dialogue::cli_rules::CliRules;
use crate::document::Item;
use crate::driver::facts::Facts;
use crate::driver::platform::Platform;
use crate::read::Reads;

/// A test of a platform.
#[derive(Clone, Debug)]
pub(crate) struct PlatformTest {
    name: String,
    /// It stands in a user's file.
    own: bool,
    expectation: PlatformExpectation,
}

#[derive(Clone, Debug)]
enum PlatformExpectation {
    /// A line is the prompt of a mode.
    Prompt { line: String, mode: String },
    /// A line of output has a class of `[error]`, or `none`.
    Class { line: String, class: String },
    /// Answers have these facts.
    Facts { answers: Reads, facts: Facts },
}

impl PlatformTest {
    pub(crate) fn load(item: &Item<'_>, shipped: bool) -> Option<Self> {
        let table = item.table()?;
        let name = table.required_string("name");
        let prompt = table.string("prompt").zip(table.string("mode"));
        let output = table.string("output").zip(table.string("class"));
        let facts: Facts = texts(&table, "facts").into_iter().collect();
        let answers = supplied_answers(&table);
        table.finish();
        let expectation = match (prompt, output, facts.is_empty()) {
            (Some((line, mode)), None, true) => PlatformExpectation::Prompt { line, mode },
            (None, Some((line, class)), true) => PlatformExpectation::Class { line, class },
            (None, None, false) => PlatformExpectation::Facts { answers, facts },
            _ => {
                item.findings.error_with_help(
                    "test",
                    item.span.clone(),
                    "a test of a platform has one expectation",
                    "add `prompt` and `mode`, or `output` and `class`, or `given` and `facts`",
                );
                return None;
            }
        };
        Some(Self {
            name: name?,
            own: !shipped,
            expectation,
        })
    }

    /// Runs the test.
    pub(crate) fn run(&self, platform: &Platform) -> TestResult {
        TestResult {
            definition: format!("{}/platform", platform.name),
            name: self.name.clone(),
            own: self.own,
            covers: Vec::new(),
            failure: self.failure(platform),
        }
    }

    fn failure(&self, platform: &Platform) -> Option<String> {
        let rules = match &platform.protocol.dialect {
            Dialect::Cli(rules) => Some(rules.as_ref()),
            Dialect::Rest(_) | Dialect::Netconf(_) => None,
        };
        match (&self.expectation, rules) {
            (PlatformExpectation::Facts { answers, facts }, _) => {
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
            (_, None) => Some("the platform has no command line".to_owned()),
        }
    }
}

fn class_name(rules: &CliRules, line: &str) -> &'static str {
    rules
        .message_class(line)
        .map_or("none", |class| class.name())
}

fn difference(expected: &str, found: &str) -> String {
    format!("expected:\n  {expected}\nfound:\n  {found}")
}
