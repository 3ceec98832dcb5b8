//! Grammars of the modes: rules as patterns, compiled to one automaton per mode.
//!
//! A pattern is words and `<parameters>`, `[optional]` parts, `( a | b )` choices, `( … )*` repetitions. `!` marks where the
//! identity of the line ends: a new line with the same words up to there replaces the old one, and the `no` form needs only
//! these words. Words can be abbreviated while they are unambiguous; the parsed line has complete words, and parameters
//! as the device prints them.

pub(super) mod access_list;
pub(super) mod bgp;
pub(super) mod block;
pub(super) mod block_kind;
pub(super) mod crypto;
pub(super) mod eigrp;
pub(super) mod exec;
pub(super) mod global;
pub(super) mod interface;
mod line_options;
pub(super) mod parameter;
pub(super) mod policy;
pub(super) mod route_map;
pub(super) mod routing_block;
pub(super) mod server;

/// A community of BGP.
macro_rules! communities {
    () => {
        "<community> | gshut | internet | local-AS | no-advertise | no-export"
    };
}
pub(in crate::cli_switch::grammar) use communities;

use super::effect::Effect;
use super::interface_name::InterfaceName;
use super::platform_profile::PlatformProfile;
use parameter::{Accepted, Parameter};

/// Conditions of a rule: the platform and the mode.
#[derive(Debug, Clone, Copy)]
pub(super) struct RuleScope<'a> {
    /// The platform.
    pub profile: &'a PlatformProfile,
    /// The interface of the submode.
    pub interface: Option<&'a InterfaceName>,
    /// Whether the session is privileged.
    pub privileged: bool,
}

/// A line of a mode.
#[derive(Clone, Copy)]
pub(super) struct Rule {
    /// See the module documentation.
    pub pattern: &'static str,
    /// The effect of the line.
    pub effect: Effect,
    /// Whether the line exists.
    pub when: fn(&RuleScope<'_>) -> bool,
}

/// A line that always exists.
const fn rule(pattern: &'static str, effect: Effect) -> Rule {
    on(always, pattern, effect)
}

/// A line that exists under a condition.
const fn on(when: fn(&RuleScope<'_>) -> bool, pattern: &'static str, effect: Effect) -> Rule {
    Rule {
        pattern,
        effect,
        when,
    }
}

fn always(_: &RuleScope<'_>) -> bool {
    true
}

/// The automaton of one mode.
pub(super) struct Grammar {
    /// The rules; their order is the order of lines in the running configuration.
    pub rules: &'static [Rule],
    states: Vec<AutomatonState>,
    starts: Vec<usize>,
}

#[derive(Default)]
struct AutomatonState {
    edges: Vec<(Label, usize)>,
    epsilon: Vec<usize>,
    marks: bool,
    accepts: bool,
}

#[derive(Clone)]
enum Label {
    Word(&'static str),
    Parameter(Parameter),
}

/// A word of a line and where it begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'a> {
    /// The word.
    pub text: &'a str,
    /// Byte offset in the line.
    pub column: usize,
}

/// A parsed line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parsed {
    /// Index of the rule.
    pub rule: usize,
    /// Words without abbreviations, parameters as the device prints them.
    pub words: Vec<String>,
    /// Number of words that identify the line.
    pub identity: usize,
}

/// Why a line cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SyntaxError {
    /// The word at this column is invalid.
    Invalid(usize),
    /// Words are missing.
    Incomplete,
    /// The line up to the ambiguous word's end.
    Ambiguous(String),
}

/// Whether a line must be complete, or only has its identity (after `no` and `default`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineForm {
    /// The line itself.
    Complete,
    /// Its removal.
    Identity,
}

#[derive(Clone)]
struct MatchThread {
    rule: usize,
    state: usize,
    words: Vec<String>,
    identity: Option<usize>,
    unfinished: Option<String>,
}

/// Splits a line at spaces.
pub(super) fn tokens(line: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut start = None;
    for (index, character) in line.char_indices() {
        match (character == ' ' || character == '\t', start) {
            (true, Some(begin)) => {
                found.push(Token {
                    text: &line[begin..index],
                    column: begin,
                });
                start = None;
            }
            (false, None) => start = Some(index),
            _ => {}
        }
    }
    if let Some(begin) = start {
        found.push(Token {
            text: &line[begin..],
            column: begin,
        });
    }
    found
}

impl Grammar {
    /// Compiles the rules.
    ///
    /// # Panics
    /// A pattern is malformed. Tests compile every grammar.
    pub(super) fn new(rules: &'static [Rule]) -> Self {
        let mut grammar = Grammar {
            rules,
            states: Vec::new(),
            starts: Vec::new(),
        };
        for rule in rules {
            let mut source = PatternReader {
                pieces: pieces(rule.pattern),
                next: 0,
                pattern: rule.pattern,
            };
            let (start, end) = source.sequence(&mut grammar.states);
            assert!(
                source.next == source.pieces.len(),
                "unbalanced pattern `{}`",
                rule.pattern
            );
            grammar.states[end].accepts = true;
            grammar.starts.push(start);
        }
        grammar
    }

