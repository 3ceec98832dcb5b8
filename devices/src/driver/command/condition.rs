//! Conditions of commands: what makes a command needless.

use serde_json::Value as Json;

use crate::change::Desired;
use crate::driver::negation::Negation;
use crate::driver::rest::template::TextTemplate;
use crate::pattern::Pattern;
use crate::read::answer_rule::AnswerRule;
use crate::read::field_path::{FieldPath, scalar_text};
use crate::read::indent::Tree;
use crate::read::{Parsed, ReadError, ReadRequest, State};
use crate::value::{Name, Value};

/// When a command is not sent.
#[derive(Debug, Default)]
pub(super) struct CommandCondition {
    pub(super) read: Option<CommandRead>,
    /// Lines that the configuration has are not sent.
    pub(super) compares_lines: bool,
    pub(super) unless: Option<UnlessRule>,
    pub(super) done: Option<DoneRule>,
    /// A command is not sent if it is the one that was sent last.
    pub(super) is_remembered: bool,
}

/// The value in the answer to the read that makes a command needless.
#[derive(Debug)]
pub(super) struct DoneRule {
    pub(super) field: FieldPath,
    /// The field of each element, if `field` is a list.
    pub(super) each: Option<FieldPath>,
    pub(super) value: TextTemplate,
}

/// The text that a condition is about.
#[derive(Debug)]
pub(super) enum CommandRead {
    /// A read of the platform.
    Platform(Box<ReadRequest>),
    /// The answer to a `GET` of the path in this attribute.
    Path(Name),
}

/// The attributes of a pattern: the command is not sent if the text matches.
#[derive(Debug)]
pub(super) struct UnlessRule {
    pub(super) pattern: Name,
    /// Names of options, `ignorecase`, `multiline` and `extended`.
    pub(super) options: Option<Name>,
    /// If true, the command is not sent if the text does not match.
    pub(super) negate: Option<Name>,
}

impl CommandCondition {
    /// Whether a resource has a condition.
    pub(super) fn is_declared(&self, desired: &Desired) -> bool {
        self.compares_lines || self.done.is_some() || self.pattern_text(desired).is_some()
    }

    /// The reads for the conditions of resources.
    pub(super) fn reads(&self, resources: &[&Desired]) -> Vec<ReadRequest> {
        match &self.read {
            None => Vec::new(),
            Some(CommandRead::Platform(request)) => vec![request.as_ref().clone()],
            Some(CommandRead::Path(_)) => {
                let mut requests: Vec<ReadRequest> = Vec::new();
                for path in resources.iter().filter_map(|one| self.path(one)) {
                    let request = read_of(&path);
                    if !requests.contains(&request) {
                        requests.push(request);
                    }
                }
                requests
            }
        }
    }

    /// Whether the condition of a resource makes its command needless.
    pub(super) fn is_met(&self, desired: &Desired, state: &State) -> Result<bool, ReadError> {
        if let Some(done) = &self.done {
            let value = |name: &str| desired.attributes.get(name).and_then(Value::scalar_text);
            let needed = done.value.fill(value).ok();
            return Ok(needed.is_some_and(|needed| self.current(state).contains(&needed)));
        }
        let (Some(unless), Some(text)) = (&self.unless, self.pattern_text(desired)) else {
            return Ok(false);
        };
        let Ok(pattern) = self.pattern(desired, &text) else {
            return Ok(false);
        };
        let is_negated = unless.negate.as_ref().is_some_and(|name| {
            let value = desired.attributes.get(name.as_str());
            value.map(Value::unwrap_sensitive) == Some(&Value::Bool(true))
        });
        Ok(pattern.is_match(&self.answer(desired, state)?) != is_negated)
    }

    /// The texts in the field of `done`.
    pub(super) fn current(&self, state: &State) -> Vec<String> {
        let (Some(done), Some(CommandRead::Platform(request))) = (&self.done, &self.read) else {
            return Vec::new();
        };
        let Some(Parsed::Json(answer)) = state.get(&request.name) else {
            return Vec::new();
        };
        let Some(found) = done.field.get(answer) else {
            return Vec::new();
        };
        match (&done.each, found) {
            (Some(each), Json::Array(items)) => {
                let items = items.iter().filter_map(|item| each.get(item));
                items.filter_map(scalar_text).collect()
            }
            _ => scalar_text(found).into_iter().collect(),
        }
    }

    /// Whether the configuration has a line, or lacks the line that it negates.
    pub(super) fn has_line(&self, state: &State, path: &[String], negation: &Negation) -> bool {
        let Some(CommandRead::Platform(request)) = &self.read else {
            return false;
        };
        let (Some(tree), true) = (state.tree(&request.name), self.compares_lines) else {
            return false;
        };
        let Some((last, blocks)) = path.split_last() else {
            return false;
        };
        let mut level = Some(tree);
        for block in blocks {
            level = level.and_then(|tree| child(tree, block));
        }
        match negation.positive(last) {
            Some(line) => level.is_none_or(|tree| !begins(tree, &line)),
            None => level.is_some_and(|tree| child(tree, last).is_some()),
        }
    }

