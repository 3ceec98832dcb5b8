//! The state of a device: its configurations, candidates and timers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::block_position::BlockPosition;
use super::command_grammar::CommandGrammar;
use super::config_editor::{ConfigEditor, LineOutcome, LineRefusal};
use super::config_node::{ConfigNode, begins_with};
use super::effective_line::BlockScope;
use super::printed_config::{PrintedLines, printed};
use crate::clock;
use crate::terminal_lines::TerminalLines;

/// A change that the device reverts unless it is confirmed.
#[derive(Debug)]
pub(super) struct TimedChange {
    /// The candidate that made it.
    pub(super) candidate: String,
    previous: ConfigNode,
    deadline: Instant,
}

/// The state of a device.
#[derive(Debug)]
pub(super) struct GrammarDevice {
    pub(super) grammar: Arc<CommandGrammar>,
    pub(super) running: ConfigNode,
    pub(super) startup: Option<ConfigNode>,
    /// Configurations that do not take effect yet, by name.
    pub(super) candidates: BTreeMap<String, ConfigNode>,
    pub(super) timed_change: Option<TimedChange>,
    pub(super) terminals: TerminalLines,
    pub(super) serial: String,
    /// Time that tests add to the clock.
    pub(super) clock_advance: Duration,
    /// Lines of the initial configuration that the grammar does not have.
    pub(super) unknown_lines: Vec<String>,
}

impl GrammarDevice {
    /// A device with the factory configuration, a host name, and a configuration as it is printed.
    pub(super) fn new(
        grammar: Arc<CommandGrammar>,
        hostname: &str,
        serial: String,
        config: Option<&str>,
    ) -> Self {
        let mut device = Self {
            grammar,
            running: ConfigNode::default(),
            startup: None,
            candidates: BTreeMap::new(),
            timed_change: None,
            terminals: TerminalLines::default(),
            serial,
            clock_advance: Duration::ZERO,
            unknown_lines: Vec::new(),
        };
        let factory = device.factory_config(config.unwrap_or_default());
        device.load(&factory);
        // Ports of a configuration whose names are unknown are read again with it.
        device.running.children.retain(|node| node.row.is_some());
        device.unknown_lines.clear();
        for node in &mut device.running.children {
            let row = node.row.map(|row| &device.grammar.rows[row]);
            node.is_permanent = row.is_some_and(|row| row.enters.is_some());
        }
        device.load(&format!("hostname {hostname}\n"));
        if let Some(config) = config {
            device.load(config);
        }
        device.startup = Some(device.running.clone());
        device
    }

    /// The factory configuration. Ports of the configuration replace its ports.
    fn factory_config(&self, config: &str) -> String {
        let settings = &self.grammar.settings;
        let ports = |text: &str| -> Vec<String> {
            let is_port = |line: &&str| {
                settings
                    .ports
                    .iter()
                    .any(|port| line.starts_with(port.as_str()))
            };
            text.lines().filter(is_port).map(str::to_owned).collect()
        };
        let own = ports(config);
        if own.is_empty() {
            return settings.factory.clone();
        }
        let mut is_port = false;
        let others = settings.factory.lines().filter(|line| {
            if !line.starts_with(' ') {
                is_port = !ports(line).is_empty();
            }
            !is_port
        });
        let lines = others.map(str::to_owned).chain(own);
        lines.map(|line| line + "\n").collect()
    }

