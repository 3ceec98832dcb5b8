//! All lines of operations in order, with those that enter and leave their modes.

use super::config_mode::{ConfigMode, ModeStep};
use crate::dialogue::{CliRules, RequestLine};
use crate::operation::{Action, Operation};
use crate::secret::Text;

/// The lines of operations, from global configuration until it is left.
pub(in crate::session) struct ConfigLines {
    pub(crate) lines: Vec<(RequestLine, LineOwner)>,
}

/// What a line belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::session) struct LineOwner {
    /// The index of the operation; `None`: the line leaves a mode.
    pub(crate) operation: Option<usize>,
    /// It enters a mode.
    pub(crate) enters: bool,
}

impl ConfigLines {
    /// `None`: an operation is no line.
    pub(in crate::session) fn of(operations: &[Operation], rules: &CliRules) -> Option<Self> {
        let mut lines = Vec::new();
        let mut mode = ConfigMode::Config(Vec::new());
        let mut add = |line: Text, text: Option<Text>, owner: LineOwner| {
            lines.push((RequestLine { line, text }, owner));
        };
        let leaving = LineOwner {
            operation: None,
            enters: false,
        };
        for (index, operation) in operations.iter().enumerate() {
            let Action::Line(line) = &operation.action else {
                return None;
            };
            for step in mode.steps_to(&line.mode, rules) {
                match step {
                    ModeStep::End | ModeStep::Configure => {}
                    ModeStep::Exit(levels) => {
                        for _ in 0..levels {
                            add(Text::plain(rules.exit_line()), None, leaving);
                        }
                    }
                    ModeStep::Enter(depth) => {
                        let owner = LineOwner {
                            operation: Some(index),
                            enters: true,
                        };
                        add(line.mode[depth].clone(), None, owner);
                    }
                }
            }
            mode = ConfigMode::Config(line.mode.clone());
            if line.enters_mode {
                let lines: Vec<&Text> = line.text.iter().chain(&line.body).collect();
                for (position, text) in lines.iter().enumerate() {
                    let owner = LineOwner {
                        operation: Some(index),
                        enters: position + 1 < lines.len(),
                    };
                    add((*text).clone(), None, owner);
                }
            } else if let Some(text) = &line.text {
                let owner = LineOwner {
                    operation: Some(index),
                    enters: false,
                };
                add(text.clone(), joined(&line.body), owner);
            }
        }
        if !rules.end_line().is_empty() {
            add(Text::plain(rules.end_line()), None, leaving);
        }
        Some(Self { lines })
    }

    /// Replaces the command that leaves the configuration. The result of an operation includes that
    /// of the new ones.
    pub(in crate::session) fn end_with(&mut self, commands: Vec<String>, operation: usize) {
        let leaves = self
            .lines
            .last()
            .is_some_and(|(_, owner)| owner.operation.is_none());
        if leaves {
            self.lines.pop();
        }
        let owner = LineOwner {
            operation: Some(operation),
            enters: false,
        };
        self.lines.extend(commands.into_iter().map(|command| {
            let line = RequestLine {
                line: Text::plain(command),
                text: None,
            };
            (line, owner)
        }));
    }
}

/// The lines of a text; `None` if there are none.
fn joined(body: &[Text]) -> Option<Text> {
    let mut joined = Text::new();
    for (index, line) in body.iter().enumerate() {
        if index > 0 {
            joined.push("\n");
        }
        joined.append(line.clone());
    }
    (!body.is_empty()).then_some(joined)
}
