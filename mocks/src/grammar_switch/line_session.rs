//! A session: the mode, and the answers to lines. It is the same over SSH and HTTP.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::block_position::BlockPosition;
use super::command_grammar::{CommandGrammar, EXEC, Mismatch, ModeIndex, ParsedLine, USER};
use super::config_editor::{LineOutcome, LineRefusal};
use super::config_node::{ConfigNode, begins_with};
use super::device_state::{GrammarDevice, ends_text};
use super::effective_line::BlockScope;
use super::exec_action::ExecAction;
use super::output::{self, OutputError};
use super::printed_config::PrintedLines;
use super::stored_text::filled;
use super::syntax::Extent;
use super::typed_line::TypedLine;
use crate::cli_switch::filter::Filter;
use crate::control::lock;

/// Before a filter of an output.
const PIPE: &str = " | ";

/// The mode of a session.
#[derive(Debug)]
enum SessionMode {
    /// Outside of the configuration.
    Commands(ModeIndex),
    /// In the configuration, or in a candidate with a name.
    Configuration {
        position: BlockPosition,
        candidate: Option<String>,
    },
}

/// A text whose lines are read.
#[derive(Debug)]
struct UnfinishedText {
    line: String,
    end: String,
    body: Vec<String>,
}

/// A session.
#[derive(Debug)]
pub(super) struct LineSession {
    device: Arc<Mutex<GrammarDevice>>,
    grammar: Arc<CommandGrammar>,
    mode: SessionMode,
    text: Option<UnfinishedText>,
    /// The connection of a terminal; `None`: a request.
    pub(super) connection: Option<u64>,
    /// Lines of a page; 0 is all.
    pub(super) page_length: usize,
}

/// The form of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OutputForm {
    Text,
    Json,
}

/// The answer to a line.
#[derive(Debug, Default)]
pub(super) struct LineAnswer {
    pub(super) text: String,
    /// The line was refused.
    pub(super) refusal: Option<LineRefusal>,
    /// The session ends.
    pub(super) closes: bool,
    /// The output has no form in JSON, and one was requested.
    pub(super) is_unconverted: bool,
}

impl LineSession {
    pub(super) fn new(device: Arc<Mutex<GrammarDevice>>) -> Self {
        let grammar = lock(&device).grammar.clone();
        let first = if grammar.settings.prompt.user.is_some() {
            USER
        } else {
            EXEC
        };
        Self {
            device,
            grammar,
            mode: SessionMode::Commands(first),
            text: None,
            connection: None,
            page_length: 24,
        }
    }

    /// The prompt; empty while lines of a text are read.
    pub(super) fn prompt(&self) -> String {
        if self.text.is_some() {
            return String::new();
        }
        let prompts = &self.grammar.settings.prompt;
        let text = match &self.mode {
            SessionMode::Commands(USER) => prompts.user.clone().unwrap_or_default(),
            SessionMode::Commands(_) => prompts.exec.clone(),
            SessionMode::Configuration {
                position,
                candidate,
            } => {
                let session = candidate.as_ref().map(|name| format!("-s-{name}"));
                prompts
                    .config
                    .replace("{session}", &session.unwrap_or_default())
                    .replace("{mode}", position.prompt())
            }
        };
        text.replace("{hostname}", &lock(&self.device).hostname())
    }

    /// The question between pages.
    pub(super) fn pager(&self) -> &str {
        &self.grammar.settings.pager
    }

    /// The name of the mode in logs.
    pub(super) fn mode_name(&self) -> &str {
        match &self.mode {
            SessionMode::Commands(mode) => &self.grammar.modes[*mode].name,
            SessionMode::Configuration { position, .. } => {
                &self.grammar.modes[position.mode(position.depth())].name
            }
        }
    }

