//! The structure of a command line: modes, prompts, answers and the shapes of lines.
//!
//! A mock of any platform has this structure. It describes the definition and not the device.

use crate::diagnostic::Diagnostic;
use crate::dialogue::candidate_rules::CandidateRules;
use crate::dialogue::cli_rules::{CliRules, MessageClass, ModeId, Step};
use crate::dialogue::{Dialect, Protocol};
use crate::driver::platform::Platform;
use crate::driver::read_rule::ParseRule;
use crate::pattern::Pattern;
use crate::read::answer_rule::Expectation;
use crate::read::indent::IndentRules;
use crate::read::{CONFIG, ReadRequest, Reads};

/// The structure of a platform's command line.
#[derive(Clone, Debug)]
pub struct CommandLineOutline {
    /// All modes.
    pub modes: Vec<ModeOutline>,
    /// The index of the mode of reads.
    pub read_mode: usize,
    /// The index of the mode of lines outside of blocks.
    pub config_mode: usize,
    /// The index of the mode of all blocks.
    pub sub_mode: Option<usize>,
    /// A block can be entered from another one.
    pub direct_sub_modes: bool,
    /// The command that prints the configuration.
    pub config_command: String,
    /// The configuration: the saved one, or the shortest valid one.
    pub config: String,
    /// The other commands that have an answer.
    pub answers: Vec<(String, String)>,
    /// Commands that log off.
    pub close: Vec<String>,
    /// Commands that commit the configuration, and the one that discards what is not committed.
    pub candidate: Option<CandidateOutline>,
    /// The output that refuses a command.
    pub refusal: String,
    /// The first word of lines that remove lines.
    pub negate: String,
    /// The first word of all other lines.
    pub negate_replaces: Option<String>,
    /// The shapes of lines.
    pub lines: Vec<LineOutline>,
    /// The lines that remove others by their names.
    pub removals: Vec<RemovalOutline>,
    /// The lines that move others by their names.
    pub moves: Vec<MoveOutline>,
    /// The lines that stand for several.
    pub lists: Vec<ListOutline>,
    /// Lines of sets of numbers that other lines change.
    pub sets: Vec<SetOutline>,
    /// Pattern of the last line of the configuration.
    pub last: Option<String>,
    /// The pattern of the host name in the configuration (group 1), and the host name of the prompts.
    pub hostname: Option<(String, String)>,
    /// The name and the command of each read whose answer is a constant.
    pub constant: Vec<(String, String)>,
    /// Reads of types without an answer.
    pub unanswered: Vec<ReadRequest>,
}

/// The commands for a candidate configuration.
#[derive(Clone, Debug)]
pub struct CandidateOutline {
    /// Commands that commit it.
    pub commit: Vec<String>,
    /// The command that discards it.
    pub abort: String,
}

/// A mode of a command line.
#[derive(Clone, Debug)]
pub struct ModeOutline {
    /// Its name.
    pub name: String,
    /// A prompt of the mode.
    pub prompt: String,
    /// The lines that lead to other modes, and the indexes of these.
    pub transitions: Vec<(String, usize)>,
}

/// The lines for one setting at one position of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineOutline {
    /// Patterns of the headers around the line, outermost first.
    pub block: Vec<String>,
    /// Patterns of the line behind a blank. Groups are the names of the setting, in the order of the
    /// names of the groups.
    pub patterns: Vec<String>,
    /// The line is the header of a block.
    pub is_header: bool,
    /// A line replaces the other lines of the setting.
    pub is_unique: bool,
    /// The line without its rest is the name of a setting, and removes its lines in inner blocks too.
    pub reaches_inner: bool,
    /// What the configuration has after the line that removes.
    pub negative: NegativeForm,
    /// Patterns of the lines that the configuration does not have after they were sent.
    pub unprinted: Vec<String>,
}

/// A line that removes the lines with the same names, where these stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemovalOutline {
    /// Patterns of the headers around the lines, outermost first.
    pub block: Vec<String>,
    /// Pattern of the line that removes.
    pub removed_by: String,
    /// Patterns of the lines that are removed.
    pub removed: Vec<String>,
}

/// A line that moves the lines with its names before or behind others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveOutline {
    /// Patterns of the headers around the lines, outermost first.
    pub block: Vec<String>,
    /// Pattern of the line that moves, with the names of the lines that are moved.
    pub moved: String,
    /// The same with the names of the lines at the new position.
    pub target: String,
    /// The lines move before the others.
    pub is_before: bool,
    /// Patterns of the lines, with their names.
    pub lines: Vec<String>,
}

/// A line that stands for one line with each element of the list in group 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListOutline {
    /// Pattern of the line.
    pub pattern: String,
    /// The list is one of numbers and ranges instead of words.
    pub has_numbers: bool,
    /// The lowest and the highest number of a list whose word `all` means all of them.
    pub limits: Option<(u32, u32)>,
}

