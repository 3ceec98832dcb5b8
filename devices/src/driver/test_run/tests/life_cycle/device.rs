//! A strict mock, and the driver of its platform.

use std::collections::BTreeMap;
use std::sync::Arc;

use switchtender_mocks::GrammarSwitchOptions;
use switchtender_mocks::grammar_switch::OfflineGrammarSwitch;

use super::super::change_for;
use crate::change::{Change, Desired};
use crate::driver::test_run::print;
use crate::driver::{Driver, Facts, Platform, SecretHistory};
use crate::model::TypeModel;
use crate::operation::{Action, Operation};
use crate::read::{ReadRequest, Reads, State};
use crate::secret::Text;

pub(super) struct MockDevice {
    pub(super) driver: Driver,
    mock: OfflineGrammarSwitch,
    enter: &'static str,
}

impl MockDevice {
    pub(super) fn new(platform: &Arc<Platform>) -> Result<Self, String> {
        let options = GrammarSwitchOptions::new(&platform.name, "sw1");
        let mock = OfflineGrammarSwitch::new(&options).map_err(|error| error.to_string())?;
        let mut device = Self {
            driver: Driver::new(platform, &Facts::default()),
            mock,
            enter: "configure terminal",
        };
        // A platform without privileged commands does not know it.
        let _ = device.mock.execute("enable");
        let reads = device.read(platform.fact_reads());
        device.driver = Driver::new(platform, &platform.facts(&reads));
        Ok(device)
    }

    /// Types lines of a configuration, as they stand in it.
    pub(super) fn configure(&mut self, lines: &str) -> Result<(), String> {
        self.execute(self.enter)?;
        for line in lines.lines() {
            if !line.starts_with(' ') {
                self.execute("end")?;
                self.execute(self.enter)?;
            }
            self.execute(line)?;
        }
        self.execute("end")
    }

    fn execute(&mut self, line: &str) -> Result<(), String> {
        let answer = self.mock.execute(line);
        answer
            .map(|_| ())
            .map_err(|refusal| format!("`{line}`: {}", refusal.answer.trim()))
    }

    fn read(&mut self, requests: Vec<ReadRequest>) -> Reads {
        let answers = requests.into_iter().map(|request| {
            let text = self.mock.execute(&request.command).unwrap_or_default();
            (request.name, text)
        });
        answers.collect()
    }

    /// The lines of the configuration with the blocks around them, and how often each is there.
    pub(super) fn lines(&self) -> BTreeMap<String, usize> {
        let text = self.mock.running_config();
        let mut blocks: Vec<(usize, &str)> = Vec::new();
        let mut lines = BTreeMap::new();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let depth = line.len() - line.trim_start().len();
            blocks.retain(|(other, _)| *other < depth);
            blocks.push((depth, line.trim()));
            let path: Vec<&str> = blocks.iter().map(|(_, text)| *text).collect();
            *lines.entry(path.join(" / ")).or_default() += 1;
        }
        lines
    }

    /// What the device has for a resource.
    pub(super) fn state(&mut self, desired: &Desired) -> Result<State, String> {
        let mut requests = self.driver.reads(&[&desired.model]);
        requests.extend(self.driver.reads_for(&[desired]));
        let reads = self.read(requests);
        let parsed = self.driver.platform().parse(&reads);
        parsed.map_err(|error| error.to_string())
    }

    /// What would be changed.
    pub(super) fn change(
        &mut self,
        desired: &Desired,
        secrets: &dyn SecretHistory,
    ) -> Result<Option<Change>, String> {
        let state = self.state(desired)?;
        let change = change_for(&self.driver, desired, &state, secrets);
        change.map_err(|error| error.to_string())
    }

    /// Sends a change. Returns its lines.
    pub(super) fn apply(&mut self, change: &Change) -> Result<String, String> {
        let state = self.state(&change.desired)?;
        let operations = self.driver.render(change, &state);
        self.send(&operations.map_err(|error| error.to_string())?)
    }

    /// Sends lines as a session does. Returns them.
    pub(super) fn send(&mut self, operations: &[Operation]) -> Result<String, String> {
        let sent = print(operations);
        for operation in operations {
            let Action::Line(line) = &operation.action else {
                return Err("not a line".to_owned());
            };
            self.execute(self.enter)?;
            let lines = line.mode.iter().chain(&line.text).chain(&line.body);
            for text in lines.map(Text::reveal) {
                self.execute(&text)?;
            }
            self.execute("end")?;
        }
        Ok(sent.iter().map(|line| format!("{line}\n")).collect())
    }

    /// The lines of a type that are not removed implicitly.
    pub(super) fn lines_that_stay(&self, model: &TypeModel) -> Vec<String> {
        let implementation = self.driver.implementation(model);
        implementation.map_or_else(|_| Vec::new(), |one| one.lines_that_stay())
    }
}