    /// Applies the lines of a printed configuration. Indentation ends blocks. Lines that the grammar
    /// does not have remain as text.
    fn load(&mut self, text: &str) {
        let grammar = self.grammar.clone();
        let mut position = BlockPosition::default();
        let mut indents: Vec<usize> = Vec::new();
        let mut refused: Option<(usize, Vec<String>)> = None;
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let content = line.trim();
            if content.is_empty() || content.starts_with('!') || content == "end" {
                continue;
            }
            let indent = line.len() - line.trim_start().len();
            if let Some((depth, path)) = &refused {
                if indent > *depth {
                    self.unknown_lines.push(line.to_owned());
                    store_unknown(&mut self.running, path, content);
                    continue;
                }
                refused = None;
            }
            while indents.last().is_some_and(|outer| *outer >= indent) {
                indents.pop();
            }
            position.truncate(indents.len());
            let result = ConfigEditor {
                grammar: &grammar,
                root: &mut self.running,
                position: &mut position,
                is_loading: true,
            }
            .line(content);
            match result {
                Ok(LineOutcome::Text { end }) => {
                    let body = text_lines(&mut lines, &end);
                    self.set_body(None, &position, content, body);
                }
                Ok(LineOutcome::Done(_) | LineOutcome::Action(..)) => {
                    while position.depth() > indents.len() {
                        indents.push(indent);
                    }
                    indents.truncate(position.depth());
                }
                Err(_) => {
                    self.unknown_lines.push(line.to_owned());
                    let path = position.targets().remove(0);
                    store_unknown(&mut self.running, &path, content);
                    let path = path.into_iter().chain([content.to_owned()]).collect();
                    refused = Some((indent, path));
                }
            }
        }
    }

    /// Applies a line to the running configuration or to a candidate.
    ///
    /// # Errors
    /// The device refuses the line.
    pub(super) fn configure(
        &mut self,
        candidate: Option<&str>,
        position: &mut BlockPosition,
        line: &str,
    ) -> Result<LineOutcome, LineRefusal> {
        let grammar = self.grammar.clone();
        let root = match candidate {
            None => &mut self.running,
            Some(name) => match self.candidates.get_mut(name) {
                Some(root) => root,
                None => return Err(LineRefusal::Message("% Session does not exist".to_owned())),
            },
        };
        ConfigEditor {
            grammar: &grammar,
            root,
            position,
            is_loading: false,
        }
        .line(line)
    }

    /// Sets the further lines of a text that began with a line.
    pub(super) fn set_body(
        &mut self,
        candidate: Option<&str>,
        position: &BlockPosition,
        line: &str,
        body: Vec<String>,
    ) {
        let root = match candidate {
            None => Some(&mut self.running),
            Some(name) => self.candidates.get_mut(name),
        };
        let mode = position.mode(position.depth());
        let parsed = self.grammar.parse_own(mode, line);
        for path in position.targets() {
            let block = root.as_ref().and_then(|root| root.block(&path));
            if block.is_none() {
                return;
            }
        }
        let (Some(root), Some(parsed)) = (root, parsed) else {
            return;
        };
        for path in position.targets() {
            let node = root
                .block_mut(&path)
                .and_then(|block| block.child_mut(&parsed.key));
            if let Some(node) = node {
                node.body.clone_from(&body);
            }
        }
    }

    /// The host name of the running configuration.
    pub(super) fn hostname(&self) -> String {
        let lines = self.running.children.iter();
        let mut names = lines.filter(|node| begins_with(&node.text, "hostname"));
        let name = names.find_map(|node| node.arguments.first().cloned());
        name.unwrap_or_default()
    }

    /// The lines of a configuration.
    pub(super) fn lines(&self, root: &ConfigNode, lines: PrintedLines) -> Vec<String> {
        printed(BlockScope::of_root(&self.grammar, root), lines)
    }

    /// Takes a candidate over.
    pub(super) fn commit(&mut self, name: &str, timer: Option<Duration>) {
        let Some(candidate) = self.candidates.remove(name) else {
            return;
        };
        let previous = std::mem::replace(&mut self.running, candidate);
        self.timed_change = timer.map(|time| TimedChange {
            candidate: name.to_owned(),
            previous,
            deadline: clock::instant() + self.clock_advance + time,
        });
    }

    /// Reverts a change whose time is over.
    pub(super) fn expire(&mut self) {
        let now = clock::instant() + self.clock_advance;
        if self
            .timed_change
            .as_ref()
            .is_some_and(|change| change.deadline <= now)
            && let Some(change) = self.timed_change.take()
        {
            self.running = change.previous;
        }
    }

    /// The remaining time of a change that is not confirmed.
    pub(super) fn remaining(&self) -> Option<Duration> {
        let now = clock::instant() + self.clock_advance;
        let change = self.timed_change.as_ref()?;
        Some(change.deadline.saturating_duration_since(now))
    }

    /// Reverts the change that is not confirmed, if a candidate made it.
    pub(super) fn revert(&mut self, candidate: &str) -> bool {
        let is_own = |change: &TimedChange| change.candidate == candidate;
        let change = self.timed_change.take_if(|change| is_own(change));
        let Some(change) = change else {
            return false;
        };
        self.running = change.previous;
        true
    }
}

/// Whether a line ends a text: it is a word, or has a delimiter.
pub(super) fn ends_text(line: &str, end: &str) -> bool {
    if end.len() == 1 {
        line.contains(end)
    } else {
        line.trim() == end
    }
}

/// The lines up to one that ends a text.
fn text_lines(lines: &mut std::str::Lines<'_>, end: &str) -> Vec<String> {
    let mut body = Vec::new();
    for line in lines {
        body.push(line.to_owned());
        if ends_text(line, end) {
            break;
        }
    }
    body
}

/// Stores a line that the grammar does not have.
fn store_unknown(root: &mut ConfigNode, path: &[String], line: &str) {
    if let Some(block) = root.block_mut(path) {
        block.children.push(ConfigNode {
            key: line.to_owned(),
            text: line.to_owned(),
            ..ConfigNode::default()
        });
    }
}