/// A line with a set of numbers, and the lines that change it; all with the numbers in group 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetOutline {
    /// Pattern of the line of the set.
    pub complete: String,
    /// Pattern of the line that adds numbers.
    pub more: String,
    /// Pattern of the line that removes numbers.
    pub less: String,
    /// The lowest and the highest number.
    pub limits: (u32, u32),
    /// The set of a device without a line: `all`, `none` or numbers.
    pub without_line: Option<String>,
}

/// What a configuration has after a line that removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NegativeForm {
    /// Nothing.
    Absent,
    /// The line that removes.
    Printed,
    /// The line that removes; and nothing after the line that sets.
    OnlyPrinted,
}

/// Why a platform has no outline.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutlineError {
    /// It is no command line with a configuration of lines.
    #[error(
        "the platform has no command line with a configuration mode and a read `config` of lines"
    )]
    NoConfiguration,
    /// A prompt of the mode is not recognized as such.
    #[error("cannot make a prompt of the mode `{mode}`")]
    Prompt {
        /// Name of the mode.
        mode: String,
    },
}

impl LineOutline {
    pub(crate) fn new(block: &[String], patterns: Vec<String>) -> Self {
        Self {
            block: block.to_vec(),
            patterns,
            is_header: false,
            is_unique: false,
            reaches_inner: false,
            negative: NegativeForm::Absent,
            unprinted: Vec::new(),
        }
    }
}

impl Platform {
    /// Whether the platform has a command line with a configuration of lines.
    pub fn has_outline(&self) -> bool {
        self.configuration_rules().is_ok()
    }

    /// The finding that types send lines and the platform has no mode for them.
    pub(super) fn missing_config_mode(&self) -> Option<Diagnostic> {
        let Dialect::Cli(rules) = &self.protocol.dialect else {
            return None;
        };
        let mode = rules.modes.get(rules.read_mode)?;
        let types = self.type_drivers();
        let mut implementations = types.flat_map(|definition| definition.implementations());
        let sends_lines = implementations.any(|one| !one.line_outlines().is_empty());
        let is_missing = rules.config_mode.is_none() && sends_lines;
        is_missing.then(|| {
            let message = "[connection] has no `config_mode`, and types send lines";
            let help = "add the mode of global lines, and `sub_mode`, the mode of blocks";
            mode.finding("missing-mode", message).help(help)
        })
    }

    /// The structure of the command line of a device with this host name. `saved` has answers by
    /// name of the read; other reads of texts have the shortest valid answer.
    ///
    /// # Errors
    /// The platform has no command line with a configuration of lines.
    pub fn outline(
        &self,
        hostname: &str,
        saved: &Reads,
    ) -> Result<CommandLineOutline, OutlineError> {
        let (rules, config_mode, config, syntax) = self.configuration_rules()?;
        let mut answers = Vec::new();
        let steps = rules.open.iter().chain(&rules.save);
        let transitions = rules.modes.iter().flat_map(|mode| &mode.transitions);
        let verified = transitions.filter_map(|transition| transition.verify.as_ref());
        for step in steps.chain(verified) {
            answers.push((step.send.clone(), expected_output(step)));
        }
        let types = self.type_drivers();
        let implementations = types.flat_map(|definition| definition.implementations());
        let used: Vec<ReadRequest> = implementations
            .flat_map(|implementation| implementation.reads(None))
            .collect();
        let (mut constant, mut unanswered) = (Vec::new(), Vec::new());
        for (name, rule) in self.reads.iter().filter(|(name, _)| *name != CONFIG) {
            let answer = match (&rule.parse, saved.get(name)) {
                (_, Some(text)) => text.clone(),
                (ParseRule::Text, None) => shortest_answer(&rule.request),
                _ => {
                    unanswered.extend(used.contains(&rule.request).then(|| rule.request.clone()));
                    continue;
                }
            };
            let command = &rule.request.command;
            constant.push((name.clone(), command.clone()));
            answers.push((command.clone(), answer));
        }
        let types = self.type_drivers();
        let implementations = types.flat_map(|definition| definition.implementations());
        let mut lines: Vec<LineOutline> = Vec::new();
        for outline in implementations.flat_map(|implementation| implementation.line_outlines()) {
            if !lines.contains(&outline) {
                lines.push(outline);
            }
        }
        let types = self.type_drivers();
        let implementations = types.flat_map(|definition| definition.implementations());
        let removals = implementations.flat_map(|implementation| implementation.removal_outlines());
        let types = self.type_drivers();
        let implementations = types.flat_map(|definition| definition.implementations());
        let moves = implementations.flat_map(|implementation| implementation.move_outlines());
        let types = self.type_drivers();
        let implementations = types.flat_map(|definition| definition.implementations());
        let sets = implementations.flat_map(|implementation| implementation.list_outlines());
        let types = self.type_drivers();
        let implementations = types.flat_map(|definition| definition.implementations());
        let changed_sets = implementations.flat_map(|implementation| implementation.set_outlines());
        let lists = syntax.split.iter().map(|rule| ListOutline {
            pattern: rule.pattern.to_string(),
            has_numbers: rule.has_numbers,
            limits: None,
        });
        let lists = lists.chain(sets).collect();
        let candidate = rules.candidate.as_ref();
        for inspection in candidate
            .iter()
            .flat_map(|rules| [&rules.check, &rules.diff])
        {
            answers.extend(inspection.iter().map(|line| (line.clone(), String::new())));
        }
        let modes = (0..rules.modes.len()).map(|mode| mode_outline(rules, mode, hostname));
        Ok(CommandLineOutline {
            modes: modes.collect::<Result<_, _>>()?,
            read_mode: rules.read_mode,
            config_mode,
            sub_mode: rules.sub_mode,
            direct_sub_modes: rules.direct_sub_modes,
            config_command: config.command.clone(),
            config: match saved.get(CONFIG) {
                Some(text) => syntax.without_ignored(text, &|line| {
                    let mut expectations = config.answer.expectations.iter();
                    expectations.any(|expectation| match expectation {
                        Expectation::Line(pattern) | Expectation::LastLine(pattern) => {
                            pattern.is_match(line)
                        }
                        _ => false,
                    })
                }),
                None => shortest_answer(config),
            },
            answers,
            close: rules.close.iter().map(|step| step.send.clone()).collect(),
            candidate: candidate.map(candidate_outline),
            refusal: refusal(rules),
            negate: self.negation.word().to_owned(),
            negate_replaces: self.negation.replaced().map(str::to_owned),
            lines,
            removals: removals.collect(),
            moves: moves.collect(),
            lists,
            sets: changed_sets.collect(),
            last: config.answer.expectations.iter().find_map(|one| match one {
                Expectation::LastLine(pattern) => Some(pattern.to_string()),
                _ => None,
            }),
            hostname: self
                .facts
                .iter()
                .find_map(|fact| fact.hostname_pattern())
                .map(|pattern| (pattern.to_owned(), hostname.to_owned())),
            constant,
            unanswered,
        })
    }