    /// Parses the tokens of `line`.
    ///
    /// # Errors
    /// The syntax error of the device, with the column in `line`.
    pub(super) fn parse(
        &self,
        scope: &RuleScope<'_>,
        line: &str,
        tokens: &[Token<'_>],
        form: LineForm,
    ) -> Result<Parsed, SyntaxError> {
        let mut threads = self.start(scope);
        for (index, token) in tokens.iter().enumerate() {
            let next = self.step(&threads, line, token);
            match next {
                Step::None => return Err(SyntaxError::Invalid(token.column)),
                Step::Ambiguous => {
                    return Err(SyntaxError::Ambiguous(
                        line[..token.column + token.text.len()]
                            .trim_start()
                            .to_owned(),
                    ));
                }
                Step::Threads {
                    threads: next,
                    rest,
                } => {
                    threads = next;
                    if rest || index + 1 == tokens.len() {
                        break;
                    }
                }
            }
        }
        threads.retain(|thread| thread.unfinished.is_none());
        threads
            .iter()
            .find(|thread| self.states[thread.state].accepts)
            .or_else(|| {
                (form == LineForm::Identity)
                    .then(|| threads.iter().find(|thread| thread.identity.is_some()))?
            })
            .map(|thread| Parsed {
                rule: thread.rule,
                identity: thread.identity.unwrap_or(thread.words.len()),
                words: thread.words.clone(),
            })
            .ok_or(SyntaxError::Incomplete)
    }

    /// The words that can follow the tokens, for `?`.
    pub(super) fn expected(
        &self,
        scope: &RuleScope<'_>,
        line: &str,
        tokens: &[Token<'_>],
    ) -> Option<Vec<String>> {
        let mut threads = self.start(scope);
        for token in tokens {
            match self.step(&threads, line, token) {
                Step::Threads { threads: next, .. } => threads = next,
                Step::None | Step::Ambiguous => return None,
            }
        }
        let mut words: Vec<String> = Vec::new();
        for thread in &threads {
            let state = &self.states[thread.state];
            words.extend(state.edges.iter().map(|(label, _)| match label {
                Label::Word(word) => (*word).to_owned(),
                Label::Parameter(parameter) => parameter.help().to_owned(),
            }));
            if state.accepts {
                words.push("<cr>".to_owned());
            }
        }
        words.sort();
        words.dedup();
        Some(words)
    }

    fn start(&self, scope: &RuleScope<'_>) -> Vec<MatchThread> {
        let mut threads = Vec::new();
        for (rule, start) in self.starts.iter().enumerate() {
            if (self.rules[rule].when)(scope) {
                let thread = MatchThread {
                    rule,
                    state: *start,
                    words: Vec::new(),
                    identity: None,
                    unfinished: None,
                };
                self.close(thread, &mut threads);
            }
        }
        threads
    }

    fn step(&self, threads: &[MatchThread], line: &str, token: &Token<'_>) -> Step {
        let mut exact = Vec::new();
        let mut shortened: Vec<(&'static str, MatchThread)> = Vec::new();
        let mut filled = Vec::new();
        let mut rest = false;
        for thread in threads {
            for (label, target) in &self.states[thread.state].edges {
                let mut next = thread.clone();
                next.unfinished = None;
                match label {
                    Label::Word(word) => {
                        let typed = token.text;
                        if thread.unfinished.is_some() || !starts_with_ignoring_case(word, typed) {
                            continue;
                        }
                        next.state = *target;
                        next.words.push((*word).to_owned());
                        if word.len() == typed.len() {
                            exact.push(next);
                        } else {
                            shortened.push((word, next));
                        }
                    }
                    Label::Parameter(parameter) => {
                        let joined;
                        let text = match &thread.unfinished {
                            Some(started) => {
                                joined = format!("{started}{}", token.text);
                                joined.as_str()
                            }
                            None => token.text,
                        };
                        match parameter.accept(text, &line[token.column..]) {
                            Some(Accepted::Word(word)) => {
                                next.state = *target;
                                next.words.push(word);
                                filled.push(next);
                            }
                            Some(Accepted::Rest(text)) => {
                                next.state = *target;
                                next.words.push(text);
                                filled.push(next);
                                rest = true;
                            }
                            Some(Accepted::Partial(started)) if thread.unfinished.is_none() => {
                                next.unfinished = Some(started);
                                filled.push(next);
                            }
                            Some(Accepted::Partial(_)) | None => {}
                        }
                    }
                }
            }
        }
        let chosen = if exact.is_empty() && !shortened.is_empty() {
            let first = shortened[0].0;
            if shortened.iter().any(|(word, _)| *word != first) {
                return Step::Ambiguous;
            }
            rest = false;
            shortened.into_iter().map(|(_, thread)| thread).collect()
        } else if exact.is_empty() {
            filled
        } else {
            rest = false;
            exact
        };
        if chosen.is_empty() {
            return Step::None;
        }
        let mut threads = Vec::new();
        for thread in chosen {
            if thread.unfinished.is_some() {
                threads.push(thread);
            } else {
                self.close(thread, &mut threads);
            }
        }
        Step::Threads { threads, rest }
    }

    /// Adds the thread and all threads reachable without reading a word.
    fn close(&self, thread: MatchThread, into: &mut Vec<MatchThread>) {
        let mut waiting = vec![thread];
        while let Some(mut thread) = waiting.pop() {
            let state = &self.states[thread.state];
            if state.marks {
                thread.identity = Some(thread.words.len());
            }
            let is_same = |other: &MatchThread| {
                other.state == thread.state
                    && other.rule == thread.rule
                    && other.words == thread.words
            };
            if into.iter().any(is_same) {
                continue;
            }
            waiting.extend(state.epsilon.iter().rev().map(|target| MatchThread {
                state: *target,
                ..thread.clone()
            }));
            into.push(thread);
        }
    }
}

enum Step {
    None,
    Ambiguous,
    Threads {
        threads: Vec<MatchThread>,
        rest: bool,
    },
}

fn starts_with_ignoring_case(word: &str, typed: &str) -> bool {
    word.len() >= typed.len()
        && word.as_bytes()[..typed.len()].eq_ignore_ascii_case(typed.as_bytes())
}

fn pieces(pattern: &'static str) -> Vec<&'static str> {
    let mut pieces = Vec::new();
    for word in pattern.split_whitespace() {
        let mut rest = word;
        while let Some(at) = rest.find(['[', ']', '(', ')', '|', '!']) {
            if at > 0 {
                pieces.push(&rest[..at]);
            }
            let length = if rest[at..].starts_with(")*") { 2 } else { 1 };
            pieces.push(&rest[at..at + length]);
            rest = &rest[at + length..];
        }
        if !rest.is_empty() {
            pieces.push(rest);
        }
    }
    pieces
}

struct PatternReader {
    pieces: Vec<&'static str>,
    next: usize,
    pattern: &'static str,
}

impl PatternReader {
    fn state(states: &mut Vec<AutomatonState>) -> usize {
        states.push(AutomatonState::default());
        states.len() - 1
    }

    /// Reads to a closing bracket or a bar; returns the first and the last state.
    fn sequence(&mut self, states: &mut Vec<AutomatonState>) -> (usize, usize) {
        let start = Self::state(states);
        let mut end = start;
        while let Some(piece) = self.pieces.get(self.next).copied() {
            match piece {
                "]" | ")" | ")*" | "|" => break,
                "[" => {
                    self.next += 1;
                    let (first, last) = self.choice(states, "]").0;
                    states[end].epsilon.push(first);
                    let after = Self::state(states);
                    states[end].epsilon.push(after);
                    states[last].epsilon.push(after);
                    end = after;
                }
                "(" => {
                    self.next += 1;
                    let ((first, last), repeated) = self.choice(states, ")");
                    states[end].epsilon.push(first);
                    let after = Self::state(states);
                    states[last].epsilon.push(after);
                    if repeated {
                        states[last].epsilon.push(first);
                        states[end].epsilon.push(after);
                    }
                    end = after;
                }
                "!" => {
                    self.next += 1;
                    let after = Self::state(states);
                    states[after].marks = true;
                    states[end].epsilon.push(after);
                    end = after;
                }
                word => {
                    self.next += 1;
                    let label = match word
                        .strip_prefix('<')
                        .and_then(|inner| inner.strip_suffix('>'))
                    {
                        Some(name) => {
                            Label::Parameter(Parameter::named(name).unwrap_or_else(|| {
                                panic!("unknown parameter <{name}> in `{}`", self.pattern)
                            }))
                        }
                        None => Label::Word(word),
                    };
                    let after = Self::state(states);
                    states[end].edges.push((label, after));
                    end = after;
                }
            }
        }
        (start, end)
    }

    fn choice(
        &mut self,
        states: &mut Vec<AutomatonState>,
        closing: &str,
    ) -> ((usize, usize), bool) {
        let start = Self::state(states);
        let end = Self::state(states);
        loop {
            let (first, last) = self.sequence(states);
            states[start].epsilon.push(first);
            states[last].epsilon.push(end);
            let piece = self.pieces.get(self.next).copied();
            self.next += 1;
            match piece {
                Some("|") => {}
                Some(")*") if closing == ")" => return ((start, end), true),
                Some(piece) if piece == closing => return ((start, end), false),
                _ => panic!("unbalanced pattern `{}`", self.pattern),
            }
        }
    }
}