    /// Executes a line.
    pub(super) fn execute(&mut self, line: &str, form: OutputForm) -> LineAnswer {
        lock(&self.device).expire();
        if self.text.is_some() {
            self.text_line(line);
            return LineAnswer::default();
        }
        let content = line.trim();
        if content.is_empty() || content.starts_with('!') {
            return LineAnswer::default();
        }
        let configured = self.configure(line);
        match configured {
            Some(Ok(answer)) => answer,
            Some(Err(LineRefusal::Mismatch(first))) => match self.command(line, form) {
                Err(LineRefusal::Mismatch(other)) if other.words() <= first.words() => {
                    self.refused(line, LineRefusal::Mismatch(first))
                }
                Err(refusal) => self.refused(line, refusal),
                Ok(answer) => answer,
            },
            Some(Err(refusal)) => self.refused(line, refusal),
            None => self
                .command(line, form)
                .unwrap_or_else(|refusal| self.refused(line, refusal)),
        }
    }

    /// Executes a line of the configuration; `None` outside of it.
    fn configure(&mut self, line: &str) -> Option<Result<LineAnswer, LineRefusal>> {
        let SessionMode::Configuration {
            position,
            candidate,
        } = &mut self.mode
        else {
            return None;
        };
        let outcome = lock(&self.device).configure(candidate.as_deref(), position, line);
        Some(match outcome {
            Ok(LineOutcome::Done(text)) => Ok(LineAnswer {
                text: with_end(text),
                ..LineAnswer::default()
            }),
            Ok(LineOutcome::Text { end }) => {
                self.text = Some(UnfinishedText {
                    line: line.trim().to_owned(),
                    end,
                    body: Vec::new(),
                });
                Ok(LineAnswer::default())
            }
            Ok(LineOutcome::Action(action, arguments)) => {
                self.perform(&action, &arguments, OutputForm::Text)
            }
            Err(refusal) => Err(refusal),
        })
    }

    fn text_line(&mut self, line: &str) {
        let Some(text) = &mut self.text else {
            return;
        };
        text.body.push(line.to_owned());
        if !ends_text(line, &text.end) {
            return;
        }
        if let (
            Some(text),
            SessionMode::Configuration {
                position,
                candidate,
            },
        ) = (self.text.take(), &self.mode)
        {
            let mut device = lock(&self.device);
            device.set_body(candidate.as_deref(), position, &text.line, text.body);
        }
    }

    /// Executes a command. Its output can be filtered.
    fn command(&mut self, line: &str, form: OutputForm) -> Result<LineAnswer, LineRefusal> {
        let mode = match &self.mode {
            SessionMode::Commands(mode) => *mode,
            SessionMode::Configuration { .. } => EXEC,
        };
        let start = line.trim_start();
        let offset = match start.split_once(' ') {
            Some(("do", _)) if matches!(self.mode, SessionMode::Configuration { .. }) => {
                line.len() - start.len() + 2
            }
            _ => 0,
        };
        let (head, pipes) = line.split_once(PIPE).unwrap_or((line, ""));
        let parsed = self.parse_command(mode, head, offset)?;
        let invalid = |column| LineRefusal::Mismatch(Mismatch::Invalid { words: 0, column });
        let action = self.grammar.rows[parsed.row].action();
        let action = action.cloned().ok_or_else(|| invalid(0))?;
        let mut requested = form;
        let mut filters = Vec::new();
        for pipe in pipes.split(PIPE).filter(|pipe| !pipe.trim().is_empty()) {
            match pipe.trim() {
                "json" | "json-pretty" => requested = OutputForm::Json,
                "no-more" => {}
                text => filters.push(Filter::parse(text).map_err(|_| invalid(head.len() + 3))?),
            }
        }
        let mut answer = self.perform(&action, &parsed.arguments, requested)?;
        for filter in filters {
            answer.text = filter.apply(&answer.text);
        }
        Ok(answer)
    }

    /// Executes an action: an output, or a change of the session or the device.
    fn perform(
        &mut self,
        action: &ExecAction,
        arguments: &[String],
        form: OutputForm,
    ) -> Result<LineAnswer, LineRefusal> {
        match self.output(action, arguments, form) {
            Some(answer) => answer,
            None => self.act(action, arguments),
        }
    }

    fn parse_command(
        &self,
        mode: ModeIndex,
        line: &str,
        offset: usize,
    ) -> Result<ParsedLine, LineRefusal> {
        let device = lock(&self.device);
        let scope = BlockScope::of_root(&self.grammar, &device.running);
        let typed = TypedLine::new(line, offset, Extent::Complete);
        let parsed = self
            .grammar
            .parse(mode, &typed, |row| scope.is_available(row));
        parsed.map_err(LineRefusal::Mismatch)
    }