    fn configuration_rules(
        &self,
    ) -> Result<(&CliRules, ModeId, &ReadRequest, &IndentRules), OutlineError> {
        let Protocol {
            dialect: Dialect::Cli(rules),
            ..
        } = &self.protocol
        else {
            return Err(OutlineError::NoConfiguration);
        };
        let config = self.reads.get(CONFIG);
        let config = config.and_then(|rule| match &rule.parse {
            ParseRule::Indent(syntax) => Some((&rule.request, syntax)),
            _ => None,
        });
        match (rules.config_mode, config) {
            (Some(mode), Some((config, syntax))) => Ok((rules, mode, config, syntax)),
            _ => Err(OutlineError::NoConfiguration),
        }
    }
}

fn candidate_outline(rules: &CandidateRules) -> CandidateOutline {
    let confirm = rules.confirm.iter();
    let confirm = confirm.flat_map(|confirm| [&confirm.commit, &confirm.keep]);
    CandidateOutline {
        commit: [&rules.commit]
            .into_iter()
            .chain(confirm)
            .cloned()
            .collect(),
        abort: rules.abort.clone(),
    }
}

/// A mode with a prompt that no other mode has.
fn mode_outline(rules: &CliRules, id: ModeId, hostname: &str) -> Result<ModeOutline, OutlineError> {
    let mode = &rules.modes[id];
    let named = mode.prompt_examples(&|name| (name == "name").then(|| hostname.to_owned()));
    let others = mode.prompt_examples(&|_| None);
    let mut prompts = named.into_iter().chain(others);
    let prompt = prompts.find(|prompt| {
        rules
            .prompt(prompt, Some(hostname))
            .is_some_and(|found| found.0 == id)
    });
    let transitions = mode.transitions.iter();
    Ok(ModeOutline {
        name: mode.name.clone(),
        prompt: prompt.ok_or_else(|| OutlineError::Prompt {
            mode: mode.name.clone(),
        })?,
        transitions: transitions
            .map(|transition| (transition.send.clone(), transition.to))
            .collect(),
    })
}

fn example(pattern: &Pattern) -> String {
    let examples = pattern.examples(&|_| None);
    let mut text = examples.into_iter().next().unwrap_or_default();
    // A blank at the end of a line is lost.
    if text.ends_with(' ') {
        text.push('x');
    }
    text
}

fn expected_output(step: &Step) -> String {
    step.expect.as_ref().map(example).unwrap_or_default()
}

/// The lines that a valid answer must have.
fn shortest_answer(request: &ReadRequest) -> String {
    let lines = request.answer.expectations.iter();
    let lines = lines.filter_map(|expectation| match expectation {
        Expectation::Line(pattern) | Expectation::LastLine(pattern) => Some(example(pattern)),
        _ => None,
    });
    lines.map(|line| line + "\n").collect()
}

/// A message that the platform classifies as a refusal, and its reason.
fn refusal(rules: &CliRules) -> String {
    let patterns = rules.errors.patterns.iter().zip(&rules.errors.classes);
    let mut refused = patterns.filter(|(_, class)| **class == MessageClass::Command);
    let message = refused.next().map(|(pattern, _)| example(pattern));
    let mut lines: Vec<String> = message.into_iter().collect();
    lines.push("(the structural mock has no answer to this command)".to_owned());
    lines.join("\n")
}
