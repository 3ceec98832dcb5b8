//! The structure of a platform's command line, for a mock.

use switchtender_outline::{CommandLine, CommandMode, ListForm, ListShape, NetconfInterface};

use super::Platform;
use super::rest_outline::RestOutline;
use crate::diagnostic::Diagnostic;
use crate::dialogue::candidate_rules::CandidateRules;
use crate::dialogue::cli_rules::{CliRules, MessageClass, ModeId, Step};
use crate::dialogue::{Dialect, Protocol};
use crate::driver::read_rule::ParseRule;
use crate::pattern::Pattern;
use crate::read::answer_rule::Expectation;
use crate::read::indent::{IndentRules, SplitRule};
use crate::read::{CONFIG, ReadRequest, Reads};

/// What a mock has from its platform.
#[derive(Clone, Debug)]
pub enum PlatformOutline {
    /// A command line.
    CommandLine(Box<CommandLineOutline>),
    /// A REST interface.
    Rest(Box<RestOutline>),
    /// A NETCONF configuration.
    Netconf(Box<NetconfInterface>),
}

/// What a mock of a command line has from its platform.
#[derive(Clone, Debug)]
pub struct CommandLineOutline {
    /// The structure.
    pub command_line: CommandLine,
    /// The configuration: the saved one, or the shortest valid one.
    pub config: String,
    /// The name and the command of each read whose answer is a constant.
    pub constant: Vec<(String, String)>,
    /// Reads of types without an answer.
    pub unanswered: Vec<ReadRequest>,
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

impl Platform {
    /// Whether a mock can have the structure of the platform.
    pub fn has_outline(&self) -> bool {
        match &self.protocol.dialect {
            Dialect::Cli(_) => self.configuration_rules().is_ok(),
            Dialect::Rest(_) | Dialect::Netconf(_) => true,
        }
    }

    /// The structure of a device with this host name. `saved` has answers by name of the read.
    ///
    /// # Errors
    /// The platform has a command line without a configuration of lines.
    pub fn outline(&self, hostname: &str, saved: &Reads) -> Result<PlatformOutline, OutlineError> {
        Ok(match &self.protocol.dialect {
            Dialect::Cli(_) => {
                let outline = self.command_line_outline(hostname, saved)?;
                PlatformOutline::CommandLine(Box::new(outline))
            }
            Dialect::Rest(rules) => {
                let outline = self.rest_outline(rules, hostname, saved);
                PlatformOutline::Rest(Box::new(outline))
            }
            Dialect::Netconf(rules) => {
                let interface = self.netconf_outline(&rules.namespaces, hostname, saved);
                PlatformOutline::Netconf(Box::new(interface))
            }
        })
    }

    /// The finding that types send lines and the platform has no mode for them.
    pub(in crate::driver) fn missing_config_mode(&self) -> Option<Diagnostic> {
        let Dialect::Cli(rules) = &self.protocol.dialect else {
            return None;
        };
        let mode = rules.modes.get(rules.read_mode)?;
        let types = self.type_drivers();
        let mut implementations = types.flat_map(|definition| definition.implementations());
        let sends_lines = implementations.any(|implementation| {
            let mut command_line = CommandLine::default();
            implementation.add_shapes(&mut command_line);
            !command_line.shapes.is_empty()
        });
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
    pub fn command_line_outline(
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
        let implementations: Vec<_> = types
            .flat_map(|definition| definition.implementations())
            .collect();
        let used: Vec<ReadRequest> = implementations
            .iter()
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
        let candidate = rules.candidate.as_ref();
        for inspection in candidate
            .iter()
            .flat_map(|rules| [&rules.check, &rules.diff])
        {
            answers.extend(inspection.iter().map(|line| (line.clone(), String::new())));
        }
        let modes = (0..rules.modes.len()).map(|mode| command_mode(rules, mode, hostname));
        let mut command_line = CommandLine {
            modes: modes.collect::<Result<_, _>>()?,
            read_mode: rules.read_mode,
            config_mode,
            sub_mode: rules.sub_mode,
            direct_sub_modes: rules.direct_sub_modes,
            config_command: config.command.clone(),
            answers,
            close: rules.close.iter().map(|step| step.send.clone()).collect(),
            commit: candidate.map(commit_commands).unwrap_or_default(),
            abort: candidate.map(|rules| rules.abort.clone()),
            refusal: refusal(rules),
            negate: self.negation.word().to_owned(),
            negate_replaces: self.negation.replaced().map(str::to_owned),
            inactive: syntax
                .inactive
                .as_ref()
                .map(|words| (words.mark.clone(), words.activate.clone())),
            lists: syntax.split.iter().map(list_shape).collect(),
            last: config.answer.expectations.iter().find_map(|one| match one {
                Expectation::LastLine(pattern) => Some(pattern.to_string()),
                _ => None,
            }),
            hostname: self
                .facts
                .iter()
                .find_map(|fact| fact.hostname_pattern())
                .map(|pattern| (pattern.to_owned(), hostname.to_owned())),
            ..CommandLine::default()
        };
        for implementation in implementations {
            implementation.add_shapes(&mut command_line);
        }
        Ok(CommandLineOutline {
            command_line,
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

fn list_shape(rule: &SplitRule) -> ListShape {
    let form = if rule.has_numbers {
        ListForm::Numbers(None)
    } else {
        ListForm::Words
    };
    ListShape {
        pattern: rule.pattern.to_string(),
        form,
    }
}

/// The commands that commit a candidate configuration.
fn commit_commands(rules: &CandidateRules) -> Vec<String> {
    let confirm = rules.confirm.iter();
    let confirm = confirm.flat_map(|confirm| [&confirm.commit, &confirm.keep]);
    [&rules.commit]
        .into_iter()
        .chain(confirm)
        .cloned()
        .collect()
}

/// A mode with a prompt that no other mode has.
fn command_mode(rules: &CliRules, id: ModeId, hostname: &str) -> Result<CommandMode, OutlineError> {
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
    Ok(CommandMode {
        name: mode.name.clone(),
        prompt: prompt.ok_or_else(|| OutlineError::Prompt {
            mode: mode.name.clone(),
        })?,
        transitions: transitions
            .map(|transition| (transition.send.clone(), transition.to))
            .collect(),
    })
}

pub(super) fn example(pattern: &Pattern) -> String {
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