    /// The output of a command; `None` if it has another effect.
    fn output(
        &self,
        action: &ExecAction,
        arguments: &[String],
        form: OutputForm,
    ) -> Option<Result<LineAnswer, LineRefusal>> {
        let device = lock(&self.device);
        let text = match action {
            ExecAction::Running(start) => {
                let start = filled(start, arguments);
                self.configuration(&device, &device.running, &start, PrintedLines::Changed)
            }
            ExecAction::RunningAll => {
                self.configuration(&device, &device.running, "", PrintedLines::All)
            }
            ExecAction::Startup => match &device.startup {
                Some(saved) => self.configuration(&device, saved, "", PrintedLines::Changed),
                None => String::new(),
            },
            ExecAction::Diffs => self.differences(&device),
            ExecAction::Show(name) => {
                return Some(
                    match output::render(&device, self.connection, (name, arguments), form) {
                        Ok(text) => Ok(LineAnswer {
                            text: with_end(text),
                            ..LineAnswer::default()
                        }),
                        Err(OutputError::NoForm) => Ok(LineAnswer {
                            is_unconverted: true,
                            ..LineAnswer::default()
                        }),
                        Err(OutputError::Template(error)) => Err(LineRefusal::Message(error)),
                    },
                );
            }
            _ => return None,
        };
        Some(Ok(LineAnswer {
            text,
            is_unconverted: form == OutputForm::Json,
            ..LineAnswer::default()
        }))
    }

    /// A configuration as it is printed, or its parts that begin with a text.
    fn configuration(
        &self,
        device: &GrammarDevice,
        root: &ConfigNode,
        start: &str,
        lines: PrintedLines,
    ) -> String {
        let settings = &self.grammar.settings;
        let printed = device.lines(root, lines);
        let mut is_selected = false;
        let selected = printed.iter().filter(|line| {
            if !line.starts_with(' ') {
                is_selected = start.is_empty() || begins_with(line, start);
            }
            is_selected
        });
        let body: String = selected.flat_map(|line| [line, "\n"]).collect();
        let header = output::with_facts(device, &settings.header);
        format!("{header}{body}{}", settings.footer)
    }

    /// The differences of the candidate to the running configuration.
    fn differences(&self, device: &GrammarDevice) -> String {
        let SessionMode::Configuration {
            candidate: Some(name),
            ..
        } = &self.mode
        else {
            return String::new();
        };
        let Some(candidate) = device.candidates.get(name) else {
            return String::new();
        };
        let text = |root| device.lines(root, PrintedLines::Changed).join("\n") + "\n";
        let (before, after) = (text(&device.running), text(candidate));
        let diff = similar::TextDiff::from_lines(&before, &after);
        let session = format!("session:/{name}-session-config");
        let mut diff = diff.unified_diff();
        diff.header("system:/running-config", &session).to_string()
    }

    /// Executes an action that changes the session or the device.
    fn act(
        &mut self,
        action: &ExecAction,
        arguments: &[String],
    ) -> Result<LineAnswer, LineRefusal> {
        let mut answer = LineAnswer::default();
        let first = arguments.first().cloned();
        match action {
            ExecAction::Enable => self.mode = SessionMode::Commands(EXEC),
            ExecAction::Disable => self.mode = SessionMode::Commands(USER),
            ExecAction::Configure => self.enter_configuration(None),
            ExecAction::Session => {
                let name = first.unwrap_or_else(|| "sess--1".to_owned());
                let mut device = lock(&self.device);
                let running = device.running.clone();
                device.candidates.entry(name.clone()).or_insert(running);
                drop(device);
                self.enter_configuration(Some(name));
            }
            ExecAction::Leave => self.leave(&mut answer),
            ExecAction::End => self.mode = SessionMode::Commands(EXEC),
            ExecAction::Close => answer.closes = true,
            ExecAction::Length => {
                self.page_length = first.and_then(|text| text.parse().ok()).unwrap_or(0);
            }
            ExecAction::Save => {
                let mut device = lock(&self.device);
                device.startup = Some(device.running.clone());
                answer.text = with_end(self.grammar.settings.saved.clone());
            }
            ExecAction::Commit | ExecAction::CommitTimer => self.commit(action, first)?,
            ExecAction::Abort => self.abort(first)?,
            ExecAction::ClearLine => {
                let number = arguments.last().map(|name| name.trim_start_matches("pts/"));
                let number = number.and_then(|number| number.parse().ok());
                if !number.is_some_and(|number| lock(&self.device).terminals.clear(number)) {
                    let text = "% Error: no session on this line".to_owned();
                    return Err(LineRefusal::Message(text));
                }
            }
            ExecAction::Confirm => {
                lock(&self.device).timed_change = None;
            }
            ExecAction::Nothing
            | ExecAction::Running(_)
            | ExecAction::RunningAll
            | ExecAction::Startup
            | ExecAction::Diffs
            | ExecAction::Show(_) => {}
        }
        Ok(answer)
    }