    /// What is wrong with the condition of a resource, by attribute.
    pub(super) fn errors(&self, desired: &Desired) -> Vec<(String, String)> {
        let mut errors = Vec::new();
        let text = self.pattern_text(desired);
        if let (Some(unless), Some(text)) = (&self.unless, &text)
            && let Err(error) = self.pattern(desired, text)
        {
            let message = format!("cannot use the pattern: {error}");
            errors.push((unless.pattern.to_string(), message));
        }
        if let (Some(CommandRead::Path(name)), Some(_)) = (&self.read, &text) {
            match self.path(desired) {
                Some(path) if path.starts_with('/') && path.is_ascii() => {}
                Some(_) => errors.push((name.to_string(), "is not a path".to_owned())),
                None => errors.push((name.to_string(), "is required for the pattern".to_owned())),
            }
        }
        errors
    }

    /// How to add a condition.
    pub(super) fn hint(&self) -> String {
        match &self.unless {
            Some(unless) => format!("set `{}`", unless.pattern),
            None => "use a type with a condition".to_owned(),
        }
    }

    /// For `driver explain`.
    pub(super) fn describe(&self) -> String {
        if let Some(done) = &self.done {
            let each = done.each.iter().map(|each| format!("[*].{each}"));
            let field: String = std::iter::once(done.field.to_string())
                .chain(each)
                .collect();
            return format!("{field} is `{}`", done.value);
        }
        if self.is_remembered {
            return "it is the command that was sent last".to_owned();
        }
        match (&self.unless, self.compares_lines) {
            (Some(unless), _) => format!("the text matches `{}`", unless.pattern),
            (None, true) => "the configuration has the line".to_owned(),
            (None, false) => "never".to_owned(),
        }
    }

    fn path(&self, desired: &Desired) -> Option<String> {
        let Some(CommandRead::Path(name)) = &self.read else {
            return None;
        };
        desired.attributes.get(name.as_str())?.scalar_text()
    }

    fn pattern_text(&self, desired: &Desired) -> Option<String> {
        let name = &self.unless.as_ref()?.pattern;
        desired.attributes.get(name.as_str())?.scalar_text()
    }

    /// The pattern with its options, as Ruby reads it: `^` and `$` match at each line.
    fn pattern(&self, desired: &Desired, text: &str) -> Result<Pattern, String> {
        let options = self
            .unless
            .as_ref()
            .and_then(|unless| unless.options.as_ref());
        let options = options.and_then(|name| desired.attributes.get(name.as_str()));
        let mut flags = "m".to_owned();
        for option in options.into_iter().flat_map(elements) {
            match option.as_str() {
                "ignorecase" => flags.push('i'),
                "extended" => flags.push('x'),
                // In Ruby, the dot matches the end of a line.
                "multiline" => flags.push('s'),
                _ => {}
            }
        }
        Pattern::new(&format!("(?{flags}){text}")).map_err(|error| {
            let text = error.to_string();
            let last = text.lines().last().unwrap_or_default();
            last.trim_start_matches("error: ").to_owned()
        })
    }

    /// The text that the pattern is compared with.
    fn answer(&self, desired: &Desired, state: &State) -> Result<String, ReadError> {
        let read = match &self.read {
            Some(CommandRead::Platform(request)) => request.name.clone(),
            _ => self
                .path(desired)
                .map(|path| read_of(&path).name)
                .unwrap_or_default(),
        };
        match state.get(&read) {
            Some(Parsed::Tree(tree)) => Ok(tree.text()),
            Some(Parsed::Text(text)) => Ok(text.clone()),
            Some(Parsed::Json(json)) => Ok(json.to_string()),
            Some(Parsed::Columns(_) | Parsed::Rows(_)) | None => Err(ReadError {
                message: "it was not read".to_owned(),
                read,
            }),
        }
    }
}

/// The read of a path. The answer is any JSON; the status 404 is an empty answer.
fn read_of(path: &str) -> ReadRequest {
    ReadRequest {
        name: format!("GET {path}"),
        command: path.to_owned(),
        body: None,
        optional: true,
        answer: AnswerRule::default(),
        parents: None,
    }
}

/// The texts of a list, or a single text.
fn elements(value: &Value) -> Vec<String> {
    match value.unwrap_sensitive() {
        Value::List(items) => items.iter().filter_map(Value::scalar_text).collect(),
        one => one.scalar_text().into_iter().collect(),
    }
}

/// The lines of a block.
fn child<'a>(level: &'a Tree, line: &str) -> Option<&'a Tree> {
    let words = |text: &str| {
        text.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let line = words(line);
    let mut nodes = level.nodes.iter();
    let found = nodes.find(|node| words(&node.text) == line)?;
    Some(&found.children)
}

/// Whether a line begins with these words.
fn begins(level: &Tree, line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    level
        .nodes
        .iter()
        .any(|node| node.words().starts_with(&words))
}