    fn enter_configuration(&mut self, candidate: Option<String>) {
        self.mode = SessionMode::Configuration {
            position: BlockPosition::default(),
            candidate,
        };
    }

    /// Leaves the innermost block, the configuration, or the device.
    fn leave(&mut self, answer: &mut LineAnswer) {
        match &mut self.mode {
            SessionMode::Commands(_) => answer.closes = true,
            SessionMode::Configuration { position, .. } => match position.depth().checked_sub(1) {
                Some(depth) => position.truncate(depth),
                None => self.mode = SessionMode::Commands(EXEC),
            },
        }
    }

    /// Takes the candidate of the session over, with a timer if the action has one.
    fn commit(&mut self, action: &ExecAction, timer: Option<String>) -> Result<(), LineRefusal> {
        let name = self.candidate()?;
        let timer = (*action == ExecAction::CommitTimer).then(|| duration(timer.as_deref()));
        lock(&self.device).commit(&name, timer);
        self.mode = SessionMode::Commands(EXEC);
        Ok(())
    }

    /// Discards a candidate: the one with a name, or that of the session.
    fn abort(&mut self, name: Option<String>) -> Result<(), LineRefusal> {
        let is_named = name.is_some();
        let name = match name {
            Some(name) => name,
            None => self.candidate()?,
        };
        let mut device = lock(&self.device);
        if !device.revert(&name) {
            device.candidates.remove(&name);
        }
        drop(device);
        if !is_named {
            self.mode = SessionMode::Commands(EXEC);
        }
        Ok(())
    }

    /// The name of the candidate of the session.
    fn candidate(&self) -> Result<String, LineRefusal> {
        match &self.mode {
            SessionMode::Configuration {
                candidate: Some(name),
                ..
            } => Ok(name.clone()),
            _ => Err(LineRefusal::Mismatch(Mismatch::Invalid {
                words: 0,
                column: 0,
            })),
        }
    }

    fn refused(&self, line: &str, refusal: LineRefusal) -> LineAnswer {
        let messages = &self.grammar.settings.message;
        let text = match &refusal {
            LineRefusal::Message(text) => text.clone(),
            LineRefusal::Mismatch(mismatch) => {
                let (message, column) = match mismatch {
                    Mismatch::Invalid { column, .. } => (&messages.invalid, column),
                    Mismatch::Incomplete { column, .. } => (&messages.incomplete, column),
                    Mismatch::Ambiguous { column, .. } => (&messages.ambiguous, column),
                };
                let caret = " ".repeat(self.prompt().len() + column.min(&line.len())) + "^";
                message.replace("{caret}", &caret)
            }
        };
        LineAnswer {
            text: with_end(text),
            refusal: Some(refusal),
            ..LineAnswer::default()
        }
    }
}

/// A text with a line end, unless it is empty.
fn with_end(text: String) -> String {
    if text.is_empty() || text.ends_with('\n') {
        text
    } else {
        text + "\n"
    }
}

/// `hh:mm:ss`.
fn duration(text: Option<&str>) -> Duration {
    let parts = text.unwrap_or_default().split(':');
    let numbers = parts.map(|part| part.parse::<u64>().unwrap_or(0));
    Duration::from_secs(numbers.fold(0, |seconds, number| seconds * 60 + number))
}
